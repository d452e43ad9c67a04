import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { answerWith } from './scripted-events.ts';
import { setStage } from './stage.ts';
import { ask, button, finished, keepToasts, lastAnswer, mayAsk, ready, send } from './visit.ts';

/** Answers are held for it after their first word, so however late a page is, it sees them run. */
let held = Promise.withResolvers<void>();

const script: VendorScript = ({ prompt }) => {
  const { promise } = held;
  if (!prompt.includes('wait')) return { text: ['You said: ', prompt] };
  return { text: ['Said first', ', and last'], afterPiece: () => promise };
};

/** A tab that hears of what other tabs do only from `late.come()` on. */
const LATE_WORDS = `{
  const late = { words: 0, drafts: 0, todo: [], isHeld: true };
  globalThis.late = late;
  late.come = () => {
    late.isHeld = false;
    for (const hear of late.todo.splice(0)) hear();
  };
  const listen = EventTarget.prototype.addEventListener;
  const hold = (hear, count) => (event) => {
    late[count] += 1;
    if (late.isHeld) late.todo.push(() => hear(event));
    else hear(event);
  };
  BroadcastChannel.prototype.addEventListener = function (type, hear) {
    listen.call(this, type, hold(hear, 'words'));
  };
  window.addEventListener = function (type, hear, ...rest) {
    listen.call(this, type, type === 'storage' ? hold(hear, 'drafts') : hear, ...rest);
  };
}`;

