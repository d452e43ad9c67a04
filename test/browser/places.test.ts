import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, eventually } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { finished, goTo, lastAnswer, newChat, send } from './visit.ts';

const WORDS = 150;

/** Lets all answers go on that wait behind their first word. */
let goOn = Promise.withResolvers<void>();
/** Lets the answers to `silent` questions begin, one after the other. */
const silent: (() => void)[] = [];

const script: VendorScript = async ({ prompt }) => {
  const { promise } = goOn;
  if (prompt.startsWith('silent')) await new Promise<void>((resolve) => silent.push(resolve));
  const words = Array.from({ length: WORDS }, (_, index) => `w${index} `);
  // Over some seconds, so that answers are let go and taken up again in their midst.
  return { text: [`${prompt} `, ...words], delayMs: 40, afterPiece: () => promise };
};

const ALL = Array.from({ length: WORDS }, (_, index) => `w${index}`).join(' ');

/** Asks each question in a chat of its own, while the answers to those before it go on. */
async function askApart(page: Page, questions: readonly string[]): Promise<void> {
  goOn = Promise.withResolvers();
  for (const [index, question] of questions.entries()) {
    if (index > 0) await newChat(page);
    await send(page, question);
    await lastAnswer(page).getByText(question).waitFor();
  }
}

/** The chats that the sidebar marks so. */
function marked(page: Page, kind: 'running' | 'unread'): () => Promise<number> {
  return () => page.locator(`.chat-list .is-${kind}`).count();
}

/** Waits until no answer is on its way: they take turns, which takes longer than anything that is asked for alone. */
function allEnd(page: Page): Promise<void> {
  return eventually(async () => assert.equal(await marked(page, 'running')(), 0), 60_000);
}

async function areWhole(page: Page, questions: readonly string[]): Promise<void> {
  for (const question of questions) {
    await page.locator('.chat-list').getByText(question, { exact: true }).click();
    await page.locator('.question').getByText(question, { exact: true }).waitFor();
    await finished(lastAnswer(page));
    assert.equal((await lastAnswer(page).locator('.body').innerText()).trim(), `${question} ${ALL}`);
  }
}

/** Whether the server can be asked for something else. */
function asksMore(page: Page): Promise<number> {
  return page.evaluate(async () => (await fetch('/backend-api/v2/version')).status);
}

function numbered(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name} ${index + 1}`);
}

describe('many answers at once', { skip: withoutBrowser }, () => {
  const { visit, gateway } = setStage(() => openGateway(script, ['gpt-4o']));

  test('leave connections for everything else, and come whole', async () => {
    await visit(async (page) => {
      const questions = numbered('question', 8);
      await askApart(page, questions);
      assert.equal(await asksMore(page), 200);
      await goTo(page, '#/settings');
      await page.locator('#language').waitFor();
      await becomes(marked(page, 'running'), 8);
      goOn.resolve();
      await allEnd(page);
      await becomes(marked(page, 'unread'), 8);
      await areWhole(page, questions);
      await becomes(marked(page, 'unread'), 0);
      assert.equal(gateway.upstream.chats.length, 8);
    });
  });

  test('can be stopped also while they are not followed', async () => {
    await visit(async (page) => {
      const before = gateway.upstream.chats.length;
      const questions = numbered('doomed', 7);
      await askApart(page, questions);
      for (const [index] of questions.entries()) {
        await page.locator('.chat-list li button').last().click();
        await page.getByRole('menuitem', { name: 'Delete' }).click();
        await becomes(() => page.locator('.chat-list li').count(), questions.length - index - 1);
      }
      const ends = await Promise.all(gateway.upstream.chats.slice(before).map(({ closed }) => closed));
      assert.deepEqual(
        ends,
        questions.map(() => 'aborted'),
      );
    });
  });

  test('that have not begun leave connections, too', async () => {
    await visit(async (page) => {
      const before = gateway.upstream.chats.length;
      goOn = Promise.withResolvers();
      goOn.resolve();
      const questions = numbered('silent', 6);
      for (const [index, question] of questions.entries()) {
        if (index > 0) await newChat(page);
        await send(page, question);
        await lastAnswer(page).getByText('Waiting for the answer').waitFor();
      }
      assert.equal(await asksMore(page), 200);
      await becomes(async () => silent.length, 5);
      // The last one is asked as soon as one of the others has begun.
      silent.shift()?.();
      await becomes(async () => silent.length, 5);
      for (const begin of silent.splice(0)) begin();
      await allEnd(page);
      await areWhole(page, questions);
      assert.equal(gateway.upstream.chats.length - before, 6);
    });
  });

  test('leave connections also where several tabs follow some', async () => {
    await visit(async (page, context) => {
      const first = numbered('left', 5);
      await askApart(page, first);
      const mine = goOn;
      const other = await context.newPage();
      await other.goto(new URL(page.url()).origin);
      const second = numbered('right', 5);
      await askApart(other, second);
      for (const each of [page, other]) assert.equal(await asksMore(each), 200);
      await becomes(marked(other, 'running'), 10);
      mine.resolve();
      goOn.resolve();
      for (const each of [page, other]) {
        await allEnd(each);
        await areWhole(each, [...first, ...second]);
      }
    });
  });

  test('are all followed where one connection takes all requests', async () => {
    await visit(async (page) => {
      const seen: string[] = [];
      page.on('request', (request) => seen.push(request.url()));
      await page.addInitScript(
        "Object.defineProperty(PerformanceResourceTiming.prototype, 'nextHopProtocol', { get: () => 'h2' })",
      );
      await page.reload();
      const questions = numbered('together', 5);
      await askApart(page, questions);
      goOn.resolve();
      await allEnd(page);
      await areWhole(page, questions);
      assert.deepEqual(
        seen.filter((url) => url.includes('/streams/')),
        [],
      );
    });
  });
});
