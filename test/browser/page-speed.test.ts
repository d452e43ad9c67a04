import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { openGateway } from './gateway.ts';
import { longAnswer } from './long-answer.ts';
import type { Stage } from './stage.ts';
import { setStage } from './stage.ts';
import { longTasks, workUntilWords } from './trace.ts';
import { lastAnswer, ready, scrollUp, send } from './visit.ts';

const DIST = fileURLToPath(new URL('../../web/dist', import.meta.url));
const KILOBYTE = 1_000;

const PARAGRAPHS = 40;

/** An answer of all that changes its height while it arrives. */
function* everything(): Generator<string> {
  for (let number = 1; number <= PARAGRAPHS; number++) {
    const part = `## Section ${number}

A paragraph with **bold words**, \`code\`, a formula $x_{${number}}^2$ and a list:

- first
- second

| Name | Value |
|---|---:|
| one | ${number} |

\`\`\`typescript
export const value${number} = compute(${number}, 'text');
\`\`\`

`;
    yield* part.match(/.{1,8}/gs) ?? [];
  }
}

const TOKENS = 20_000;
const TOKENS_A_SECOND = 500;

/** Tokens of four characters. */
function* tokens(): Generator<string> {
  yield* longAnswer(TOKENS).match(/[\s\S]{1,4}/g) ?? [];
}

const BURST = 10;
/** What a timer is late, about. */
const TIMER_MS = 2;

const script: VendorScript = ({ prompt }) => {
  if (prompt === 'everything') return { text: everything(), delayMs: 8 };
  if (prompt === 'tokens')
    return { text: tokens(), burst: BURST, delayMs: (1_000 / TOKENS_A_SECOND) * BURST - TIMER_MS };
  return { text: ['You said: ', prompt] };
};

/** What the browser has to load before the first picture: the entry, what it imports, and one language. */
function initialFiles(): readonly string[] {
  const html = readFileSync(path.join(DIST, 'index.html'), 'utf8');
  const files = new Set<string>();
  const visitFile = (name: string): void => {
    if (files.has(name)) return;
    files.add(name);
    const source = readFileSync(path.join(DIST, name), 'utf8');
    // Static imports only: those in functions are loaded later, or never.
    for (const [, found = ''] of source.matchAll(/(?:^|[;}])import(?:[^"'();]*from)?["']\.\/([\w.-]+\.js)["']/g)) {
      visitFile(`assets/${found}`);
    }
  };
  for (const [, found = ''] of html.matchAll(/(?:src|href)="\/(assets\/[\w.-]+\.js)"/g)) visitFile(found);
  const [english] = readdirSync(path.join(DIST, 'assets')).filter((name) => /^en-[\w-]+\.js$/.test(name));
  assert.ok(english !== undefined, 'no English words in the build');
  visitFile(`assets/${english}`);
  return [...files];
}

function sizeOf(files: readonly string[], ending: '.br' | '.gz'): number {
  return files.reduce((all, name) => all + sizeOfOne(path.join(DIST, name), ending), 0);
}

function sizeOfOne(file: string, ending: string): number {
  try {
    return readFileSync(file + ending).length;
  } catch {
    // Tiny files have no compressed copy.
    return readFileSync(file).length;
  }
}

