import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { violations } from './axe.ts';
import { withoutBrowser } from './chromium.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask, PHONE, ready, send } from './visit.ts';

const MARKDOWN = `# Title

Words with \`code\`, **bold** and [a link](https://example.com/).

| Name | Value |
|---|---|
| one | 1 |

\`\`\`js
const answer = 42; // with colours
\`\`\`
`;

const script: VendorScript = ({ prompt }) => {
  if (prompt === 'refused') return { status: 401, errorMessage: 'Incorrect API key provided' };
  if (prompt === 'endless') return { text: words(), delayMs: 20 };
  return { reasoning: ['Hm.'], text: [MARKDOWN] };
};

function* words(): Generator<string> {
  for (;;) yield 'word ';
}

describe('for everyone', { skip: withoutBrowser }, () => {
  const { visit } = setStage(() => openGateway(script, ['gpt-4o', 'plain-model']));

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const viewport of [{ width: 1280, height: 800 }, PHONE]) {
      test(`axe finds nothing, ${colorScheme}, ${viewport.width} pixels`, async () => {
        const check = async (page: Page, what: string): Promise<void> => {
          assert.deepEqual(await violations(page), [], what);
        };
        await visit(
          async (page) => {
            await ready(page);
            await check(page, 'empty');
            for (const summary of await page.locator('.welcome summary').all()) await summary.click();
            await check(page, 'with what is folded');
            await page.locator('#model').click();
            await page.locator('#picker-search:focus').waitFor();
            await check(page, 'models');
            await page.keyboard.press('Escape');
            await page.locator('.picker').waitFor({ state: 'detached' });
            await page.keyboard.press('Control+/');
            await page.locator('.shortcuts').waitFor();
            await check(page, 'shortcuts');
            await page.keyboard.press('Escape');
            await page.locator('.shortcuts').waitFor({ state: 'detached' });
            await ask(page, 'markdown');
            await page.locator('.reasoning summary').click();
            await page.locator('.reasoning .thoughts').waitFor();
            await check(page, 'an answer');
            await ask(page, 'the same');
            await check(page, 'two answers that are alike');
            await ask(page, 'refused');
            await check(page, 'an error');
            await page.getByRole('button', { name: 'Enter a key for Scripted' }).click();
            await page.locator('.key-dialog').waitFor();
            await check(page, 'a key');
            await page.keyboard.press('Escape');
            await page.locator('.key-dialog').waitFor({ state: 'detached' });
            await page.locator('#prompt').fill('/');
            await page.locator('#slash-menu').waitFor();
            await check(page, 'slash commands');
            await page.locator('#prompt').fill('');
            await send(page, 'endless');
            await page.getByText('word word').waitFor();
            await check(page, 'an answer on its way');
            await page.keyboard.press('Escape');
            await page.getByText('Stopped.').first().waitFor();
            if (viewport.width < 800) await page.getByRole('button', { name: 'Show sidebar' }).click();
            await page.getByRole('button', { name: 'What to do with' }).click();
            await page.getByRole('menu').waitFor();
            await check(page, 'a menu');
          },
          // What is on its way in is not at its full colour yet.
          { colorScheme, viewport, reducedMotion: 'reduce' },
        );
      });
    }
  }
});
