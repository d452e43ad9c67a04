import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, eventually } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask, finished, goTo, lastAnswer, mayAsk, newChat, ready, send } from './visit.ts';

const script: VendorScript = ({ prompt }) =>
  prompt === 'endless' ? { text: words(), delayMs: 10 } : { text: ['You said: ', prompt] };

function* words(): Generator<string> {
  for (let index = 0; ; index += 1) yield `w${index} `;
}

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

/** A browser that gives a chat's messages only when the test says so, as they were when they were asked for. */
const HELD_READING = `
  const held = globalThis.held = [];
  const read = IDBIndex.prototype.getAll;
  IDBIndex.prototype.getAll = function (...wanted) {
    const asked = read.apply(this, wanted);
    if (this.objectStore.name !== 'messages') return asked;
    const late = {};
    asked.onsuccess = () => held.push(() => late.onsuccess((late.result = asked.result)));
    return late;
  };
  globalThis.release = () => { for (const give of held.splice(0)) give(); };`;

/** A browser that cannot read a chat's messages while `isUnreadable`. */
const UNREADABLE = `
  globalThis.isUnreadable = true;
  const read = IDBIndex.prototype.getAll;
  IDBIndex.prototype.getAll = function (...wanted) {
    if (isUnreadable) throw new DOMException('Internal error', 'UnknownError');
    return read.apply(this, wanted);
  };`;

/** A tab that hears words of others, gets what it reads, and gets to what it wants to do a moment later, only when the test says so. */
const LATE_TAB = `
  const late = { isHeld: false, isDeaf: false, isSlow: false, words: 0, heard: [], todo: [] };
  globalThis.late = late;
  const listen = BroadcastChannel.prototype.addEventListener;
  BroadcastChannel.prototype.addEventListener = function (type, listener) {
    listen.call(this, type, (event) => (late.isDeaf ? late.heard.push(() => listener(event)) : listener(event)));
    listen.call(this, type, ({ data }) => (late.words += data.kind === 'chats' ? 1 : 0));
  };
  const get = IDBObjectStore.prototype.get;
  IDBObjectStore.prototype.get = function (key) {
    const asked = get.call(this, key);
    if (!late.isSlow) return asked;
    const answer = {};
    asked.onsuccess = () => late.todo.push(() => answer.onsuccess((answer.result = asked.result)));
    return answer;
  };
  const wait = globalThis.setTimeout;
  globalThis.setTimeout = (work, ...rest) => (late.isHeld ? late.todo.push(work) : wait(work, ...rest));
  late.act = () => {
    late.isHeld = late.isSlow = false;
    for (const work of late.todo.splice(0)) work();
  };
  late.hear = () => {
    late.isDeaf = false;
    for (const word of late.heard.splice(0)) word();
  };`;

/** Looking whether a chat is there takes as long as the page is, from `going.isOn` on, and with it the transaction that looks. */
const GOING = `globalThis.going = { isOn: false, count: 0 };
  const { getKey } = IDBObjectStore.prototype;
  IDBObjectStore.prototype.getKey = function (key) {
    if (!going.isOn) return getKey.call(this, key);
    going.count += 1;
    const wait = () => (this.count('nobody').onsuccess = wait);
    wait();
    return {};
  };`;

/** Comes to its end once all that was to be written so far is. */
const WRITTEN = `new Promise((done) => {
  indexedDB.open('sluice').onsuccess = ({ target: { result } }) => {
    result.transaction(['chats', 'messages'], 'readwrite').oncomplete = () => done(result.close());
  };
})`;

/** How much of each is in the database. */
const KEPT = `new Promise((done) => {
  indexedDB.open('sluice').onsuccess = ({ target: { result } }) => {
    const [chats, messages] = ['chats', 'messages'].map((name) => result.transaction(name).objectStore(name).count());
    messages.onsuccess = () => done({ chats: chats.result, messages: messages.result }, result.close());
  };
})`;

