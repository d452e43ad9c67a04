import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { becomes } from './eventually.ts';

const MARKDOWN = fileURLToPath(new URL('../../web/src/markdown/', import.meta.url));

/** The policy that the server sends with the page. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
  "font-src 'self'; media-src 'self' data: blob:; worker-src 'self'; base-uri 'none'; form-action 'none'";

const HTML = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Markdown</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="/entry.css"><script type="module" src="/entry.js"></script></head>
<body><main id="markdown"></main></body></html>`;

/** A page with the renderer, as `window.markdown`. */
export interface OpenMarkdown {
  readonly page: Page;
  /** All that it made beyond its own files. */
  readonly requests: string[];
  readonly problems: string[];
}

export interface MarkdownPage {
  readonly origin: string;
  open(browser: Browser): Promise<OpenMarkdown>;
  close(): Promise<void>;
}

/** Builds the renderer as the page has it and serves it under the page's Content-Security-Policy. */
export async function serveMarkdown(): Promise<MarkdownPage> {
  const files = await build();
  const server = createServer((request, response) => {
    const name = (request.url ?? '/').slice(1).split('?')[0] ?? '';
    const file = name === '' ? HTML : files.get(name);
    response.writeHead(file === undefined ? 404 : 200, {
      'content-type': TYPES[path.extname(name)] ?? 'text/html; charset=utf-8',
      'content-security-policy': POLICY,
    });
    response.end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    open: async (browser) => {
      const page = await browser.newPage();
      const requests: string[] = [];
      const problems: string[] = [];
      page.on('request', (request) => {
        const url = request.url();
        const own = url.startsWith(`${origin}/`) && (files.has(url.slice(origin.length + 1)) || url === `${origin}/`);
        if (!own && !/^(?:data|blob):/.test(url)) requests.push(url);
      });
      page.on('pageerror', (error) => problems.push(String(error)));
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(message.text());
      });
      page.on('dialog', (dialog) => {
        problems.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      await page.goto(`${origin}/`);
      // `waitForFunction` asks again by `eval`, which the page forbids.
      await becomes(() => page.evaluate('window.markdown !== undefined'), true);
      return { page, requests, problems };
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.woff2': 'font/woff2',
  '.woff': 'font/woff',
  '.ttf': 'font/ttf',
};

async function build(): Promise<ReadonlyMap<string, string | Uint8Array>> {
  const { build } = await import('vite');
  const result = await build({
    root: MARKDOWN,
    configFile: false,
    logLevel: 'silent',
    base: '/',
    build: {
      write: false,
      target: 'es2023',
      minify: false,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        input: { entry: path.join(MARKDOWN, 'testing.ts') },
        output: { entryFileNames: '[name].js' },
      },
    },
    worker: { format: 'es' },
  });
  const files = new Map<string, string | Uint8Array>();
  for (const output of Array.isArray(result) ? result : [result]) {
    if (!('output' in output)) continue;
    for (const file of output.output) files.set(file.fileName, file.type === 'chunk' ? file.code : file.source);
  }
  files.set('entry.css', readFileSync(path.join(MARKDOWN, 'markdown.css'), 'utf8'));
  return files;
}
