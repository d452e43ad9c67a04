import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { launchChromium, withoutBrowser } from './chromium.ts';
import { eventually } from './eventually.ts';
import { type Gateway, openGateway } from './gateway.ts';
import { countMessages, fillDatabase } from './history-chats.ts';
import { ask, PHONE, ready, type VisitOptions, visit as visitIn } from './visit.ts';

const script: VendorScript = ({ prompt }) => ({ text: ['You said: ', prompt] });

describe('the history', { skip: withoutBrowser }, () => {
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
  const visit = (use: (page: Page, context: BrowserContext) => Promise<void>, options?: VisitOptions): Promise<void> =>
    visitIn(browser, gateway, use, options);

  /** Several chats, one question each. */
  const converse = async (page: Page, questions: readonly string[]): Promise<void> => {
    for (const question of questions) {
      await page.goto(`${gateway.origin}/#/`);
      await page.locator('#providers').waitFor({ state: 'attached' });
      await ask(page, question);
    }
  };
  const until = (page: Page, expected: readonly string[]): Promise<void> =>
    eventually(async () => {
      const titles = await page.locator('.history-title').allInnerTexts();
      assert.deepEqual(
        titles.map((title) => title.trim()),
        expected,
      );
    });

  test('finds chats by what was said in them, and opens them there', async () => {
    await visit(async (page) => {
      await converse(page, ['Tell me of Crème brûlée', 'Bread and butter', 'Something about bread']);
      await page.keyboard.press('Control+k');
      const field = page.getByLabel('Search chats');
      await field.waitFor();
      assert.equal(await field.evaluate((each) => each.matches(':focus')), true);
      await until(page, ['Something about bread', 'Bread and butter', 'Tell me of Crème brûlée']);
      await field.fill('said creme');
      await until(page, ['Tell me of Crème brûlée']);
      assert.match(await page.locator('.history-snippet').innerText(), /You said: Tell me of Crème brûlée/);
      assert.deepEqual(await page.locator('.history-snippet mark').allInnerTexts(), ['said', 'Crème']);
      assert.equal(await page.getByRole('status').filter({ hasText: 'found' }).innerText(), '1 chat found');
      await field.fill('"bread and"');
      await until(page, ['Bread and butter']);
      await field.fill('nowhere');
      await page.getByText('No chat has all of these words.').waitFor();
      await field.press('Escape');
      await until(page, ['Something about bread', 'Bread and butter', 'Tell me of Crème brûlée']);
      // By keyboard alone: down the list, and Enter.
      await field.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.getByText('You said: Bread and butter').waitFor();
      await page.goBack();
      // What changes later is found as well.
      await page.getByLabel('Search chats').fill('pepper');
      await page.getByText('No chat has all').waitFor();
      await page.goBack();
      await page.goForward();
      await converse(page, ['Salt and pepper']);
      await page.keyboard.press('Control+k');
      await until(page, ['Salt and pepper']);
    });
  });

  test('goes to the branch and the place where something was said', async () => {
    await visit(async (page) => {
      await converse(page, ['first words']);
      for (let count = 0; count < 4; count += 1) await ask(page, `more ${'of it '.repeat(100)}`);
      const question = page.locator('.question').first();
      await question.hover();
      await question.getByRole('button', { name: 'Edit' }).click();
      await page.locator('.editor textarea').fill('second words');
      await page.locator('.editor textarea').press('Enter');
      await page.getByText('You said: second words').waitFor();
      await page.waitForTimeout(600);
      await page.goto(`${gateway.origin}/#/history`);
      await page.getByLabel('Search chats').fill('said "first words"');
      await page.locator('.history-snippet').click();
      const found = page.getByText('You said: first words');
      await found.waitFor();
      await page.waitForTimeout(600);
      const [box, area] = [await found.boundingBox(), await page.locator('#scroll').boundingBox()];
      assert.ok(box !== null && area !== null && box.y >= area.y && box.y < area.y + area.height, 'is in sight');
      assert.equal((await page.locator('#app').boundingBox())?.y, 0);
      assert.equal(await page.getByText('You said: second words').count(), 0);
    });
  });

  test('sorts chats into folders and gives them tags, several at once, and takes it back', async () => {
    await visit(async (page) => {
      await converse(page, ['alpha', 'beta', 'gamma']);
      await page.goto(`${gateway.origin}/#/history`);
      await page.getByLabel('Select “alpha”').check();
      await page.getByLabel('Select “gamma”').check();
      await page.getByRole('button', { name: 'Folder and tags' }).click();
      const dialog = page.getByRole('dialog', { name: 'Folder and tags' });
      await dialog.getByLabel('Folder').fill(' Greek   letters ');
      await dialog.getByLabel('Add a tag').fill('old');
      await dialog.getByLabel('Add a tag').press('Enter');
      await dialog.getByLabel('Add a tag').fill('short');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByText('2 chats were changed.').waitFor();
      await page.getByRole('button', { name: 'Clear selection' }).click();
      await page.getByRole('combobox', { name: 'Folder' }).selectOption('Greek letters');
      await until(page, ['gamma', 'alpha']);
      await page.getByRole('combobox', { name: 'Folder' }).selectOption({ label: 'No folder' });
      await until(page, ['beta']);
      await page.getByRole('combobox', { name: 'Folder' }).selectOption({ label: 'All folders' });
      await page.getByRole('button', { name: 'short' }).click();
      await until(page, ['gamma', 'alpha']);
      // In the sidebar the folder opens.
      const folder = page.locator('.chat-folder');
      await eventually(async () => assert.equal(await folder.locator('a').count(), 0));
      await folder.locator('summary').click();
      await eventually(async () => assert.deepEqual(await folder.locator('a').allInnerTexts(), ['gamma', 'alpha']));
      await page.waitForTimeout(500);
      await page.reload();
      await page.getByRole('button', { name: 'old' }).waitFor();
      // One of them loses a tag and its folder.
      await page.locator('.history-row').first().getByRole('button', { name: 'What to do with “gamma”' }).click();
      await page.getByRole('menuitem', { name: 'Folder and tags' }).click();
      await dialog.getByRole('button', { name: 'Remove the tag “old”' }).click();
      await dialog.getByLabel('Folder').fill('');
      await dialog.getByRole('button', { name: 'Save' }).click();
      const facts = page.locator('.history-row').first().locator('.history-fact');
      await eventually(async () => assert.deepEqual(await facts.allInnerTexts(), ['short']));
      await page.getByRole('button', { name: 'Undo' }).click();
      await eventually(async () => assert.deepEqual(await facts.allInnerTexts(), ['Greek letters', 'old', 'short']));
    });
  });

  test('pins, renames and deletes, one or several', async () => {
    await visit(async (page) => {
      await converse(page, ['one', 'two', 'three']);
      await page.goto(`${gateway.origin}/#/history`);
      const row = (name: string) => page.locator('.history-row').filter({ hasText: name });
      const menu = async (name: string, item: string): Promise<void> => {
        await row(name).getByRole('button', { name: 'What to do with' }).click();
        await page.getByRole('menuitem', { name: item, exact: true }).click();
      };
      await menu('one', 'Pin');
      await until(page, ['one', 'three', 'two']);
      await menu('two', 'Rename');
      await page.locator('.history .rename').fill('never mind');
      await page.keyboard.press('Escape');
      await until(page, ['one', 'three', 'two']);
      await menu('two', 'Rename');
      await page.locator('.history .rename').fill('zwei');
      await page.keyboard.press('Enter');
      await until(page, ['one', 'three', 'zwei']);
      await page.getByLabel('Select “zwei”').check();
      await page.getByRole('button', { name: 'Select all' }).click();
      await page.getByText('3 selected').first().waitFor();
      await page.getByRole('toolbar').getByRole('button', { name: 'Delete' }).click();
      await page.getByText('3 chats were deleted.').waitFor();
      await until(page, []);
      await page.getByRole('button', { name: 'Undo' }).click();
      await until(page, ['one', 'three', 'zwei']);
      await page.waitForTimeout(600);
      await page.reload();
      await until(page, ['one', 'three', 'zwei']);
      await page.getByRole('link', { name: 'three' }).last().click();
      await page.getByText('You said: three').waitFor();
    });
  });

  test('deletes everything when that is wanted twice', async () => {
    await visit(async (page) => {
      await converse(page, ['one', 'two']);
      await page.waitForTimeout(500);
      await page.goto(`${gateway.origin}/#/history`);
      await page.getByRole('button', { name: 'What to do with all chats' }).click();
      await page.getByRole('menuitem', { name: 'Delete all chats' }).click();
      const dialog = page.getByRole('dialog', { name: 'Delete all chats' });
      await dialog.getByRole('button', { name: 'Delete all chats' }).click();
      await page.getByText('All chats were deleted.').waitFor();
      await page.waitForTimeout(500);
      await page.reload();
      await page.getByText('Your chats will be listed here').first().waitFor();
      assert.equal(await countMessages(page), 0);
    });
  });

  test('holds 2,000 chats: few rows at once, and the search looks into all of them', async () => {
    await visit(async (page) => {
      await ready(page);
      await fillDatabase(page, 2_000, 6);
      await page.goto(`${gateway.origin}/#/history`);
      await page.reload();
      await page.getByText('2,000 chats', { exact: true }).waitFor();
      assert.ok((await page.locator('.history-row').count()) < 200);
      assert.ok((await page.locator('.chat-list li').count()) <= 60);
      assert.equal(await page.locator('.chat-list-all').innerText(), 'All chats (2,000)');
      await eventually(async () => {
        await page.locator('.history').evaluate((list) => list.scrollTo(0, list.scrollHeight));
        assert.ok((await page.locator('.history-row').count()) >= 180);
      });
      const field = page.getByLabel('Search chats');
      await field.fill('creme brulee');
      await until(page, ['Chat number 1997 about winter']);
      assert.deepEqual(await page.locator('.history-snippet mark').allInnerTexts(), ['Crème', 'brûlée']);
      await field.fill('');
      await field.pressSequentially('stone');
      await page.getByText('chats found').waitFor();
      await eventually(async () => assert.ok((await page.locator('.history-title mark').count()) > 20));
    });
  });

  test('fits on a phone, in the dark, in another language', async () => {
    await visit(
      async (page) => {
        await ready(page);
        await fillDatabase(page, 30, 2);
        await page.goto(`${gateway.origin}/#/history`);
        await page.reload();
        await page.getByText('30 Chats', { exact: true }).waitFor();
        const width = await page.evaluate('document.documentElement.scrollWidth');
        assert.equal(width, PHONE.width);
        await page.locator('.history-check input').first().check();
        await page.getByRole('button', { name: 'Ordner und Schlagwörter' }).click();
        await page.getByRole('dialog', { name: 'Ordner und Schlagwörter' }).waitFor();
      },
      { viewport: PHONE, colorScheme: 'dark', locale: 'de-DE' },
    );
  });
});
