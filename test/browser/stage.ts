import { after, before } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchChromium } from './chromium.ts';
import type { Gateway, Place } from './gateway.ts';
import { type VisitOptions, visit } from './visit.ts';

export interface StageVisitOptions extends VisitOptions {
  /** Another gateway than that of the stage, or another way to it. */
  readonly gateway?: Place;
}

export interface Stage {
  readonly gateway: Place;
  browser(): Browser;
  /** As `visit`, in the browser of the stage. */
  visit(use: (page: Page, context: BrowserContext) => Promise<void>, options?: StageVisitOptions): Promise<void>;
  /** What the upstream was asked last, as it was written. */
  sent(): string;
}

/** Opens a gateway and a browser before the tests of the `describe` that it is called in, and closes both after them. */
export function setStage(open: () => Promise<Gateway>): Stage {
  let gateway: Gateway | undefined;
  let browser: Browser | undefined;
  before(async () => {
    gateway = await open();
    browser = await launchChromium();
  });
  after(async () => {
    await browser?.close();
    await gateway?.close();
  });
  return {
    gateway: {
      get origin() {
        return opened(gateway).origin;
      },
      get upstream() {
        return opened(gateway).upstream;
      },
    },
    browser: () => opened(browser),
    visit: (use, { gateway: other, ...options } = {}) => visit(opened(browser), other ?? opened(gateway), use, options),
    sent: () => String(opened(gateway).upstream.chats.at(-1)?.rawBody),
  };
}

/** What is there once the tests have begun. */
export function opened<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('The stage is not set before its tests begin');
  return value;
}
