import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { launchChromium, withoutBrowser } from './chromium.ts';
import { type Gateway, openGateway } from './gateway.ts';
import { openLine } from './line.ts';
import { ask, lastAnswer, send, visit } from './visit.ts';

const WORDS = 300;

const script: VendorScript = ({ prompt }) => {
  if (prompt === 'count') return { text: numbers(WORDS), delayMs: 10 };
  if (prompt === 'endless') return { text: numbers(Number.POSITIVE_INFINITY), delayMs: 10 };
  return { text: ['You said: ', prompt] };
};

function* numbers(most: number): Generator<string> {
  for (let index = 0; index < most; index += 1) yield `w${index} `;
}

const ALL = [...numbers(WORDS)].join('').trim();

/** The whole answer, each word once and in its order. */
async function isWhole(page: Page): Promise<void> {
  await lastAnswer(page).locator('.line').waitFor();
  assert.equal((await lastAnswer(page).locator('.body').innerText()).trim(), ALL);
}

describe('an answer that the server keeps', { skip: withoutBrowser }, () => {
  let browser: Browser;
  let gateway: Gateway;
  before(async () => {
    gateway = await openGateway(script, ['gpt-4o']);
    browser = await launchChromium();
  });
  after(async () => {
    await browser?.close();
    await gateway?.close();
  });

  test('goes on after a reload', async () => {
    await visit(browser, gateway, async (page) => {
      await send(page, 'count');
      await page.getByText('w40 ').waitFor();
      await page.waitForTimeout(400);
      await page.reload();
      await page.getByText('w40 ').waitFor();
      await isWhole(page);
      assert.equal(gateway.upstream.chats.length, 1);
      assert.match(await lastAnswer(page).locator('.info').innerText(), /tokens/);
    });
  });

  test('comes to a second tab as well, which can stop it', async () => {
    await visit(browser, gateway, async (page, context) => {
      await send(page, 'endless');
      await page.getByText('w20 ').waitFor();
      await page.waitForTimeout(500);
      const second = await context.newPage();
      await second.goto(page.url());
      await second.getByText('w60 ').waitFor();
      await second.locator('#send').click();
      await lastAnswer(second).getByText('Stopped.').waitFor();
      await lastAnswer(page).getByText('Stopped.').waitFor();
      assert.equal(await gateway.upstream.chats.at(-1)?.closed, 'aborted');
      await ask(second, 'and on');
      await page.getByText('You said: and on').waitFor();
    });
  });

  test('goes on after the connection was lost', async () => {
    const line = await openLine(gateway);
    try {
      await visit(
        browser,
        line,
        async (page) => {
          await send(page, 'count');
          await page.getByText('w40 ').waitFor();
          line.cut();
          setTimeout(() => line.mend(), 700);
          await page.getByText('The connection was lost').waitFor();
          await isWhole(page);
          assert.equal(await page.getByText('The connection was lost').count(), 0);
          assert.equal(await lastAnswer(page).getByRole('alert').count(), 0);
        },
        { mayComplain: /ERR_|Failed to load/ },
      );
    } finally {
      await line.close();
    }
  });

  test('says so when the server has it no more', async () => {
    await visit(browser, gateway, async (page) => {
      await send(page, 'endless');
      await page.getByText('w20 ').waitFor();
      await page.waitForTimeout(500);
      await page.route('**/backend-api/v2/streams/**', (route) =>
        route.fulfill({ status: 404, json: { error: { message: 'No such stream', code: 'not_found' } } }),
      );
      await page.reload();
      assert.match(await lastAnswer(page).getByRole('alert').innerText(), /no longer has the rest/);
      assert.match(await lastAnswer(page).locator('.body').innerText(), /w0 .*w20/);
    });
  });
});
