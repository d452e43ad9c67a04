import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, comesToFit, eventually } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { countMessages, fillDatabase } from './history-chats.ts';
import { setStage } from './stage.ts';
import { ask, finished, goTo, lastAnswer, PHONE, ready, send, settled } from './visit.ts';

const script: VendorScript = ({ prompt }) => {
  if (prompt === 'endless') return { text: endless(), delayMs: 20 };
  // A conversation that is to be named comes as one question.
  if (prompt.includes('unnameable')) return { status: 401, errorMessage: 'Incorrect API key provided' };
  if (prompt.includes('Write a title')) return { text: ['**"Gates', ' of Rome"**\nor so'] };
  return { text: ['You said: ', prompt] };
};

function* endless(): Generator<string> {
  for (;;) yield 'and ';
}

/** Reading which messages a chat has takes until the test says so, and with it the transaction that asked. */
const SLOW_READING = `globalThis.slow = { isOn: false, count: 0 };
  const { getAllKeys } = IDBIndex.prototype;
  IDBIndex.prototype.getAllKeys = function (...wanted) {
    const asked = getAllKeys.apply(this, wanted);
    if (!slow.isOn) return asked;
    slow.count += 1;
    const answer = {};
    const wait = () => {
      if (slow.isOn) this.count('nobody').onsuccess = wait;
      else answer.onsuccess((answer.result = asked.result));
    };
    asked.onsuccess = wait;
    return answer;
  };`;

