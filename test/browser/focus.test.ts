import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, comesToFit } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask, button, finished, goTo, lastAnswer, newChat, PHONE, ready, send } from './visit.ts';

const script: VendorScript = ({ prompt }) =>
  prompt === 'endless' ? { text: endless(), delayMs: 100 } : { text: ['You said: ', prompt] };

function* endless(): Generator<string> {
  for (;;) yield 'and ';
}

/** The name of what has the focus. */
function focused(page: Page): Promise<string> {
  return page.evaluate(`(() => {
    const { id, ariaLabel, textContent, tagName } = document.activeElement;
    return id !== '' ? '#' + id : (ariaLabel ?? (tagName === 'BODY' ? 'nothing' : textContent));
  })()`);
}

async function press(element: Locator): Promise<void> {
  await element.focus();
  await element.press('Enter');
}

describe('the focus', { skip: withoutBrowser }, () => {
  const { visit } = setStage(() => openGateway(script, ['gpt-4o', 'plain-model']));

  test('stays near a message that is made anew, edited or deleted', async () => {
    await visit(async (page) => {
      await ask(page, 'one');
      await ask(page, 'two');
      await press(button(page, 'Regenerate'));
      await becomes(() => focused(page), '#prompt');
      await lastAnswer(page).getByText('2/2').waitFor();
      // Nothing else is sent while an answer is on its way.
      await finished(lastAnswer(page));
      await press(button(page, 'Previous version'));
      await lastAnswer(page).getByText('1/2').waitFor();
      await becomes(() => focused(page), 'Next version');
      await press(button(page, 'Edit the answer'));
      await becomes(() => page.locator('.editor textarea').count(), 1);
      await page.keyboard.press('Escape');
      await becomes(() => focused(page), 'Edit the answer');
      await press(page.locator('.question .edit').last());
      await page.keyboard.press('Escape');
      await becomes(() => focused(page), 'Edit');
      await press(button(page, 'Delete this message'));
      await becomes(() => focused(page), 'Delete this message');
      await send(page, 'endless');
      await lastAnswer(page).getByText('and and').waitFor();
      await press(page.getByRole('button', { name: 'Stop' }));
      await becomes(() => focused(page), '#prompt');
    });
  });

  test('is in the message field where there is no pointer at all, and a screen that has it is not framed', async () => {
    await visit(async (page) => {
      await page.addInitScript(() => {
        const { matchMedia } = globalThis as unknown as { matchMedia(query: string): { matches: boolean } };
        Object.assign(globalThis, {
          matchMedia: (query: string) =>
            new Proxy(matchMedia(query), {
              get: (list, name) => {
                if (name === 'matches' && query.includes('pointer')) return false;
                const value = Reflect.get(list, name, list);
                return typeof value === 'function' ? value.bind(list) : value;
              },
            }),
        });
      });
      await page.reload();
      await ready(page);
      await becomes(() => focused(page), '#prompt');
      await page.keyboard.type('one');
      await page.keyboard.press('Enter');
      await lastAnswer(page).getByText('You said: one').waitFor();
      assert.equal(await focused(page), '#prompt');
      await goTo(page, '#/media');
      await page.locator('main:focus-visible').waitFor();
      assert.equal(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'none');
    });
  });

  test('goes to the neighbour of what is taken out of a list', async () => {
    await visit(async (page) => {
      await ready(page);
      const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from('text') });
      await page.locator('#files').setInputFiles([file('a.txt'), file('b.txt')]);
      await page.locator('#attached .is-ready').nth(1).waitFor();
      // From elsewhere, where it does not go back to.
      await page.locator('#new-chat').focus();
      await press(page.getByRole('button', { name: 'Remove a.txt' }));
      await becomes(() => focused(page), 'Remove b.txt');
      await press(page.getByRole('button', { name: 'Remove b.txt' }));
      await becomes(() => focused(page), '#prompt');

      await ask(page, 'first');
      await newChat(page);
      await ask(page, 'second');
      await goTo(page, '#/history');
      const menu = (title: string) => page.locator('.history-list').getByRole('button', { name: title });
      await press(menu('second'));
      await press(page.getByRole('menuitem', { name: 'Rename' }));
      await page.locator('.rename').fill('renamed');
      await page.locator('.rename').press('Enter');
      await comesToFit(() => focused(page), /What to do with .renamed/);
      await becomes(() => page.getByRole('menu').count(), 0);
      await press(menu('renamed'));
      await press(page.getByRole('menuitem', { name: 'Delete' }));
      await comesToFit(() => focused(page), /What to do with .first/);
    });
  });

  test('goes to the row that is brought back', async () => {
    await visit(async (page) => {
      const undo = page.getByRole('button', { name: 'Undo' });
      for (const text of ['first', 'second', 'third']) {
        await ask(page, text);
        await newChat(page);
      }
      await goTo(page, '#/history');
      const rows = page.locator('.history-row');
      await press(rows.filter({ hasText: 'second' }).getByRole('button', { name: 'What to do with' }));
      await press(page.getByRole('menuitem', { name: 'Delete' }));
      await becomes(() => rows.count(), 2);
      await press(undo);
      await comesToFit(() => focused(page), /^second/);
      await page.getByLabel('Select “first”').check();
      await page.getByRole('button', { name: 'Select all' }).click();
      await press(page.getByRole('toolbar').getByRole('button', { name: 'Delete' }));
      await becomes(() => rows.count(), 0);
      await press(undo);
      await comesToFit(() => focused(page), /^third/);

      for (const screen of ['prompts', 'presets']) {
        await goTo(page, `#/${screen}`);
        for (const name of ['alpha', 'beta']) {
          await page.locator(`#new-${screen.slice(0, -1)}`).click();
          await page.getByRole('dialog').getByLabel('Name').first().fill(name);
          if (screen === 'prompts') await page.getByRole('dialog').getByLabel('Text').fill('Some text');
          await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
          await page.locator('.library-use', { hasText: name }).waitFor();
        }
        await press(page.getByRole('button', { name: /^Delete .*alpha/ }));
        await becomes(() => page.locator('.library-use').count(), 1);
        await press(undo);
        await comesToFit(() => focused(page), /alpha/);
        assert.ok(await page.evaluate("document.activeElement.matches('.library-use')"));
      }

      await goTo(page, '#/memory');
      await page.locator('#memory-new').fill('I like tea');
      await press(page.locator('.memory-add button'));
      await page.locator('.memory-text').waitFor();
      await press(page.getByRole('button', { name: 'Forget' }).and(page.locator('li *')));
      await becomes(() => page.locator('.memory-text').count(), 0);
      await press(undo);
      await becomes(() => focused(page), 'Edit “I like tea”');
    });
  });

  test('stays in the field of the memory, and goes to the next statement when one is forgotten', async () => {
    await visit(async (page) => {
      await goTo(page, '#/memory');
      for (const text of ['I like tea', 'I like coffee']) {
        await page.locator('#memory-new').fill(text);
        await press(page.locator('.memory-add button'));
        await page.locator('.memory-text', { hasText: text }).waitFor();
        await becomes(() => focused(page), '#memory-new');
      }
      await press(page.getByRole('button', { name: 'Forget' }).and(page.locator('li *')).first());
      await becomes(() => page.locator('.memory-text').count(), 1);
      await comesToFit(() => focused(page), /^Forget/);
    });
  });

  test('stays where a statement was added, though no keyboard comes up on the screen for the next one', async () => {
    await visit(
      async (page) => {
        await goTo(page, '#/memory');
        await page.locator('#memory-new').fill('I like tea');
        await page.locator('.memory-add button').tap();
        await page.locator('.memory-text').waitFor();
        await page.locator('.memory-add button:disabled').waitFor();
        await becomes(
          () => page.evaluate("document.activeElement.className + ' ' + document.activeElement.id"),
          'memory-add ',
        );
      },
      { viewport: PHONE, hasTouch: true, isMobile: true },
    );
  });

  test('goes along with a chat that is pinned, and comes to another place in the sidebar by that', async () => {
    await visit(async (page) => {
      for (const text of ['first', 'second', 'third']) {
        await ask(page, text);
        await newChat(page);
      }
      const menu = page.locator('.chat-list').getByRole('button', { name: '“second”' });
      for (const name of ['Pin', 'Unpin']) {
        await press(menu);
        await press(page.getByRole('menuitem', { name, exact: true }));
        await becomes(() => page.getByRole('menu').count(), 0);
        await becomes(() => page.getByRole('heading', { name: 'Pinned' }).count(), name === 'Pin' ? 1 : 0);
        await comesToFit(() => focused(page), /What to do with .second/);
      }
    });
  });

  test('stays in the sidebar while that lies over the page, where Escape closes it and nothing else', async () => {
    await visit(
      async (page) => {
        await send(page, 'endless');
        await lastAnswer(page).getByText('and and').waitFor();
        await page.keyboard.press('Control+b');
        await becomes(() => focused(page), '#close-sidebar');
        for (let count = 0; count < 20; count += 1) {
          await page.keyboard.press('Tab');
          assert.equal(await page.locator('.screen :focus, .skip:focus').count(), 0);
        }
        const menu = page.getByRole('button', { name: 'What to do with' });
        await press(menu);
        await page.getByRole('menu').waitFor();
        await page.keyboard.press('Escape');
        await page.getByRole('menu').waitFor({ state: 'detached' });
        await comesToFit(() => focused(page), /What to do with/);
        await page.locator('#new-chat').focus();
        await page.keyboard.press('Escape');
        await becomes(() => focused(page), '#open-sidebar');
        assert.equal(await page.getByRole('button', { name: 'Stop' }).count(), 1);
      },
      { viewport: PHONE },
    );
  });

  test('comes back to a button that was off while it did its work, unless somebody has gone on', async () => {
    await visit(
      async (page) => {
        let release = (): void => {};
        const hold = async (): Promise<void> => {
          const held = new Promise<void>((resolve) => {
            release = resolve;
          });
          await page.unroute('**/backend-api/v2/models/scripted');
          await page.route('**/backend-api/v2/models/scripted', async (route) => {
            await held;
            await route.continue();
          });
        };
        const test = page.getByRole('button', { name: 'Test: Scripted' });
        await test.waitFor();
        await hold();
        await press(test);
        await becomes(() => focused(page), 'nothing');
        release();
        await page.getByText('It works: 2 models.').waitFor();
        await becomes(() => focused(page), 'Test: Scripted');
        await hold();
        await test.press('Enter');
        await becomes(() => focused(page), 'nothing');
        await page.locator('#provider-search').focus();
        release();
        await page.getByText('It works: 2 models.').waitFor();
        await becomes(() => test.isEnabled(), true);
        assert.equal(await focused(page), '#provider-search');
      },
      { path: '/#/settings/providers' },
    );
  });

  test('is not kept by a window when one goes to another page', async () => {
    await visit(async (page) => {
      await ask(page, 'first');
      await newChat(page);
      await ask(page, 'second');
      await page.keyboard.press('Control+/');
      await page.locator('dialog[open]').waitFor();
      await goTo(page, '#/');
      await page.locator('dialog[open]').waitFor({ state: 'detached' });
      await becomes(() => focused(page), '#prompt');
    });
  });
});
