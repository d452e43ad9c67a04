import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, eventually } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask, finished, goTo, lastAnswer, newChat, PHONE, ready, scrollUp, send, settled } from './visit.ts';

const LONG = Array.from({ length: 80 }, (_, index) => `Line ${index}.\n\n`);

const BOOK = Array.from({ length: 1200 }, (_, index) => `Line ${index}.\n\n`);

const texts: Readonly<Record<string, readonly string[]>> = { long: LONG, book: BOOK };

const script: VendorScript = ({ prompt }) =>
  prompt === 'endless' ? { text: endless(), delayMs: 150 } : { text: texts[prompt] ?? ['You said: ', prompt] };

function* endless(): Generator<string> {
  yield LONG.join('');
  for (let line = LONG.length; ; line += 1) yield `Line ${line}.\n\n`;
}

/** Makes the last message lower, and, once that has been laid out and before anybody is told that it scrolled, higher than it was. */
const LOWER_AND_HIGHER = `new Promise((done) => {
  const last = [...document.querySelectorAll('.message')].at(-1);
  let times = 0;
  const observer = new ResizeObserver(() => {
    times += 1;
    // The first time it tells what is there.
    if (times === 1) setTimeout(() => Object.assign(last.style, { blockSize: '40px', overflow: 'hidden' }));
    if (times !== 2) return;
    observer.disconnect();
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      last.style.blockSize = '9000px';
      requestAnimationFrame(() => requestAnimationFrame(done));
    };
    port2.postMessage(undefined);
  });
  observer.observe(document.querySelector('.thread'));
})`;

/**
 * Makes the last message a little lower, and, once that has been laid out, much higher, and tells that it scrolled before anybody is
 * told of either. On a busy machine all of that is between two pictures.
 */
const LITTLE_LOWER_AND_HIGHER = `new Promise((done) => {
  const area = document.querySelector('#scroll');
  const { style } = [...document.querySelectorAll('.message')].at(-1);
  style.marginBlockEnd = '-20px';
  area.getBoundingClientRect();
  style.marginBlockEnd = '300px';
  area.dispatchEvent(new Event('scroll'));
  requestAnimationFrame(() => requestAnimationFrame(done));
})`;

/** A chat of 300 messages, each second one with code in it: they become higher once they are near the screen. */
const FILL_WITH_CODE = `new Promise((done) => {
  indexedDB.open('sluice').onsuccess = ({ target: { result: database } }) => {
    const transaction = database.transaction(['chats', 'messages'], 'readwrite');
    const [now, tags] = [Date.now(), []];
    const chat = { id: 'code', title: 'Code', titleBy: 'person', created: now, updated: now, tags, pinned: false, leaf: '299' };
    transaction.objectStore('chats').put(chat);
    const code = '\`\`\`js\\n' + Array.from({ length: 40 }, (_, line) => 'const line = ' + line + ';\\n').join('') + '\`\`\`\\n';
    for (let at = 0; at < 300; at++) {
      const [role, text] = at % 2 === 0 ? ['user', 'Question ' + at + '.'] : ['assistant', code.repeat(2)];
      const parent = at === 0 ? null : String(at - 1);
      const message = { id: String(at), chat: 'code', parent, role, parts: [{ type: 'text', text }], createdAt: now + at, finish: 'stop' };
      transaction.objectStore('messages').put(message);
    }
    transaction.oncomplete = () => {
      database.close();
      done();
    };
  };
})`;

/** Scrolls to the first answer, as by the scroll bar. */
const GO_INTO_FIRST = `(at) => {
  const area = document.querySelector('#scroll');
  const first = document.querySelector('.answer');
  first.scrollIntoView({ block: at === 'end' ? 'end' : 'center', behavior: 'instant' });
  if (at === 'end') area.scrollTop += 100;
}`;

/** Which line of the first answer is in the middle of what is seen, and, where its end is seen, where that is. */
const IN_MIDDLE = `() => {
  const area = document.querySelector('#scroll').getBoundingClientRect();
  const middle = (area.top + area.bottom) / 2;
  const first = document.querySelector('.answer');
  const { top, bottom } = first.getBoundingClientRect();
  if (bottom < area.bottom) return bottom - area.top;
  const text = first.querySelector('.undressed');
  if (text !== null) return ((middle - top) / (bottom - top)) * 1200;
  const line = [...first.querySelectorAll('.markdown p')].find((each) => each.getBoundingClientRect().top >= middle);
  return Number(/[0-9]+/.exec(line.textContent)[0]);
}`;

