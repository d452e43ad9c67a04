import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, eventually } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask, button, goTo, lastAnswer, mayAsk, PHONE, ready } from './visit.ts';

/** What is out of order cannot answer `half`. */
let outOfOrder = 'plain-model';

const script: VendorScript = ({ prompt, model }) => {
  if (prompt === 'much') return { text: ['Much. '.repeat(2_000)] };
  if (prompt === 'endless') return { text: words(model), delayMs: 5 };
  if (prompt === 'half' && model === outOfOrder) return { status: 500, errorMessage: 'Out of order' };
  return { text: [`I am ${model}: `, prompt] };
};

function* words(model: string): Generator<string> {
  for (;;) yield `${model} `;
}

describe('comparing', { skip: withoutBrowser }, () => {
  const { visit, gateway } = setStage(() => openGateway(script, ['gpt-4o', 'plain-model']));

  const side = (page: Page, at: number): Locator => page.locator('.side').nth(at);
  const bodies = async (page: Page): Promise<readonly string[]> => {
    const texts = await page.evaluate(
      '[...document.querySelectorAll(".side")].map((side) => [...side.querySelectorAll(".body")].map((body) => body.innerText.trim()).join(" / "))',
    );
    return texts as readonly string[];
  };
  const askBoth = async (page: Page, text: string): Promise<void> => {
    await page.locator('#prompt').fill(text);
    await page.locator('#prompt').press('Enter');
  };

  /** Both have answered, to the end; returns what. */
  const askFirst = async (page: Page): Promise<readonly string[]> => {
    await page.locator('#model-2-name').getByText('plain-model').waitFor();
    await askBoth(page, 'first');
    const both = ['I am gpt-4o: first', 'I am plain-model: first'];
    await eventually(async () => assert.deepEqual(await bodies(page), both));
    await page.locator('.side .line').nth(1).waitFor();
    return both;
  };

  /** Both answer, and go on. */
  const askForEver = async (page: Page): Promise<void> => {
    await page.locator('#model-2-name').getByText('plain-model').waitFor();
    await askBoth(page, 'endless');
    await side(page, 0).getByText('gpt-4o gpt-4o').waitFor();
    await side(page, 1).getByText('plain-model plain-model').waitFor();
  };
  const bothStop = async (page: Page): Promise<void> => {
    for (const at of [0, 1]) await side(page, at).getByText('Stopped.').waitFor();
  };

  test('asks both, each with its own past, goes on with one, and keeps the other as a branch', async () => {
    await visit(
      async (page) => {
        await askFirst(page);
        await askBoth(page, 'second');
        await eventually(async () =>
          assert.deepEqual(await bodies(page), [
            'I am gpt-4o: first / I am gpt-4o: second',
            'I am plain-model: first / I am plain-model: second',
          ]),
        );
        // Whose end the page has not seen would still be running after the reload, and nothing more be sent.
        await page.locator('.side .line').nth(3).waitFor();
        const pasts = gateway.upstream.chats.slice(-2).map(({ rawBody }) => {
          const { model, messages } = JSON.parse(String(rawBody)) as { model: string; messages: { content: string }[] };
          return [model, messages[1]?.content];
        });
        assert.deepEqual(pasts.sort(), [
          ['gpt-4o', 'I am gpt-4o: first'],
          ['plain-model', 'I am plain-model: first'],
        ]);
        await page.reload();
        await eventually(async () => assert.match((await bodies(page))[1] ?? '', /plain-model: second/));
        await side(page, 1).getByRole('button', { name: 'Go on with this one' }).click();
        await page.locator('.thread .answer').nth(1).waitFor();
        await becomes(() => page.locator('#model-name').innerText(), 'plain-model');
        await ask(page, 'third');
        assert.equal(JSON.parse(String(gateway.upstream.chats.at(-1)?.rawBody)).model, 'plain-model');
        await page.getByRole('button', { name: 'Previous version' }).first().click();
        await page.getByText('I am gpt-4o: first').waitFor();
      },
      { path: '/#/compare' },
    );
  });

  test('is a comparison again in another browser', async () => {
    let copy = Buffer.alloc(0);
    await visit(
      async (page) => {
        await askFirst(page);
        await page.getByRole('button', { name: 'What to do with “first”' }).click();
        const downloading = page.waitForEvent('download');
        await page.getByRole('menuitem', { name: 'Export as JSON' }).click();
        copy = await readFile(await (await downloading).path());
      },
      { path: '/#/compare' },
    );
    await visit(
      async (page) => {
        await page.getByRole('button', { name: 'Import chats' }).click();
        const file = { name: 'copy.json', mimeType: 'application/json', buffer: copy };
        await page.locator('#import-files').setInputFiles([file]);
        const dialog = page.getByRole('dialog');
        await dialog.getByText('1 chat imported').waitFor();
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
        await page.locator('.history-link').click();
        const both = ['I am gpt-4o: first', 'I am plain-model: first'];
        await becomes(() => bodies(page), both);
      },
      { path: '/#/history' },
    );
  });

  test('stops both at once', async () => {
    await visit(
      async (page) => {
        await askForEver(page);
        await page.locator('#send').click();
        await bothStop(page);
      },
      { path: '/#/compare', viewport: PHONE },
    );
  });

  /** Goes up as by a finger. */
  const readFirst = async (page: Page): Promise<void> => {
    await side(page, 0)
      .locator('.side-scroll')
      .evaluate((area) => {
        area.dispatchEvent(new Event('touchmove'));
        area.scrollTo({ top: 0, behavior: 'instant' });
      });
    await side(page, 0).getByRole('button', { name: 'To the end' }).waitFor();
  };

  test('offers no way to the end where all can be seen, as when the keys of a phone are gone', async () => {
    const low = { ...PHONE, height: 460 };
    await visit(
      async (page) => {
        await page.locator('#model-2-name').getByText('plain-model').waitFor();
        await page.locator('#prompt').fill('first');
        await page.locator('#send').click();
        await page.locator('.side .line').nth(1).waitFor();
        await readFirst(page);
        await page.setViewportSize(PHONE);
        await becomes(() => page.getByRole('button', { name: 'To the end' }).count(), 0);
        await page.setViewportSize(low);
        await side(page, 0).getByRole('button', { name: 'To the end' }).waitFor();
      },
      { path: '/#/compare', viewport: low },
    );
  });

  test('begins at the end of another comparison, though somebody reads above in this one', async () => {
    await visit(
      async (page) => {
        await askFirst(page);
        await page.getByRole('button', { name: 'New comparison' }).click();
        // The field of the old one stands until then, and so do its answers.
        await becomes(() => page.locator('.side .message').count(), 0);
        await askBoth(page, 'much');
        await page.locator('.side .line').nth(1).waitFor();
        await readFirst(page);
        await page.locator('.chat-list a', { hasText: 'first' }).click();
        await side(page, 0).getByText('I am gpt-4o: first').waitFor();
        // That it is at its end is known with the next picture.
        await becomes(() => page.getByRole('button', { name: 'To the end' }).count(), 0);
        await page.locator('.chat-list a', { hasText: 'much' }).click();
        const left = (): Promise<number> =>
          side(page, 0)
            .locator('.side-scroll')
            .evaluate((area) => Math.round(area.scrollHeight - area.scrollTop - area.clientHeight));
        await becomes(left, 0);
      },
      { path: '/#/compare' },
    );
  });

  test('Escape stops both; each follows its end until somebody scrolls up', async () => {
    await visit(
      async (page) => {
        await page.locator('#model-2-name').getByText('plain-model').waitFor();
        await askBoth(page, 'endless');
        const area = (at: number) => side(page, at).locator('.side-scroll');
        const top = (at: number) => area(at).evaluate((node) => node.scrollTop);
        for (const at of [0, 1]) await eventually(async () => assert.ok((await top(at)) > 300));
        await area(0).hover();
        await page.mouse.wheel(0, -250);
        await side(page, 0).getByRole('button', { name: 'To the end' }).waitFor();
        const rest = await top(1);
        await eventually(async () => assert.ok((await top(1)) > rest + 100));
        // The wheel rolls on for a moment.
        await eventually(async () => {
          const away = await area(0).evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight);
          assert.ok(away > 100, 'stays where it was read');
        });
        await page.locator('#prompt').press('Escape');
        await bothStop(page);
      },
      { path: '/#/compare', viewport: { width: 1000, height: 500 } },
    );
  });

  test('another tab follows both', async () => {
    await visit(
      async (page, context) => {
        await page.locator('#model-2-name').getByText('plain-model').waitFor();
        await askBoth(page, 'first');
        await page.locator('.side .line').nth(1).waitFor();
        const other = await context.newPage();
        await other.goto(page.url());
        await other.locator('.side .line').nth(1).waitFor();
        await askBoth(page, 'endless');
        await side(other, 0).getByText('gpt-4o gpt-4o').waitFor();
        await side(other, 1).getByText('plain-model plain-model').waitFor();
        await side(other, 1).getByRole('button', { name: 'Stop' }).waitFor();
        await page.locator('#prompt').press('Escape');
        await side(other, 1).getByText('Stopped.').waitFor();
      },
      { path: '/#/compare' },
    );
  });

  test('who goes on with one, or deletes both, leaves nothing running', async () => {
    await visit(
      async (page) => {
        await askForEver(page);
        await side(page, 0).getByRole('button', { name: 'Go on with this one' }).click();
        await page.locator('.thread .answer').waitFor();
        await page.locator('#prompt').press('Escape');
        await lastAnswer(page).getByText('Stopped.').waitFor();
        await page.locator('#send[aria-label="Send"]').waitFor();

        await goTo(page, '#/compare');
        await page.locator('#model-2-name').getByText('plain-model').waitFor();
        await askBoth(page, 'endless');
        await side(page, 1).getByText('plain-model plain-model').waitFor();
        await page.locator('.chat-list .is-shown').getByRole('button').click();
        await page.getByRole('menuitem', { name: 'Delete' }).click();
        await page.locator('#welcome-title').waitFor();
        await page.getByRole('button', { name: 'Undo' }).click();
        await bothStop(page);
      },
      { path: '/#/compare' },
    );
  });

  test('an answer of one side can be deleted, and brought back', async () => {
    await visit(
      async (page) => {
        const both = await askFirst(page);
        await side(page, 1).getByRole('button', { name: 'Delete' }).last().click();
        await eventually(async () => assert.deepEqual(await bodies(page), [both[0], '']));
        await page.getByRole('button', { name: 'Undo' }).click();
        await eventually(async () => assert.deepEqual(await bodies(page), both));
      },
      { path: '/#/compare' },
    );
  });

  test('a side whose last message is gone goes on at what its own model answered last', async () => {
    await visit(
      async (page) => {
        const both = await askFirst(page);
        await askBoth(page, 'second');
        await page.locator('.side .line').nth(3).waitFor();
        await mayAsk(page);
        await page.evaluate(`new Promise((done) => {
          indexedDB.open('sluice').onsuccess = ({ target: { result } }) => {
            const transaction = result.transaction(['chats', 'messages'], 'readwrite');
            transaction.objectStore('chats').getAll().onsuccess = ({ target }) => {
              for (const { leaf } of target.result[0].sides) transaction.objectStore('messages').delete(leaf);
            };
            transaction.oncomplete = () => done(result.close());
          };
        })`);
        await page.reload();
        await eventually(async () => assert.deepEqual(await bodies(page), both));
      },
      { path: '/#/compare' },
    );
  });

  test('says so when both sides are the same model', async () => {
    await visit(
      async (page) => {
        await page.locator('#model-2-name').getByText('plain-model').waitFor();
        const note = page.getByText('Both sides are the same model');
        assert.equal(await note.count(), 0);
        await page.locator('#model-2-name').click();
        await page.getByRole('option', { name: /gpt-4o/ }).click();
        await note.waitFor();
      },
      { path: '/#/compare' },
    );
  });

  test('shows the failure of one beside the answer of the other, and asks the one that failed again', async () => {
    outOfOrder = 'plain-model';
    await visit(
      async (page) => {
        await page.locator('#model-2-name').getByText('plain-model').waitFor();
        await askBoth(page, 'half');
        await side(page, 1).getByRole('alert').waitFor();
        await side(page, 0).getByText('I am gpt-4o: half').waitFor();
        outOfOrder = '';
        await side(page, 1).getByRole('button', { name: 'Try again' }).click();
        await eventually(async () =>
          assert.deepEqual(await bodies(page), ['I am gpt-4o: half', 'I am plain-model: half']),
        );
      },
      { path: '/#/compare' },
    );
  });

  test('is opened again as what it is, until somebody goes on with one of them', async () => {
    await visit(
      async (page) => {
        const both = await askFirst(page);
        const link = page.locator('.chat-list').getByRole('link', { name: 'first' });
        await goTo(page, '#/');
        await page.locator('#welcome-title').waitFor();
        await link.click();
        await eventually(async () => assert.deepEqual(await bodies(page), both));
        await side(page, 1).getByRole('button', { name: 'Go on with this one' }).click();
        await page.locator('.thread .answer').waitFor();
        await goTo(page, '#/');
        await page.locator('#welcome-title').waitFor();
        await link.click();
        await lastAnswer(page).getByText('I am plain-model: first').waitFor();
        assert.equal(await page.locator('.side').count(), 0);
      },
      { path: '/#/compare' },
    );
  });

  test('an answer of a chat is compared with that of another model', async () => {
    await visit(async (page) => {
      await ready(page);
      await ask(page, 'question');
      await button(page, 'Compare with another model').click();
      await eventually(async () =>
        assert.deepEqual(await bodies(page), ['I am gpt-4o: question', 'I am plain-model: question']),
      );
    });
  });
});
