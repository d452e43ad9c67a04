import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withoutBrowser } from './chromium.ts';
import { becomes } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask, goTo, settled } from './visit.ts';

const NO_PAGE = 'There is no page at this address';
const NO_CHAT = 'This chat is not in this browser. It may have been deleted.';
const NOT_SHARED = 'This chat is not shared, or no longer.';

/** What stands at addresses that nobody has made, but that somebody may have typed, or cut off. */
const ODD: readonly (readonly [words: string, ...addresses: readonly string[]])[] = [
  [NOT_SHARED, '#/share', '#/share/', '#/share/%', '#/share/%ff%', '#/share/..', '#/share/a%2Fb', '#/share/%00'],
  [NOT_SHARED, `#/share/${'x'.repeat(5_000)}`, '#/share/\u{1F600}', '#/share/constructor'],
  [NO_CHAT, '#/chat/%', '#/chat/%ff%', '#/chat/..', '#/chat/a/b/c', '#/chat/__proto__', '#/compare/%'],
  [NO_PAGE, '#/%', '#/nowhere', '#/nowhere/x', '#nowhere', '#/__proto__', `#/${'x'.repeat(5_000)}`],
];

describe('addresses within the page', { skip: withoutBrowser }, () => {
  const { visit } = setStage(() => openGateway(({ prompt }) => ({ text: ['You said: ', prompt] }), ['gpt-4o']));

  for (const [words, ...addresses] of ODD) {
    test(`that lead nowhere say so: ${addresses.map((address) => address.slice(0, 20)).join(' ')}`, async () => {
      await visit(async (page) => {
        for (const address of addresses) {
          await goTo(page, '#/prompts');
          await page.locator('#new-prompt').waitFor();
          await goTo(page, address);
          await page.locator('.missing').waitFor();
          await becomes(() => page.locator('.missing p').innerText(), words, address);
          await settled(page);
          // And once more from a page that begins there.
          await page.reload();
          await page.locator('.missing').waitFor();
          assert.equal(await page.locator('.missing p').innerText(), words, address);
          assert.equal(await page.locator('#prompt').count(), 0);
        }
        await page.locator('.missing a').click();
        await page.locator('#prompt').waitFor();
      });
    });
  }

  test('of chats are theirs alone', async () => {
    await visit(async (page) => {
      await ask(page, 'hello');
      const chat = new URL(page.url()).hash;
      await goTo(page, chat.replace('chat', 'chats'));
      await page.locator('.missing').waitFor();
      assert.equal(await page.locator('.answer').count(), 0);
      await becomes(() => page.title(), `${NO_PAGE} · Sluice`);
      await goTo(page, chat);
      await page.getByText('You said: hello').waitFor();
      await becomes(() => page.title(), 'hello · Sluice');
    });
  });
});
