import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, eventually } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { LISTENS } from './listening.ts';
import { setStage } from './stage.ts';
import { ask, button } from './visit.ts';

const ANSWER = `## Bread

Take some flour and some water and mix the two of them. Then wait for an hour, or better for two of them.

\`\`\`
code is not read
\`\`\`

Bake it.`;

const LONG = Array.from({ length: 50 }, (_, at) => `This is number ${at} of the many sentences in this answer.`);

const script: VendorScript = ({ prompt }) => ({ text: [prompt === 'At length?' ? LONG.join('\n\n') : ANSWER] });

/** Makes known which sound is played, and has each go on until something is done: no sentence ends while a test gets to the button. */
const SOUND = `{
  const { play } = HTMLMediaElement.prototype;
  HTMLMediaElement.prototype.play = function () {
    globalThis.sound = this;
    this.loop = true;
    return play.call(this);
  };
}`;

/** Presses Pause while the first sound is about to begin, of which browsers say that its begin was broken off. */
const PAUSED_AT_ONCE = `{
  const { play } = HTMLMediaElement.prototype;
  HTMLMediaElement.prototype.play = function () {
    const begun = play.call(this);
    if (globalThis.interrupted === undefined) {
      globalThis.interrupted = begun.then(() => 'none', ({ name }) => name);
      document.querySelector('.aloud [aria-label="Pause"]').click();
    }
    return begun;
  };
}`;

/** Notes all that the page says of where it is. */
const SENTENCES = `globalThis.sentences = new Set();
  new MutationObserver(() => {
    const words = document.querySelector('.aloud span[aria-busy]')?.textContent;
    if (words) sentences.add(words);
  }).observe(document.body, { childList: true, subtree: true, characterData: true });`;

/** How long reading may take, in milliseconds. */
const READING_MS = 60_000;

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
  const begin = async (page: Page, question = 'How?'): Promise<void> => {
    await page.locator('#providers').waitFor({ state: 'attached' });
    await ask(page, question);
  };
  const isSilent = (page: Page): Promise<boolean> => page.evaluate('sound.paused');

  test('goes sentence by sentence, with the voice of the server, to the end', async () => {
    await visit(async (page) => {
      const texts = spokenIn(page);
      await begin(page);
      await page.evaluate(SENTENCES);
      await button(page, 'Read aloud').click();
      const all = ['Sentence 1 of 3', 'Sentence 2 of 3', 'Sentence 3 of 3'];
      await eventually(async () => assert.deepEqual(await page.evaluate('[...sentences]'), all), READING_MS);
      await page.locator('.aloud').waitFor({ state: 'detached', timeout: READING_MS });
      assert.equal(texts.length, 3);
      assert.match(texts.join(' '), /^Bread\. Take some flour .* two of them\. .* Bake it\.$/s);
    });
  });

  test('can be paused, resumed and stopped', async () => {
    await visit(async (page) => {
      await page.addInitScript(SOUND);
      await page.reload();
      await begin(page, 'At length?');
      await button(page, 'Read aloud').click();
      const bar = page.getByRole('region', { name: 'Reading aloud' });
      await page.locator('.aloud.is-playing').waitFor();
      await bar.getByRole('button', { name: 'Pause' }).click();
      await page.locator('.aloud.is-paused').waitFor();
      assert.equal(await isSilent(page), true);
      const [, at] = /Sentence (\d+) of 50/.exec(await bar.innerText()) ?? [];
      // That of a sentence that had been said just before.
      await page.evaluate("sound.dispatchEvent(new Event('ended'))");
      await page
        .locator('.aloud.is-paused')
        .getByText(`Sentence ${Number(at) + 1} of 50`)
        .waitFor();
      assert.equal(await isSilent(page), true);
      await bar.getByRole('button', { name: 'Go on' }).click();
      await page.locator('.aloud.is-playing').waitFor();
      await becomes(() => isSilent(page), false);
      await page.keyboard.press('Control+Shift+s');
      await bar.waitFor({ state: 'detached' });
      // The button of the answer begins and ends as well.
      await button(page, 'Read aloud').click();
      await page.locator('.aloud.is-playing').waitFor();
      await button(page, 'Read aloud').click();
      await bar.waitFor({ state: 'detached' });
    });
  });

  test('can be paused in the moment in which a sentence begins', async () => {
    await visit(async (page) => {
      await page.addInitScript(PAUSED_AT_ONCE);
      await page.reload();
      await begin(page, 'At length?');
      await button(page, 'Read aloud').click();
      await page.locator('.aloud.is-paused').waitFor();
      assert.equal(await page.evaluate('interrupted'), 'AbortError');
      await page.getByRole('button', { name: 'Go on' }).click();
      await page.getByText('Sentence 2 of 50').waitFor({ timeout: READING_MS });
    });
  });

  for (const [what, remove] of [
    [
      'its chat',
      async (page: Page) => {
        await page.getByRole('button', { name: 'What to do with' }).first().click();
        await page.getByRole('menuitem', { name: 'Delete' }).click();
      },
    ],
    ['the answer', (page: Page) => button(page, 'Delete this message').click()],
  ] as const) {
    test(`ends when ${what} is deleted`, async () => {
      await visit(async (page) => {
        await page.addInitScript(SOUND);
        await page.reload();
        await begin(page, 'At length?');
        await button(page, 'Read aloud').click();
        await page.locator('.aloud.is-playing').waitFor();
        await remove(page);
        await page.locator('.aloud').waitFor({ state: 'detached' });
        assert.equal(await isSilent(page), true);
      });
    });
  }

  test('is not heard by the microphone, which ends it and is ended by it', async () => {
    await visit(async (page) => {
      await page.addInitScript(SOUND + LISTENS);
      await page.reload();
      await begin(page, 'At length?');
      await button(page, 'Read aloud').click();
      await page.locator('.aloud.is-playing').waitFor();
      const isListening = () => page.locator('#voice').getAttribute('aria-pressed');
      await page.locator('#voice').click();
      await page.locator('.aloud').waitFor({ state: 'detached' });
      assert.equal(await isSilent(page), true);
      await becomes(isListening, 'true');
      await button(page, 'Read aloud').click();
      await page.locator('.aloud.is-playing').waitFor();
      await becomes(isListening, 'false');
      // What is paused is not heard, until it goes on.
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.locator('#voice').click();
      await becomes(isListening, 'true');
      await page.locator('.aloud.is-paused').waitFor();
      await page.getByRole('button', { name: 'Go on' }).click();
      await becomes(isListening, 'false');
      await page.locator('.aloud.is-playing').waitFor();
    });
  });

  test('is not told of on paper', async () => {
    await visit(async (page) => {
      await begin(page, 'At length?');
      await button(page, 'Read aloud').click();
      await page.locator('.aloud.is-playing').waitFor();
      await page.emulateMedia({ media: 'print' });
      await becomes(() => page.locator('.aloud').isVisible(), false);
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
