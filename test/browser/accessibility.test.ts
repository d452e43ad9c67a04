import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { violations } from './axe.ts';
import { withoutBrowser } from './chromium.ts';
import { openGateway } from './gateway.ts';
import { openScreen, screens, sections } from './screens.ts';
import { setStage } from './stage.ts';
import { ask, goTo, PHONE, PIXEL, ready, settled } from './visit.ts';

/** Parts of screens that have addresses of their own. */
const PARTS: readonly string[] = [...sections.map((name) => `settings/${name}`), 'media/attached', 'media/video'];

const script: VendorScript = ({ prompt }) =>
  prompt.startsWith('draw')
    ? { images: [{ mimeType: 'image/png', data: PIXEL.toString('base64') }] }
    : { text: ['You said: ', prompt] };

/** Opens every screen and every part of one, and has axe look at it. */
async function lookAtAll(page: Page): Promise<Readonly<Record<string, readonly string[]>>> {
  const found: Record<string, readonly string[]> = {};
  for (const address of [...screens, ...PARTS]) {
    await openScreen(page, address);
    const complaints = await violations(page);
    if (complaints.length > 0) found[address] = complaints;
  }
  return found;
}

/** Windows over a screen: where they open, and how. */
const WINDOWS: readonly (readonly [name: string, address: string, open: (page: Page) => Promise<void>])[] = [
  ['shortcuts', 'chat', (page) => page.keyboard.press('Control+/')],
  ['key', 'settings/providers', (page) => page.getByRole('button', { name: 'Enter key: Waiting' }).click()],
  ['delete all', 'settings/data', (page) => page.getByRole('button', { name: 'Delete everything…' }).click()],
  ['import', 'settings/data', (page) => page.getByRole('button', { name: 'Import chats…' }).click()],
  ['forget all', 'memory', (page) => page.getByRole('button', { name: 'Forget everything…' }).click()],
  ['viewer', 'media', (page) => page.locator('.tile').first().click()],
  ['document', 'media/attached', (page) => page.locator('.tile').last().click()],
];

describe('every screen is for everyone', { skip: withoutBrowser }, () => {
  const more = `  waiting: { kind: anthropic, label: Waiting, baseUrl: 'http://127.0.0.1:1' }
  known: { kind: openai, label: Known by cookies, baseUrl: 'http://127.0.0.1:1/v1', auth: cookies }
embedded: { enabled: true }
`;
  const { visit } = setStage(() => openGateway(script, ['gpt-4o', 'plain-model'], 'Scripted', more));

  test('the tables were found', () => {
    for (const name of ['chat', 'history', 'media', 'memory', 'settings']) assert.ok(screens.includes(name), name);
    assert.ok(sections.length >= 6, String(sections));
  });

  test('what has files chosen is there once', async () => {
    await visit(async (page) => {
      await ready(page);
      assert.equal(await page.getByRole('button', { name: 'Attach files' }).count(), 1);
      await openScreen(page, 'settings/cookies');
      assert.equal(await page.getByRole('button', { name: 'Choose a file' }).count(), 1);
    });
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [size, viewport, dir] of [
      ['wide', { width: 1280, height: 800 }, 'auto'],
      ['phone', PHONE, 'rtl'],
    ] as const) {
      const options = { colorScheme, viewport, reducedMotion: 'reduce' } as const;

      test(`axe finds nothing on empty screens, ${colorScheme}, ${size}`, async () => {
        await visit(async (page) => {
          await ready(page);
          assert.deepEqual(await lookAtAll(page), {});
        }, options);
      });

      test(`axe finds nothing on full screens and windows, ${colorScheme}, ${size}, ${dir}`, async () => {
        await visit(async (page) => {
          await ready(page);
          const settings = { memory: true, user: `u-accessibility-${colorScheme}`, direction: dir };
          await page.evaluate(`localStorage.setItem('sluice.settings', ${JSON.stringify(JSON.stringify(settings))})`);
          await page.reload();
          await ready(page);
          await page.locator('#files').setInputFiles([
            { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('It was cold.') },
            { name: 'pixel.png', mimeType: 'image/png', buffer: PIXEL },
          ]);
          await page.locator('#attached .is-ready').nth(1).waitFor();
          await ask(page, 'draw something');
          await goTo(page, '#/memory');
          await page.locator('#memory-new').fill('My boat is called Albatross.');
          await page.locator('.memory-add button').click();
          await page.locator('.memory-text').first().waitFor();
          assert.deepEqual(await lookAtAll(page), {});
          for (const [name, address, open] of WINDOWS) {
            await openScreen(page, address);
            await open(page);
            await page.locator('dialog[open]').waitFor();
            await settled(page);
            assert.deepEqual(await violations(page), [], name);
            await page.keyboard.press('Escape');
            await page.locator('dialog[open]').waitFor({ state: 'detached' });
          }
        }, options);
      });
    }
  }
});
