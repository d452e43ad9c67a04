import assert from 'node:assert/strict';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { eventually } from './eventually.ts';
import type { Gateway } from './gateway.ts';

export const PHONE = { width: 390, height: 844 };

/** How long anything on the page may take, in milliseconds: two busy cores are slow. */
const PATIENCE_MS = 15_000;

export interface VisitOptions extends BrowserContextOptions {
  /** Where to begin. Default: `/`. */
  readonly path?: string;
  /** What the page may complain about: failures that the test itself causes. */
  readonly mayComplain?: RegExp;
}

/**
 * Opens the page in a browser without a past, lets `use` work with it, and then fails if the page asked any other server for
 * anything, or if something in it was refused by its own Content-Security-Policy or threw.
 */
export async function visit(
  browser: Browser,
  gateway: Gateway,
  use: (page: Page, context: BrowserContext) => Promise<void>,
  { path = '/', mayComplain, ...options }: VisitOptions = {},
): Promise<void> {
  const context = await browser.newContext({
    permissions: ['clipboard-read', 'clipboard-write'],
    // What a service worker asks for passes by the eyes below; it has a test of its own.
    serviceWorkers: 'block',
    locale: 'en-GB',
    ...options,
  });
  try {
    context.setDefaultTimeout(PATIENCE_MS);
    const strangers: string[] = [];
    const complaints: string[] = [];
    await context.route('**', async (route) => {
      const address = new URL(route.request().url());
      if (address.origin === gateway.origin || address.protocol === 'blob:') return route.continue();
      strangers.push(address.href);
      return route.abort();
    });
    context.on('page', (page) => {
      page.on('pageerror', (error) => complaints.push(error.stack ?? error.message));
      page.on('console', (message) => {
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
          complaints.push(message.text());
      });
    });
    const page = await context.newPage();
    await page.goto(gateway.origin + path);
    await use(page, context);
    assert.deepEqual(strangers, []);
    assert.deepEqual(
      complaints.filter((complaint) => mayComplain?.test(complaint) !== true),
      [],
    );
  } finally {
    await context.close();
  }
}

/** Waits until the models are there. */
export async function ready(page: Page): Promise<void> {
  await page.locator('#providers strong, .thread .message').first().waitFor({ state: 'attached' });
}

/** Sends `text` with the keyboard, without waiting for the answer. */
export async function send(page: Page, text: string): Promise<void> {
  await ready(page);
  await page.locator('#prompt').fill(text);
  await page.locator('#prompt').press('Enter');
}

/** Sends `text` with the keyboard and waits until the answer to it is over. */
export async function ask(page: Page, text: string): Promise<void> {
  await ready(page);
  const answers = await page.locator('.answer').count();
  await send(page, text);
  const answer = page.locator('.answer').nth(answers);
  await answer.locator('.line').waitFor();
  // Markdown is drawn a moment after the end of the answer is known.
  await eventually(async () => assert.equal(await answer.locator('.markdown[aria-busy="true"]').count(), 0));
}

export function lastAnswer(page: Page): Locator {
  return page.locator('.answer').last();
}

/** A button of the last answer. */
export function button(page: Page, name: string): Locator {
  return lastAnswer(page).getByRole('button', { name, exact: true });
}

/** A picture of one pixel. */
export const PIXEL: Buffer = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
