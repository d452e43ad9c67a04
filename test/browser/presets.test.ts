import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, comesToFit, eventually } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask, goTo, lastAnswer, newChat, PHONE, ready, settled } from './visit.ts';

const script: VendorScript = ({ prompt }) => ({ text: ['You said: ', prompt] });

describe('choosing', { skip: withoutBrowser }, () => {
  const { visit, gateway } = setStage(() => openGateway(script, ['gpt-4o', 'gpt-4o-mini', 'plain-model']));

  const sent = (): Record<string, unknown> => JSON.parse(String(gateway.upstream.chats.at(-1)?.rawBody));
  const slash = async (page: Page, text: string): Promise<void> => {
    await page.locator('#prompt').fill(text);
    await page.locator('#slash-menu').waitFor();
    await page.locator('#prompt').press('Enter');
  };

  test('presets are a screen of the sidebar', async () => {
    await visit(async (page) => {
      await page.locator('.sidebar-foot').getByRole('link', { name: 'Presets' }).click();
      await page.locator('#new-preset').waitFor();
    });
  });

  test('without any model the page leads to where keys are entered', async () => {
    const empty = await openGateway(script, []);
    await visit(
      async (page) => {
        await page.getByText('No model can be reached yet.').waitFor();
        await page.getByRole('link', { name: 'Settings → Providers' }).click();
        await page.locator('#provider-search').waitFor();

        await goTo(page, '#/');
        await page.locator('#model').click();
        await page.locator('.picker').getByRole('link', { name: 'Settings → Providers' }).click();
        await page.locator('#provider-search').waitFor();
        await becomes(() => page.locator('.picker').count(), 0);

        await goTo(page, '#/');
        await ask(page, 'Anybody?');
        await lastAnswer(page).getByRole('link', { name: 'Settings → Providers' }).click();
        await page.locator('#provider-search').waitFor();

        await goTo(page, '#/compare');
        await page.getByText('No model can be reached yet.').waitFor();
        assert.equal(await page.locator('.sides-note').count(), 0);
        await page.getByRole('link', { name: 'Settings → Providers' }).click();
        await page.locator('#provider-search').waitFor();
      },
      { gateway: empty },
    ).finally(() => empty.close());
  });

  test('instructions and parameters go with the next chat, and stay with it', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.locator('#setup').click();
      await page.locator('#system-prompt').fill('Answer like a pirate.');
      await page.locator('#parameter-temperature').fill('0,3');
      await page.locator('#parameter-temperature').press('Tab');
      await page.locator('#parameter-max_tokens').fill('99');
      await page.locator('#parameter-max_tokens').press('Tab');
      await page.getByRole('button', { name: 'Reset Longest answer' }).click();
      await page.getByRole('button', { name: 'Done' }).click();
      await page.locator('dialog').waitFor({ state: 'detached' });
      await page.reload();
      await ask(page, 'ahoy');
      const { messages, temperature, max_tokens } = sent();
      assert.deepEqual(messages, [
        { role: 'system', content: 'Answer like a pirate.' },
        { role: 'user', content: 'ahoy' },
      ]);
      assert.deepEqual([temperature, max_tokens], [0.3, undefined]);
      await page.reload();
      await ask(page, 'again');
      assert.equal(sent()['temperature'], 0.3);
      await newChat(page);
      await ask(page, 'another');
      assert.deepEqual(sent()['messages'], [{ role: 'user', content: 'another' }]);
      assert.equal(sent()['temperature'], undefined);
    });
  });

  test('a number that is being typed stays, whatever else is drawn meanwhile', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.locator('#setup').click();
      await page.locator('#parameter-temperature').fill('0,');
      const told = 'Answer like a pirate.';
      await page.evaluate(`{
        const field = document.querySelector('#system-prompt');
        field.value = ${JSON.stringify(told)};
        field.dispatchEvent(new Event('input', { bubbles: true }));
      }`);
      // The button of what is set already comes with the drawing.
      await page.getByRole('button', { name: 'Reset all' }).waitFor();
      await page.locator('#parameter-temperature').pressSequentially('3');
      await page.locator('#parameter-temperature').press('Tab');
      assert.equal(await page.locator('#parameter-temperature').inputValue(), '0.3');
      await page.locator('#parameter-max_tokens').fill('many');
      await page.locator('#parameter-max_tokens').press('Tab');
      await becomes(() => page.locator('#parameter-max_tokens').inputValue(), '');
      await page.getByRole('button', { name: 'Done' }).click();
      await ask(page, 'ahoy');
      assert.deepEqual((sent()['messages'] as unknown[])[0], { role: 'system', content: told });
      assert.equal(sent()['temperature'], 0.3);
    });
  });

  test('a preset is kept, used, changed, taken along, deleted and brought back', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.locator('#model').click();
      await page.getByRole('option', { name: 'plain-model' }).click();
      await slash(page, '/system Be brief.');
      await page.locator('#setup').click();
      await page.getByRole('button', { name: 'Save as a preset…' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('Short');
      await page.getByRole('textbox', { name: 'Name' }).press('Enter');
      await page.locator('#preset').waitFor();
      await page.getByRole('button', { name: 'Reset all' }).click();
      await page.getByRole('button', { name: 'Done' }).click();
      await page.locator('#model').click();
      await page.getByRole('option', { name: 'gpt-4o-mini' }).click();
      await slash(page, '/preset sho');
      await ask(page, 'hello');
      assert.equal(sent()['model'], 'plain-model');
      assert.deepEqual((sent()['messages'] as unknown[])[0], { role: 'system', content: 'Be brief.' });

      await goTo(page, '#/presets');
      await page.getByRole('button', { name: 'Change “Short”' }).click();
      await page.locator('#parameter-reasoning_effort').selectOption('low');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('reasoning_effort low').waitFor();
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export “Short”' }).click();
      const file = await (await downloading).path();
      const [exported] = (JSON.parse(readFileSync(file, 'utf8')) as { presets: Record<string, unknown>[] }).presets;
      assert.deepEqual(exported?.['parameters'], { reasoning_effort: 'low' });
      await page.getByRole('button', { name: 'Delete “Short”' }).click();
      await page.getByText('No presets yet').waitFor();
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByText('reasoning_effort low').waitFor();

      await page.getByRole('button', { name: 'Take presets along' }).click();
      const choosing = page.waitForEvent('filechooser');
      await page.getByRole('menuitem', { name: 'Import…' }).click();
      await (await choosing).setFiles(file);
      await eventually(async () => assert.equal(await page.locator('.library .row').count(), 2));
      await page.reload();
      await eventually(async () => assert.equal(await page.locator('.library .row').count(), 2));
    });
  });

  for (const viewport of [PHONE, { width: 1280, height: 800 }]) {
    test(`a preset can be saved without scrolling, ${viewport.width}×${viewport.height}`, async () => {
      await visit(
        async (page) => {
          await page.locator('#new-preset').click();
          const dialog = page.getByRole('dialog', { name: 'New preset' });
          await dialog.getByLabel('Name').fill('Pirate');
          const isSeen = `(() => {
            const { x, y, width, height } = document.querySelector('dialog [type="submit"]').getBoundingClientRect();
            return document.elementFromPoint(x + width / 2, y + height / 2)?.textContent;
          })()`;
          await becomes(() => page.evaluate(isSeen), 'Save');
          // What one comes to by keyboard is not behind it.
          const last = `(() => {
            const foot = document.querySelector('dialog .dialog-actions');
            const { activeElement } = document;
            if (foot.contains(activeElement)) return 'foot';
            const isHidden = activeElement.getBoundingClientRect().bottom > foot.getBoundingClientRect().top;
            return isHidden ? activeElement.id + ' is hidden' : 'seen';
          })()`;
          let where = 'seen';
          while (where === 'seen') {
            await page.keyboard.press('Tab');
            where = await page.evaluate(last);
          }
          assert.equal(where, 'foot');
          await dialog.getByRole('button', { name: 'Save' }).click();
          await dialog.waitFor({ state: 'detached' });
          await page.locator('.library-title').getByText('Pirate').waitFor();
          await page.locator('#new-preset').click();
          await dialog.getByLabel('Name').fill('Parrot');
          await dialog.getByLabel('Name').press('Enter');
          await page.locator('.library-title').getByText('Parrot').waitFor();
        },
        { path: '/#/presets', viewport },
      );
    });
  }

  for (const viewport of [PHONE, { width: 640, height: 360 }]) {
    test(`a long prompt can be saved and filled in without scrolling, ${viewport.width}×${viewport.height}`, async () => {
      const isSeen = `(() => {
        const { x, y, width, height } = document.querySelector('dialog [type="submit"]').getBoundingClientRect();
        return document.elementFromPoint(x + width / 2, y + height / 2)?.textContent;
      })()`;
      await visit(
        async (page) => {
          await page.locator('#new-prompt').click();
          const dialog = page.getByRole('dialog', { name: 'New prompt' });
          await dialog.getByLabel('Title').fill('Long');
          const variables = Array.from({ length: 12 }, (_, index) => `Say {{what ${index}}}.`).join('\n\n');
          await dialog.getByLabel('Text').fill(`${variables}\n\n${'More words. '.repeat(200)}`);
          await becomes(() => page.evaluate(isSeen), 'Save');
          await dialog.getByRole('button', { name: 'Save' }).click();
          await dialog.waitFor({ state: 'detached' });
          await page.locator('.library-use').click();
          await page.locator('.prompt-dialog').waitFor();
          await becomes(() => page.evaluate(isSeen), 'Insert');
          await page.locator('.prompt-dialog').getByRole('button', { name: 'Insert' }).click();
          await comesToFit(() => page.locator('#prompt').inputValue(), /More words/);
        },
        { path: '/#/prompts', viewport },
      );
    });
  }

  test('a prompt asks for its variables, is found by its name, and is the same in another tab', async () => {
    await visit(async (page, context) => {
      await ready(page);
      const second = await context.newPage();
      await second.goto(`${gateway.origin}/#/prompts`);
      await second.getByText('No prompts yet').waitFor();
      await page.bringToFront();
      await goTo(page, '#/prompts');
      await page.locator('#new-prompt').click();
      await page.getByRole('textbox', { name: 'Title' }).fill('Say it kindly');
      await page.getByRole('textbox', { name: 'Text' }).fill('Say {{what}} in a {{tone=kind|stern}} way.');
      await page.getByText('Will be asked for: what, tone').waitFor();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await second.getByText('/say-it-kindly').waitFor();

      await goTo(page, '#/');
      await page.locator('#prompt').fill('/say');
      await comesToFit(() => page.locator('#slash-menu').innerText(), /\/say-it-kindly\s*Say it kindly/);
      await page.locator('#prompt').press('Tab');
      const dialog = page.locator('.prompt-dialog');
      await dialog.getByLabel('what').fill('{{tone}} $& hello');
      await dialog.getByLabel('tone').selectOption('stern');
      await dialog.getByLabel('what').press('Enter');
      await eventually(async () =>
        assert.equal(await page.locator('#prompt').inputValue(), 'Say {{tone}} $& hello in a stern way.'),
      );
      await page.locator('#prompt:focus').waitFor();

      await goTo(page, '#/prompts');
      await page.getByRole('button', { name: 'Delete “Say it kindly”' }).click();
      await second.getByText('No prompts yet').waitFor();
    });
  });

  test('a click beside a window leaves there what is being written in it', async () => {
    await visit(async (page) => {
      const dialog = page.getByRole('dialog');
      const clickBeside = async (): Promise<void> => {
        await page.mouse.click(4, 4);
        await settled(page);
      };
      await goTo(page, '#/prompts');
      await page.locator('#new-prompt').click();
      await dialog.waitFor();
      await clickBeside();
      // Nothing is lost by this.
      await dialog.waitFor({ state: 'detached' });
      await page.locator('#new-prompt').click();
      await dialog.getByLabel('Text', { exact: true }).fill('Say {{what}} kindly');
      await clickBeside();
      await dialog.getByLabel('Title').fill('kindly');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await goTo(page, '#/');
      await slash(page, '/kindly');
      await dialog.getByLabel('what').fill('no');
      await clickBeside();
      await dialog.getByRole('button', { name: 'Insert' }).click();
      await becomes(() => page.locator('#prompt').inputValue(), 'Say no kindly');
      await goTo(page, '#/presets');
      await page.locator('#new-preset').click();
      await dialog.getByLabel('Instructions').fill('Be kind.');
      await clickBeside();
      await dialog.getByLabel('Name').fill('Kind');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.locator('.library-text', { hasText: 'Be kind.' }).waitFor();
    });
  });

  test('a prompt is offered to whoever began to write its name before the prompts were read', async () => {
    await visit(async (page) => {
      await goTo(page, '#/prompts');
      await page.locator('#new-prompt').click();
      await page.getByRole('textbox', { name: 'Title' }).fill('Shorten');
      await page.getByRole('textbox', { name: 'Text' }).fill('Say it in one sentence.');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.locator('.library-text', { hasText: 'one sentence' }).waitFor();
      await goTo(page, '#/');
      const written = Promise.withResolvers<void>();
      await page.route('**/assets/slash-source*.js', async (route) => {
        await written.promise;
        await route.continue();
      });
      await page.reload();
      await page.locator('#prompt').fill('/shor');
      written.resolve();
      await page.getByRole('option', { name: '/shorten' }).click();
      await becomes(() => page.locator('#prompt').inputValue(), 'Say it in one sentence.');
    });
  });

  test('what a prompt asks for may have lines where the keyboard is on the screen', async () => {
    await visit(
      async (page) => {
        await goTo(page, '#/prompts');
        await page.locator('#new-prompt').click();
        await page.getByRole('textbox', { name: 'Title' }).fill('Listing');
        await page.getByRole('textbox', { name: 'Text' }).fill('Sort {{what}}');
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await page.locator('.library-use', { hasText: 'Sort' }).click();
        const dialog = page.locator('.prompt-dialog');
        await dialog.getByLabel('what').fill('pears');
        await dialog.getByLabel('what').press('Enter');
        await dialog.getByLabel('what').pressSequentially('apples');
        await becomes(() => dialog.getByLabel('what').inputValue(), 'pears\napples');
        await dialog.locator('button[type="submit"]').click();
        await becomes(() => page.locator('#prompt').inputValue(), 'Sort pears\napples');
      },
      { viewport: PHONE, hasTouch: true, isMobile: true },
    );
  });

  test('a prompt goes behind what is being written, in the chat where it was chosen', async () => {
    await visit(async (page) => {
      await ready(page);
      const add = async (title: string, text: string): Promise<void> => {
        await page.locator('#new-prompt').click();
        await page.getByRole('textbox', { name: 'Title' }).fill(title);
        await page.getByRole('textbox', { name: 'Text' }).fill(text);
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await page.getByRole('button', { name: `Change “${title}”` }).waitFor();
      };
      const written = (): Promise<string> => page.locator('#prompt').inputValue();
      await page.locator('#prompt').fill('My long draft.\n');
      await goTo(page, '#/prompts');
      await add('Plain', 'Be brief.');
      await add('Asking', 'Say {{what}}.');
      await page.locator('.library-use', { hasText: 'Be brief.' }).click();
      await becomes(written, 'My long draft.\n\nBe brief.');
      await goTo(page, '#/prompts');
      await page.locator('.library-use', { hasText: 'Say' }).click();
      await page.locator('.prompt-dialog').getByLabel('what').fill('it');
      await page.locator('.prompt-dialog').getByLabel('what').press('Enter');
      await becomes(written, 'My long draft.\n\nBe brief.\n\nSay it.');

      await goTo(page, '#/compare');
      await page.locator('#prompt').fill('Which?');
      await page.locator('#prompt').press('Enter');
      await page.locator('.side .answer').last().getByText('You said: Which?').waitFor();
      await page.locator('#prompt').fill('/asking');
      await page.locator('#slash-menu').waitFor();
      await page.locator('#prompt').press('Enter');
      await page.locator('.prompt-dialog').getByLabel('what').fill('here');
      await page.locator('.prompt-dialog').getByLabel('what').press('Enter');
      await becomes(written, 'Say here.');
    });
  });

  test('slash commands complete what stands behind them', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.locator('#prompt').fill('/model mini');
      await becomes(() => page.locator('#slash-menu [role=option]').count(), 1);
      await page.locator('#prompt').press('Enter');
      await becomes(() => page.locator('#model-name').innerText(), 'gpt-4o-mini');
      await becomes(() => page.locator('#prompt').inputValue(), '');
      await slash(page, '/web');
      await becomes(() => page.locator('#web-search').getAttribute('aria-pressed'), 'true');
      await slash(page, '/web');
      await slash(page, '/system Rhyme.');
      await ask(page, 'one');
      await slash(page, '/clear');
      await page.locator('#welcome-title').waitFor();
      await ask(page, 'two');
      assert.deepEqual(sent()['messages'], [
        { role: 'system', content: 'Rhyme.' },
        { role: 'user', content: 'two' },
      ]);
    });
  });

  test('the picker shows what was used lately, what can do something, and who waits for a key', async () => {
    await visit(async (page) => {
      await ready(page);
      const groups = async (): Promise<readonly string[]> => page.locator('.picker-group').allInnerTexts();
      await page.locator('#model').click();
      await page.locator('.picker-group').first().waitFor();
      assert.equal((await groups()).includes('Recent'), false);
      await page.getByRole('option', { name: 'plain-model' }).click();
      await page.locator('#model').click();
      const recent = page.getByRole('group', { name: 'Recent' });
      await becomes(() => recent.getByRole('option').count(), 1);
      await page.getByRole('button', { name: 'Sees images' }).click();
      await becomes(() => page.getByRole('option', { name: 'plain-model' }).count(), 0);
      await becomes(() => page.getByRole('option', { name: 'gpt-4o', exact: false }).first().isVisible(), true);
      await page.getByRole('button', { name: 'Sees images' }).click();
      await page.locator('#picker-search').fill('anthropic');
      await becomes(() => groups(), ['With a key of yours', 'Not listed']);
      await page.locator('#picker-search').press('Enter');
      await page.getByRole('dialog', { name: 'Key for Anthropic' }).waitFor();
    });
  });

  test('prices of the list are shown', async () => {
    await visit(async (page) => {
      await page.route('**/backend-api/v2/models', async (route) => {
        const listed = (await (await route.fetch()).json()) as Record<string, Record<string, unknown>[]>;
        const priced = listed['scripted']?.map((entry) => ({ ...entry, price: { input: 2.5, output: 10 } }));
        await route.fulfill({ json: { scripted: priced } });
      });
      await page.reload();
      await ready(page);
      await page.locator('#model').click();
      const price = page.locator('.picker-price').first();
      await becomes(() => price.innerText(), '$2.50 · $10');
      await comesToFit(
        async () => String(await price.getAttribute('title')),
        /\$2\.50 for a million tokens of the question, \$10 of/,
      );
    });
  });
});
