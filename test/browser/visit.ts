import assert from 'node:assert/strict';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page, Request } from 'playwright-core';
import { becomes, eventually, PATIENCE_MS } from './eventually.ts';
import type { Place } from './gateway.ts';

export const PHONE = { width: 390, height: 844 };

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
  gateway: Place,
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
      watchRequests(page);
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
    // What is on its way for the page then has nowhere to go, and nobody waits for it.
    for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  }
}

/** What a page has asked for and not got yet. */
const underway = new WeakMap<Page, Set<Request>>();

function watchRequests(page: Page): void {
  const requests = new Set<Request>();
  underway.set(page, requests);
  page.on('request', (request) => {
    // Players take of a sound or a film what they need, and leave the rest.
    if (request.resourceType() !== 'media') requests.add(request);
  });
  for (const end of ['requestfinished', 'requestfailed'] as const) {
    page.on(end as 'requestfinished', (request) => requests.delete(request));
  }
}

/** Two pictures later: effects of what was drawn have run by then, and what they ask for is underway. */
const TWO_FRAMES = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))';

/** Waits until nothing is on its way to the page any more, neither from the server nor within it. */
export async function settled(page: Page): Promise<void> {
  const busy = async (): Promise<number> => {
    await page.evaluate(TWO_FRAMES);
    return (underway.get(page)?.size ?? 0) + (await page.locator('[aria-busy="true"], .lazy-waiting').count());
  };
  // Twice: what has come may ask for more.
  await eventually(async () => assert.deepEqual([await busy(), await busy()], [0, 0]));
}

/** Goes to an address of the page that is open, `#/history`, and returns when the page has taken it. */
export async function goTo(page: Page, address: string): Promise<void> {
  await page.evaluate(`new Promise((done) => {
    const address = ${JSON.stringify(address)};
    if (location.hash === address) return done();
    // The page listens for longer, so it has rendered by then.
    addEventListener('hashchange', () => setTimeout(done), { once: true });
    location.hash = address;
  })`);
}

/** Waits until the models are there. */
export async function ready(page: Page): Promise<void> {
  await page.locator('#providers strong, .thread .message').first().waitFor({ state: 'attached' });
}

/** Sends `text` with the keyboard, or with the button where that is on the screen, without waiting for the answer. */
export async function send(page: Page, text: string): Promise<void> {
  await ready(page);
  await page.locator('#prompt').fill(text);
  if (await page.evaluate("matchMedia('(pointer: coarse)').matches")) await page.locator('#send').click();
  else await page.locator('#prompt').press('Enter');
}

/** Sends `text` and waits until the answer to it is over. */
export async function ask(page: Page, text: string): Promise<void> {
  await ready(page);
  const answers = await page.locator('.answer').count();
  await send(page, text);
  await finished(page.locator('.answer').nth(answers));
}

/** Waits until an answer is over, and all of it is drawn. */
export async function finished(answer: Locator): Promise<void> {
  await answer.locator('.line').waitFor();
  // Markdown is drawn a moment after the end of the answer is known.
  await becomes(() => answer.locator('.markdown[aria-busy="true"]').count(), 0);
}

/**
 * Waits until this tab may ask in any chat: one that has asked lets go of its chat a moment after it shows the end of the answer, and
 * tells the others later still, when all of it is on the disk.
 */
export async function mayAsk(page: Page): Promise<void> {
  const asking = `navigator.locks.query().then(({ held }) => held.filter(({ name }) => name.startsWith('sluice.asking.')).length)`;
  await becomes(() => page.evaluate(asking), 0);
  await becomes(() => page.locator('.chat-list .is-running').count(), 0);
}

/**
 * Leaves what the page says for some seconds, and Undo with it, until it is closed: where more than a press follows, a busy machine would
 * get there too late. It is so until the page is loaded anew.
 */
export async function keepToasts(page: Page): Promise<void> {
  await page.evaluate(`{
    const { setTimeout } = globalThis;
    globalThis.setTimeout = (run, after, ...given) => (after >= 4_000 ? 0 : setTimeout(run, after, ...given));
  }`);
}

/** Begins a new chat with the button, and waits until the empty page is there: the field of the old chat stands until then. */
export async function newChat(page: Page): Promise<void> {
  await page.locator('#new-chat').click();
  await page.locator('#welcome-title').waitFor();
}

export function lastAnswer(page: Page): Locator {
  return page.locator('.answer').last();
}

/** A button of the last answer. */
export function button(page: Page, name: string): Locator {
  return lastAnswer(page).getByRole('button', { name, exact: true });
}

/** Scrolls the conversation up as with a wheel; returns where that ended, since wheels roll on for a moment. */
export async function scrollUp(page: Page, pixels: number): Promise<number> {
  const area = page.locator('#scroll');
  await area.hover();
  await page.mouse.wheel(0, -pixels);
  await page.getByRole('button', { name: 'To the end' }).waitFor();
  let top = -1;
  await eventually(async () => {
    const before = top;
    // With a picture in between: a busy machine draws none for longer than this waits, and then nothing rolls.
    await page.evaluate(TWO_FRAMES);
    top = await area.evaluate((node) => node.scrollTop);
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(top, before, 'comes to rest');
  });
  return top;
}

/** A picture of one pixel. */
export const PIXEL: Buffer = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