describe('the speed of the page', { skip: withoutBrowser, timeout: 900_000 }, () => {
  const stage = setStage(() => openGateway(script, ['gpt-4o']));

  test('JavaScript that is loaded first is at most 150 kB, however it is compressed', (t) => {
    const files = initialFiles();
    const [brotli, gzip] = [sizeOf(files, '.br'), sizeOf(files, '.gz')];
    t.diagnostic(`${files.length} files: ${brotli} bytes with brotli, ${gzip} with gzip`);
    assert.ok(brotli <= 150 * KILOBYTE, `${brotli} bytes with brotli`);
    assert.ok(gzip <= 150 * KILOBYTE, `${gzip} bytes with gzip`);
  });

  test('fonts are shipped in the one form that all browsers take', () => {
    const fonts = readdirSync(path.join(DIST, 'assets')).filter((name) => /\.(?:woff2?|ttf|otf|eot)$/.test(name));
    assert.ok(fonts.length > 0);
    assert.deepEqual(
      fonts.filter((name) => !name.endsWith('.woff2')),
      [],
    );
  });

  test('nor does a browser load more by itself, what it fetches in advance included', async (t) => {
    await stage.visit(async (page) => {
      await ready(page);
      await page.waitForLoadState('networkidle');
      const loaded = (await page.evaluate(
        `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).map(({ name, encodedBodySize }) => [new URL(name).pathname.slice(1), encodedBodySize])`,
      )) as readonly (readonly [string, number])[];
      const bytes = loaded.reduce((all, [, size]) => all + size, 0);
      t.diagnostic(`${loaded.length} scripts, ${bytes} bytes, until nothing more comes`);
      const names = loaded.map(([name]) => name);
      const missing = initialFiles().filter((name) => !names.includes(name));
      assert.deepEqual(missing, [], 'files counted as initial that nobody loads');
      assert.ok(bytes <= 150 * KILOBYTE, `${bytes} bytes: ${names.join(', ')}`);
    });
  });

  test('the first words are there within a second at a quarter of the speed', async (t) => {
    const rounds: Paint[] = [];
    while (rounds.length < 3 && !rounds.some(({ work }) => work <= PAGE_SHARE_MS)) rounds.push(await firstPaint(stage));
    const told = rounds
      .map(
        ({ work, clock, files }) => `${Math.round(work)} ms of work, ${Math.round(clock)} by the clock, ${files} files`,
      )
      .join('; ');
    t.diagnostic(`first contentful paint at 4x throttling: ${told}`);
    assert.ok(Math.min(...rounds.map(({ work }) => work)) <= PAGE_SHARE_MS, told);
    assert.ok(Math.max(...rounds.map(({ files }) => files)) <= FILES_BEFORE_WORDS, told);
  });

  test('nothing is fetched in advance before the first words, however late their picture is', async (t) => {
    await stage.visit(
      async (page) => {
        await page.addInitScript(LATE_PICTURE);
        const thread = page.waitForResponse(/\/assets\/Thread-/);
        await page.goto(stage.gateway.origin);
        await page.locator('h1').waitFor();
        const [clock, files] = (await page.evaluate(PAINT)) as [number, number];
        t.diagnostic(`${files} files before the first words, ${Math.round(clock)} ms after the navigation`);
        assert.ok(files <= FILES_BEFORE_WORDS, `${files} files`);
        // They come nevertheless, without anything that is done on the page.
        await thread;
      },
      { path: '/favicon.svg' },
    );
  });

  test('nothing jumps while an answer arrives', async (t) => {
    await stage.visit(async (page) => {
      await ready(page);
      await page.evaluate(OBSERVE_SHIFTS);
      await send(page, 'everything');
      await lastAnswer(page).locator('.line').waitFor({ timeout: 120_000 });
      await noShifts(page, t, 'following the end');
    });
  });

  test('nothing jumps for those who read above while it arrives', async (t) => {
    await stage.visit(async (page) => {
      await send(page, 'everything');
      await page.getByText('Section 8', { exact: true }).waitFor({ timeout: 60_000 });
      const before = await scrollUp(page, 700);
      await page.evaluate(OBSERVE_SHIFTS);
      const top = 'document.querySelector("#scroll").scrollTop';
      await lastAnswer(page).locator('.line').waitFor({ timeout: 120_000 });
      assert.equal(await page.evaluate(top), before);
      await noShifts(page, t, 'reading above');
    });
  });

  test('20,000 tokens at 500 a second hold the whole page for 50 ms at no time', async (t) => {
    const first = await tasksWhileStreaming(stage, t);
    // Others share this machine: what happens once in two runs is not the page's.
    if (first.length > 0) {
      const second = await tasksWhileStreaming(stage, t);
      assert.deepEqual(second, [], `first run: ${first.join(', ')} ms`);
    }
  });
});

