import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask, goTo, ready } from './visit.ts';

const script: VendorScript = ({ prompt }) => ({ text: ['You said: ', prompt] });

/** A browser whose database has no room while `isFull`. */
const FULL_DATABASE = `
  const begin = IDBDatabase.prototype.transaction;
  IDBDatabase.prototype.transaction = function (stores, mode, ...rest) {
    if (globalThis.isFull && mode === 'readwrite') throw new DOMException('full', 'QuotaExceededError');
    return begin.call(this, stores, mode, ...rest);
  };`;

/** A browser that takes a second for reading lists of `what`. */
function slowTo(what: 'chats' | 'messages'): string {
  return `
  for (const { prototype } of [IDBObjectStore, IDBIndex]) {
    const read = prototype.getAll;
    prototype.getAll = function (...wanted) {
      const asked = read.apply(this, wanted);
      if ((this.objectStore ?? this).name !== '${what}') return asked;
      const late = {};
      asked.onsuccess = () => setTimeout(() => late.onsuccess(), 1_000, (late.result = asked.result));
      return late;
    };
  }`;
}

describe('what the page keeps', { skip: withoutBrowser }, () => {
  const { visit, sent } = setStage(() => openGateway(script, ['gpt-4o']));

  test('what the database refused goes with the next change', async () => {
    await visit(async (page) => {
      await page.addInitScript(FULL_DATABASE);
      await page.reload();
      await ask(page, 'first');
      await page.evaluate('globalThis.isFull = true');
      // It goes away by itself, maybe before the answer is there.
      const told = page.getByText('This browser refuses to keep anything').waitFor();
      await Promise.all([told, ask(page, 'second')]);
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
      const told = page.getByText('This browser refuses to keep anything').waitFor();
      await Promise.all([told, page.reload()]);
      await goTo(page, '#/prompts');
      await page.locator('#new-prompt').click();
      await page.locator('.prompt-editor textarea').fill('Say it kindly');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('.library-text', { hasText: 'Say it kindly' }).waitFor();
      await page.getByRole('button', { name: 'Delete' }).and(page.locator('li *')).click();
      await becomes(() => page.locator('.library-text').count(), 0);
    });
  });

  for (const what of ['chats', 'messages'] as const) {
    test(`a question waits until the ${what} that it follows were read`, async () => {
      await visit(async (page) => {
        await ask(page, 'first');
        const chat = page.url();
        await page.addInitScript(slowTo(what));
        await page.reload();
        await page.locator('#prompt').fill('second');
        await page.locator('#prompt').press('Enter');
        await becomes(() => page.locator('.question .bubble').allInnerTexts(), ['first', 'second']);
        await page.getByText('You said: second').waitFor();
        assert.equal(page.url(), chat);
        assert.match(sent(), /"first".*"second"/);
      });
    });
  }

  test('drafts of two tabs stay apart, and what one has sent is gone in the other', async () => {
    await visit(async (page, context) => {
      const field = page.locator('#prompt');
      await ask(page, 'first');
      const other = await context.newPage();
      await other.goto(new URL(page.url()).origin);
      await ready(other);
      await field.fill('half a thought');
      await other.locator('#prompt').fill('another one');
      await page.reload();
      await ready(page);
      await becomes(() => field.inputValue(), 'half a thought');
      await other.goto(page.url());
      await becomes(() => other.locator('#prompt').inputValue(), 'half a thought');
      await ask(page, 'half a thought');
      await becomes(() => other.locator('#prompt').inputValue(), '');
      await other.locator('#prompt').pressSequentially('!');
      await page.reload();
      await becomes(() => field.inputValue(), '!');
    });
  });

  test('each tab may begin a chat of its own', async () => {
    await visit(async (page, context) => {
      await ready(page);
      const other = await context.newPage();
      await other.goto(page.url());
      await ready(other);
      await page.locator('#prompt').fill('one');
      await other.locator('#prompt').fill('two');
      await page.locator('#prompt').press('End');
      await page.locator('#prompt').pressSequentially('!');
      await becomes(() => other.locator('#prompt').inputValue(), 'two');
      await becomes(() => page.locator('#prompt').inputValue(), 'one!');
    });
  });

  test('the draft of a chat goes with it, and comes back with it', async () => {
    await visit(async (page) => {
      await ask(page, 'first');
      await page.locator('#prompt').fill('half a thought');
      const kept = (): Promise<number> =>
        page.evaluate(() => Object.values(localStorage).filter((text) => text.includes('half a thought')).length);
      await becomes(kept, 1);
      await page.locator('.chat-list li button').first().click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await becomes(kept, 0);
      await page.getByRole('button', { name: 'Undo' }).click();
      await becomes(() => page.locator('#prompt').inputValue(), 'half a thought');
      await becomes(kept, 1);
    });
  });

  test('another language, chosen in another tab, leaves alone what is being written', async () => {
    await visit(async (page, context) => {
      await ask(page, 'first\n\n```js\ncode\n```');
      await page.locator('.question .edit').click();
      await page.locator('.editor textarea').fill('in other words');
      const other = await context.newPage();
      await other.goto(`${new URL(page.url()).origin}/#/settings`);
      await other.locator('#language').selectOption('de');
      for (const place of ['.message-actions', '.markdown']) {
        await page.locator(`.answer ${place}`).getByRole('button', { name: 'Kopieren', exact: true }).waitFor();
      }
      assert.equal(await page.locator('.editor textarea').inputValue(), 'in other words');
    });
  });
});