describe('the place where somebody reads', { skip: withoutBrowser }, () => {
  const { visit } = setStage(() => openGateway(script, ['gpt-4o']));

  test('is the same after a look at the settings or at another chat, and the end where that was seen', async () => {
    await visit(async (page) => {
      for (const question of ['long', 'a', 'b', 'c', 'd', 'long']) await ask(page, question);
      const chat = new URL(page.url()).hash;
      await newChat(page);
      await ask(page, 'another');
      const other = new URL(page.url()).hash;
      const area = page.locator('#scroll');
      const isAtEnd = (): Promise<boolean> =>
        area.evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight < 2);
      await goTo(page, chat);
      // Whoever scrolls before it is shown, in the chat before it, is not in the last answer afterwards.
      await becomes(() => page.locator('.answer').count(), 6);
      await finished(lastAnswer(page));
      await becomes(isAtEnd, true);
      /** Which paragraph is at the top, of which answer, and where. */
      const place = (): Promise<readonly [string, number]> =>
        area.evaluate((node) => {
          const top = node.getBoundingClientRect().top;
          const lines = [...node.querySelectorAll('.markdown p')];
          // What the browser leaves out because it is far away has a place too, but on nobody's screen.
          const first = lines.find(
            (line) => line.getBoundingClientRect().top >= top && line.checkVisibility({ contentVisibilityAuto: true }),
          );
          const answer = [...node.querySelectorAll('.message')].findIndex((each) => each.contains(first ?? null));
          return [`${answer}: ${first?.textContent}`, (first?.getBoundingClientRect().top ?? 0) - top];
        });
      // In the last answer, and in the first one, which is dressed up only when somebody comes there.
      await scrollUp(page, 800);
      for (const where of [/^11: Line [1-9]/, /^1: Line [1-9]/]) {
        for (let times = 0; times < 15 && !where.test((await place())[0]); times += 1) await scrollUp(page, 800);
        const [line, top] = await place();
        assert.match(line, where);
        for (const away of ['#/settings', other, '#/']) {
          await goTo(page, away);
          await page.locator('.chat-list').waitFor();
          await goTo(page, chat);
          await eventually(async () => {
            const [now, at] = await place();
            assert.equal(now, line, `after ${away}`);
            assert.ok(Math.abs(at - top) <= 2, `${at} pixels, and not ${top}, after ${away}`);
          });
          await page.getByRole('button', { name: 'To the end' }).waitFor();
        }
      }
      // What is asked from there is followed to its end.
      await ask(page, 'e');
      await page.getByRole('button', { name: 'To the end' }).waitFor({ state: 'detached' });
      await goTo(page, '#/settings');
      await page.locator('#language').waitFor();
      await goTo(page, chat);
      await page.locator('.question').nth(6).waitFor();
      await becomes(isAtEnd, true);
    });
  });

  test('is the end where a message becomes lower, and then higher', async () => {
    await visit(async (page) => {
      await ask(page, 'long');
      await finished(lastAnswer(page));
      await page.evaluate(LOWER_AND_HIGHER);
      await becomes(
        () => page.locator('#scroll').evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight < 2),
        true,
      );
    });
  });

  test('is the end where a message becomes a little lower and much higher before the page hears of that', async () => {
    await visit(async (page) => {
      await ask(page, 'long');
      const area = page.locator('#scroll');
      const left = (): Promise<number> =>
        area.evaluate((node) => Math.round(node.scrollHeight - node.scrollTop - node.clientHeight));
      await becomes(left, 0);
      // As a touchpad does for a while after the end is reached.
      await area.dispatchEvent('wheel', { deltaY: 100 });
      await page.evaluate(LITTLE_LOWER_AND_HIGHER);
      await becomes(left, 0);
      // Whoever goes up without a wheel is left alone all the same.
      await area.evaluate((node) => {
        node.scrollTop -= 200;
      });
      await page.getByRole('button', { name: 'To the end' }).waitFor();
    });
  });

  test('is the same when an answer is dressed up of which one sees the end, or a part in the middle', async () => {
    await visit(async (page, context) => {
      for (const question of ['book', 'a', 'b', 'c', 'd']) await ask(page, question);
      // As on a slow machine, where an answer is rendered in many parts.
      const session = await context.newCDPSession(page);
      await session.send('Emulation.setCPUThrottlingRate', { rate: 6 });
      for (const at of ['end', 'middle']) {
        await page.reload();
        await finished(lastAnswer(page));
        const first = page.locator('.answer').first();
        await first.locator('.undressed').waitFor();
        await page.evaluate(`(${GO_INTO_FIRST})('${at}')`);
        const before = await page.evaluate<number>(`(${IN_MIDDLE})()`);
        await first.locator('.undressed').waitFor({ state: 'detached' });
        const after = await page.evaluate<number>(`(${IN_MIDDLE})()`);
        assert.ok(Math.abs(after - before) <= 2, `${at}: ${after}, and ${before} before`);
      }
    });
  });

  test('is the first of all messages, or the last, where a key asks for that, whatever grows on the way', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.evaluate(FILL_WITH_CODE);
      await page.reload();
      await page.locator('.chat-list a', { hasText: 'Code' }).click();
      await page.getByText('Question 0.', { exact: true }).waitFor({ state: 'attached' });
      const area = page.locator('#scroll');
      const top = (): Promise<number> => area.evaluate((node) => node.scrollTop);
      await area.press('Home');
      await page.getByText('const line = 39;').first().waitFor();
      await becomes(top, 0);
      await settled(page);
      assert.equal(await top(), 0);
      await area.press('End');
      await becomes(
        () => area.evaluate((node) => Math.round(node.scrollHeight - node.scrollTop - node.clientHeight)),
        0,
      );
      await page.getByRole('button', { name: 'To the end' }).waitFor({ state: 'detached' });
    });
  });

  test('is left alone by an answer that arrives, however slowly a finger goes up to it', async () => {
    await visit(
      async (page, context) => {
        const session = await context.newCDPSession(page);
        const area = page.locator('#scroll');
        const height = (): Promise<number> => area.evaluate((node) => node.scrollHeight);
        const button = page.getByRole('button', { name: 'To the end' });
        await send(page, 'endless');
        await eventually(async () => assert.ok((await height()) > 2000));
        let y = 300;
        const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd') =>
          session.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x: 200, y }] });
        await touch('touchStart');
        for (let step = 0; step < 15 && !(await button.isVisible()); step += 1) {
          // The first few pixels do not count as scrolling.
          y += step < 5 ? 5 : 3;
          await touch('touchMove');
          await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
        }
        await touch('touchEnd');
        await button.waitFor();
        // What was on its way up comes to rest first.
        let before = -1;
        await eventually(async () => {
          const last = before;
          before = await area.evaluate((node) => node.scrollTop);
          const grown = await height();
          await eventually(async () => assert.ok((await height()) > grown + 100));
          assert.equal(before, last);
        });
        await button.click();
        await button.waitFor({ state: 'detached' });
      },
      { hasTouch: true, isMobile: true, viewport: PHONE },
    );
  });

  test('is the same when another tab asks in the same chat, which follows that itself', async () => {
    await visit(async (page, context) => {
      await ask(page, 'long');
      const other = await context.newPage();
      await other.goto(page.url());
      await finished(lastAnswer(other));
      const place = await scrollUp(page, 800);
      await ask(other, 'long');
      await finished(page.locator('.answer').nth(1));
      assert.equal(await page.locator('#scroll').evaluate((node) => node.scrollTop), place);
      await other.getByRole('button', { name: 'To the end' }).waitFor({ state: 'detached' });
      // Nor does it jump when what was asked there goes away again.
      await other.locator('.question').last().hover();
      await other.locator('.question').last().getByRole('button', { name: 'Delete this message' }).click();
      await becomes(() => page.locator('.question').count(), 1);
      assert.equal(await page.locator('#scroll').evaluate((node) => node.scrollTop), place);
      await page.getByRole('button', { name: 'To the end' }).click();
      await ask(other, 'b');
      await page.getByText('You said: b').waitFor();
      await page.getByRole('button', { name: 'To the end' }).waitFor({ state: 'detached' });
      await becomes(
        () => page.locator('#scroll').evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight < 2),
        true,
      );
    });
  });
});
