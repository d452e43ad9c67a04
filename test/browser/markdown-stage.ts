import { after, before } from 'node:test';
import type { Browser } from 'playwright-core';
import { launchChromium } from './chromium.ts';
import { type MarkdownPage, type OpenMarkdown, serveMarkdown } from './markdown-page.ts';
import { opened } from './stage.ts';

export interface MarkdownStage {
  readonly origin: string;
  browser(): Browser;
  /** As that of `MarkdownPage`, in the browser of the stage. */
  open(): Promise<OpenMarkdown>;
}

/** Serves the renderer and opens a browser before the tests of the `describe` that it is called in, and closes both after them. */
export function setMarkdownStage(): MarkdownStage {
  let browser: Browser | undefined;
  let served: MarkdownPage | undefined;
  before(async () => {
    [browser, served] = await Promise.all([launchChromium(), serveMarkdown()]);
  });
  after(async () => {
    await browser?.close();
    await served?.close();
  });
  return {
    get origin() {
      return opened(served).origin;
    },
    browser: () => opened(browser),
    open: () => opened(served).open(opened(browser)),
  };
}
