import type { Page } from 'playwright-core';

/** Lets the next conversations of a page get these chunks, for kinds of chunks that no scripted upstream makes. */
export async function answerWith(page: Page, chunks: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
  const body = chunks.map((chunk) => `event: ${chunk['type']}\ndata: ${JSON.stringify(chunk)}\n\n`).join('');
  await page.route('**/backend-api/v2/conversation', (route) =>
    route.fulfill({ status: 200, contentType: 'text/event-stream; charset=utf-8', body }),
  );
}
