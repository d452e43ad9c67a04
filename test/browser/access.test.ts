import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { launchChromium, withoutBrowser } from './chromium.ts';
import { type Gateway, openGateway } from './gateway.ts';
import { ask, PHONE, ready, send, visit } from './visit.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

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

/** What axe complains about, in a line each. */
async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  const { violations: found } = (await page.evaluate('axe.run()')) as {
    violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[];
  };
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}: ${node.html.slice(0, 200)} ${node.failureSummary}`),
  );
}

describe('for everyone', { skip: withoutBrowser }, () => {
  let browser: Browser;
  let gateway: Gateway;
  before(async () => {
    gateway = await openGateway(script, ['gpt-4o', 'plain-model']);
    browser = await launchChromium();
  });
  after(async () => {
    await browser?.close();
    await gateway?.close();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const viewport of [{ width: 1280, height: 800 }, PHONE]) {
      test(`axe finds nothing, ${colorScheme}, ${viewport.width} pixels`, async () => {
        const check = async (page: Page, what: string): Promise<void> => {
          assert.deepEqual(await violations(page), [], what);
        };
        await visit(
          browser,
          gateway,
          async (page) => {
            await ready(page);
            await check(page, 'empty');
            for (const summary of await page.locator('.welcome summary').all()) await summary.click();
            await check(page, 'with what is folded');
            await page.locator('#model').click();
            await check(page, 'models');
            await page.keyboard.press('Escape');
            await page.keyboard.press('Control+/');
            await page.locator('.shortcuts').waitFor();
            await check(page, 'shortcuts');
            await page.keyboard.press('Escape');
            await ask(page, 'markdown');
            await page.locator('.reasoning summary').click();
            await check(page, 'an answer');
            await ask(page, 'refused');
            await check(page, 'an error');
            await page.getByRole('button', { name: 'Enter a key for Scripted' }).click();
            await page.locator('.key-dialog').waitFor();
            await check(page, 'a key');
            await page.keyboard.press('Escape');
            await page.locator('#prompt').fill('/');
            await check(page, 'slash commands');
            await page.locator('#prompt').fill('');
            await send(page, 'endless');
            await page.getByText('word word').waitFor();
            await check(page, 'an answer on its way');
            await page.keyboard.press('Escape');
            await page.getByText('Stopped.').first().waitFor();
            if (viewport.width < 800) await page.getByRole('button', { name: 'Show sidebar' }).click();
            await page.getByRole('button', { name: 'What to do with' }).click();
            await check(page, 'a menu');
          },
          // What is on its way in is not at its full colour yet.
          { colorScheme, viewport, reducedMotion: 'reduce' },
        );
      });
    }
  }
});