describe('the history', { skip: withoutBrowser }, () => {
  const { visit, gateway } = setStage(() => openGateway(script, ['gpt-4o']));

  /** Several chats, one question each. */
  const converse = async (page: Page, questions: readonly string[]): Promise<void> => {
    for (const question of questions) {
      await goTo(page, '#/');
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
      await page.locator('#history-search:focus').waitFor();
      await until(page, ['Something about bread', 'Bread and butter', 'Tell me of Crème brûlée']);
      await field.fill('said creme');
      await until(page, ['Tell me of Crème brûlée']);
      await comesToFit(() => page.locator('.history-snippet').innerText(), /You said: Tell me of Crème brûlée/);
      await becomes(() => page.locator('.history-snippet mark').allInnerTexts(), ['said', 'Crème']);
      await becomes(() => page.getByRole('status').filter({ hasText: 'found' }).innerText(), '1 chat found');
      // The button that empties it is no part of its name.
      assert.equal(await page.getByRole('searchbox', { name: 'Search chats', exact: true }).count(), 1);
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
      // Where something was found, its words are in the list as well.
      const said = (words: string) => page.locator('.answer').getByText(`You said: ${words}`);
      await said('Bread and butter').waitFor();
      await page.goBack();
      // And Enter in the field alone, which waits until something is found.
      await field.fill('something');
      await field.press('Enter');
      await said('Something about bread').waitFor();
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
      await finished(lastAnswer(page));
      await goTo(page, '#/history');
      await page.getByLabel('Search chats').fill('said "first words"');
      await page.locator('.history-snippet').click();
      const found = page.getByText('You said: first words');
      await found.waitFor();
      // The last thing that happens: the message that it is in gets the focus.
      await page.locator('[data-message]:focus').filter({ has: found }).waitFor();
      // What is dressed up later may still move it.
      await eventually(async () => {
        const [box, area] = [await found.boundingBox(), await page.locator('#scroll').boundingBox()];
        assert.ok(box !== null && area !== null && box.y >= area.y && box.y < area.y + area.height, 'is in sight');
      });
      assert.equal((await page.locator('#app').boundingBox())?.y, 0);
      await becomes(() => page.getByText('You said: second words').count(), 0);
    });
  });

  test('goes at once to what was said long before in a long chat, and leaves those alone who go on meanwhile', async () => {
    const said = (page: Page) => page.locator('[data-message]').filter({ hasText: 'Here is the Crème brûlée recipe.' });
    const search = async (page: Page): Promise<void> => {
      await goTo(page, '#/history');
      await page.getByLabel('Search chats').fill('brûlée recipe');
      await page.locator('.history-snippet mark').first().waitFor();
      await page.getByLabel('Search chats').press('Enter');
    };
    await visit(async (page) => {
      await ready(page);
      await fillDatabase(page, 5, 400);
      // What a page does when it has nothing else to do is not waited for.
      await page.addInitScript('globalThis.requestIdleCallback = () => 0');
      const thread = Promise.withResolvers<void>();
      await page.route('**/assets/Thread-*.js', async (route) => {
        await thread.promise;
        await route.continue();
      });
      await page.reload();
      await ready(page);
      await search(page);
      await page.locator('#prompt:focus').waitFor();
      await page.keyboard.type('And');
      thread.resolve();
      await said(page).waitFor({ state: 'attached' });
      // The timers of whoever looks for the place are older than this one, and shorter.
      await page.evaluate('new Promise((done) => setTimeout(done, 3_000))');
      await page.keyboard.type(' then?');
      assert.equal(await page.locator('#prompt').inputValue(), 'And then?');
      await search(page);
      await page.locator('[data-message]:focus').filter({ hasText: 'brûlée recipe' }).waitFor();
      await eventually(async () => {
        // The words are in the last line of the message.
        const { y = 0, height = 0 } = (await said(page).boundingBox()) ?? {};
        assert.ok(y + height > 60 && y + height < 720, 'is in sight');
      });
    });
  });

  test('stays at what was found in the middle of a long chat when the messages before it come', async () => {
    await visit(async (page) => {
      await ready(page);
      await fillDatabase(page, 1, 400);
      await page.addInitScript('globalThis.idle = []; globalThis.requestIdleCallback = (run) => idle.push(run)');
      await page.reload();
      await ready(page);
      await goTo(page, '#/history');
      await page.getByLabel('Search chats').fill('"Message 151."');
      await page.locator('.history-snippet mark').first().waitFor();
      await page.getByLabel('Search chats').press('Enter');
      const found = page.locator('[data-message]').filter({ hasText: 'Message 151.' });
      await found.and(page.locator(':focus')).waitFor();
      const isInSight = (): Promise<void> =>
        eventually(async () => {
          const { y = 0, height = 0 } = (await found.boundingBox()) ?? {};
          assert.ok(y + height > 60 && y + height < 720, `is in sight: ${y}`);
        });
      await isInSight();
      const count = (): Promise<number> => page.locator('[data-message]').count();
      assert.ok((await count()) < 300);
      await eventually(async () => {
        await page.evaluate('idle.splice(0).forEach((run) => run())');
        assert.equal(await count(), 400);
      });
      await settled(page);
      await isInSight();
    });
  });

  test('sorts chats into folders and gives them tags, several at once, and takes it back', async () => {
    await visit(async (page) => {
      await converse(page, ['alpha', 'beta', 'gamma']);
      await goTo(page, '#/history');
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
      await goTo(page, '#/history');
      const row = (name: string) => page.locator('.history-row').filter({ hasText: name });
      const menu = async (name: string, item: string): Promise<void> => {
        await row(name).getByRole('button', { name: 'What to do with' }).click();
        await page.getByRole('menuitem', { name: item, exact: true }).click();
      };
      await menu('one', 'Pin');
      await until(page, ['one', 'three', 'two']);
      await menu('two', 'Rename');
      await page.locator('.history .rename:focus').fill('never mind');
      await page.keyboard.press('Escape');
      await until(page, ['one', 'three', 'two']);
      await menu('two', 'Rename');
      await page.locator('.history .rename:focus').fill('zwei');
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
      await page.reload();
      await until(page, ['one', 'three', 'zwei']);
      await page.getByRole('link', { name: 'three' }).last().click();
      await page.getByText('You said: three').waitFor();
    });
  });

  test('keeps what is brought back, however long reading what is to be deleted takes', async () => {
    await visit(async (page) => {
      await page.addInitScript(SLOW_READING);
      await page.reload();
      await converse(page, ['one']);
      await goTo(page, '#/history');
      await page.evaluate('slow.isOn = true');
      await page.locator('.history-row').getByRole('button', { name: 'What to do with' }).click();
      await page.getByRole('menuitem', { name: 'Delete', exact: true }).click();
      await until(page, []);
      await becomes(() => page.evaluate('slow.count > 0'), true);
      await page.getByRole('button', { name: 'Undo' }).click();
      await until(page, ['one']);
      await page.evaluate('slow.isOn = false');
      await becomes(() => countMessages(page), 2);
      await settled(page);
      assert.equal(await countMessages(page), 2);
      await page.reload();
      await until(page, ['one']);
    });
  });

  test('has a chat named by its model', async () => {
    await visit(async (page) => {
      await converse(page, ['unnameable', 'gates']);
      const title = page.locator('.chat-list a');
      for (const [place, wanted] of [
        [0, 'Gates of Rome'],
        [1, 'unnameable'],
      ] as const) {
        await page.getByRole('button', { name: 'What to do with' }).nth(place).click();
        await page.getByRole('menuitem', { name: 'Name by the model' }).click();
        await becomes(() => title.nth(place).innerText(), wanted);
      }
      await page.getByText('The model gave the chat no title. Incorrect API key provided').waitFor();
      // Nothing of it is in the chat.
      await becomes(() => countMessages(page), 4);
    });
  });

  test('deletes everything when that is wanted twice, also what is being answered', async () => {
    await visit(async (page) => {
      await converse(page, ['one', 'two']);
      await goTo(page, '#/');
      await page.locator('#providers').waitFor({ state: 'attached' });
      await send(page, 'endless');
      await lastAnswer(page).getByText('and and').waitFor();
      await goTo(page, '#/history');
      await page.getByRole('button', { name: 'What to do with all chats' }).click();
      await page.getByRole('menuitem', { name: 'Delete all chats' }).click();
      const dialog = page.getByRole('dialog', { name: 'Delete all chats' });
      await dialog.getByRole('button', { name: 'Delete all chats' }).click();
      await page.getByText('All chats were deleted.').waitFor();
      assert.equal(await gateway.upstream.chats.at(-1)?.closed, 'aborted');
      await page.reload();
      await page.getByText('Your chats will be listed here').first().waitFor();
      assert.equal(await countMessages(page), 0);
    });
  });

  test('holds 2,000 chats: few rows at once, and the search looks into all of them', async () => {
    await visit(async (page) => {
      await ready(page);
      await fillDatabase(page, 2_000, 6);
      await goTo(page, '#/history');
      await page.reload();
      await page.getByText('2,000 chats', { exact: true }).waitFor();
      assert.ok((await page.locator('.history-row').count()) < 200);
      assert.ok((await page.locator('.chat-list li').count()) <= 60);
      await becomes(() => page.locator('.chat-list-all').innerText(), 'All chats (2,000)');
      await eventually(async () => {
        await page.locator('.history').evaluate((list) => list.scrollTo(0, list.scrollHeight));
        assert.ok((await page.locator('.history-row').count()) >= 180);
      });
      const field = page.getByLabel('Search chats');
      await field.fill('creme brulee');
      await until(page, ['Chat number 1997 about winter']);
      await becomes(() => page.locator('.history-snippet mark').allInnerTexts(), ['Crème', 'brûlée']);
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
        await goTo(page, '#/history');
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
