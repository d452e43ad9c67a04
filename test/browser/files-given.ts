import type { Page } from 'playwright-core';

/** Drops files and folders of this machine on the middle of an element, as a file manager does. */
export async function dropOn(page: Page, selector: string, files: readonly string[]): Promise<void> {
  const { x = 0, y = 0, width = 0, height = 0 } = (await page.locator(selector).boundingBox()) ?? {};
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [...files], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await session.send('Input.dispatchDragEvent', { type, x: x + width / 2, y: y + height / 2, data });
  }
  await session.detach();
}
