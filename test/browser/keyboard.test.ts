import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { withoutBrowser } from './chromium.ts';
import { becomes, PATIENCE_MS } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { finished, keepToasts, lastAnswer, PIXEL, ready } from './visit.ts';

/** More presses of Tab than there is anything to come to. */
const MOST = 100;

/** Goes on with Tab until that has the focus which fits the selector, and can be seen to have it. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let count = 0; count < MOST; count += 1) {
    await page.keyboard.press('Tab');
    if ((await page.locator(selector).and(page.locator(':focus-visible')).count()) > 0) return;
  }
  assert.fail(`Tab does not come to ${selector}`);
}

describe('the keyboard alone', { skip: withoutBrowser }, () => {
  const { visit, gateway, sent } = setStage(() =>
    openGateway(({ prompt }) => ({ text: ['You said: ', prompt] }), ['gpt-4o', 'plain-model']),
  );

  test('is enough to choose a model, attach a file, ask, write anew, and delete and bring back', async () => {
    await visit(async (page) => {
      await ready(page);
      await tabTo(page, '#model');
      await page.keyboard.press('Enter');
      await page.locator('#picker-search:focus').waitFor();
      await page.keyboard.type('plain');
      await page.getByRole('option', { name: 'plain-model' }).waitFor();
      await page.keyboard.press('Enter');
      // Early: what hears of it has to be there when the key is pressed.
      const chooser = page.waitForEvent('filechooser', { timeout: 2 * PATIENCE_MS });
      await becomes(async () => /plain-model/.test(await page.locator('#model').innerText()), true);
      await page.locator('#prompt:focus').waitFor();

      await tabTo(page, '#attach');
      await page.keyboard.press('Enter');
      await (await chooser).setFiles({ name: 'pixel.png', mimeType: 'image/png', buffer: PIXEL });
      await page.locator('#attached .is-ready').waitFor();
      await tabTo(page, '#prompt');
      await page.keyboard.type('first');
      await page.keyboard.press('Enter');
      await finished(lastAnswer(page));
      assert.equal(gateway.upstream.chats.at(-1)?.images, 1);
      assert.match(sent(), /plain-model/);

      await tabTo(page, '.question .edit');
      await page.keyboard.press('Enter');
      await page.locator('.editor textarea:focus').waitFor();
      await page.keyboard.type(' and second');
      await page.keyboard.press('Enter');
      await lastAnswer(page).getByText('You said: first and second').waitFor();
      await finished(lastAnswer(page));

      await keepToasts(page);
      await tabTo(page, '.chat-list li button');
      await page.keyboard.press('Enter');
      await page.getByRole('menu').waitFor();
      const isOnDelete = (): Promise<number> =>
        page.getByRole('menuitem', { name: 'Delete' }).and(page.locator(':focus')).count();
      for (let count = 0; count < MOST && (await isOnDelete()) === 0; count += 1)
        await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.locator('#welcome-title').waitFor();
      await page.getByRole('button', { name: 'Undo' }).waitFor();
      await tabTo(page, '.toast button');
      await page.keyboard.press('Enter');
      await lastAnswer(page).getByText('You said: first and second').waitFor();
    });
  });
});
