import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask, button } from './visit.ts';

const ANSWER = `## Bread

Take some flour and some water and mix the two of them. Then wait for an hour, or better for two of them.

\`\`\`
code is not read
\`\`\`

Bake it.`;

const script: VendorScript = () => ({ text: [ANSWER] });

describe('reading aloud', { skip: withoutBrowser }, () => {
  const { visit } = setStage(() => openGateway(script, ['gpt-4o'], 'Scripted', 'embedded: { enabled: true }'));

  /** The texts that the server was asked to speak, in their order. */
  const spokenIn = (page: Page): string[] => {
    const texts: string[] = [];
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.pathname.startsWith('/backend-api/v2/synthesize/')) texts.push(url.searchParams.get('text') ?? '');
    });
    return texts;
  };
  const begin = async (page: Page): Promise<void> => {
    await page.locator('#providers').waitFor({ state: 'attached' });
    await ask(page, 'How?');
  };

  test('goes sentence by sentence, with the voice of the server, to the end', async () => {
    await visit(async (page) => {
      const texts = spokenIn(page);
      await begin(page);
      await button(page, 'Read aloud').click();
      const bar = page.getByRole('region', { name: 'Reading aloud' });
      await bar.getByText('Sentence 1 of 3').waitFor();
      await bar.getByText('Sentence 2 of 3').waitFor();
      await bar.waitFor({ state: 'detached' });
      assert.equal(texts.length, 3);
      assert.match(texts.join(' '), /^Bread\. Take some flour .* two of them\. .* Bake it\.$/s);
    });
  });

  test('can be paused, resumed and stopped', async () => {
    await visit(async (page) => {
      await begin(page);
      await button(page, 'Read aloud').click();
      const bar = page.getByRole('region', { name: 'Reading aloud' });
      await page.locator('.aloud.is-playing').waitFor();
      await bar.getByRole('button', { name: 'Pause' }).click();
      await page.locator('.aloud.is-paused').waitFor();
      const paused = await bar.innerText();
      assert.match(paused, /Sentence \d of/);
      // Long enough for it to go on, if it did.
      await page.waitForTimeout(500);
      assert.equal(await bar.innerText(), paused);
      await bar.getByRole('button', { name: 'Go on' }).click();
      await page.locator('.aloud.is-playing').waitFor();
      await page.keyboard.press('Control+Shift+s');
      await bar.waitFor({ state: 'detached' });
      // The button of the answer begins and ends as well.
      await button(page, 'Read aloud').click();
      await page.locator('.aloud.is-playing').waitFor();
      await button(page, 'Read aloud').click();
      await bar.waitFor({ state: 'detached' });
    });
  });

  test('says what went wrong', async () => {
    await visit(async (page) => {
      await begin(page);
      await page.route('**/backend-api/v2/synthesize/**', (route) =>
        route.fulfill({ status: 503, json: { error: { message: 'The voice is hoarse', code: 'overloaded' } } }),
      );
      await button(page, 'Read aloud').click();
      await page.getByText('Reading aloud failed. The voice is hoarse').waitFor();
      await becomes(() => page.locator('.aloud').count(), 0);
    });
  });
});
