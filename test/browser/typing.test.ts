import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { withoutBrowser } from './chromium.ts';
import { becomes } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask } from './visit.ts';

/** A key press as an input method has it while it composes a word. */
async function compose(field: Locator, key: string): Promise<void> {
  await field.evaluate((node, pressed) => {
    const { KeyboardEvent } = globalThis as unknown as { KeyboardEvent: new (...options: unknown[]) => Event };
    const init = { key: pressed, keyCode: 229, isComposing: true, bubbles: true, cancelable: true };
    node.dispatchEvent(new KeyboardEvent('keydown', init));
  }, key);
}

describe('typing', { skip: withoutBrowser }, () => {
  const { visit, gateway } = setStage(() =>
    openGateway(({ prompt }) => ({ text: [prompt] }), ['gpt-4o', 'other-model']),
  );

  test('leaves to an input method the keys with which it composes a word', async () => {
    await visit(async (page) => {
      await ask(page, 'hello');
      const asked = gateway.upstream.chats.length;
      const prompt = page.locator('#prompt');
      await prompt.fill('half a w');
      await compose(prompt, 'Enter');
      await prompt.fill('/new');
      await page.locator('#slash-menu').waitFor();
      await compose(prompt, 'Enter');
      await compose(prompt, 'Escape');
      await page.locator('#slash-menu').waitFor();
      await becomes(() => prompt.inputValue(), '/new');
      await prompt.fill('');

      await page.locator('.question').hover();
      await page.locator('.question').getByRole('button', { name: 'Edit' }).click();
      const editor = page.locator('.editor textarea');
      await editor.fill('anew');
      await compose(editor, 'Escape');
      await compose(editor, 'Enter');
      await becomes(() => editor.inputValue(), 'anew');
      await editor.press('Escape');

      await page.locator('#model').click();
      await page.locator('#picker-search').fill('other');
      await compose(page.locator('#picker-search'), 'Enter');
      await becomes(() => page.locator('#picker-search').inputValue(), 'other');
      await page.keyboard.press('Escape');

      await page.locator('.chat-list li').getByRole('button').click();
      await page.getByRole('menuitem', { name: 'Rename' }).click();
      await page.locator('.rename').fill('half a t');
      await compose(page.locator('.rename'), 'Enter');
      await compose(page.locator('.rename'), 'Escape');
      await becomes(() => page.locator('.rename').inputValue(), 'half a t');
      assert.equal(gateway.upstream.chats.length, asked);
    });
  });
});