/** Makes a tab a late one, asks there, and returns another one that shows the same chat. */
async function besideLateTab(page: Page, context: BrowserContext): Promise<Page> {
  await page.addInitScript(LATE_TAB);
  await page.reload();
  await ask(page, 'first');
  const other = await context.newPage();
  await other.goto(page.url());
  await finished(lastAnswer(other));
  return other;
}

/** Lets a late tab write what it held back, once what the other one does is done. */
async function actLate(page: Page, other: Page): Promise<void> {
  await other.evaluate(WRITTEN);
  assert.notEqual(await page.evaluate('late.todo.length'), 0);
  await page.evaluate('late.act()');
  await page.evaluate(WRITTEN);
}

/** Does to the first chat of the list what its menu offers. */
async function choose(page: Page, action: 'Pin' | 'Delete'): Promise<void> {
  await page.locator('.chat-list li button').first().click();
  await page.getByRole('menuitem', { name: action }).click();
}

/** Deletes the chat in the other tab, of which the late one hears only after it has written: nothing of it comes back. */
async function deleteBeforeLate(page: Page, other: Page): Promise<void> {
  await choose(other, 'Delete');
  await eventually(async () => assert.notEqual(await page.evaluate('late.heard.length'), 0));
  await actLate(page, other);
  assert.deepEqual(await page.evaluate(KEPT), { chats: 0, messages: 0 });
  await page.evaluate('late.hear()');
  await becomes(() => page.locator('.chat-list li').count(), 0);
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
      await page.getByRole('dialog', { name: 'New prompt' }).getByLabel('Text').fill('Say it kindly');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('.library-text', { hasText: 'Say it kindly' }).waitFor();
      await page.getByRole('button', { name: 'Delete' }).and(page.locator('li *')).click();
      await becomes(() => page.locator('.library-text').count(), 0);
      await goTo(page, '#/media/attached');
      await page.getByRole('alert').getByText('This browser could not read which files were attached.').waitFor();
    });
  });

  test('says of drafts and settings alone that they are not kept where only they find no room', async () => {
    await visit(async (page) => {
      await page.addInitScript(
        "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }",
      );
      await page.reload();
      await ready(page);
      const told = page.getByText('This browser keeps neither unsent text nor changed settings').waitFor();
      await Promise.all([told, page.locator('#prompt').fill('hello')]);
      assert.equal(await page.getByText('This browser refuses to keep anything').count(), 0);
      await page.locator('#prompt').press('Enter');
      await page.getByText('You said: hello').waitFor();
      await page.reload();
      await page.getByText('You said: hello').waitFor();
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

  test('what another tab writes while the messages of a chat are being read', async () => {
    await visit(async (page, context) => {
      await ask(page, 'first');
      const other = await context.newPage();
      await other.addInitScript(HELD_READING);
      await other.goto(page.url());
      await becomes(() => other.evaluate('held.length > 0'), true);
      await ask(page, 'second');
      await page.evaluate(WRITTEN);
      await other.evaluate('release()');
      await becomes(() => other.locator('.question .bubble').allInnerTexts(), ['first', 'second']);
      await other.getByText('You said: second').waitFor();
    });
  });

  test('and says so where it cannot read the messages of a chat, which may be tried again', async () => {
    await visit(async (page) => {
      await ask(page, 'first');
      await mayAsk(page);
      await page.evaluate(WRITTEN);
      await page.addInitScript(UNREADABLE);
      await page.reload();
      const told = page.getByText('This browser could not read the messages of this chat.');
      await told.waitFor();
      await page.locator('#prompt').fill('second');
      await page.locator('#prompt').press('Enter');
      await choose(page, 'Delete');
      await page.locator('.toast').filter({ has: told }).waitFor();
      assert.equal(await page.locator('#prompt').inputValue(), 'second');
      await goTo(page, new URL(page.url()).hash.replace('chat', 'compare'));
      await page.getByRole('main', { name: 'Compare' }).filter({ has: told }).waitFor();
      await page.goBack();
      await page.locator('.missing').filter({ has: told }).waitFor();
      await page.evaluate('globalThis.isUnreadable = false');
      await page.getByRole('button', { name: 'Try again' }).click();
      await lastAnswer(page).getByText('You said: first').waitFor();
      await becomes(() => page.locator('.problem').count(), 0);
      await page.locator('#prompt').press('Enter');
      await lastAnswer(page).getByText('You said: second').waitFor();
    });
  });

  test('no message that was deleted as soon as its chat was read, while an answer runs elsewhere', async () => {
    await visit(async (page) => {
      for (const question of ['first', 'second']) await ask(page, question);
      const chat = new URL(page.url()).hash;
      await newChat(page);
      await send(page, 'endless');
      await page.getByText('w20 ').waitFor();
      // The chat is not read any more.
      await page.reload();
      await page.getByText('w40 ').waitFor();
      await page.evaluate(`new MutationObserver((_, observer) => {
        const buttons = [...document.querySelectorAll('.question [aria-label="Delete this message"]')];
        if (location.hash !== '${chat}' || buttons.length !== 2) return;
        observer.disconnect();
        buttons[0].click();
      }).observe(document.body, { childList: true, subtree: true })`);
      await goTo(page, chat);
      const questions = (): Promise<readonly string[]> => page.locator('.question .bubble').allInnerTexts();
      await becomes(questions, ['second']);
      await page.reload();
      await becomes(questions, ['second']);
      await becomes(() => page.evaluate(KEPT), { chats: 2, messages: 5 });
    });
  });

  test('a chat whose last message is gone is shown to the end of its newest branch', async () => {
    await visit(async (page) => {
      for (const question of ['first', 'second']) await ask(page, question);
      await mayAsk(page);
      await page.evaluate(WRITTEN);
      await page.evaluate(`new Promise((done) => {
        indexedDB.open('sluice').onsuccess = ({ target: { result } }) => {
          const transaction = result.transaction('chats', 'readwrite');
          const chats = transaction.objectStore('chats');
          chats.getAll().onsuccess = ({ target }) => chats.put({ ...target.result[0], leaf: 'gone' });
          transaction.oncomplete = () => done(result.close());
        };
      })`);
      await page.reload();
      await becomes(() => page.locator('.question .bubble').allInnerTexts(), ['first', 'second']);
      await page.getByText('You said: second').waitFor();
    });
  });

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
      await choose(page, 'Delete');
      await becomes(kept, 0);
      await page.getByRole('button', { name: 'Undo' }).click();
      await becomes(() => page.locator('#prompt').inputValue(), 'half a thought');
      await becomes(kept, 1);
    });
  });

  test('what was changed just before the page went, though it still looked whether the chat was there', async () => {
    await visit(async (page) => {
      await page.addInitScript(GOING);
      await page.reload();
      for (const question of ['first', 'second']) await ask(page, question);
      const questions = (): Promise<readonly string[]> => page.locator('.question .bubble').allInnerTexts();
      await mayAsk(page);
      await page.evaluate(WRITTEN);
      await page.evaluate('going.isOn = true');
      await page.locator('.answer').first().getByRole('button', { name: 'Delete this message' }).click();
      await becomes(() => page.evaluate('going.count'), 1);
      await page.locator('.question').first().hover();
      await page.locator('.question').first().getByRole('button', { name: 'Delete this message' }).click();
      await choose(page, 'Pin');
      await page.getByText('Pinned').waitFor();
      await page.reload();
      await becomes(questions, ['second']);
      await becomes(() => page.locator('.answer').count(), 1);
      await page.getByText('Pinned').waitFor();
    });
  });

  test('a chat that was brought back in another tab, though this one is late to hear of it', async () => {
    await visit(async (page, context) => {
      const other = await besideLateTab(page, context);
      await page.evaluate('late.isHeld = true');
      await choose(other, 'Delete');
      await becomes(() => page.locator('.chat-list li').count(), 0);
      await page.evaluate('late.isDeaf = true');
      await other.getByRole('button', { name: 'Undo' }).click();
      await eventually(async () => assert.notEqual(await page.evaluate('late.heard.length'), 0));
      await page.evaluate('late.act()');
      await page.evaluate(WRITTEN);
      await page.evaluate('late.hear()');
      // The other way round: all is over when it hears of the first step.
      await page.evaluate('late.isDeaf = true');
      await choose(other, 'Delete');
      await becomes(() => other.locator('.chat-list li').count(), 0);
      await other.getByRole('button', { name: 'Undo' }).click();
      await becomes(() => other.evaluate(KEPT), { chats: 1, messages: 2 });
      await page.evaluate('late.hear()');
      await becomes(() => page.locator('.chat-list li').count(), 1);
      await page.evaluate(WRITTEN);
      for (const tab of [page, other]) {
        await tab.reload();
        await finished(lastAnswer(tab));
        assert.deepEqual(await tab.locator('.question .bubble').allInnerTexts(), ['first']);
        await becomes(() => tab.locator('.chat-list li').count(), 1);
      }
    });
  });

  test('nothing of a chat that another tab has deleted, though this one still wrote to it', async () => {
    await visit(async (page, context) => {
      await page.addInitScript(LATE_TAB);
      await page.reload();
      await send(page, 'endless');
      await page.getByText('w20 ').waitFor();
      const other = await context.newPage();
      await other.goto(page.url());
      await other.getByText('w40 ').waitFor();
      await page.evaluate('late.isHeld = late.isDeaf = true');
      await deleteBeforeLate(page, other);
      await page.evaluate(WRITTEN);
      assert.deepEqual(await page.evaluate(KEPT), { chats: 0, messages: 0 });
    });
  });

  test('no chat that another tab has deleted, though this one changed it before it heard of that', async () => {
    await visit(async (page, context) => {
      const other = await besideLateTab(page, context);
      await page.locator('.chat-list li button').first().click();
      await page.evaluate('late.isHeld = late.isDeaf = true');
      await page.getByRole('menuitem', { name: 'Pin' }).click();
      await deleteBeforeLate(page, other);
      assert.equal(await other.locator('.chat-list li').count(), 0);
      // Brought back, it is one that may be changed again.
      await other.getByRole('button', { name: 'Undo' }).click();
      await becomes(() => page.locator('.chat-list li').count(), 1);
      await choose(page, 'Pin');
      await becomes(
        () =>
          other
            .locator('.chat-list')
            .innerText()
            .then((text) => /pinned/i.test(text)),
        true,
      );
      await other.reload();
      await finished(lastAnswer(other));
      assert.deepEqual(await other.evaluate(KEPT), { chats: 1, messages: 2 });
    });
  });

  test('no chat that another tab has changed and then deleted, though this one still reads what changed', async () => {
    await visit(async (page, context) => {
      const other = await besideLateTab(page, context);
      await page.evaluate('late.isSlow = true');
      await choose(other, 'Pin');
      await eventually(async () => assert.notEqual(await page.evaluate('late.todo.length'), 0));
      const words = await page.evaluate('late.words');
      await choose(other, 'Delete');
      await eventually(async () => assert.notEqual(await page.evaluate('late.words'), words));
      await page.evaluate('late.act()');
      await becomes(() => page.locator('.chat-list li').count(), 0);
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

  test('no message of a deleted chat once the page is there again, though it went before all were found', async () => {
    await visit(async (page) => {
      await page.addInitScript(GOING);
      await page.reload();
      await ask(page, 'first');
      await mayAsk(page);
      // One that another tab has written, of which this one has not heard.
      await page.evaluate(`new Promise((done) => {
        indexedDB.open('sluice').onsuccess = ({ target: { result } }) => {
          const transaction = result.transaction('messages', 'readwrite');
          const message = { id: 'unheard', chat: location.hash.split('/').at(-1), parent: null, role: 'user', parts: [] };
          transaction.objectStore('messages').put(message);
          transaction.oncomplete = () => done(result.close());
        };
      })`);
      await page.evaluate('going.isOn = true');
      await choose(page, 'Delete');
      await becomes(() => page.evaluate('going.count > 0'), true);
      await page.reload();
      await becomes(() => page.evaluate(KEPT), { chats: 0, messages: 0 });
    });
  });
});
