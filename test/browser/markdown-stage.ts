import { after, afterEach, before, beforeEach } from 'node:test';
import type { Browser, Page } from 'playwright-core';
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

export interface RenderedPage {
  readonly origin: string;
  browser(): Browser;
  readonly page: Page;
  readonly requests: readonly string[];
  readonly problems: readonly string[];
  /** Shows a text in the place of what was there, and gives its HTML; unless it is done, more of it may come. */
  render(text: string, done?: boolean): Promise<string>;
  /** Shows more of the text that is there. */
  update(text: string, done?: boolean): Promise<string>;
  /** What can be read. */
  words(): Promise<string>;
  /** How many elements there are of a kind. */
  count(selector: string): Promise<number>;
}

/** A stage with a new page for each test. */
export function setMarkdownPage(): RenderedPage {
  const stage = setMarkdownStage();
  let current: OpenMarkdown | undefined;
  beforeEach(async () => {
    current = await stage.open();
  });
  afterEach(async () => {
    await current?.page.close();
  });
  const page = (): Page => opened(current).page;
  return {
    get origin() {
      return stage.origin;
    },
    browser: stage.browser,
    get page() {
      return page();
    },
    get requests() {
      return opened(current).requests;
    },
    get problems() {
      return opened(current).problems;
    },
    render: (text, done = true) => page().evaluate(`markdown.render(${JSON.stringify(text)}, ${done})`),
    update: (text, done = false) => page().evaluate(`markdown.update(${JSON.stringify(text)}, ${done})`),
    words: () => page().evaluate(`document.querySelector('#markdown').innerText`),
    count: (selector) => page().locator(`#markdown ${selector}`).count(),
  };
}
