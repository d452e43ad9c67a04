import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import sharp from 'sharp';
import { withoutBrowser } from './chromium.ts';
import { becomes, eventually } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { openScreen, screens, sections } from './screens.ts';
import { answerWith } from './scripted-events.ts';
import { setStage } from './stage.ts';
import { ask, button, goTo, PHONE, ready, send, settled } from './visit.ts';

/** As a window of 1280 × 720 is when everything is shown at twice its size. */
const LOW = { width: 640, height: 360 };
/** What the keyboard of a phone on its side leaves. */
const ABOVE_KEYBOARD = { width: 844, height: 200 };
const NARROW = { width: 320, height: 640 };

/** Waits until all of an element is in the window. */
async function isInside(page: Page, element: Locator): Promise<void> {
  const { width, height } = page.viewportSize() ?? LOW;
  await eventually(async () => {
    const box = await element.boundingBox();
    assert.ok(box !== null && box.x >= 0 && box.y >= 0, JSON.stringify(box));
    assert.ok(box.x + box.width <= width && box.y + box.height <= height, JSON.stringify(box));
  });
}

/** How far what is in the open window reaches beyond it, in pixels. */
function tooWide(page: Page): Promise<number> {
  return page.locator('dialog[open]').evaluate((dialog) => dialog.scrollWidth - dialog.clientWidth);
}

/** Has the browser write in letters of twice the usual size, as people set it who do not see well. */
async function writeLarge(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } });
  await becomes(() => page.evaluate('getComputedStyle(document.documentElement).fontSize'), '32px');
}

/** What reaches beyond the part of the page in which it is, in pixels: the page itself, its screen, and buttons in lists. */
const SIDEWAYS = `(() => {
  const parts = [document.documentElement, ...document.querySelectorAll('main, #scroll, .dialog, .rows')];
  return parts.filter((part) => part.scrollWidth > part.clientWidth).map((part) => part.id || part.className || part.tagName);
})()`;