/**
 * A second by the clock is one only where nobody else works. So much of it is the page's own, in the processor's time: the
 * server, the browser around the page and the screen took 0.27 s where nobody else did.
 */
const PAGE_SHARE_MS = 700;
/** What is waited for is no work: by then the entry, the styles and the words of one language are asked for. */
const FILES_BEFORE_WORDS = 3;

interface Paint {
  /** Milliseconds of the processor for the page's thread, and those that went by. */
  readonly work: number;
  readonly clock: number;
  readonly files: number;
}

/** From the navigation to the first words, at a quarter of the speed, in a browser that has nothing yet. */
async function firstPaint(stage: Stage): Promise<Paint> {
  let paint: Paint | undefined;
  await stage.visit(
    async (page, context) => {
      const session = await context.newCDPSession(page);
      await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
      const work = await workUntilWords(stage.browser(), page, async () => {
        await page.goto(stage.gateway.origin);
        await page.locator('h1').waitFor();
        await page.evaluate(PAINT);
      });
      const [clock, files] = (await page.evaluate(PAINT)) as [number, number];
      paint = { work, clock, files };
    },
    { path: '/favicon.svg' },
  );
  assert.ok(paint !== undefined);
  return paint;
}

/** When the first words were there, and how many files of the page had been asked for by then. */
const PAINT = `new Promise((resolve) => new PerformanceObserver((list) => {
  const [entry] = list.getEntriesByName('first-contentful-paint');
  if (!entry) return;
  const files = performance.getEntriesByType('resource').filter(({ name, startTime }) =>
    startTime <= entry.startTime && new URL(name).pathname.startsWith('/assets/'));
  resolve([entry.startTime, files.length]);
}).observe({ type: 'paint', buffered: true }))`;

/** A machine that takes long from the page's words to their picture. */
const LATE_PICTURE = `new MutationObserver((_, observer) => {
  if (!document.querySelector('h1')) return;
  observer.disconnect();
  requestAnimationFrame(() => { for (const end = performance.now() + 300; performance.now() < end; ); });
}).observe(document, { childList: true, subtree: true })`;

const OBSERVE_SHIFTS = `window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shifts.push({
    value: entry.value,
    nodes: entry.sources.map(({ node, previousRect: from, currentRect: to }) =>
      (node?.parentElement?.outerHTML ?? node?.nodeName ?? '?').slice(0, 120) +
      ' from ' + [from.x, from.y, from.width] + ' to ' + [to.x, to.y, to.width]),
  });
}).observe({ type: 'layout-shift' })`;

async function noShifts(page: Page, t: TestContext, what: string): Promise<void> {
  const shifts = (await page.evaluate('window.shifts')) as readonly { value: number; nodes: readonly string[] }[];
  const sum = shifts.reduce((all, { value }) => all + value, 0);
  t.diagnostic(`layout shift ${what}: ${sum}`);
  assert.ok(sum < 0.01, JSON.stringify(shifts.slice(0, 5)));
}

/** Tasks of more than 50 ms of the page's thread, in processor time, while an answer comes. */
async function tasksWhileStreaming(stage: Stage, t: TestContext): Promise<readonly number[]> {
  let tasks: readonly number[] = [];
  await stage.visit(async (page) => {
    await ready(page);
    let took = 0;
    tasks = await longTasks(stage.browser(), page, async () => {
      await send(page, 'tokens');
      const began = Date.now();
      await lastAnswer(page).locator('.line').waitFor({ timeout: 240_000 });
      took = (Date.now() - began) / 1_000;
    });
    t.diagnostic(
      `${Math.round(TOKENS / took)} tokens a second, ${tasks.length} tasks of more than 50 ms ${tasks.join(' ')}`,
    );
  });
  return tasks;
}
