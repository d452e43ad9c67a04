import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { pdfToMarkdown } from '../../src/documents/pdf/pdf.ts';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, eventually } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { openLine } from './line.ts';
import { answerWith } from './scripted-events.ts';
import { setStage } from './stage.ts';
import { ask, goTo, keepToasts, newChat, PHONE, ready, send, settled } from './visit.ts';

const MANY = 2_000;
const WIDE = { width: 1280, height: 720 };

/** Lets the answer to `slow` end. */
const { promise: slowEnds, resolve: endSlow } = Promise.withResolvers<void>();

const script: VendorScript = ({ prompt }) =>
  prompt === 'slow' ? { text: ['and so on'], afterPiece: () => slowEnds } : { text: ['You said: ', prompt] };

/** Puts a chat with so many messages into the browser's database, as an earlier visit would have left it. */
const seed = `(count) => new Promise((resolve, reject) => {
  const asked = indexedDB.open('sluice');
  asked.onerror = () => reject(asked.error);
  asked.onsuccess = () => {
    const transaction = asked.result.transaction(['chats', 'messages'], 'readwrite');
    transaction.objectStore('chats').put({
      id: 'long', title: 'A long one', titleBy: 'person', created: 1, updated: Date.now(), tags: [], pinned: false,
      leaf: 'm' + (count - 1),
    });
    for (let index = 0; index < count; index += 1) {
      const isAnswer = index % 2 === 1;
      const text = isAnswer ? '## Answer ' + index + '\\n\\n' + 'Some **bold** words. '.repeat(20) + '\\n\\n- one\\n- two' : 'Question ' + index;
      transaction.objectStore('messages').put({
        id: 'm' + index, chat: 'long', parent: index === 0 ? null : 'm' + (index - 1), createdAt: index,
        role: isAnswer ? 'assistant' : 'user', parts: [{ type: 'text', text }], ...(isAnswer && { finish: 'stop' }),
      });
    }
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  };
})`;