describe('the layout', { skip: withoutBrowser }, () => {
  const { visit } = setStage(() => openGateway(({ prompt }) => ({ text: [prompt] }), ['gpt-4o', 'plain-model']));

  test('keeps the field for messages in low windows, with many files, and what opens above it', async () => {
    await visit(
      async (page) => {
        await ready(page);
        await page.locator('#prompt').fill('/');
        await isInside(page, page.locator('#slash-menu'));
        const files = Array.from({ length: 12 }, (_, index) => ({
          name: `file-${index}.txt`,
          mimeType: 'text/plain',
          buffer: Buffer.from('text'),
        }));
        await page.locator('#files').setInputFiles(files);
        await page.locator('#attached .is-ready').nth(11).waitFor();
        await page.locator('#prompt').fill('a\nlong\ndraft\nof\nseven\nlines\nhere');
        await isInside(page, page.locator('.composer'));
        // All of them can be reached.
        await page.getByRole('button', { name: 'Remove file-11.txt' }).click();
        await becomes(() => page.locator('#attached li').count(), 11);
      },
      { viewport: LOW },
    );
  });

  test('keeps the question that is being edited in sight above the keyboard of a phone on its side', async () => {
    await visit(
      async (page) => {
        await ask(page, 'a question');
        await page.locator('.question').getByRole('button', { name: 'Edit' }).click();
        const editor = page.locator('.editor textarea');
        await editor.fill('another question');
        await page.setViewportSize(ABOVE_KEYBOARD);
        await editor.scrollIntoViewIfNeeded();
        const hidden = `(() => {
          const [area, field] = ['#scroll', '.editor textarea'].map((each) => document.querySelector(each).getBoundingClientRect());
          return Math.max(0, area.top - field.top) + Math.max(0, field.bottom - area.bottom);
        })()`;
        await becomes(() => page.evaluate(hidden), 0);
        await page.locator('.editor').getByRole('button', { name: 'Cancel' }).click();
        await isInside(page, page.locator('.composer'));
      },
      { viewport: { width: 844, height: 390 }, hasTouch: true },
    );
  });

  test('keeps what a new chat tells within a phone, however long names or letters are', async () => {
    const model = 'a-model-with-a-long-name/instruct-preview-2026-11-28-thinking-extended';
    const label = 'A service with the long name of somebody incorporated';
    const gateway = await openGateway(() => ({ text: [] }), [model], label);
    try {
      await visit(
        async (page) => {
          await ready(page);
          for (const summary of await page.locator('.welcome summary').all()) await summary.click();
          await page.locator('#curl', { hasText: model }).waitFor();
          assert.deepEqual(await page.evaluate(SIDEWAYS), []);
          const wide = () =>
            page.locator('.welcome > *, .card, .card > *, .providers *').evaluateAll((parts, width) => {
              return parts.filter((part) => part.getBoundingClientRect().right > width).map((part) => part.className);
            }, PHONE.width);
          assert.deepEqual(await wide(), []);
          await writeLarge(page);
          await becomes(wide, []);
        },
        { gateway, viewport: PHONE },
      );
    } finally {
      await gateway.close();
    }
  });

  test('shows the chats in low windows, and what is below them', async () => {
    await visit(
      async (page) => {
        await ask(page, 'hello');
        await page.locator('#open-sidebar').click();
        await isInside(page, page.locator('.chat-list a'));
        await page.locator('.sidebar-foot a').last().scrollIntoViewIfNeeded();
        await isInside(page, page.locator('.sidebar-foot a').last());
      },
      { viewport: LOW },
    );
  });

  test('keeps what chooses among models above the list of them in low windows', async () => {
    await visit(
      async (page) => {
        await ready(page);
        await page.locator('#model').click();
        // What comes into the list may move both.
        await eventually(async () => {
          const { y, height } = (await page.locator('.picker-abilities .toggle').first().boundingBox()) ?? {};
          const list = await page.locator('#picker-list').boundingBox();
          assert.ok(y !== undefined && list !== null && y + (height ?? 0) <= list.y, `${y} + ${height} <= ${list?.y}`);
        });
      },
      { viewport: LOW },
    );
  });

  for (const locale of ['en-GB', 'de-DE', 'fr-FR', 'es-ES']) {
    test(`has no window that is wider than a narrow screen, ${locale}`, async () => {
      await visit(
        async (page) => {
          await ready(page);
          await page.keyboard.press('Control+/');
          await page.locator('dialog[open] kbd').first().waitFor();
          assert.equal(await tooWide(page), 0);
          await page.keyboard.press('Escape');
          await page.locator('#setup').click();
          await page.locator('.setup textarea').waitFor();
          assert.equal(await tooWide(page), 0);
          await page.keyboard.press('Escape');
          await goTo(page, '#/presets');
          await page.locator('#new-preset').click();
          await page.locator('.setup textarea').waitFor();
          assert.equal(await tooWide(page), 0);
        },
        { viewport: NARROW, locale },
      );
    });
  }

  test('has long words of titles and tags within windows and the history on a phone', async () => {
    const word = 'Donaudampfschifffahrtsgesellschaftskapitän';
    await visit(
      async (page) => {
        await ask(page, word.repeat(2));
        for (const command of ['folder', 'share']) {
          await page.locator('#prompt').fill(`/${command}`);
          await page.locator('#slash-menu').getByRole('option').first().click();
          await page.locator('dialog[open] .is-primary').waitFor();
          assert.equal(await tooWide(page), 0, command);
          if (command === 'folder') await page.getByLabel('Add a tag').fill(word);
          await page.keyboard.press(command === 'folder' ? 'Enter' : 'Escape');
          if (command === 'folder') await page.getByRole('button', { name: 'Save' }).click();
        }
        await goTo(page, '#/history');
        await isInside(page, page.locator('.history-tags .chip'));
        await isInside(page, page.getByLabel('Search chats'));
        assert.deepEqual(await page.evaluate(SIDEWAYS), []);
      },
      { viewport: PHONE },
    );
  });

  test('has a title of the other direction at the same side of the history as all else', async () => {
    await visit(
      async (page) => {
        await ask(page, 'שלום');
        await openScreen(page, 'history');
        const words = await page.locator('.history-title').boundingBox();
        const link = await page.locator('.history-link').boundingBox();
        assert.ok(words !== null && link !== null && words.x === link.x, JSON.stringify([words, link]));
        assert.ok(words.width < link.width / 2, JSON.stringify([words, link]));
      },
      { viewport: { width: 1280, height: 800 } },
    );
  });

  test('says in the middle and in one colour that nothing is in a list yet', async () => {
    const gateway = await openGateway(() => ({ text: [] }), ['gpt-4o']);
    try {
      await visit(
        async (page) => {
          const parts = `(() => {
            const words = [...document.querySelectorAll('main p')].find((node) =>
              / yet\\b|^No requests|will be listed|^Nothing was/.test(node.textContent));
            const box = words.getBoundingClientRect();
            const main = document.querySelector('.screen-body').getBoundingClientRect();
            const other = document.querySelector('.sidebar-foot a:not([aria-current])');
            return {
              align: getComputedStyle(words).textAlign,
              isMuted: getComputedStyle(words).color === getComputedStyle(other).color,
              isInMiddle: Math.abs(box.x + box.width / 2 - main.x - main.width / 2) < 10,
            };
          })()`;
          for (const screen of [
            'history',
            'prompts',
            'presets',
            'media',
            'memory',
            'dashboard/requests',
            'dashboard',
          ]) {
            await openScreen(page, screen);
            const found = async (): Promise<object> => ({ screen, ...(await page.evaluate<object>(parts)) });
            await becomes<object>(found, { screen, align: 'center', isMuted: true, isInMiddle: true });
          }
        },
        { gateway, viewport: { width: 1280, height: 800 } },
      );
    } finally {
      await gateway.close();
    }
  });

  test('leaves room for both answers of a comparison in low windows', async () => {
    await visit(
      async (page) => {
        await openScreen(page, 'compare');
        await page.locator('#prompt').fill('hello');
        await page.locator('#prompt').press('Enter');
        await page.getByRole('button', { name: 'Go on with this one' }).nth(1).waitFor();
        for (const side of await page.locator('.side-scroll').all()) {
          const { width = 0, height = 0 } = (await side.boundingBox()) ?? {};
          assert.ok(width > 250 && height > 60, `${width} × ${height}`);
        }
      },
      { viewport: LOW },
    );
  });

  for (const [size, viewport] of [
    ['phone', PHONE],
    ['wide', { width: 1280, height: 800 }],
  ] as const) {
    test(`has room for letters of twice the size, ${size}`, async () => {
      await visit(
        async (page) => {
          await ask(page, 'hello');
          await writeLarge(page);
          assert.deepEqual(await page.evaluate(SIDEWAYS), []);
          await isInside(page, button(page, 'Supprimer ce message'));
          await isInside(page, page.locator('.top-bar > :last-child'));
          const { width, height } = (await page.locator('#send').boundingBox()) ?? {};
          assert.ok(width !== undefined && width === height, `${width} = ${height}`);
          await isInside(page, page.locator('#send'));
          // Some letters of the name at least, beside the buttons.
          const name = await page.locator('#model-name').boundingBox();
          assert.ok(name !== null && name.width > 60, `${name?.width}`);
          for (const address of [...screens, ...sections.map((section) => `settings/${section}`)]) {
            await openScreen(page, address);
            assert.deepEqual(await page.evaluate(SIDEWAYS), [], address);
          }
        },
        { viewport, locale: 'fr-FR' },
      );
    });
  }

  test('goes on in the next line in letters of twice the size: what is done with chats, keys, and counted errors', async () => {
    await visit(
      async (page) => {
        await page.route('**/backend-api/v2/stats?**', async (route) => {
          const response = await route.fetch();
          const stats = await response.json();
          const insights = { ...stats.insights, errors: { authentication_failed: 3 } };
          await route.fulfill({ response, json: { ...stats, insights } });
        });
        await ask(page, 'hello');
        await writeLarge(page);
        await openScreen(page, 'history');
        await page.locator('.history-check input').check();
        await isInside(page, page.locator('.selection button').last());
        assert.deepEqual(await page.evaluate(SIDEWAYS), []);
        await page.keyboard.press('Control+/');
        await page.locator('dialog[open] kbd').first().waitFor();
        assert.equal(await tooWide(page), 0);
        await page.keyboard.press('Escape');
        await openScreen(page, 'dashboard');
        await page.locator('.errors code').waitFor();
        assert.deepEqual(await page.evaluate(SIDEWAYS), []);
      },
      { viewport: PHONE, locale: 'fr-FR' },
    );
  });

  for (const locale of ['de-DE', 'fr-FR', 'es-ES']) {
    test(`breaks long words in letters of twice the size: sidebar, parameters and media, ${locale}`, async () => {
      await visit(
        async (page) => {
          const kept = { kind: 'image', mime_type: 'image/png', size: 1_234, url: '/favicon.svg', thumbnail: null };
          const media = [{ ...kept, name: 'a.png', created_at: '2026-11-20T18:00:00Z' }];
          await page.route('**/backend-api/v2/media?**', (route) => route.fulfill({ json: { media, next: null } }));
          await ready(page);
          await writeLarge(page);
          await page.locator('#open-sidebar').click();
          const sidebar = page.locator('.sidebar');
          assert.equal(await sidebar.evaluate((node) => node.scrollWidth - node.clientWidth), 0);
          await page.keyboard.press('Escape');
          await page.locator('#setup').click();
          await page.locator('.setup textarea').waitFor();
          assert.equal(await tooWide(page), 0);
          await page.keyboard.press('Escape');
          await goTo(page, '#/media');
          await page.locator('.tile').first().click();
          await page.locator('.gallery img').waitFor();
          assert.equal(await tooWide(page), 0);
        },
        { viewport: PHONE, locale },
      );
    });
  }

  test('has fields for parameters that are high enough to be hit with a finger', async () => {
    await visit(
      async (page) => {
        await ready(page);
        await page.locator('#setup').click();
        await page.locator('.setup textarea').waitFor();
        const fields = await page.locator('.parameter-head :is(input, select)').all();
        assert.ok(fields.length > 1);
        // WCAG 2.2, 2.5.8
        for (const field of fields) assert.ok(((await field.boundingBox())?.height ?? 0) >= 24);
      },
      { viewport: PHONE },
    );
  });

  test('shows a picture whole, with what can be done with it, however many words it was made by', async () => {
    for (const viewport of [{ width: 1280, height: 800 }, PHONE, LOW]) {
      await visit(
        async (page) => {
          await ready(page);
          const made = sharp({ create: { width: 1024, height: 1024, channels: 3, background: '#246' } });
          const data = (await made.png().toBuffer()).toString('base64');
          await answerWith(page, [
            { type: 'content', content: `![${'A blue square. '.repeat(40)}](data:image/png;base64,${data})` },
            { type: 'finish', finish: { reason: 'stop' } },
          ]);
          await ask(page, 'hello');
          await page.locator('.answer img').click();
          const dialog = page.locator('dialog.viewer');
          await isInside(page, dialog.locator('img'));
          await isInside(page, dialog.getByRole('link', { name: 'Download' }));
        },
        { viewport },
      );
    }
  });

  test('breaks a suggestion that is one long word', async () => {
    await visit(
      async (page) => {
        await ready(page);
        await answerWith(page, [
          { type: 'content', content: 'Well.' },
          { type: 'suggestions', suggestions: ['x'.repeat(200)] },
          { type: 'finish', finish: { reason: 'stop' } },
        ]);
        await ask(page, 'hello');
        const button = page.locator('.suggestions button');
        await button.scrollIntoViewIfNeeded();
        await isInside(page, button);
      },
      { viewport: NARROW },
    );
  });

  test('breaks long names of tools and sources, and long words of what the server has to say', async () => {
    const word = 'x'.repeat(200);
    await visit(
      async (page) => {
        await ready(page);
        await answerWith(page, [
          { type: 'tool_calls', tool_calls: [{ id: 'call', function: { name: word, arguments: '{}' } }] },
          { type: 'content', content: 'Well.' },
          { type: 'log', log: word },
          { type: 'source', source: { url: `https://example.com/${word}`, title: word, text: word } },
          { type: 'finish', finish: { reason: 'stop' } },
        ]);
        await ask(page, 'hello');
        await page.locator('.sources summary').click();
        await page.locator('.sources li').waitFor();
        for (const part of ['.tools', '.server-notes', '.sources']) {
          const beyond = await page.locator(part).evaluate((node) => node.scrollWidth - node.clientWidth);
          assert.equal(beyond, 0, part);
        }
        // Words of several lines have room above them.
        const edge = await page.locator('.tools summary').boundingBox();
        const name = await page.locator('.tools summary > span').first().boundingBox();
        assert.ok(edge !== null && name !== null && name.y - edge.y > 3, `${name?.y} − ${edge?.y}`);
        const [sign, words] = await page.locator('.server-notes li > *').all();
        assert.equal((await sign?.boundingBox())?.y, (await words?.boundingBox())?.y, 'begin in the same line');
      },
      { viewport: PHONE },
    );
  });

  for (const [size, viewport] of [
    ['phone', PHONE],
    ['wide', { width: 1280, height: 800 }],
  ] as const) {
    test(`keeps Undo in one piece beside a long title, ${size}`, async () => {
      await visit(
        async (page) => {
          await answerWith(page, [
            { type: 'title', title: 'a long title '.repeat(20) },
            { type: 'content', content: 'Well.' },
            { type: 'finish', finish: { reason: 'stop' } },
          ]);
          await ask(page, 'hello');
          await page.locator('#prompt').fill('/delete');
          await page.locator('#prompt').press('Enter');
          await page.locator('.toast .link-button').waitFor();
          const lines = await page.evaluate(`(() => {
            const words = document.createRange();
            words.selectNodeContents(document.querySelector('.toast .link-button'));
            return words.getClientRects().length;
          })()`);
          assert.equal(lines, 1);
        },
        { viewport },
      );
    });
  }

  test('has other colours of the system in a menu and a field that are in a line which is shown', async () => {
    await visit(
      async (page) => {
        await ask(page, 'hello');
        const colors = (words: string, ground: string): Promise<readonly string[]> =>
          page.evaluate(`[
            getComputedStyle(document.querySelector(${JSON.stringify(words)})).color,
            getComputedStyle(document.querySelector(${JSON.stringify(ground)})).backgroundColor,
          ]`);
        const differ = async (words: string, ground: string): Promise<void> =>
          eventually(async () => {
            const [of, on] = await colors(words, ground);
            assert.notEqual(of, on, words);
          });
        await page.locator('.chat-list .is-shown .icon-button').click();
        await differ('.chat-list .menu-item span', '.chat-list .menu');
        await differ('.chat-list .is-shown > .icon-button', '.chat-list .is-shown > .icon-button');
        /** Icons have the colour of what they stand beside. */
        const icons: readonly [string, string][] = await page.evaluate(
          `[...document.querySelectorAll('.chat-list .menu-item .icon')].map((icon) => [icon, icon.parentElement].map((each) => getComputedStyle(each).color))`,
        );
        for (const [of, beside] of icons) assert.equal(of, beside);
        await page.getByRole('menuitem', { name: 'Rename' }).click();
        await differ('.rename', '.rename');
        await page.keyboard.press('Escape');
        await page.locator('.chat-list .is-shown > .icon-button').click();
        await page.getByRole('menuitem', { name: 'Folder and tags' }).click();
        await page.getByLabel('Add a tag').fill('red');
        await page.getByLabel('Add a tag').press('Enter');
        await page.locator('.tag').waitFor();
        assert.equal(await page.evaluate("getComputedStyle(document.querySelector('.tag')).borderTopStyle"), 'solid');
      },
      { forcedColors: 'active' },
    );
  });

  test('tells by the colours of the system what is on, marked and shown', async () => {
    const color = (element: Locator): Promise<string> =>
      element.screenshot().then(async (picture) => {
        const { data, info } = await sharp(picture).removeAlpha().raw().toBuffer({ resolveWithObject: true });
        // A point of its background, at the middle of its left edge.
        const at = (Math.floor(info.height / 2) * info.width + 4) * info.channels;
        return data.subarray(at, at + 3).toString('hex');
      });
    await visit(
      async (page) => {
        await ask(page, 'hello');
        await page.route('**/backend-api/v2/conversation', (route) => route.abort());
        await send(page, 'again');
        await page.locator('.error').waitFor();
        for (const part of ['.bubble', '.error']) {
          const style = await page.evaluate(`getComputedStyle(document.querySelector('${part}')).borderTopStyle`);
          assert.equal(style, 'solid', part);
        }
        const differ = async (one: Locator, other: Locator): Promise<void> =>
          eventually(async () => assert.notEqual(await color(one), await color(other)));
        await page.locator('#model').click();
        await differ(page.locator('.picker-row.is-marked'), page.locator('.picker-row:not(.is-marked)').first());
        await page.keyboard.press('Escape');
        await goTo(page, '#/settings');
        await settled(page);
        await differ(page.locator('.switch :checked').first(), page.locator('.switch input:not(:checked)').first());
        await differ(page.locator('.settings-nav [aria-current]'), page.locator('.settings-nav a').last());
        await goTo(page, '#/dashboard');
        await differ(page.locator('.plot-legend i').first(), page.locator('.plot-legend').first());
        const line = page.evaluate<string>(
          "getComputedStyle(document.querySelector('.tabs a:not([aria-current])')).borderBottomColor",
        );
        // That of the background.
        assert.equal(await line, 'rgb(255, 255, 255)');
      },
      { forcedColors: 'active', mayComplain: /ERR_/ },
    );
  });

  test('keeps dates and commands in their order where the page is written from right to left', async () => {
    await visit(async (page) => {
      await ask(page, 'hello');
      await page.evaluate(`localStorage.setItem('sluice.settings', JSON.stringify({ direction: 'rtl' }))`);
      await page.reload();
      await goTo(page, '#/history');
      await page.locator('.history-facts time').waitFor();
      /** Where the first and the last sign of an element stand. */
      const ends = (selector: string): Promise<[number, number]> =>
        page.evaluate(`(() => {
          const { firstChild, lastChild } = document.querySelector('${selector}');
          return [[firstChild, 0], [lastChild, lastChild.length - 1]].map(([words, at]) => {
            const range = new Range();
            range.setStart(words, at);
            range.setEnd(words, at + 1);
            return range.getBoundingClientRect().left;
          });
        })()`);
      const [day, year] = await ends('.history-facts time');
      assert.ok(day < year, `${day} ${year}`);
      await goTo(page, '#/');
      await page.locator('#curl').waitFor({ state: 'attached' });
      assert.equal(await page.evaluate("getComputedStyle(document.querySelector('#curl')).direction"), 'ltr');
      await page.locator('#prompt').fill('/');
      await page.locator('#slash-menu code').first().waitFor();
      const [slash, letter] = await ends('#slash-menu code');
      assert.ok(slash < letter, `${slash} ${letter}`);
      await page.locator('#prompt').fill('');
      await page.keyboard.press('Control+/');
      await page.locator('.shortcuts code').first().waitFor();
      const [first, last] = await ends('.shortcuts code');
      assert.ok(first < last, `${first} ${last}`);
    });
  });

  test('keeps a count before what is counted where the page is written from right to left', async () => {
    await visit(
      async (page) => {
        await page.evaluate(`localStorage.setItem('sluice.settings', JSON.stringify({ direction: 'rtl' }))`);
        await page.reload();
        await ready(page);
        await answerWith(page, [
          { type: 'reasoning', token: 'Hm.' },
          { type: 'content', content: 'Ja.' },
          { type: 'finish', finish: { reason: 'stop' } },
        ]);
        await ask(page, 'hello');
        await page.locator('.reasoning summary').getByText('1 Sekunde nachgedacht').waitFor();
        const [count, word] = await page.evaluate<[number, number]>(`(() => {
          const summary = document.querySelector('.reasoning summary');
          const walker = document.createTreeWalker(summary, NodeFilter.SHOW_TEXT);
          while (!walker.nextNode().data.includes('nachgedacht'));
          return [0, 2].map((at) => {
            const range = new Range();
            range.setStart(walker.currentNode, at);
            range.setEnd(walker.currentNode, at + 1);
            return range.getBoundingClientRect().left;
          });
        })()`);
        assert.ok(count < word, `${count} ${word}`);
      },
      { locale: 'de-DE' },
    );
  });
});

