import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import sharp from 'sharp';
import type { VendorScript } from '../support/vendor-script.ts';
import { violations } from './axe.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, eventually } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask, finished, goTo, lastAnswer, PHONE, send, settled } from './visit.ts';

const script: VendorScript = ({ prompt }) => {
  if (prompt === 'count') return { text: numbers(), delayMs: 20 };
  return { text: [`You said: **${prompt}**`] };
};

/** Whether somebody has read an answer while it was being written; it goes on until then. */
let isRead = false;

function* numbers(): Generator<string> {
  for (let index = 0; index < 100 || !isRead; index += 1) yield `w${index} `;
}

describe('shared chats', { skip: withoutBrowser }, () => {
  const { visit, gateway } = setStage(() => openGateway(script, ['gpt-4o']));

  /** Shares the chat that is open; returns the link. */
  const share = async (page: Page): Promise<string> => {
    await page.getByRole('button', { name: 'What to do with' }).first().click();
    await page.getByRole('menuitem', { name: 'Share' }).click();
    const dialog = page.getByRole('dialog', { name: 'Share this chat' });
    await dialog.getByRole('button', { name: 'Make a link' }).click();
    await dialog.getByRole('button', { name: 'Copy the link' }).click();
    const link = await dialog.getByLabel('Link', { exact: true }).inputValue();
    await becomes(() => page.evaluate('navigator.clipboard.readText()'), link);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    return link;
  };
  /** What the server has behind a link. */
  const read = (link: string): Promise<Response> =>
    fetch(`${gateway.origin}/backend-api/v2/chat/${link.split('/').at(-1)}`);
  /** Somebody else, with a browser of their own. */
  const reading = async (link: string, use: (page: Page, context: BrowserContext) => Promise<void>): Promise<void> =>
    visit(use, { path: link.slice(gateway.origin.length), mayComplain: /ERR_/ });

  test('can be read by whoever has the link, live, and gone on with', async () => {
    await visit(async (owner) => {
      await owner.locator('#providers').waitFor({ state: 'attached' });
      await ask(owner, 'hello');
      const link = await share(owner);
      assert.match(link, /#\/share\/[\w-]{36}$/);
      await reading(link, async (reader) => {
        await reader.locator('.answer strong').getByText('hello').waitFor();
        assert.equal(await reader.locator('#prompt').count(), 0);
        await becomes(() => reader.title(), 'hello · Sluice');
        const seen: number[] = [];
        reader.on('response', (response) => {
          if (response.url().includes('/backend-api/v2/chat/')) seen.push(response.status());
        });
        // Nothing new: the reader asks with the version that it has.
        await reader.waitForResponse((response) => response.status() === 304);
        // An answer that is being written can be read meanwhile.
        await send(owner, 'count');
        await reader.getByText('w20 ').waitFor();
        assert.equal(await owner.locator('#send').getAttribute('aria-label'), 'Stop');
        isRead = true;
        await finished(lastAnswer(owner));
        await reader.getByText('w99 ').waitFor();
        assert.ok(seen.includes(200) && seen.includes(304));
        await reader.getByRole('button', { name: 'Continue this chat' }).click();
        // Until then it is what was shared that is on the screen.
        await reader.locator('#prompt').waitFor();
        await ask(reader, 'and I say');
        const sent = String(gateway.upstream.chats.at(-1)?.rawBody);
        assert.match(sent, /hello.*You said: \*\*hello\*\*.*count.*w99\b.*and I say/);
        // What the reader adds stays there.
        await owner.reload();
        await owner.getByText('w99 ').waitFor();
        await settled(owner);
        assert.equal(await owner.getByText('and I say').count(), 0);
      });
    });
  });

  test('get what was said last though the page went before it was sent', async () => {
    await visit(async (owner) => {
      await owner.locator('#providers').waitFor({ state: 'attached' });
      await ask(owner, 'hello');
      const link = await share(owner);
      // What the page sends a while after each change does not get there as long as it lives.
      let isGone = false;
      await owner.route('**/backend-api/v2/chat/**', (route) => (isGone ? route.continue() : route.abort()));
      await ask(owner, 'and goodbye');
      owner.once('framenavigated', () => {
        isGone = true;
      });
      await owner.reload();
      await finished(lastAnswer(owner));
      await eventually(async () => assert.match(await (await read(link)).text(), /You said: \*\*and goodbye/));
    });
  });

  test('are no longer there when sharing has ended, or when the chat was deleted', async () => {
    await visit(async (owner) => {
      await owner.locator('#providers').waitFor({ state: 'attached' });
      await ask(owner, 'secret');
      const first = await share(owner);
      await reading(first, async (reader) => {
        await reader.locator('.answer strong').waitFor();
        // Paper follows nothing.
        await reader.emulateMedia({ media: 'print' });
        await becomes(() => reader.locator('.shared-state').isVisible(), false);
        await reader.emulateMedia({ media: 'screen' });
        await owner.getByRole('button', { name: 'What to do with' }).first().click();
        await owner.getByRole('menuitem', { name: 'Share' }).click();
        await owner.getByRole('button', { name: 'Stop sharing' }).click();
        await owner.getByText('“secret” is no longer shared.').waitFor();
        await reader.getByText('This chat is no longer shared.').waitFor();
      });
      await reading(first, async (reader) => {
        await reader.getByText('This chat is not shared, or no longer.').waitFor();
        // There is nothing to scroll: the way to it by keyboard shows no ring around all of the screen, and it is no stop on the way.
        await reader.locator('.skip').press('Enter');
        await reader.locator('main:focus').waitFor();
        assert.equal(await reader.evaluate("getComputedStyle(document.querySelector('main')).outlineStyle"), 'none');
        assert.equal(await reader.locator('main').getAttribute('tabindex'), '-1');
      });
      const second = await share(owner);
      assert.notEqual(second, first);
      // Eleven seconds after the last click.
      const gone = owner.waitForResponse((response) => response.request().method() === 'DELETE', { timeout: 60_000 });
      await owner.getByRole('button', { name: 'What to do with' }).first().click();
      await owner.getByRole('menuitem', { name: 'Delete' }).click();
      // While it can be brought back, it stays; then it goes. Opening a browser to read it may take longer than that.
      await owner.getByRole('button', { name: 'Undo' }).waitFor();
      await settled(owner);
      assert.equal((await read(second)).status, 200);
      assert.equal((await gone).status(), 200);
      await reading(second, async (reader) => {
        await reader.getByText('This chat is not shared, or no longer.').waitFor();
      });
    });
  });

  test('show nothing that was not said: no instructions, thoughts or addresses of files', async () => {
    await visit(async (owner) => {
      await owner.locator('#providers').waitFor({ state: 'attached' });
      await owner
        .locator('#files')
        .setInputFiles([{ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('private notes') }]);
      await owner.locator('.attachment.is-ready').waitFor();
      await ask(owner, 'with a file');
      const text = await (await read(await share(owner))).text();
      assert.match(text, /"role":"user","content":"📎 notes\.txt\\n\\nwith a file"/);
      assert.doesNotMatch(text, /bucket|\/files\//);
    });
  });

  test('have a heading above each message, as every chat has', async () => {
    await visit(async (page) => {
      const body = {
        title: 'About boats',
        items: [
          { role: 'user', content: 'What about them?' },
          { role: 'assistant', content: '# Boats\n\nThey float.' },
        ],
      };
      await page.evaluate(
        `fetch('/backend-api/v2/chat/shared-with-headings', { method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(JSON.stringify(body))} })`,
      );
      await goTo(page, '#/share/shared-with-headings');
      await page.getByRole('heading', { name: 'Boats', exact: true, level: 3 }).waitFor();
      await settled(page);
      const headings = page.locator('.screen').getByRole('heading');
      assert.deepEqual(await headings.allTextContents(), ['About boats', 'Question', 'Answer', 'Boats']);
      assert.deepEqual(await violations(page), []);
      // What scrolls is reached by keyboard, and seen to be.
      const outline = (): Promise<string> =>
        page.evaluate("getComputedStyle(document.querySelector('main')).outlineStyle");
      assert.equal(await outline(), 'none');
      await page.getByRole('button', { name: 'Continue this chat' }).focus();
      await page.keyboard.press('Tab');
      await becomes(outline, 'solid');
    });
  });

  test('show all of their title on phones, and what goes on with them beside it', async () => {
    await visit(
      async (page) => {
        const title = 'How do I best sail a boat from Bergen to Oslo?';
        const body = { title, updated: 1, running: false, items: [{ role: 'user', content: title }] };
        const answer = await fetch(`${gateway.origin}/backend-api/v2/chat/shared-with-a-long-title`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        assert.equal(answer.status, 200);
        await goTo(page, '#/share/shared-with-a-long-title');
        await page.getByRole('button', { name: 'Continue this chat' }).waitFor();
        await page.locator('h1').getByText(title).waitFor();
        const sizes = `(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
          [scrollWidth - clientWidth, scrollHeight - clientHeight])(document.querySelector('h1'))`;
        assert.deepEqual(await page.evaluate(sizes), [0, 0]);
        const { x = 0, width = 0 } =
          (await page.getByRole('button', { name: 'Continue this chat' }).boundingBox()) ?? {};
        assert.ok(width > 30 && x + width <= PHONE.width, `${x} + ${width}`);
      },
      { viewport: PHONE, hasTouch: true, isMobile: true },
    );
  });

  test('that are not there are said so in the middle of the screen, as other things that are not', async () => {
    await visit(
      async (page) => {
        const middle = async (): Promise<number> => {
          const { y = 0, height = 0 } = (await page.locator('.missing').boundingBox()) ?? {};
          return y + height / 2;
        };
        await page.getByText('This chat is not shared, or no longer.').waitFor();
        const here = await middle();
        await goTo(page, '#/nowhere');
        await page.getByText('There is no page at this address').waitFor();
        const there = await middle();
        assert.ok(Math.abs(here - there) < 2, `${here} is not ${there}`);
      },
      { path: '/#/share/nothing-here' },
    );
  });

  test('show pictures in their own shape, also once more is written, and large enough to be seen', async () => {
    await visit(async (page) => {
      const picture = async (name: string, width: number, height: number): Promise<string> => {
        const bytes = await sharp({ create: { width, height, channels: 3, background: '#246' } })
          .png()
          .toBuffer();
        return `![${name}](data:image/png;base64,${bytes.toString('base64')})`;
      };
      const content = `Look: ${await picture('wide', 800, 100)} ${await picture('tall', 100, 800)} ${await picture('tiny', 2, 2)} ${await picture('sign', 16, 16)} ${await picture('badge', 90, 20)}`;
      const put = (version: number, text: string): Promise<unknown> => {
        const items = [{ role: 'assistant', content: text }];
        const body = JSON.stringify({ title: 'Pictures', updated: version, running: version === 1, items });
        return page.evaluate(`fetch('/backend-api/v2/chat/shared-pictures', {
          method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(body)} })`);
      };
      const size = async (name: string): Promise<readonly number[]> => {
        const box = await page.locator(`.answer img[alt="${name}"]`).boundingBox();
        return box === null ? [] : [box.width, box.height];
      };
      await put(1, content);
      await goTo(page, '#/share/shared-pictures');
      const haveShape = async (): Promise<void> => {
        await becomes(() => size('wide'), [400, 50]);
        await becomes(() => size('tall'), [50, 400]);
        await becomes(() => size('tiny'), [48, 48]);
        // As words are.
        await becomes(() => size('sign'), [16, 16]);
        await becomes(() => size('badge'), [90, 20]);
      };
      await haveShape();
      await put(2, `${content} and **more**`);
      await page.locator('.answer strong').getByText('more').waitFor();
      await haveShape();
    });
  });

  test('of strangers are read as hostile text', async () => {
    await visit(async (page) => {
      const body = {
        title: '<img src=x onerror=alert(1)>',
        items: [
          { role: 'user', content: '<script>alert(2)</script>' },
          {
            role: 'assistant',
            content: '<img src=x onerror=alert(3)> [x](javascript:alert(4)) **fine**',
            provider: { a: 1 },
          },
          { role: 'assistant', content: { toString: 1 } },
          'nonsense',
        ],
        updated: 5,
      };
      await page.evaluate(
        `fetch('/backend-api/v2/chat/hostile-share', { method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(JSON.stringify(body))} })`,
      );
      await goTo(page, '#/share/hostile-share');
      await page.locator('.answer strong').getByText('fine').waitFor();
      await settled(page);
      assert.equal(await page.locator('.shared img, .shared script, .shared a[href^="javascript"]').count(), 0);
      await becomes(() => page.getByRole('heading', { level: 1 }).innerText(), body.title);
    });
  });
});
