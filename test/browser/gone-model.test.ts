import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, comesToFit } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask, goTo, lastAnswer, PHONE } from './visit.ts';

const script: VendorScript = ({ prompt }) => ({ text: ['You said: ', prompt] });

/** A chat as it was exported where its provider was still there. */
function exported(provider: string, model: string): object {
  return {
    format: 'sluice-chats',
    version: 1,
    chats: [
      {
        id: 'chat-of-old',
        title: 'From before',
        created: 1_750_000_000_000,
        provider,
        model,
        messages: [
          { id: 'q', parent: null, role: 'user', parts: [{ type: 'text', text: 'Are you there?' }] },
          { id: 'a', parent: 'q', role: 'assistant', parts: [{ type: 'text', text: 'Still.' }], finish: 'stop' },
        ],
      },
    ],
  };
}

async function openKept(page: Page, provider = 'vanished', model = 'old-model'): Promise<void> {
  await goTo(page, '#/history');
  await page.getByRole('button', { name: 'Import chats' }).click();
  const buffer = Buffer.from(JSON.stringify(exported(provider, model)));
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

  test('says so on a phone, too, whole however long the name is', async () => {
    await visit(
      async (page) => {
        await openKept(page, 'vanished', 'a-model-with-a-name-that-no-phone-has-room-for');
        const gone = page.locator('#model').getByText('not offered now');
        await gone.waitFor();
        assert.equal(await gone.evaluate((node) => node.scrollWidth - node.clientWidth), 0);
      },
      { viewport: PHONE },
    );
  });
});

describe('a chat on a server that offers nothing', { skip: withoutBrowser }, () => {
  const { visit } = setStage(() => openGateway(script, []));

  test('names no list to choose from, but the way to get a model', async () => {
    await visit(async (page) => {
      await openKept(page);
      await ask(page, 'And now?');
      const box = lastAnswer(page).getByRole('alert');
      await box.getByRole('link', { name: 'Settings → Providers' }).waitFor();
      await comesToFit(() => box.innerText(), /Enter a provider’s key in the settings/);
      assert.equal(await box.getByText('Choose another one').count(), 0);
    });
  });
});

describe('a chat with a provider whose key is in the browser', { skip: withoutBrowser }, () => {
  let upstream: OpenAiUpstream;
  const { visit } = setStage(async () => {
    upstream = await startOpenAiUpstream(script, { models: ['own-model'] });
    return openGateway(script, ['gpt-4o'], 'Scripted', `  groq: { label: Own, baseUrl: '${upstream.baseUrl}' }\n`);
  });
  after(() => upstream?.close());

  /** Opens the chat anew. Returns once the page waits for the list of the provider, with the way to let that come. */
  async function openHeld(page: Page, model: string): Promise<() => void> {
    const gate = Promise.withResolvers<void>();
    await openKept(page, 'groq', model);
    const settings = { keys: { groq: 'my-own-key' }, choice: { provider: 'groq', model } };
    await page.evaluate(`localStorage.setItem('sluice.settings', ${JSON.stringify(JSON.stringify(settings))})`);
    let isAsked = false;
    // Held before the gateway: that waits for a provider for some seconds only.
    await page.route('**/backend-api/v2/models/groq', async (route) => {
      isAsked = true;
      await gate.promise;
      await route.continue();
    });
    await page.reload();
    await lastAnswer(page).getByText('Still.').waitFor();
    // The page asks for it with what it had of the other providers by then.
    await becomes(async () => isAsked, true);
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    return gate.resolve;
  }

  test('has its model as long as nobody knows better, and the next chat too', async () => {
    await visit(async (page) => {
      const letCome = await openHeld(page, 'own-model');
      assert.doesNotMatch(await page.locator('#model').innerText(), /not offered/);
      await goTo(page, '#/');
      await page.locator('#welcome-title').waitFor();
      assert.match(await page.locator('#model').innerText(), /own-model$/);
      letCome();
      await comesToFit(() => page.locator('#model').innerText(), /own-model\s+Own$/);
    });
  });

  test('says that its model is gone once the provider has answered without it', async () => {
    await visit(async (page) => {
      const letCome = await openHeld(page, 'lost-model');
      assert.doesNotMatch(await page.locator('#model').innerText(), /not offered/);
      letCome();
      await comesToFit(() => page.locator('#model').innerText(), /lost-model\s+not offered now$/);
    });
  });
});
