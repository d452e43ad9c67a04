import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, comesToFit } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask, goTo, lastAnswer, PHONE } from './visit.ts';

const script: VendorScript = ({ prompt }) => ({ text: ['You said: ', prompt] });

/** A chat as it was exported where its provider was still there. */
const kept = {
  format: 'sluice-chats',
  version: 1,
  chats: [
    {
      id: 'chat-of-old',
      title: 'From before',
      created: 1_750_000_000_000,
      provider: 'vanished',
      model: 'old-model',
      messages: [
        { id: 'q', parent: null, role: 'user', parts: [{ type: 'text', text: 'Are you there?' }] },
        { id: 'a', parent: 'q', role: 'assistant', parts: [{ type: 'text', text: 'Still.' }], finish: 'stop' },
      ],
    },
  ],
};

async function openKept(page: Page): Promise<void> {
  await goTo(page, '#/history');
  await page.getByRole('button', { name: 'Import chats' }).click();
  const buffer = Buffer.from(JSON.stringify(kept));
  await page.locator('#import-files').setInputFiles([{ name: 'kept.json', mimeType: 'application/json', buffer }]);
  await page.getByRole('dialog').getByText('1 chat imported').waitFor();
  await page.keyboard.press('Escape');
  await goTo(page, '#/chat/chat-of-old');
  await lastAnswer(page).getByText('Still.').waitFor();
}

describe('a chat whose provider is gone', { skip: withoutBrowser }, () => {
  const { visit, gateway } = setStage(() => openGateway(script, ['gpt-4o']));

  test('goes to no other one before somebody chooses it', async () => {
    await visit(async (page) => {
      await openKept(page);
      await comesToFit(() => page.locator('#model').innerText(), /old-model\s+not offered now/);
      await ask(page, 'And now?');
      await comesToFit(() => lastAnswer(page).getByRole('alert').innerText(), /Nobody offers this model/);
      assert.equal(gateway.upstream.chats.length, 0);
      await lastAnswer(page).getByRole('button', { name: 'Choose a model' }).click();
      await page.getByRole('option', { name: 'gpt-4o' }).click();
      await becomes(() => page.locator('#model-name').innerText(), 'gpt-4o');
      await lastAnswer(page).getByRole('button', { name: 'Try again' }).click();
      await lastAnswer(page).getByText('You said: And now?').waitFor();
    });
  });

  test('says so on a phone, too', async () => {
    await visit(
      async (page) => {
        await openKept(page);
        await page.locator('#model').getByText('not offered now').waitFor();
      },
      { viewport: PHONE },
    );
  });
});
