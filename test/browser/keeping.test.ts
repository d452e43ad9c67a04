import { describe, test } from 'node:test';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask, goTo } from './visit.ts';

const script: VendorScript = ({ prompt }) => ({ text: ['You said: ', prompt] });

/** A browser whose database has no room while `isFull`. */
const FULL_DATABASE = `
  const begin = IDBDatabase.prototype.transaction;
  IDBDatabase.prototype.transaction = function (stores, mode, ...rest) {
    if (globalThis.isFull && mode === 'readwrite') throw new DOMException('full', 'QuotaExceededError');
    return begin.call(this, stores, mode, ...rest);
  };`;

describe('what the page keeps', { skip: withoutBrowser }, () => {
  const { visit } = setStage(() => openGateway(script, ['gpt-4o']));

  test('what the database refused goes with the next change', async () => {
    await visit(async (page) => {
      await page.addInitScript(FULL_DATABASE);
      await page.reload();
      await ask(page, 'first');
      await page.evaluate('globalThis.isFull = true');
      await ask(page, 'second');
      await page.getByText('This browser refuses to keep anything').waitFor();
      await page.evaluate('globalThis.isFull = false');
      await ask(page, 'third');
      await page.reload();
      await becomes(() => page.locator('.question .bubble').allInnerTexts(), ['first', 'second', 'third']);
      await becomes(() => page.locator('.answer').count(), 3);
    });
  });

  test('nothing where the browser refuses, and says so; what is written stays until the page is closed', async () => {
    await visit(async (page) => {
      await page.addInitScript("indexedDB.open = () => { throw new DOMException('blocked', 'SecurityError'); }");
      await page.reload();
      await page.getByText('This browser refuses to keep anything').waitFor();
      await goTo(page, '#/prompts');
      await page.locator('#new-prompt').click();
      await page.locator('.prompt-editor textarea').fill('Say it kindly');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('.library-text', { hasText: 'Say it kindly' }).waitFor();
      await page.getByRole('button', { name: 'Delete' }).and(page.locator('li *')).click();
      await becomes(() => page.locator('.library-text').count(), 0);
    });
  });
});