describe('the shell', { skip: withoutBrowser }, () => {
  const { visit, gateway } = setStage(() => openGateway(script, ['gpt-4o', 'plain-model']));

  test('shows a conversation of 2,000 messages at its end, and dresses up only what is near', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.evaluate(`(${seed})(${MANY})`);
      await goTo(page, '#/chat/long');
      await page.reload();
      await page.getByText(`Answer ${MANY - 1}`).waitFor();
      await page
        .locator('.message')
        .nth(MANY - 1)
        .waitFor({ state: 'attached' });
      const dressed = (): Promise<number> => page.locator('.message:has(.message-foot)').count();
      assert.ok((await dressed()) < 60, `${await dressed()} of ${MANY} messages are dressed up`);
      const away = (): Promise<number> =>
        page.locator('#scroll').evaluate((area) => area.scrollHeight - area.scrollTop - area.clientHeight);
      // Still at the end after the earlier messages have come.
      await eventually(async () => assert.ok((await away()) < 60));
      // All the way up, as by the scroll bar: what is there gets dressed up, and stays where it is.
      await page.locator('#scroll').evaluate((area) => area.scrollTo({ top: 0 }));
      await page.locator('.message').first().locator('.message-foot').waitFor();
      await page.getByRole('heading', { name: 'Answer 1', exact: true }).waitFor();
      assert.ok((await dressed()) < 200, `${await dressed()} of ${MANY} messages are dressed up`);
      await page.getByRole('button', { name: 'To the end' }).click();
      await page.getByRole('heading', { name: `Answer ${MANY - 1}` }).waitFor();
    });
  });

  test('runs commands from the keyboard', async () => {
    await visit(async (page) => {
      await ask(page, 'hello');
      await page.keyboard.press('Control+b');
      await page.locator('.sidebar').waitFor({ state: 'detached' });
      await page.keyboard.press('Control+b');
      await page.locator('.sidebar').waitFor();
      // Its two buttons hand the focus to each other.
      await page.locator('#close-sidebar').press('Enter');
      await page.locator('#open-sidebar:focus').press('Enter');
      await page.locator('#close-sidebar:focus').waitFor();
      await page.keyboard.press('Control+Shift+O');
      await page.locator('#welcome-title').waitFor();
      await page.locator('#prompt:focus').waitFor();
      await page.keyboard.press('Control+/');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor({ state: 'detached' });
      await page.keyboard.press('Control+Shift+M');
      await page.locator('#picker-search:focus').waitFor();
      await page.keyboard.press('Escape');
      // Back where one was.
      await page.locator('#prompt:focus').waitFor();
    });
  });

  test('windows begin with their first field, and give the focus back to what opened them', async () => {
    await visit(async (page) => {
      await ask(page, 'hello');
      const menu = page.locator('.chat-list li').getByRole('button', { name: 'What to do with' });
      const focused = (label: string): Promise<boolean> =>
        page.evaluate(
          `document.activeElement?.getAttribute('aria-label')?.startsWith(${JSON.stringify(label)}) === true`,
        );
      // The second time the window opens while its menu closes.
      for (const _ of ['loaded', 'known']) {
        await menu.click();
        await page.getByRole('menuitem', { name: 'Folder and tags' }).click();
        await page.locator('.organise').getByLabel('Folder').and(page.locator(':focus')).waitFor();
        await page.keyboard.press('Escape');
        await becomes(() => focused('What to do with'), true);
      }
      for (const _ of ['loaded', 'known']) {
        await page.getByRole('button', { name: 'Instructions and parameters' }).click();
        await page.locator('.setup textarea:focus').waitFor();
        await page.getByRole('button', { name: 'Save as a preset…' }).click();
        await page.locator('.preset-name input:focus').waitFor();
        await page.keyboard.press('Escape');
        await becomes(() => focused('Instructions and parameters'), true);
      }
      // What opened the window is gone with what it did.
      await goTo(page, '#/history');
      await page.getByLabel('Select “').check();
      await page.getByRole('toolbar').getByRole('button', { name: 'Folder and tags' }).click();
      await page.locator('.organise').getByLabel('Folder').waitFor();
      await page.evaluate("document.querySelector('[role=toolbar]').remove()");
      await page.keyboard.press('Escape');
      await page.locator('main:focus').waitFor();
    });
  });

  test('windows are closed by a press beside them, and by none that begins or ends in them', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.keyboard.press('Control+/');
      const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
      const words = await dialog.locator('dt').first().boundingBox();
      assert.ok(words !== null);
      const inside = { x: words.x + 4, y: words.y + 4 };
      const beside = { x: 4, y: 4 };
      const presses = [
        { from: inside, to: beside },
        { from: beside, to: inside },
      ];
      for (const { from, to } of presses) {
        await page.mouse.move(from.x, from.y);
        await page.mouse.down();
        await page.mouse.move(to.x, to.y, { steps: 4 });
        await page.mouse.up();
        await settled(page);
        assert.equal(await dialog.count(), 1);
      }
      await page.mouse.click(beside.x, beside.y);
      await dialog.waitFor({ state: 'detached' });
    });
  });

  test('toasts stand below all that is in a sidebar that lies over the page', async () => {
    await visit(
      async (page) => {
        await ask(page, 'hello');
        await keepToasts(page);
        await page.locator('#open-sidebar').click();
        await page.locator('.chat-list li').getByRole('button', { name: 'What to do with' }).click();
        await page.getByRole('menuitem', { name: 'Delete' }).click();
        const undo = page.locator('.toast').getByRole('button', { name: 'Undo' });
        await undo.waitFor();
        await page.locator('#open-sidebar').click();
        await page.locator('.sidebar').waitFor();
        await eventually(async () => {
          const [box, last] = [
            await page.locator('.toast').boundingBox(),
            await page.locator('.sidebar-foot a').last().boundingBox(),
          ];
          assert.ok(box !== null && last !== null && last.y + last.height <= box.y, JSON.stringify([box, last]));
        });
        await undo.click();
        await page.locator('.question').waitFor();
      },
      { viewport: PHONE },
    );
  });

  test('toasts stand above the field for messages, and can be pressed over a window', async () => {
    await visit(async (page) => {
      await ask(page, 'hello');
      await keepToasts(page);
      await page.locator('#prompt').fill('a\nlong\ndraft\nof\nsix\nlines');
      await page.locator('.chat-list li').getByRole('button', { name: 'What to do with' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      const toast = page.locator('.toast');
      await page.locator('#prompt').fill('a\nlong\ndraft\nof\nsix\nlines');
      const isAbove = async (): Promise<void> => {
        const [box, field] = [await toast.boundingBox(), await page.locator('.composer').boundingBox()];
        assert.ok(box !== null && field !== null && box.y + box.height <= field.y, JSON.stringify([box, field]));
      };
      await eventually(isAbove);
      await page.keyboard.press('Control+/');
      const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
      await sheet.locator('.toast').waitFor();
      assert.equal(await toast.count(), 1);
      await sheet.getByRole('button', { name: 'Undo' }).click();
      await page.locator('.chat-list li').waitFor();
      await page.keyboard.press('Escape');
      await sheet.waitFor({ state: 'detached' });
    });
  });

  for (const viewport of [PHONE, WIDE]) {
    test(`toasts cover nothing of a window on ${viewport.width} pixels`, async () => {
      await visit(
        async (page) => {
          await ask(page, 'hello');
          await keepToasts(page);
          await page.locator('#setup').click();
          const dialog = page.getByRole('dialog');
          const save = dialog.locator('.dialog-actions .button').last();
          await save.waitFor();
          const height = (): Promise<number> => dialog.evaluate((node) => node.clientHeight);
          const before = await height();
          await page.keyboard.press('Escape');
          await dialog.waitFor({ state: 'detached' });
          if (viewport === PHONE) await page.locator('#open-sidebar').click();
          await page.locator('.chat-list li').getByRole('button', { name: 'What to do with' }).click();
          await page.getByRole('menuitem', { name: 'Delete' }).click();
          await page.locator('#setup').click();
          const toast = dialog.locator('.toast');
          await toast.waitFor();
          await eventually(async () => {
            const [window, foot, told] = await Promise.all([dialog, save, toast].map((part) => part.boundingBox()));
            assert.ok(window && foot && told && window.y >= 0, JSON.stringify([window, foot, told]));
            assert.ok(window.y + window.height <= told.y, JSON.stringify([window, told]));
            assert.ok(foot.y + foot.height <= window.y + window.height, JSON.stringify([foot, window]));
          });
          await toast.getByRole('button', { name: 'Close' }).click();
          await becomes(height, before);
          await page.keyboard.press('Escape');
        },
        { viewport },
      );
    });
  }

  test('closes what is closed before it is drawn', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.evaluate(`(async () => {
        document.querySelector('#model').click();
        for (let turn = 0; turn < 10; turn += 1) await undefined;
        // As Escape does.
        document.querySelector('.picker').hidePopover();
      })()`);
      await page.locator('.picker').waitFor({ state: 'detached' });
      await page.locator('#model[aria-expanded="false"]').waitFor();
    });
  });

  test('speaks the language of the browser', async () => {
    for (const [locale, placeholder] of [
      ['de-AT', 'Frag etwas'],
      ['es-MX', 'Pregunta lo que quieras'],
      ['fr-FR', 'Posez votre question'],
      ['zh-CN', '随便问点什么'],
      ['fi-FI', 'Ask anything'],
    ] as const) {
      await visit(
        async (page) => {
          await ready(page);
          await becomes(() => page.locator('#prompt').getAttribute('placeholder'), placeholder);
          await becomes(
            () => page.locator('html').getAttribute('lang'),
            locale === 'fi-FI' ? 'en' : locale.slice(0, 2),
          );
        },
        { locale },
      );
    }
  });

  test('breaks no line before a French question mark', async () => {
    await visit(
      async (page) => {
        await ready(page);
        await becomes(() => page.locator('#welcome-title').textContent(), 'Que voulez-vous savoir\u00a0?');
      },
      { locale: 'fr-FR' },
    );
  });

  test('shows which chats are being answered, and which have new answers', async () => {
    await visit(async (page) => {
      await send(page, 'slow');
      const state = (name: string) => page.locator('.chat-list').getByRole('img', { name });
      await state('An answer is on its way').waitFor();
      await newChat(page);
      await ask(page, 'quick');
      await becomes(() => state('An answer is on its way').count(), 1);
      assert.equal(await state('New answer').count(), 0);
      endSlow();
      await state('New answer').waitFor();
      await becomes(() => state('An answer is on its way').count(), 0);
      await becomes(() => state('New answer').count(), 1);
      await page.reload();
      await state('New answer').waitFor();
      await page.locator('.chat-list a', { hasText: 'slow' }).click();
      await becomes(() => state('New answer').count(), 0);
    });
  });

  test('keeps favourites at the top of the list of models', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.locator('#model').click();
      await page.getByRole('option', { name: 'plain-model' }).hover();
      await page.getByRole('option', { name: 'plain-model' }).locator('.picker-star').click();
      await becomes(
        () =>
          page
            .locator('#picker-list')
            .getByRole('group')
            .evaluateAll((all) => all.map((each) => each.ariaLabel)),
        ['Sluice', 'Favourites', 'Scripted', 'With a key of yours'],
      );
      await page.reload();
      await ready(page);
      await page.locator('#model').click();
      const loved = page.getByRole('group', { name: 'Favourites' }).getByRole('option');
      await becomes(() => loved.count(), 1);
      // By keyboard alone, for the model that is chosen.
      await page.keyboard.press('Escape');
      await page.locator('.picker').waitFor({ state: 'detached' });
      await page.locator('#prompt').fill('/favourite');
      await page.locator('#slash-menu').waitFor();
      await page.locator('#prompt').press('Enter');
      await page.locator('#model').click();
      await becomes(() => loved.count(), 2);
    });
  });

  test('lies over the page on a phone, and gives way', async () => {
    await visit(
      async (page) => {
        await ask(page, 'one');
        await becomes(() => page.locator('.sidebar').count(), 0);
        await page.getByRole('button', { name: 'Show sidebar' }).click();
        await page.locator('#new-chat').click();
        await page.locator('#welcome-title').waitFor();
        await page.locator('.sidebar').waitFor({ state: 'detached' });
        await page.getByRole('button', { name: 'Show sidebar' }).click();
        await page.locator('.chat-list a').click();
        await page.getByText('You said: one').waitFor();
        await page.locator('.sidebar').waitFor({ state: 'detached' });
      },
      { viewport: PHONE, hasTouch: true, isMobile: true },
    );
  });

  test('gives way on a phone also to where one is already', async () => {
    await visit(
      async (page) => {
        await ask(page, 'one');
        const press = async (what: string): Promise<void> => {
          await page.locator('#open-sidebar').click();
          await page.locator(`.sidebar ${what}`).click();
          await page.locator('.sidebar').waitFor({ state: 'detached' });
        };
        await press('.chat-list a');
        await page.getByText('You said: one').waitFor();
        await goTo(page, '#/');
        await press('#new-chat');
        await press('.brand');
        await page.locator('#welcome-title').waitFor();
        await goTo(page, '#/memory');
        await press('[href="#/memory"]');
        await page.locator('#memory-new').waitFor();
        // Back leads to where one was, and to no sidebar.
        await page.goBack();
        await page.locator('#welcome-title').waitFor();
        await becomes(() => page.locator('.sidebar').count(), 0);
      },
      { viewport: PHONE, hasTouch: true, isMobile: true },
    );
  });

  test('is beside the page again in a wide window, whatever a narrow one had to hide', async () => {
    const isKept = (page: Page): Promise<boolean> =>
      page.evaluate(`(JSON.parse(localStorage.getItem('sluice.settings'))?.sidebar ?? true) === true`);
    await visit(
      async (page) => {
        await ask(page, 'one');
        await becomes(() => page.locator('.sidebar').count(), 0);
        assert.ok(await isKept(page));
        await page.setViewportSize(WIDE);
        await page.locator('.sidebar').waitFor();
        await page.setViewportSize(PHONE);
        await page.locator('.sidebar').waitFor({ state: 'detached' });
        // What is opened over the page says nothing about wide windows, neither does closing it.
        await page.locator('#open-sidebar').click();
        await page.locator('#close-sidebar').click();
        await page.locator('.sidebar').waitFor({ state: 'detached' });
        await page.setViewportSize(WIDE);
        await page.reload();
        await page.locator('.sidebar').waitFor();
        // Somebody who hides it in a wide window does not want it in the next one.
        await page.locator('#close-sidebar').click();
        await page.locator('.sidebar').waitFor({ state: 'detached' });
        await page.setViewportSize(PHONE);
        await page.locator('#open-sidebar').click();
        await page.locator('.sidebar').waitFor();
        await page.setViewportSize(WIDE);
        await page.locator('.sidebar').waitFor({ state: 'detached' });
        // It does not come back by itself.
        await page.setViewportSize(PHONE);
        await page.locator('#open-sidebar').waitFor();
        assert.equal(await page.locator('.sidebar').count(), 0);
      },
      { viewport: PHONE },
    );
  });

  test('prints a conversation as a text: all of it, dark on light, and nothing to press', async () => {
    await visit(
      async (page) => {
        await ask(page, `first ${'word '.repeat(3_000)}`);
        await ask(page, 'last');
        await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
        for (const hidden of ['.sidebar', '.composer', '.top-bar', '.message-foot']) {
          await becomes(() => page.locator(hidden).first().isVisible(), false, hidden);
        }
        await becomes(() => page.getByText('You said: last').isVisible(), true);
        // As high as what is in it: paper has no scroll bars.
        await becomes(() => page.locator('#scroll').evaluate((area) => area.scrollHeight - area.clientHeight), 0);
        const whole = await page.locator('html').evaluate((root) => root.scrollHeight);
        assert.ok(whole > 2_000, String(whole));
        await becomes(() => page.evaluate('getComputedStyle(document.documentElement).colorScheme'), 'light');
      },
      { viewport: { width: 800, height: 600 } },
    );
  });

  test('prints all columns of a wide table', async () => {
    await visit(
      async (page) => {
        await ready(page);
        const cells = [...Array.from({ length: 9 }, (_, index) => `word-without-space_${index}`), 'yes'].join(' | ');
        await answerWith(page, [
          { type: 'content', content: `| ${cells} |\n|${'---|'.repeat(10)}\n| ${cells} |` },
          { type: 'finish', finish: { reason: 'stop' } },
        ]);
        await ask(page, 'table');
        await page.emulateMedia({ media: 'print' });
        const beyond = `(() => {
          const { right } = document.querySelector('.markdown').getBoundingClientRect();
          return [...document.querySelectorAll('.markdown td')].filter((cell) => cell.getBoundingClientRect().right > right + 1).length;
        })()`;
        await becomes(() => page.evaluate(beyond), 0);
        const linesOfShort = `(() => {
          const words = document.createRange();
          words.selectNodeContents(document.querySelector('.markdown td:last-child'));
          return words.getClientRects().length;
        })()`;
        assert.equal(await page.evaluate(linesOfShort), 1);
      },
      // A sheet of A4.
      { viewport: { width: 794, height: 1123 } },
    );
  });

  test('prints what is folded, and code to its end', async () => {
    await visit(
      async (page) => {
        await ready(page);
        const rows = Array.from({ length: 400 }, (_, index) => `| row ${index} | x |`).join('\n');
        await answerWith(page, [
          { type: 'reasoning', token: 'Thoughts that are folded.' },
          {
            type: 'content',
            content: `<details>\n<summary>More</summary>\n\nDetails that are folded.\n\n</details>\n\n\`\`\`\n${'x'.repeat(500)}\n\`\`\`\n\n| a | b |\n|---|---|\n${rows}`,
          },
          { type: 'sources', sources: [{ url: 'https://example.org/', title: 'Source that is folded' }] },
          { type: 'finish', finish: { reason: 'stop' } },
        ]);
        await ask(page, Array.from({ length: 80 }, (_, index) => `line ${index}`).join('\n'));
        await page.getByRole('button', { name: 'Show more' }).waitFor();
        await page.locator('tr').last().waitFor({ state: 'attached' });
        const { text } = pdfToMarkdown(await page.pdf());
        for (const words of ['line 79', 'Thoughts that', 'Details that', 'Source that', 'row 399']) {
          assert.ok(text.includes(words), `${words} is not in ${text}`);
        }
        await page.emulateMedia({ media: 'print' });
        assert.equal(await page.evaluate("getComputedStyle(document.querySelector('.bubble')).maskImage"), 'none');
        assert.equal(await page.locator('pre').evaluate((node) => node.scrollWidth - node.clientWidth), 0);
        assert.equal(await page.locator('.screen button:visible').count(), 0);
        await becomes(() => page.evaluate('getComputedStyle(document.documentElement).color'), 'rgb(0, 0, 0)');
        await becomes(
          () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor'),
          'rgb(255, 255, 255)',
        );
      },
      { colorScheme: 'dark' },
    );
  });

  test('shows the names of screens on a phone', async () => {
    await visit(
      async (page) => {
        for (const screen of ['history', 'prompts', 'presets']) {
          await goTo(page, `#/${screen}`);
          await settled(page);
          const cut = await page.locator('.screen-title').evaluate((title) => title.scrollWidth - title.clientWidth);
          assert.ok(cut <= 0, `${screen}: ${cut} pixels are cut off`);
        }
        await becomes(() => page.getByRole('button', { name: 'Neue Voreinstellung' }).isVisible(), true);
      },
      { viewport: PHONE, hasTouch: true, isMobile: true, locale: 'de-DE' },
    );
  });

  test('opens with the link that has the access key, and keeps it out of sight', async () => {
    const locked = await openGateway(script, ['gpt-4o'], 'Scripted', 'key: the-access-key-of-the-test\n');
    try {
      await visit(
        async (page) => {
          await page.waitForURL(`${locked.origin}/`);
          await ask(page, 'open sesame');
          await page.getByText('You said: open sesame').waitFor();
          await page.reload();
          await page.getByText('You said: open sesame').waitFor();
          await settled(page);
          assert.doesNotMatch(await page.content(), /the-access-key/);
          assert.equal(await page.evaluate('document.cookie'), '');
          // Without it nothing is shown, and the page that is open says what to do.
          await page.context().clearCookies();
          assert.equal((await fetch(`${locked.origin}/backend-api/v2/models`)).status, 401);
          await send(page, 'and now?');
          await page.getByText('This server wants its access key').waitFor();
        },
        { gateway: locked, path: '/?key=the-access-key-of-the-test', mayComplain: /401/ },
      );
    } finally {
      await locked.close();
    }
  });

  test('follows an address that changes in the moment in which the page appears', async () => {
    await visit(async (page) => {
      await page.addInitScript(`new MutationObserver((_, observer) => {
          if (document.querySelector('.app') === null) return;
          observer.disconnect();
          location.hash = '#/prompts';
        }).observe(document, { childList: true, subtree: true })`);
      await page.reload();
      await page.locator('#new-prompt').waitFor();
    });
  });

  test('can be installed, and opens without the server', async () => {
    const line = await openLine(gateway);
    await visit(
      async (page) => {
        await ready(page);
        await page.evaluate('navigator.serviceWorker.ready.then(() => undefined)');
        const kept = (await page.evaluate(`(async () => {
          const names = await caches.keys();
          const all = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
          return all.flat().map(({ url }) => new URL(url).pathname);
        })()`)) as string[];
        assert.ok(kept.includes('/') && kept.some((path) => path.endsWith('.js')), kept.join(' '));
        assert.deepEqual(
          kept.filter((path) => !/^\/($|assets\/|favicon\.svg$|manifest\.webmanifest$)/.test(path)),
          [],
        );
        const manifest = await (await page.request.get(`${gateway.origin}/manifest.webmanifest`)).json();
        for (const { src } of manifest.icons) {
          assert.equal((await page.request.get(gateway.origin + src)).status(), 200, src);
        }
        // A screen that was opened once is there afterwards, too.
        await page.evaluate(
          'navigator.serviceWorker.controller ?? new Promise((done) => { navigator.serviceWorker.oncontrollerchange = done; }).then(() => undefined)',
        );
        await goTo(page, '#/prompts');
        await page.locator('#new-prompt').waitFor();
        // They are kept a moment after they came.
        await eventually(async () => assert.deepEqual(await notKept(page), []));
        await goTo(page, '#/');
        line.cut();
        await page.reload();
        await goTo(page, '#/prompts');
        await page.locator('#new-prompt').waitFor();
        // The chats are here anyway, though nobody has looked at all of them yet.
        await goTo(page, '#/history');
        await page.getByLabel('Search chats').fill('nowhere');
        await page.getByText('No chat has all of these words.').waitFor();
        await becomes(() => page.evaluate("document.querySelector('.brand img').naturalWidth > 0"), true);
        await goTo(page, '#/');
        await page.getByText('Sluice does not answer').waitFor();
        await page.locator('#prompt').fill('a draft in the tunnel');
        line.mend();
        await page.evaluate("dispatchEvent(new Event('online'))");
        await page.locator('#providers strong').first().waitFor({ state: 'attached' });
        await becomes(() => page.locator('#prompt').inputValue(), 'a draft in the tunnel');
      },
      { gateway: line, serviceWorkers: 'allow', mayComplain: /ERR_|Failed to (load|fetch)/ },
    ).finally(() => line.close());
  });
});

/** The parts of the page that were loaded since it was opened and are not kept for the time without the server. */
async function notKept(page: Page): Promise<string[]> {
  return (await page.evaluate(`(async () => {
    const loaded = performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname);
    const assets = loaded.filter((path) => path.startsWith('/assets/'));
    const kept = await Promise.all(assets.map((path) => caches.match(path, { ignoreVary: true })));
    return assets.filter((_, index) => kept[index] === undefined);
  })()`)) as string[];
}