describe('a question', { skip: withoutBrowser }, () => {
  const { visit, gateway } = setStage(() => openGateway(script, ['gpt-4o']));
  beforeEach(() => {
    held = Promise.withResolvers();
  });

  test('is not sent, and that is said, while an answer is on its way on another branch', async () => {
    await visit(async (page) => {
      await ask(page, 'first');
      await page.locator('.question .edit').click();
      await page.locator('.editor textarea').fill('wait');
      await page.locator('.editor textarea').press('Enter');
      await lastAnswer(page).getByText('Said first').waitFor();
      await page.locator('.question').getByRole('button', { name: 'Previous version' }).click();
      await lastAnswer(page).getByText('You said: first').waitFor();
      const field = page.locator('#prompt');
      const told = page.locator('.toast', { hasText: 'An answer is on its way: wait for its end, or stop it.' });
      await field.press('Enter');
      await field.fill('and then?');
      await field.press('Enter');
      await told.waitFor();
      assert.equal(await field.inputValue(), 'and then?');
      await field.press('Enter');
      await field.press('Enter');
      assert.ok((await told.count()) <= 1, 'once, however often it is pressed');
      await page.locator('#send').click();
      await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
      await field.press('Enter');
      await page.getByText('You said: and then?').waitFor();
      await becomes(() => field.inputValue(), '');
    });
  });

  test('is not sent, and stays, while another tab waits for an answer of which this one has not heard yet', async () => {
    await visit(async (page, context) => {
      await ask(page, 'first');
      const other = await context.newPage();
      await other.addInitScript(LATE_WORDS);
      await other.goto(page.url());
      await lastAnswer(other).getByText('You said: first').waitFor();
      await send(page, 'wait');
      await lastAnswer(page).getByText('Said first').waitFor();
      const asked = gateway.upstream.chats.length;
      await send(other, 'and then?');
      await other.getByText('An answer is on its way: wait for its end, or stop it.').waitFor();
      assert.equal(await other.locator('#prompt').inputValue(), 'and then?');
      assert.equal(gateway.upstream.chats.length, asked);
      held.resolve();
      await finished(lastAnswer(page));
      await other.evaluate('late.come()');
      await lastAnswer(other).getByText('Said first, and last').waitFor();
      await mayAsk(other);
      await ask(other, 'and then?');
      for (const each of [page, other]) {
        await becomes(() => each.locator('.question .bubble').allInnerTexts(), ['first', 'wait', 'and then?']);
      }
    });
  });

  test('is answered anew, or in other words, by one tab at a time, and the other one says so', async () => {
    await visit(async (page, context) => {
      await send(page, 'wait');
      held.resolve();
      await finished(lastAnswer(page));
      held = Promise.withResolvers();
      const other = await context.newPage();
      await other.addInitScript(LATE_WORDS);
      await other.goto(page.url());
      await lastAnswer(other).getByText('Said first, and last').waitFor();
      await keepToasts(other);
      const asked = gateway.upstream.chats.length;
      await button(page, 'Regenerate').click();
      await becomes(async () => gateway.upstream.chats.length, asked + 1);
      const refusal = other.getByText('An answer is on its way: wait for its end, or stop it.');
      await button(other, 'Regenerate').click();
      await refusal.waitFor();
      await other.locator('.toasts').getByRole('button', { name: 'Close' }).click();
      await other.locator('.question').getByRole('button', { name: 'Edit' }).click();
      const field = other.locator('.editor textarea');
      await field.fill('in other words');
      await field.press('Enter');
      await refusal.waitFor();
      assert.equal(await field.inputValue(), 'in other words');
      assert.equal(gateway.upstream.chats.length, asked + 1);
      held.resolve();
      await finished(lastAnswer(page));
      await other.evaluate('late.come()');
      await mayAsk(other);
      await field.press('Enter');
      await lastAnswer(other).getByText('You said: in other words').waitFor();
      assert.equal(gateway.upstream.chats.length, asked + 2);
    });
  });

  test('that was suggested, or goes to another model, waits as well for the answer that another tab has asked for', async () => {
    await visit(async (page, context) => {
      await ready(page);
      await answerWith(page, [
        { type: 'content', content: 'Well.' },
        { type: 'suggestions', suggestions: ['And then?'] },
        { type: 'finish', finish: { reason: 'stop' } },
      ]);
      await ask(page, 'first');
      await page.unroute('**/backend-api/v2/conversation');
      // All of it is on the way to the disk then: the other tab, which hears nothing more of it, is to read it there.
      await mayAsk(page);
      const other = await context.newPage();
      await other.addInitScript(LATE_WORDS);
      await other.goto(page.url());
      await button(other, 'And then?').waitFor();
      await keepToasts(other);
      await send(page, 'wait');
      await lastAnswer(page).getByText('Said first').waitFor();
      const asked = gateway.upstream.chats.length;
      for (const name of ['And then?', 'Compare with another model']) {
        await button(other, name).click();
        await other.getByText('An answer is on its way: wait for its end, or stop it.').waitFor();
        await other.locator('.toasts').getByRole('button', { name: 'Close' }).click();
      }
      assert.equal(gateway.upstream.chats.length, asked);
      held.resolve();
      await finished(lastAnswer(page));
    });
  });

  test('is answered anew on one side of a comparison by one tab at a time', async () => {
    await visit(
      async (page, context) => {
        await page.locator('#model-2-name').getByText('gpt-4o').waitFor();
        await page.locator('#prompt').fill('wait');
        await page.locator('#prompt').press('Enter');
        held.resolve();
        await page.locator('.side .line').nth(1).waitFor();
        held = Promise.withResolvers();
        const other = await context.newPage();
        await other.addInitScript(LATE_WORDS);
        await other.goto(page.url());
        await other.locator('.side .line').nth(1).waitFor();
        await mayAsk(other);
        const asked = gateway.upstream.chats.length;
        const again = (tab: Page): Promise<void> =>
          tab.locator('.side').first().getByRole('button', { name: 'Regenerate' }).click();
        await again(page);
        await becomes(async () => gateway.upstream.chats.length, asked + 1);
        await again(other);
        await other.getByText('An answer is on its way: wait for its end, or stop it.').waitFor();
        assert.equal(gateway.upstream.chats.length, asked + 1);
        held.resolve();
        await page.locator('.side .line').nth(1).waitFor();
      },
      { path: '/#/compare' },
    );
  });

  test('that another tab sends leaves alone what was written in this one at the same time', async () => {
    await visit(async (page, context) => {
      await ask(page, 'first');
      const other = await context.newPage();
      for (const each of [page, other]) await each.addInitScript(LATE_WORDS);
      for (const each of [page, other]) await each.goto(page.url());
      await page.reload();
      for (const each of [page, other]) await lastAnswer(each).getByText('You said: first').waitFor();
      await page.locator('#prompt').fill('from one');
      await other.locator('#prompt').fill('from two');
      await becomes(() => page.evaluate('late.drafts'), 1);
      await ask(page, 'from one');
      await becomes(() => other.evaluate('late.words > 0'), true);
      for (const each of [page, other]) await each.evaluate('late.come()');
      await lastAnswer(other).getByText('You said: from one').waitFor();
      assert.equal(await other.locator('#prompt').inputValue(), 'from two');
      await other.reload();
      await lastAnswer(other).getByText('You said: from one').waitFor();
      await becomes(() => other.locator('#prompt').inputValue(), 'from two');
    });
  });
});
