import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { launchChromium, withoutBrowser } from './chromium.ts';
import { eventually } from './eventually.ts';
import { type Gateway, openGateway } from './gateway.ts';
import { ask, PHONE, PIXEL, ready, visit } from './visit.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What the page's own tables list: whoever adds a screen has it looked at here without doing anything. */
function namesIn(file: string): readonly string[] {
  const text = readFileSync(new URL(`../../web/src/views/${file}`, import.meta.url), 'utf8');
  return [...text.matchAll(/\{\s*name: '([\w-]+)'/g)].map(([, name]) => name ?? '');
}

const screens = namesIn('screens.ts');
const sections = namesIn('settings/sections.ts');

/** Parts of screens that have addresses of their own. */
const PARTS: readonly string[] = [...sections.map((name) => `settings/${name}`), 'media/attached', 'media/video'];

const script: VendorScript = ({ prompt }) =>
  prompt.startsWith('draw')
    ? { images: [{ mimeType: 'image/png', data: PIXEL.toString('base64') }] }
    : { text: ['You said: ', prompt] };

/** What axe complains about, in a line each. */
async function violations(page: Page): Promise<readonly string[]> {
  const { violations: found } = (await page.evaluate('axe.run()')) as {
    violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[];
  };
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}: ${node.html.slice(0, 200)} ${node.failureSummary}`),
  );
}

/** Waits until nothing is on its way to the page any more. */
async function settled(page: Page): Promise<void> {
  await page.locator('#app main').first().waitFor();
  await page.waitForLoadState('networkidle');
  await eventually(async () => assert.equal(await page.locator('[aria-busy="true"], .lazy-waiting').count(), 0));
}

/** Opens every screen and every part of one, and has axe look at it. */
async function lookAtAll(page: Page, gateway: Gateway): Promise<Readonly<Record<string, readonly string[]>>> {
  const found: Record<string, readonly string[]> = {};
  for (const address of [...screens, ...PARTS]) {
    await page.goto(`${gateway.origin}/#/${address}`);
    await settled(page);
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
  let browser: Browser;
  let gateway: Gateway;
  before(async () => {
    const more = `  waiting: { kind: anthropic, label: Waiting, baseUrl: 'http://127.0.0.1:1' }
  known: { kind: openai, label: Known by cookies, baseUrl: 'http://127.0.0.1:1/v1', auth: cookies }
embedded: { enabled: true }
`;
    gateway = await openGateway(script, ['gpt-4o', 'plain-model'], 'Scripted', more);
    browser = await launchChromium();
  });
  after(async () => {
    await browser?.close();
    await gateway?.close();
  });

  test('the tables were found', () => {
    for (const name of ['chat', 'history', 'media', 'memory', 'settings']) assert.ok(screens.includes(name), name);
    assert.ok(sections.length >= 6, String(sections));
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [size, viewport, dir] of [
      ['wide', { width: 1280, height: 800 }, 'auto'],
      ['phone', PHONE, 'rtl'],
    ] as const) {
      const options = { colorScheme, viewport, reducedMotion: 'reduce' } as const;

      test(`axe finds nothing on empty screens, ${colorScheme}, ${size}`, async () => {
        await visit(
          browser,
          gateway,
          async (page) => {
            await ready(page);
            await page.evaluate(AXE);
            assert.deepEqual(await lookAtAll(page, gateway), {});
          },
          options,
        );
      });

      test(`axe finds nothing on full screens and windows, ${colorScheme}, ${size}, ${dir}`, async () => {
        await visit(
          browser,
          gateway,
          async (page) => {
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
            await page.goto(`${gateway.origin}/#/memory`);
            await page.locator('#memory-new').fill('My boat is called Albatross.');
            await page.locator('.memory-add button').click();
            await page.locator('.memory-text').first().waitFor();
            await page.evaluate(AXE);
            assert.deepEqual(await lookAtAll(page, gateway), {});
            for (const [name, address, open] of WINDOWS) {
              await page.goto(`${gateway.origin}/#/${address}`);
              await settled(page);
              await open(page);
              await page.locator('dialog[open]').waitFor();
              await settled(page);
              assert.deepEqual(await violations(page), [], name);
              await page.keyboard.press('Escape');
              await page.locator('dialog[open]').waitFor({ state: 'detached' });
            }
          },
          options,
        );
      });
    }
  }
});
