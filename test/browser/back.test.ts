import { describe, test } from 'node:test';
import { withoutBrowser } from './chromium.ts';
import { becomes } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask, goTo, PHONE } from './visit.ts';

describe('the button Back', { skip: withoutBrowser }, () => {
  const { visit } = setStage(() => openGateway(({ prompt }) => ({ text: ['You said: ', prompt] }), ['gpt-4o']));

  test('closes the newest of what lies over the page, and then leaves the page', async () => {
    await visit(
      async (page) => {
        await ask(page, 'first');
        const chat = new URL(page.url()).hash;
        const hash = (): string => new URL(page.url()).hash;
        const open = page.locator('.chat-list');
        const back = (): Promise<unknown> => page.evaluate('history.back()');
        await goTo(page, '#/prompts');
        const dialog = page.getByRole('dialog');
        await page.locator('#new-prompt').click();
        await dialog.getByLabel('Text', { exact: true }).fill('half a thought');
        await back();
        await dialog.waitFor({ state: 'detached' });
        await becomes(async () => hash(), '#/prompts');
        // A menu over the list of chats, which lies over the page here.
        await page.locator('#open-sidebar').click();
        await page.locator('.chat-list li button').first().click();
        await page.getByRole('menu').waitFor();
        await back();
        await page.getByRole('menu').waitFor({ state: 'detached' });
        await open.waitFor();
        await open.locator('h2').first().click();
        await back();
        await open.waitFor({ state: 'detached' });
        await becomes(async () => hash(), '#/prompts');
        await back();
        await becomes(async () => hash(), chat);
      },
      { viewport: PHONE, hasTouch: true, isMobile: true },
    );
  });
});
