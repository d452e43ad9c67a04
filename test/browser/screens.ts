import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { goTo, settled } from './visit.ts';

/** What the page's own tables list: whoever adds a screen has it looked at by the tests without doing anything. */
function namesIn(file: string): readonly string[] {
  const text = readFileSync(new URL(`../../web/src/views/${file}`, import.meta.url), 'utf8');
  return [...text.matchAll(/\{\s*name: '([\w-]+)'/g)].map(([, name]) => name ?? '');
}

export const screens: readonly string[] = namesIn('screens.ts');
export const sections: readonly string[] = namesIn('settings/sections.ts');

/** Goes to a screen and waits until it is there, with all that comes to it. */
export async function openScreen(page: Page, address: string): Promise<void> {
  await goTo(page, `#/${address}`);
  await page.locator('#app main').first().waitFor();
  await settled(page);
}
