import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { violations } from './axe.ts';
import { withoutBrowser } from './chromium.ts';
import { openGateway } from './gateway.ts';
import { fillDatabase } from './history-chats.ts';
import { setStage } from './stage.ts';
import { goTo, PHONE, ready } from './visit.ts';

describe('what is kept, for everyone', { skip: withoutBrowser }, () => {
  const { visit } = setStage(() => openGateway(() => ({ text: ['Fine.'] }), ['gpt-4o']));

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const viewport of [{ width: 1280, height: 800 }, PHONE]) {
      test(`axe finds nothing, ${colorScheme}, ${viewport.width} pixels`, async () => {
        const check = async (page: Page, what: string): Promise<void> => {
          assert.deepEqual(await violations(page), [], what);
        };
        await visit(
          async (page) => {
            const dialog = page.getByRole('dialog');
            await ready(page);
            await goTo(page, '#/history');
            await page.getByRole('main').getByText('Your chats will be listed here').waitFor();
            await check(page, 'no chats');
            await fillDatabase(page, 30, 4);
            await page.reload();
            await page.getByText('30 chats', { exact: true }).waitFor();
            await page.locator('.history-check input').nth(1).check();
            await page.locator('.history-check input').nth(3).check();
            await check(page, 'a selection');
            await page.getByRole('button', { name: 'Folder and tags' }).click();
            await dialog.getByLabel('Folder').fill('Garden');
            await dialog.getByLabel('Add a tag').fill('green');
            await dialog.getByLabel('Add a tag').press('Enter');
            await dialog.getByRole('button', { name: 'Remove the tag “green”' }).waitFor();
            await check(page, 'folder and tags');
            await dialog.getByRole('button', { name: 'Save' }).click();
            await dialog.waitFor({ state: 'detached' });
            await page.getByText('2 chats were changed.').first().waitFor();
            await check(page, 'chats in folders');
            await page.getByLabel('Search chats').fill('garden');
            await page.locator('.history-snippet mark').first().waitFor();
            await check(page, 'what was found');
            await page.locator('.history-row').first().getByRole('button', { name: 'What to do with' }).click();
            await page.getByRole('menu').waitFor();
            await check(page, 'a menu');
            await page.getByRole('menuitem', { name: 'Share' }).click();
            await dialog.getByRole('button', { name: 'Make a link' }).click();
            await dialog.getByRole('button', { name: 'Copy the link' }).waitFor();
            await check(page, 'sharing');
            const link = await dialog.getByLabel('Link', { exact: true }).inputValue();
            await page.keyboard.press('Escape');
            await dialog.waitFor({ state: 'detached' });
            await page.getByRole('button', { name: 'Import chats' }).click();
            await page.locator('#import-files').setInputFiles([
              {
                name: 'chats.json',
                mimeType: 'application/json',
                buffer: Buffer.from(
                  '[{"title":"A","messages":[{"role":"user","content":"x"}]},{"title":"B","mapping":{}}]',
                ),
              },
              { name: 'none.json', mimeType: 'application/json', buffer: Buffer.from('nothing') },
            ]);
            await dialog.getByText('neither JSON').waitFor();
            await check(page, 'an import');
            await page.keyboard.press('Escape');
            await dialog.waitFor({ state: 'detached' });
            await page.getByRole('button', { name: 'What to do with all chats' }).click();
            await page.getByRole('menuitem', { name: 'Delete all chats' }).click();
            await dialog.getByRole('button', { name: 'Delete all chats' }).waitFor();
            await check(page, 'deleting all');
            await page.keyboard.press('Escape');
            await dialog.waitFor({ state: 'detached' });
            await page.goto(link);
            await page.locator('.shared .answer').first().waitFor();
            await check(page, 'a shared chat');
            await goTo(page, '#/share/not-there');
            await page.getByText('This chat is not shared').waitFor();
            await check(page, 'no shared chat');
          },
          { colorScheme, viewport, reducedMotion: 'reduce' },
        );
      });
    }
  }
});
