import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, eventually } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask, button, goTo, newChat, ready, send, settled } from './visit.ts';

const script: VendorScript = ({ prompt }) => ({ text: ['You said: ', prompt] });

describe('memory', { skip: withoutBrowser }, () => {
  const { visit, gateway, sent } = setStage(() => openGateway(script, ['gpt-4o']));

  const userOf = (page: Page): Promise<string> =>
    page.evaluate("JSON.parse(localStorage.getItem('sluice.settings') ?? '{}').user ?? ''");
  const texts = (page: Page): Promise<string[]> => page.locator('.memory-text').allInnerTexts();
  const shows = (page: Page, wanted: readonly string[]): Promise<void> =>
    eventually(async () => assert.deepEqual(await texts(page), wanted));
  /** What is remembered, as the server has it. */
  async function remembered(user: string): Promise<readonly string[]> {
    const answer = await fetch(`${gateway.origin}/backend-api/v2/memory/${user}`);
    return ((await answer.json()) as { results: { memory: string }[] }).results.map(({ memory }) => memory);
  }

  async function add(page: Page, text: string): Promise<void> {
    await page.locator('#memory-new').fill(text);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.locator('.memory-text').getByText(text).waitFor();
  }

  test('is seen, added to, searched, changed and forgotten', async () => {
    await visit(
      async (page) => {
        await page.getByText('Nothing is remembered yet.').waitFor();
        await add(page, 'My boat is called Albatross.');
        await add(page, 'I live in Bergen.');
        await page.getByText('2 statements', { exact: true }).waitFor();
        const user = await userOf(page);
        // At least 128 random bits, 6 a letter.
        assert.match(user, /^u[A-Za-z0-9_-]{32}$/);
        await becomes(() => remembered(user), ['I live in Bergen.', 'My boat is called Albatross.']);
        await page.locator('#memory-search').fill('albatross');
        await page.getByText('1 statement fits').waitFor();
        await becomes(() => texts(page), ['My boat is called Albatross.']);
        await page.locator('#memory-search').fill('submarine');
        await page.getByText('Nothing that is remembered fits.').waitFor();
        await page.locator('#memory-search').fill('');
        await shows(page, ['I live in Bergen.', 'My boat is called Albatross.']);
        await page.getByRole('button', { name: 'Edit “I live in Bergen.”' }).click();
        await page.locator('.memory-editor textarea').fill('I live in Oslo.');
        await page.getByRole('button', { name: 'Save' }).click();
        await shows(page, ['I live in Oslo.', 'My boat is called Albatross.']);
        await page.getByRole('button', { name: 'Forget “My boat is called Albatross.”' }).click();
        await shows(page, ['I live in Oslo.']);
        await becomes(() => remembered(user), ['I live in Oslo.']);
        await page.getByRole('button', { name: 'Undo' }).click();
        await shows(page, ['My boat is called Albatross.', 'I live in Oslo.']);
        await page.reload();
        await shows(page, ['My boat is called Albatross.', 'I live in Oslo.']);
        await page.getByRole('button', { name: 'Forget everything…' }).click();
        const dialog = page.getByRole('dialog', { name: 'Forget everything?' });
        await dialog.getByRole('button', { name: 'Forget everything' }).click();
        await page.getByText('Nothing is remembered yet.').waitFor();
        await becomes(() => remembered(user), []);
      },
      { path: '/#/memory' },
    );
  });

  test('says of a new statement whether it helps to answer', async () => {
    await visit(
      async (page) => {
        await add(page, 'I live in Bergen.');
        await page.getByText('It is remembered, but helps only once you use the memory.').waitFor();
        await page.getByLabel('Use the memory').check();
        await add(page, 'I have a boat.');
        await page.getByText('It is remembered.', { exact: true }).waitFor();
      },
      { path: '/#/memory' },
    );
  });

  test('saving a change by keyboard leads back to the button that began it, not to the one that forgets', async () => {
    await visit(
      async (page) => {
        await add(page, 'I live in Bergen.');
        for (const [name, text] of [
          ['Cancel', 'I live in Bergen.'],
          ['Save', 'I live in Bergen. Or so.'],
        ] as const) {
          await page.locator('.row-actions').getByRole('button', { name: 'Edit' }).press('Enter');
          await page.keyboard.press('End');
          await page.keyboard.type(' Or so.');
          await page.getByRole('button', { name, exact: true }).press('Enter');
          await shows(page, [text]);
          await page
            .locator('.row-actions')
            .getByRole('button', { name: 'Edit' })
            .and(page.locator(':focus'))
            .waitFor();
        }
      },
      { path: '/#/memory' },
    );
  });

  test('more than a page of it', async () => {
    await visit(
      async (page) => {
        await add(page, 'The first one.');
        const user = await userOf(page);
        const items = Array.from({ length: 120 }, (_, index) => ({ role: 'user', content: `Number ${index}` }));
        await fetch(`${gateway.origin}/backend-api/v2/memory/${user}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ items }),
        });
        await page.reload();
        await page.getByText('121 statements').waitFor();
        await becomes(() => page.locator('.memory-text').count(), 50);
        for (const count of [100, 121]) {
          await page.getByRole('button', { name: 'Show more' }).click();
          await eventually(async () => assert.equal(await page.locator('.memory-text').count(), count));
        }
        await becomes(() => page.getByRole('button', { name: 'Show more' }).count(), 0);
      },
      { path: '/#/memory' },
    );
  });

  test('helps to answer once it is on, but not in chats that go without it', async () => {
    await visit(async (page) => {
      await goTo(page, '#/memory');
      await add(page, 'My boat is called Albatross.');
      const user = await userOf(page);
      await goTo(page, '#/');
      await ready(page);
      assert.equal(await page.locator('#use-memory').count(), 0);
      const question = 'What is my boat called?';
      await ask(page, question);
      assert.doesNotMatch(sent(), /Albatross/);
      await goTo(page, '#/memory');
      await page.getByLabel('Use the memory').check();
      await newChat(page);
      await becomes(() => page.locator('#use-memory').getAttribute('aria-pressed'), 'true');
      const request = page.waitForRequest('**/backend-api/v2/conversation');
      await ask(page, question);
      assert.match(sent(), /Albatross/);
      await page.locator('.answer .info').getByText('1 memory used').waitFor();
      // Records of usage get no name that opens the memory.
      const [label = '', body] = [(await request).headers()['x-user'], (await request).postDataJSON()];
      assert.deepEqual([user.startsWith(label), label.length, body.user], [true, 8, user]);
      assert.doesNotMatch(sent(), new RegExp(user));
      const stats = await (await fetch(`${gateway.origin}/backend-api/v2/stats`)).text();
      assert.doesNotMatch(stats, new RegExp(user));
      // Off in this chat, also after a reload; others are as before.
      await page.locator('#use-memory').click();
      await becomes(() => page.locator('#use-memory').getAttribute('aria-pressed'), 'false');
      await ask(page, question);
      assert.doesNotMatch(sent(), /Albatross/);
      await page.reload();
      await page.locator('#use-memory[aria-pressed="false"]').waitFor();
      // Off in the next chat from its first message on, and only there.
      await newChat(page);
      await page.locator('#use-memory[aria-pressed="true"]').click();
      await ask(page, question);
      assert.doesNotMatch(sent(), /Albatross/);
      await becomes(() => page.locator('#use-memory').getAttribute('aria-pressed'), 'false');
      await newChat(page);
      await page.locator('#use-memory[aria-pressed="true"]').waitFor();
      await ask(page, question);
      assert.match(sent(), /Albatross/);
      // Off for all.
      await goTo(page, '#/memory');
      await page.getByLabel('Use the memory').uncheck();
      await newChat(page);
      await ask(page, question);
      assert.doesNotMatch(sent(), /Albatross/);
    });
  });

  test('takes what is said: by a command, by a button, and by itself where that is wished', async () => {
    await visit(async (page) => {
      await goTo(page, '#/memory');
      await page.getByLabel('Use the memory').check();
      const user = await userOf(page);
      await goTo(page, '#/');
      await ready(page);
      await send(page, '/remember I have two cats');
      await page.getByText('It is remembered.').waitFor();
      assert.equal(await page.locator('.question').count(), 0);
      await ask(page, 'I play the violin.');
      assert.deepEqual(await remembered(user), ['I have two cats']);
      await page.locator('.question').hover();
      await page.locator('.question').getByRole('button', { name: 'Remember this' }).click();
      await eventually(async () => assert.deepEqual(await remembered(user), ['I play the violin.', 'I have two cats']));
      await goTo(page, '#/memory');
      await page.getByLabel('Remember what I write').check();
      // It leads to the chat in which it was said.
      await page.locator('main').getByRole('link', { name: 'I play the violin.' }).click();
      await button(page, 'Regenerate').waitFor();
      await ask(page, 'My garden has an oak.');
      await eventually(async () => assert.equal((await remembered(user))[0], 'My garden has an oak.'));
      await page.locator('#use-memory').click();
      await ask(page, 'Nobody shall remember this.');
      await goTo(page, '#/memory');
      await page.locator('.memory-text').first().waitFor();
      await settled(page);
      assert.equal((await remembered(user))[0], 'My garden has an oak.');
    });
  });

  /** Adds a statement, which does not reach the server before this returns and what it gives is called. */
  async function addLate(page: Page, text: string): Promise<() => void> {
    const released = Promise.withResolvers<void>();
    await page.route('**/backend-api/v2/memory/**', async (route) => {
      if (route.request().method() === 'POST') await released.promise;
      await route.continue();
    });
    await page.locator('#memory-new').fill(text);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    return released.resolve;
  }

  test('leaves alone what is written while the statement before it is on its way', async () => {
    await visit(
      async (page) => {
        const release = await addLate(page, 'The first one.');
        await page.locator('#memory-new').fill('The second one.');
        release();
        await shows(page, ['The first one.']);
        assert.equal(await page.locator('#memory-new').inputValue(), 'The second one.');
      },
      { path: '/#/memory' },
    );
  });

  test('shows new words at once, and is changed once, while that is on its way', async () => {
    await visit(
      async (page) => {
        await add(page, 'I like tea.');
        await shows(page, ['I like tea.']);
        const released = Promise.withResolvers<void>();
        const sent: string[] = [];
        await page.route('**/backend-api/v2/memory/**', async (route) => {
          const method = route.request().method();
          if (method !== 'GET') sent.push(method);
          await released.promise;
          await route.continue();
        });
        await page.getByRole('button', { name: 'Edit “I like tea.”' }).click();
        await page.locator('.memory-editor textarea').fill('I like coffee.');
        await page.locator('.memory-editor textarea').press('Tab');
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await shows(page, ['I like coffee.']);
        await page.getByRole('button', { name: 'Forget “I like tea.”' }).click();
        await page.getByRole('button', { name: 'Edit “I like tea.”' }).click();
        await becomes(() => page.locator('.memory-editor').count(), 0);
        released.resolve();
        await settled(page);
        await eventually(async () => assert.deepEqual(await remembered(await userOf(page)), ['I like coffee.']));
        await shows(page, ['I like coffee.']);
        assert.deepEqual(sent, ['POST', 'DELETE']);
      },
      { path: '/#/memory' },
    );
  });

  test('takes a statement once, however often it is sent while it is on its way', async () => {
    await visit(
      async (page) => {
        let count = 0;
        page.on('request', (request) => {
          if (request.method() === 'POST') count += 1;
        });
        const release = await addLate(page, 'The only one.');
        const again = page.getByRole('button', { name: 'Add', exact: true });
        await again.press('Enter');
        await again.click();
        release();
        await shows(page, ['The only one.']);
        await becomes(() => page.locator('#memory-new').inputValue(), '');
        assert.equal(count, 1);
        // Later it is one more.
        await add(page, 'The only one.');
        await shows(page, ['The only one.', 'The only one.']);
      },
      { path: '/#/memory' },
    );
  });

  test('leaves the focus to those who have gone on while a statement is on its way', async () => {
    await visit(
      async (page) => {
        const release = await addLate(page, 'The first one.');
        await page.locator('#memory-search').focus();
        release();
        await shows(page, ['The first one.']);
        await page.locator('#memory-search:focus').waitFor();
        await add(page, 'The second one.');
        await page.locator('#memory-new:focus').waitFor();
      },
      { path: '/#/memory' },
    );
  });

  test('that another tab has forgotten meanwhile can be said in other words, and forgotten', async () => {
    await visit(
      async (page, context) => {
        await add(page, 'I sail.');
        const forgetElsewhere = async (text: string): Promise<void> => {
          const other = await context.newPage();
          await other.goto(page.url());
          await other.getByRole('button', { name: `Forget “${text}”` }).click();
          await other.locator('.memory-text').waitFor({ state: 'detached' });
          await other.close();
        };
        await forgetElsewhere('I sail.');
        await page.getByRole('button', { name: 'Edit “I sail.”' }).click();
        await page.locator('.memory-editor textarea').fill('I row.');
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByText('It was changed.').waitFor();
        await page.getByRole('button', { name: 'Forget “I row.”' }).waitFor();
        await forgetElsewhere('I row.');
        await page.getByRole('button', { name: 'Forget “I row.”' }).click();
        await page.getByText('It is forgotten.').waitFor();
        await shows(page, []);
      },
      { path: '/#/memory' },
    );
  });

  test('says so when the server does not answer', async () => {
    await visit(
      async (page) => {
        await add(page, 'The first one.');
        // Otherwise it is noticed that the server is back.
        await page.route('**/backend-api/v2/version?**', (route) => route.abort());
        let unread = 0;
        await page.route('**/backend-api/v2/memory/**', (route) => {
          if (route.request().method() === 'GET') unread += 1;
          return route.abort();
        });
        await page.locator('#memory-new').fill('Lost?');
        await page.getByRole('button', { name: 'Add', exact: true }).click();
        await page.getByText(/It could not be remembered\. Sluice does not answer/).waitFor();
        await becomes(() => page.locator('#memory-new').inputValue(), 'Lost?');
        const edit = page.getByRole('button', { name: 'Edit “The first one.”' });
        const editor = page.locator('.memory-editor textarea');
        await edit.click();
        await editor.fill('In other words');
        await page.getByRole('button', { name: 'Save' }).click();
        await edit.click();
        await becomes(() => editor.inputValue(), 'In other words');
        await page.getByRole('button', { name: 'Cancel' }).click();
        await page.getByRole('button', { name: 'Forget “The first one.”' }).click();
        await page.getByText(/That did not work\. Sluice does not answer/).waitFor();
        // What did not work is followed by a look at all, which would find the server there again.
        await eventually(async () => assert.equal(unread, 2));
        await page.getByRole('alert').getByText('Sluice does not answer').waitFor();
        await page.unroute('**/backend-api/v2/memory/**');
        await page.getByRole('button', { name: 'Try again' }).click();
        await eventually(async () => assert.equal(await page.getByRole('alert').count(), 0));
        await becomes(() => texts(page), ['The first one.']);
      },
      { path: '/#/memory' },
    );
  });

  test('what was changed, but could not be read anew, is read with the next attempt to change it', async () => {
    await visit(
      async (page) => {
        await add(page, 'I live in Bergen.');
        await add(page, 'I like tea.');
        for (const name of ['Forget “I like tea.”', 'Edit “I live in Bergen.”']) {
          await page.route('**/backend-api/v2/memory/**', (route) =>
            route.request().method() === 'GET' ? route.fulfill({ status: 500 }) : route.continue(),
          );
          await page.getByRole('button', { name }).click();
          const editor = page.locator('.memory-editor textarea');
          if (name.startsWith('Edit')) {
            await editor.fill('I live in Oslo.');
            await page.getByRole('button', { name: 'Save' }).click();
          }
          await page.getByRole('alert').waitFor();
          await page.unroute('**/backend-api/v2/memory/**');
          await page.getByRole('button', { name }).click();
          await page.getByRole('button', { name }).waitFor({ state: 'detached' });
          assert.equal(await page.getByRole('alert').count(), 0);
        }
        await shows(page, ['I live in Oslo.']);
        await becomes(async () => remembered(await userOf(page)), ['I live in Oslo.']);
      },
      { path: '/#/memory' },
    );
  });
});
