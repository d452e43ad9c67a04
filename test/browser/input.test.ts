import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, comesToFit, eventually } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { LISTENS } from './listening.ts';
import { setStage } from './stage.ts';
import { ask, finished, lastAnswer, newChat, PIXEL, ready, send } from './visit.ts';

type Made = new (
  ...options: unknown[]
) => { readonly items: { add(file: File): void }; setData(type: string, text: string): void } & Event;

interface BrowserScope {
  readonly DataTransfer: Made;
  readonly DragEvent: Made;
  readonly ClipboardEvent: Made;
}

const script: VendorScript = ({ prompt }) =>
  prompt === 'endless' ? { text: endless(), delayMs: 20 } : { text: ['You said: ', prompt] };

function* endless(): Generator<string> {
  for (;;) yield 'and ';
}

/** Sends a picture without words, and waits for the answer. */
async function askWithPicture(page: Page): Promise<void> {
  await ready(page);
  await page.locator('#files').setInputFiles({ name: 'pixel.png', mimeType: 'image/png', buffer: PIXEL });
  await page.locator('#attached .is-ready').waitFor();
  await page.locator('#send').click();
  await finished(lastAnswer(page));
}

describe('the field for messages', { skip: withoutBrowser }, () => {
  const { visit, gateway, sent } = setStage(() => openGateway(script, ['gpt-4o', 'plain-model']));

  test('takes documents, shows what becomes of them, and sends their text', async () => {
    await visit(async (page) => {
      await ready(page);
      // Slow enough to be seen.
      await page.route('**/files/*/stream', async (route) => {
        await page.locator('#attached .is-converting progress').waitFor();
        await route.continue();
      });
      const text = 'The secret word is gate.';
      await page
        .locator('#files')
        .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from(text) });
      await page.locator('#attached .is-ready').waitFor();
      await comesToFit(() => page.locator('#attached').innerText(), /notes\.txt[\s\S]*B of text/);
      await ask(page, 'What is the word?');
      assert.match(sent(), /The secret word is gate\./);
      await becomes(() => page.locator('.question .file-chip').innerText(), 'notes.txt');
      await becomes(() => page.locator('#attached').count(), 0);
      // It belongs to the conversation, and goes along with later questions.
      await ask(page, 'And again?');
      assert.match(sent(), /The secret word is gate\./);
    });
  });

  test('takes an archive of which only some can be read', async () => {
    await visit(async (page) => {
      await ready(page);
      const archive = readFileSync(path.join(import.meta.dirname, '../fixtures/documents/mixed.zip'));
      await page.locator('#files').setInputFiles({ name: 'mixed.zip', mimeType: 'application/zip', buffer: archive });
      await page.locator('#attached .is-ready').waitFor();
      await ask(page, 'What is in it?');
      assert.match(sent(), /<!-- File: fees\.py -->/);
    });
  });

  test('says what is wrong with a file, and takes it away again', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.locator('#files').setInputFiles([
        { name: 'empty.txt', mimeType: 'text/plain', buffer: Buffer.from(' ') },
        { name: 'program.exe', mimeType: 'application/octet-stream', buffer: Buffer.from('MZ') },
      ]);
      await page.locator('#attached .is-failed').nth(1).waitFor();
      await becomes(() => page.locator('#attached [role=alert]').count(), 2);
      await becomes(() => page.locator('#send').isDisabled(), true);
      await page.getByRole('button', { name: 'Remove empty.txt' }).click();
      await page.locator('#prompt').fill('What is in it?');
      await page.locator('#prompt').press('Enter');
      await page.getByText('“program.exe” could not be taken in. Remove it').waitFor();
      await becomes(() => page.locator('.question').count(), 0);
      await page.getByRole('button', { name: 'Remove program.exe' }).click();
      await becomes(() => page.locator('#attached').count(), 0);
      await ask(page, 'Then without it');
    });
  });

  test('leaves nothing on the server of a file that is removed while it is on its way', async () => {
    await visit(async (page) => {
      await ready(page);
      const arrived = Promise.withResolvers<string>();
      const removed = Promise.withResolvers<void>();
      await page.route('**/backend-api/v2/files/*', async (route) => {
        if (route.request().method() !== 'POST') return route.continue();
        const response = await route.fetch();
        arrived.resolve(route.request().url());
        await removed.promise;
        // It may have hung up.
        await route.fulfill({ response }).catch(() => {});
      });
      await page.locator('#files').setInputFiles({ name: 'pixel.png', mimeType: 'image/png', buffer: PIXEL });
      const bucket = await arrived.promise;
      assert.equal((await fetch(bucket)).status, 200);
      await page.getByRole('button', { name: 'Remove pixel.png' }).click();
      removed.resolve();
      await becomes(async () => (await fetch(bucket)).status, 404);
      await becomes(() => page.locator('#attached').count(), 0);
    });
  });

  for (const [way, give] of [
    ['dropped', 'drop'],
    ['pasted', 'paste'],
  ] as const) {
    test(`takes pictures that are ${way}`, async () => {
      await visit(async (page) => {
        await ready(page);
        const bytes = PIXEL.toString('base64');
        // What is dropped may be dropped anywhere.
        await page.locator(give === 'drop' ? '#welcome-title' : '#prompt').evaluate(
          (place, [kind, base64]) => {
            // The browser's own, which the types of this package do not know.
            const { DataTransfer, DragEvent, ClipboardEvent } = globalThis as unknown as BrowserScope;
            const data = new DataTransfer();
            const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
            data.items.add(new File([bytes], 'pixel.png', { type: 'image/png' }));
            const event =
              kind === 'drop'
                ? new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })
                : new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
            if (kind === 'drop') {
              place.dispatchEvent(new DragEvent('dragover', { dataTransfer: data, bubbles: true, cancelable: true }));
            }
            place.dispatchEvent(event);
          },
          [give, bytes] as const,
        );
        await page.locator('#attached .is-ready img').waitFor();
        await ask(page, 'What is this?');
        assert.equal(gateway.upstream.chats.at(-1)?.images, 1);
        await page.reload();
        await page.locator('.question img').waitFor();
      });
    });
  }

  test('takes a file that is dropped with the very first picture of the page', async () => {
    await visit(async (page) => {
      await page.addInitScript(`new MutationObserver((_, observer) => {
        const field = document.querySelector('#prompt');
        if (field === null) return;
        observer.disconnect();
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File(['The secret word is gate.'], 'notes.txt', { type: 'text/plain' }));
        field.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
      }).observe(document, { childList: true, subtree: true })`);
      await page.reload();
      await page.locator('#attached .is-ready').waitFor();
    });
  });

  test('leaves words that are dropped to the browser, which puts them where they belong', async () => {
    await visit(async (page) => {
      await ready(page);
      const isTaken = await page.locator('#prompt').evaluate((field) => {
        const { DataTransfer, DragEvent } = globalThis as unknown as BrowserScope;
        const data = new DataTransfer();
        data.setData('text/plain', 'words from elsewhere');
        return !field.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
      });
      assert.equal(isTaken, false);
    });
  });

  test('shows the picture of a question at its edge, and names the chat after the words', async () => {
    await visit(async (page) => {
      await ready(page);
      const wide = await sharp({ create: { width: 800, height: 400, channels: 3, background: 'teal' } })
        .png()
        .toBuffer();
      await page.locator('#files').setInputFiles({ name: 'wide.png', mimeType: 'image/png', buffer: wide });
      await page.locator('#attached .is-ready').waitFor();
      await send(page, 'endless');
      await lastAnswer(page).getByText('and and').waitFor();
      assert.match(await page.locator('.chat-list li').innerText(), /^endless/);
      const boxOf = async (place: string) => {
        const { x = 0, width = 0 } = (await page.locator(place).boundingBox()) ?? {};
        return { width, end: x + width };
      };
      await becomes(async () => (await boxOf('.question img')).width, 256);
      // The answer that comes meanwhile may move both.
      await becomes(async () => (await boxOf('.question img')).end - (await boxOf('.question .files')).end, 0);
    });
  });

  test('edits a question that has a file, which stays with it, and copies no words where there are none', async () => {
    await visit(async (page) => {
      await askWithPicture(page);
      const question = page.locator('.question');
      await question.hover();
      await becomes(() => question.getByRole('button', { name: 'Copy' }).count(), 0);
      await question.getByRole('button', { name: 'Edit' }).click();
      await page.locator('.editor .file-image').waitFor();
      await page.locator('.editor textarea').fill('endless');
      await page.locator('.editor textarea').press('Enter');
      await lastAnswer(page).getByText('and and').waitFor();
      assert.equal(gateway.upstream.chats.at(-1)?.images, 1);
      // While an answer is on its way, the next one waits.
      await question.hover();
      await question.getByRole('button', { name: 'Edit' }).click();
      await page.getByText('An answer is on its way').waitFor();
      const sendEdited = page.locator('.editor').getByRole('button', { name: 'Send' });
      await becomes(() => sendEdited.isDisabled(), true);
      await page.locator('#send').click();
      await becomes(() => sendEdited.isDisabled(), false);
      await page.locator('.editor textarea').fill('then');
      await page.locator('.editor textarea').press('Enter');
      await page.getByText('You said: then').waitFor();
      assert.equal(gateway.upstream.chats.at(-1)?.images, 1);
    });
  });

  test('says so when the picture of a question is gone', async () => {
    await visit(async (page) => {
      await askWithPicture(page);
      const picture = await page.locator('.question .file-image').getAttribute('href');
      const [, bucket] = /^\/files\/([^/]+)\//.exec(String(picture)) ?? [];
      await fetch(`${gateway.origin}/backend-api/v2/files/${bucket}`, { method: 'DELETE' });
      await page.reload();
      await page.locator('.question').getByText('pixel.png This picture cannot be loaded.').waitFor();
      assert.equal(await page.locator('.question .file-image').count(), 0);
    });
  });

  test('says what to do about a file that is gone from the server, and takes it out of the question', async () => {
    await visit(async (page) => {
      await ready(page);
      const text = Buffer.from('The secret word is gate.');
      await page.locator('#files').setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: text });
      await page.locator('#attached .is-ready').waitFor();
      await ask(page, 'What is the word?');
      const bucket = await page.locator('.question .file-chip').getAttribute('href');
      await fetch(gateway.origin + bucket, { method: 'DELETE' });
      await lastAnswer(page).getByRole('button', { name: 'Regenerate' }).click();
      await page.getByText('A file of this chat is no longer on the server.').waitFor();
      const question = page.locator('.question');
      await question.hover();
      await question.getByRole('button', { name: 'Edit' }).click();
      await page.getByRole('button', { name: 'Remove notes.txt' }).click();
      await becomes(() => page.locator('.editor .file-chip').count(), 0);
      await page.locator('.editor textarea').press('Enter');
      await lastAnswer(page).getByText('You said: What is the word?').waitFor();
      await becomes(() => question.locator('.file-chip').count(), 0);
    });
  });

  test('folds a long question', async () => {
    await visit(async (page) => {
      await ask(page, 'short');
      await becomes(() => page.locator('.fold').count(), 0);
      await ask(page, Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\n'));
      const bubble = page.locator('.bubble').last();
      const height = (): Promise<number> => bubble.evaluate((node) => node.clientHeight);
      await page.getByRole('button', { name: 'Show more' }).waitFor();
      const folded = await height();
      await page.getByRole('button', { name: 'Show more' }).click();
      await page.getByRole('button', { name: 'Show less' }).waitFor();
      assert.ok((await height()) > 2 * folded);
      await page.getByRole('button', { name: 'Show less' }).click();
      await becomes(height, folded);
    });
  });

  test('unfolds a question wherever some of it is hidden, also when the window has become narrower', async () => {
    await visit(
      async (page) => {
        await ask(page, 'word '.repeat(120));
        const bubble = page.locator('.bubble');
        const hidden = (): Promise<number> => bubble.evaluate((node) => node.scrollHeight - node.clientHeight);
        await becomes(hidden, 0);
        await becomes(() => page.locator('.fold').count(), 0);
        await page.setViewportSize({ width: 320, height: 640 });
        await eventually(async () => assert.ok((await hidden()) > 0));
        await page.getByRole('button', { name: 'Show more' }).click();
        await becomes(hidden, 0);
        await page.getByRole('button', { name: 'Show less' }).click();
        await eventually(async () => assert.ok((await hidden()) > 0));
        // And where nothing is hidden there is nothing to unfold.
        await page.setViewportSize({ width: 1280, height: 720 });
        await becomes(() => page.locator('.fold').count(), 0);
        assert.equal(await hidden(), 0);
      },
      { viewport: { width: 1280, height: 720 } },
    );
  });

  test('gets what is typed anywhere, and Arrow up edits the last question', async () => {
    await visit(async (page) => {
      await ask(page, 'first');
      await page.locator('#scroll').focus();
      await page.keyboard.type('anywhere');
      await becomes(() => page.locator('#prompt').inputValue(), 'anywhere');
      // There it is the field's own key.
      await page.keyboard.press('ArrowUp');
      await becomes(() => page.locator('.editor').count(), 0);
      await page.locator('#prompt').fill('');
      await page.keyboard.press('ArrowUp');
      await becomes(() => page.locator('.editor textarea').inputValue(), 'first');
      await page.keyboard.type(' and second');
      await becomes(() => page.locator('.editor textarea').inputValue(), 'first and second');
      await page.keyboard.press('Escape');
      // Nor are the letters in a window for the field below it.
      await page.keyboard.press('Control+/');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
      await page.keyboard.type('x');
      await page.keyboard.press('Escape');
      await becomes(() => page.locator('#prompt').inputValue(), '');
    });
  });

  test('keeps drafts, of each chat its own, with their files', async () => {
    await visit(async (page) => {
      await ask(page, 'first chat');
      await page.locator('#prompt').fill('half a thought');
      await page.locator('#files').setInputFiles({ name: 'pixel.png', mimeType: 'image/png', buffer: PIXEL });
      await page.locator('#attached .is-ready').waitFor();
      await newChat(page);
      await becomes(() => page.locator('#prompt').inputValue(), '');
      await page.locator('#prompt').fill('another one');
      await page.reload();
      await ready(page);
      await becomes(() => page.locator('#prompt').inputValue(), 'another one');
      await page.locator('.chat-list a').click();
      await page.locator('#attached .is-ready img').waitFor();
      await becomes(() => page.locator('#prompt').inputValue(), 'half a thought');
    });
  });

  test('searches the web when that is switched on, and remembers it', async () => {
    await visit(async (page) => {
      await ready(page);
      const body = async (text: string): Promise<Record<string, unknown>> => {
        const request = page.waitForRequest('**/backend-api/v2/conversation');
        await ask(page, text);
        return (await request).postDataJSON() as Record<string, unknown>;
      };
      assert.equal((await body('without'))['web_search'], undefined);
      await page.locator('#web-search').click();
      await becomes(() => page.locator('#web-search').getAttribute('aria-pressed'), 'true');
      await page.reload();
      await page.route('**/backend-api/v2/conversation', (route) => route.abort());
      assert.equal((await body('with'))['web_search'], true);
    });
  });

  test('says beside the answer that a search failed', async () => {
    const gateway = await openGateway(
      script,
      ['gpt-4o'],
      'Scripted',
      "search: { engine: searxng, url: 'http://127.0.0.1:9' }",
    );
    try {
      await visit(
        async (page) => {
          await ready(page);
          await page.locator('#web-search').click();
          await ask(page, 'news');
          await page.locator('.answer').getByText('The web search failed.').waitFor();
          await page.reload();
          await page.locator('.answer').getByText('The web search failed.').waitFor();
        },
        { gateway },
      );
    } finally {
      await gateway.close();
    }
  });

  test('offers no search where the server has none, and asks for none', async () => {
    const gateway = await openGateway(script, ['gpt-4o'], 'Scripted', 'search: { engine: none }');
    try {
      await visit(
        async (page) => {
          const kept = JSON.stringify(JSON.stringify({ webSearch: true }));
          await page.evaluate(`localStorage.setItem('sluice.settings', ${kept})`);
          await page.reload();
          await ready(page);
          await becomes(() => page.locator('#web-search').count(), 0);
          const request = page.waitForRequest('**/backend-api/v2/conversation');
          await ask(page, 'news');
          assert.equal((await request).postDataJSON().web_search, undefined);
        },
        { gateway },
      );
    } finally {
      await gateway.close();
    }
  });

  test('writes down what is said, where the browser can', async () => {
    await visit(async (page) => {
      await page.addInitScript(LISTENS);
      await page.reload();
      await ready(page);
      await page.locator('#prompt').fill('Well,');
      await page.locator('#voice').click();
      for (const words of ['tell', 'tell me more']) {
        await page.evaluate(
          `listening.dispatchEvent(Object.assign(new Event('result'), { results: [[{ transcript: '${words}' }]] }))`,
        );
      }
      await becomes(() => page.locator('#prompt').inputValue(), 'Well, tell me more');
      await page.locator('#voice').click();
      await becomes(() => page.locator('#voice').getAttribute('aria-pressed'), 'false');
    });
  });

  test('has no button for speech where the browser cannot listen', async () => {
    await visit(async (page) => {
      await page.addInitScript('delete globalThis.SpeechRecognition; delete globalThis.webkitSpeechRecognition;');
      await page.reload();
      await ready(page);
      await page.locator('#send').waitFor();
      assert.equal(await page.locator('#voice').count(), 0);
    });
  });

  test('offers commands behind a slash', async () => {
    await visit(async (page) => {
      await ask(page, 'before');
      await page.locator('#prompt').pressSequentially('/n');
      await page.getByRole('option', { name: '/new' }).waitFor();
      await page.locator('#prompt').press('Enter');
      await page.locator('#welcome-title').waitFor();
      await page.locator('#prompt').pressSequentially('/he');
      await page.getByRole('option', { name: '/help' }).click();
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
      await comesToFit(
        () => page.locator('.shortcuts').innerText(),
        /New chat[\s\S]*\/new[\s\S]*Ctrl[\s\S]*Shift[\s\S]*O/,
      );
      await page.keyboard.press('Escape');
      await page.locator('.shortcuts').waitFor({ state: 'detached' });
      // A path is no command.
      await ask(page, '/usr/bin is a folder');
      assert.match(sent(), /\/usr\/bin is a folder/);
    });
  });

  test('offers commands anew, from the first one on, for what is typed anew', async () => {
    await visit(async (page) => {
      await ready(page);
      const prompt = page.locator('#prompt');
      const menu = page.locator('#slash-menu');
      const marked = () => menu.locator('[aria-selected=true]').getAttribute('id');
      await prompt.pressSequentially('/');
      await menu.waitFor();
      await prompt.press('Escape');
      await menu.waitFor({ state: 'detached' });
      await prompt.press('Backspace');
      await prompt.pressSequentially('/');
      await menu.waitFor();
      await prompt.press('ArrowDown');
      await becomes(marked, 'slash-1');
      await prompt.press('Backspace');
      await menu.waitFor({ state: 'detached' });
      await prompt.pressSequentially('/');
      await menu.waitFor();
      await becomes(marked, 'slash-0');
    });
  });
});