describe('the hints in fields', { skip: withoutBrowser }, () => {
  const { visit } = setStage(() => openGateway(({ prompt }) => ({ text: [prompt] }), ['gpt-4o', 'tts-1']));

  /** Those that are wider than their fields. */
  const CUT = `[...document.querySelectorAll('input[placeholder]')].filter((field) => {
    const { font, paddingLeft, paddingRight } = getComputedStyle(field);
    const context = document.createElement('canvas').getContext('2d');
    context.font = font;
    const room = field.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    return room > 0 && context.measureText(field.placeholder).width > room;
  }).map((field) => field.placeholder)`;

  for (const language of ['en', 'de', 'es', 'fr', 'zh']) {
    test(`can be read whole on phones, in ${language}`, async () => {
      await visit(
        async (page) => {
          await page.evaluate(`localStorage.setItem('sluice.settings', JSON.stringify({ language: '${language}' }))`);
          await page.reload();
          for (const screen of [
            'history',
            'media',
            'memory',
            'dashboard/requests',
            'settings/providers',
            'settings/voices',
          ]) {
            await openScreen(page, screen);
            await page.locator('input[placeholder]').first().waitFor();
            assert.deepEqual(await page.evaluate(CUT), [], screen);
          }
        },
        { viewport: PHONE },
      );
    });
  }

  test('stand at the side where writing begins', async () => {
    await visit(async (page) => {
      await page.evaluate(`localStorage.setItem('sluice.settings', JSON.stringify({ direction: 'rtl' }))`);
      await page.reload();
      await openScreen(page, 'media');
      const direction = (): Promise<string> =>
        page.evaluate("getComputedStyle(document.querySelector('#media-search')).direction");
      assert.equal(await direction(), 'rtl');
      await page.locator('#media-search').fill('boat');
      await becomes(direction, 'ltr');
    });
  });
});
