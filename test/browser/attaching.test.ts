import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { picture } from '../support/pictures.ts';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, eventually } from './eventually.ts';
import { dropOn } from './files-given.ts';
import { openGateway } from './gateway.ts';
import { answerWith } from './scripted-events.ts';
import { setStage } from './stage.ts';
import { ask, button, finished, goTo, lastAnswer, PIXEL, ready, send } from './visit.ts';

const script: VendorScript = ({ prompt }) =>
  prompt === 'endless' ? { text: endless(), delayMs: 20 } : { text: ['You said: ', prompt] };

function* endless(): Generator<string> {
  for (;;) yield 'and ';
}

const NOTES = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('The secret word is gate.') };
const PICTURE = { name: 'pixel.png', mimeType: 'image/png', buffer: PIXEL };
const BROKEN = { name: 'broken.png', mimeType: 'image/png', buffer: Buffer.from('This is no picture.') };

/** Notes the addresses of things in the memory of the page that are not given back. */
const ADDRESSES = `{
  globalThis.addresses = new Set();
  const { createObjectURL, revokeObjectURL } = URL;
  URL.createObjectURL = (thing) => {
    const address = createObjectURL.call(URL, thing);
    addresses.add(address);
    return address;
  };
  URL.revokeObjectURL = (address) => {
    addresses.delete(address);
    revokeObjectURL.call(URL, address);
  };
}`;

/** Pastes a file into the field of the editor. */
const PASTED = `(() => {
  const clipboardData = new DataTransfer();
  clipboardData.items.add(new File(['mu mu'], 'pasted.txt', { type: 'text/plain' }));
  document.querySelector('.editor textarea').dispatchEvent(
    new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
  );
})()`;

/** Puts a picture into the clipboard. */
const COPIED = `(async () => {
  const bytes = Uint8Array.from(atob('${PIXEL.toString('base64')}'), (letter) => letter.charCodeAt(0));
  await navigator.clipboard.write([new ClipboardItem({ 'image/png': new Blob([bytes], { type: 'image/png' }) })]);
})()`;

/** Drags a file over an element and drops it there; returns whether something on the page took care of each event. */
const DROPPED = `(place) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File(['text'], 'notes.txt', { type: 'text/plain' }));
  const options = { dataTransfer, bubbles: true, cancelable: true };
  return ['dragover', 'drop'].map((type) => !place.dispatchEvent(new DragEvent(type, options)));
}`;

/** Waits until so many pictures are there, none of them too small to be seen and pressed. */
async function everyIsSeen(pictures: Locator, count: number): Promise<void> {
  await becomes(() => pictures.count(), count);
  for (const each of await pictures.all()) {
    await eventually(async () => {
      const { width = 0, height = 0 } = (await each.boundingBox()) ?? {};
      assert.ok(Math.min(width, height) >= 40, `${width} by ${height}`);
    });
  }
}

describe('files for a question', { skip: withoutBrowser }, () => {
  const { visit, gateway, sent } = setStage(() => openGateway(script, ['gpt-4o']));
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-dropped-'));
  after(() => rmSync(folder, { recursive: true }));
  const fileOf = (name: string, content: string): string => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  };

  test('are sent again that did not get to the server, without being attached again', async () => {
    await visit(async (page) => {
      await ready(page);
      let isAway = true;
      await page.route('**/backend-api/v2/files/*', (route) =>
        isAway ? route.abort('internetdisconnected') : route.continue(),
      );
      await page.locator('#files').setInputFiles([NOTES, PICTURE]);
      await page.locator('#attached .is-failed').nth(1).waitFor();
      const again = (name: string) => page.getByRole('button', { name: `Try again with ${name}` });
      // Still away.
      const refused = page.waitForEvent('requestfailed', (request) => request.method() === 'POST');
      await again('notes.txt').click();
      await refused;
      isAway = false;
      await again('notes.txt').press('Enter');
      await again('pixel.png').click();
      await page.locator('#attached .is-ready').nth(1).waitFor();
      assert.equal(await page.locator('#attached [role=alert]').count(), 0);
      await ask(page, 'What is the word?');
      assert.match(sent(), /The secret word is gate\./);
      assert.equal(gateway.upstream.chats.at(-1)?.images, 1);
    });
  });

  test('are seen and can be pressed however small, wide or tall a picture is', async () => {
    await visit(async (page) => {
      await ready(page);
      const wide = { ...PICTURE, name: 'wide.png', buffer: await picture('#246', 3000, 4) };
      const tall = { ...PICTURE, name: 'tall.png', buffer: await picture('#246', 4, 3000) };
      await page.locator('#files').setInputFiles([PICTURE, wide, tall]);
      await page.locator('#attached .is-ready').nth(2).waitFor();
      await ask(page, 'What are they?');
      await everyIsSeen(page.locator('.file-image img'), 3);
      const data = `data:image/png;base64,${PIXEL.toString('base64')}`;
      await answerWith(page, [
        { type: 'content', content: '<img width="1" height="1">', urls: data, alt: 'A dot' },
        { type: 'content', content: '<a></a>', urls: data, alt: 'A dot of which no size is told' },
        { type: 'finish', finish: { reason: 'stop' } },
      ]);
      await ask(page, 'Draw some.');
      await everyIsSeen(page.locator('.picture img'), 2);
      await page.locator('.picture').first().click();
      await everyIsSeen(page.locator('.viewer img'), 1);
    });
  });

  test('are named with what helps when they failed and the question shall be sent', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.route('**/backend-api/v2/files/*', (route) => route.abort('internetdisconnected'));
      await page.locator('#files').setInputFiles(NOTES);
      await page.locator('#attached .is-failed').waitFor();
      await page.locator('#prompt').fill('What is in it?');
      await page.locator('#prompt').press('Enter');
      await page.getByText('“notes.txt” could not be taken in. Press “Try again” beside it, or remove it.').waitFor();
      await page.getByRole('button', { name: 'Remove notes.txt' }).click();
      await page.unroute('**/backend-api/v2/files/*');
      await page.locator('#files').setInputFiles(BROKEN);
      await page.locator('#attached .is-failed').waitFor();
      await page.locator('#prompt').press('Enter');
      await page.getByText('“broken.png” could not be taken in. Remove it, or attach it again.').waitFor();
    });
  });

  test('leave no pictures in the memory of the page that failed, or were removed or sent', async () => {
    await visit(async (page) => {
      await page.addInitScript(ADDRESSES);
      await page.reload();
      await ready(page);
      const held = (): Promise<number> => page.evaluate('addresses.size');
      let isAway = true;
      await page.route('**/backend-api/v2/files/*', (route) =>
        isAway ? route.abort('internetdisconnected') : route.continue(),
      );
      await page.locator('#files').setInputFiles([PICTURE, BROKEN]);
      await page.locator('#attached .is-failed').nth(1).waitFor();
      await becomes(held, 0, 'away');
      isAway = false;
      for (const name of ['pixel.png', 'broken.png']) {
        await page.getByRole('button', { name: `Try again with ${name}` }).click();
      }
      await page.locator('#attached .is-ready').waitFor();
      await page.locator('#attached .is-failed').waitFor();
      await becomes(held, 0, 'taken and refused');
      await page.route('**/backend-api/v2/files/*', () => {});
      await page.locator('#files').setInputFiles({ ...PICTURE, name: 'other.png' });
      await page.locator('#attached .is-uploading img').waitFor();
      assert.equal(await held(), 1);
      await page.getByRole('button', { name: 'Remove other.png' }).click();
      await becomes(held, 0, 'removed');
    });
  });

  test('are sent again when the server had too much to do, and when its conversion broke off', async () => {
    await visit(async (page) => {
      await ready(page);
      const error = { message: 'Too busy', code: 'overloaded' };
      await page.route('**/backend-api/v2/files/*', (route) => route.fulfill({ status: 503, json: { error } }));
      await page.locator('#files').setInputFiles(NOTES);
      await page.locator('#attached').getByText('Too busy').waitFor();
      await page.unroute('**/backend-api/v2/files/*');
      await page.route('**/files/*/stream', (route) => route.abort());
      const again = page.getByRole('button', { name: 'Try again with notes.txt' });
      await again.click();
      await page.locator('#attached').getByText('Too busy').waitFor({ state: 'detached' });
      await again.waitFor();
      await page.unroute('**/files/*/stream');
      await again.click();
      await page.locator('#attached .is-ready').waitFor();
    });
  });

  test('are not offered to be sent again where the server cannot take them, and show a sign in place of the picture', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.locator('#files').setInputFiles(BROKEN);
      await page.locator('#attached .is-failed > .icon').waitFor();
      assert.equal(await page.locator('#attached img').count(), 0);
      assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0);
    });
  });

  test('show a sign in place of a picture that the browser cannot show, while they are on their way', async () => {
    await visit(async (page) => {
      await ready(page);
      const held = Promise.withResolvers<void>();
      await page.route('**/backend-api/v2/files/*', async (route) => {
        await held.promise;
        await route.continue().catch(() => {});
      });
      const broken = { name: 'photo.heic', mimeType: 'image/heic', buffer: Buffer.from('none that it knows') };
      await page.locator('#files').setInputFiles(broken);
      await page.locator('#attached .is-uploading > .icon').waitFor();
      assert.equal(await page.locator('#attached img').count(), 0);
      held.resolve();
    });
  });

  test('are taken several at a time, and while an answer is on its way', async () => {
    await visit(async (page) => {
      await send(page, 'endless');
      await lastAnswer(page).getByText('and and').waitFor();
      await dropOn(page, '.answer', [fileOf('a.txt', 'alpha'), fileOf('b.txt', 'beta')]);
      await page.locator('#attached .is-ready').nth(1).waitFor();
      await page.locator('#send').click();
      await ask(page, 'Which?');
      assert.match(sent(), /alpha[\s\S]*beta/);
    });
  });

  test('go with a question that is written anew, pasted, dropped and chosen', async () => {
    await visit(async (page) => {
      await ask(page, 'Which?');
      const edit = async (): Promise<void> => await page.locator('.question .edit').click();
      const editor = page.locator('.editor');
      await edit();
      const failing = '**/backend-api/v2/files/*';
      await page.route(failing, (route) => route.abort('internetdisconnected'));
      await page.evaluate(PASTED);
      await editor.locator('.is-failed').waitFor();
      await editor.getByRole('button', { name: 'Send' }).click();
      await page.getByText('“pasted.txt” could not be taken in.').waitFor();
      await page.unroute(failing);
      await editor.getByRole('button', { name: 'Try again with pasted.txt' }).click();
      await editor.locator('.is-ready').waitFor();
      await dropOn(page, '.editor textarea', [fileOf('d.txt', 'lambda')]);
      await editor.locator('.is-ready').nth(1).waitFor();
      await editor.locator('input[type=file]').setInputFiles(PICTURE);
      await editor.locator('.is-ready').nth(2).waitFor();
      assert.equal(await page.locator('#attached').count(), 0);
      // What is written and attached waits while the editor is closed by mistake.
      await editor.locator('textarea').press('Escape');
      await editor.waitFor({ state: 'detached' });
      await edit();
      await becomes(() => editor.locator('.is-ready').count(), 3);
      assert.equal(await editor.locator('textarea').inputValue(), 'Which?');
      await editor.locator('textarea').fill('Which of these?');
      await editor.getByRole('button', { name: 'Send' }).click();
      await editor.waitFor({ state: 'detached' });
      await finished(lastAnswer(page));
      assert.match(sent(), /mu mu[\s\S]*lambda[\s\S]*Which of these\?/);
      assert.equal(gateway.upstream.chats.at(-1)?.images, 1);
      await edit();
      assert.deepEqual(await editor.locator('.attachments').count(), 0);
      assert.equal(await editor.getByRole('button', { name: 'Remove' }).count(), 3);
    });
  });

  test('are not taken for an answer, which is said where somebody pastes them there', async () => {
    await visit(async (page) => {
      await ask(page, 'Which?');
      await button(page, 'Edit the answer').click();
      await page.evaluate(PASTED);
      await page.getByText('Files cannot be attached here, only to a question.').waitFor();
      assert.equal(await page.locator('.attachment').count(), 0);
      await page.locator('.editor textarea').press('Escape');
    });
  });

  test('go to the message field with what is pasted where no field is', async () => {
    await visit(async (page) => {
      await ask(page, 'Which?');
      await page.evaluate(COPIED);
      await page.locator('#scroll').focus();
      await page.keyboard.press('Control+v');
      await page.locator('#attached .is-ready').waitFor();
      await page.evaluate(`navigator.clipboard.writeText('These words')`);
      await page.locator('#scroll').focus();
      await page.keyboard.press('Control+v');
      await becomes(() => page.locator('#prompt').inputValue(), 'These words');
    });
  });

  test('that are taken out of a question stay out of its draft over Escape and a reload, until that is given up or sent', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.locator('#files').setInputFiles([NOTES, { ...NOTES, name: 'other.txt' }]);
      await page.locator('#attached .is-ready').nth(1).waitFor();
      await ask(page, 'Which?');
      const names = (): Promise<readonly string[]> => page.locator('.question .files li').allInnerTexts();
      const editor = page.locator('.editor');
      const text = editor.locator('textarea');
      const edit = (): Promise<void> => page.locator('.question .edit').click();
      const reload = async (): Promise<void> => {
        await page.reload();
        await finished(lastAnswer(page));
      };
      await edit();
      await becomes(names, ['notes.txt', 'other.txt']);
      await editor.getByRole('button', { name: 'Remove notes.txt' }).click();
      await becomes(names, ['other.txt']);
      await text.press('Escape');
      await becomes(names, ['notes.txt', 'other.txt'], 'the question is what it was');
      await edit();
      await becomes(names, ['other.txt'], 'its draft is not');
      await reload();
      await becomes(names, ['notes.txt', 'other.txt']);
      await edit();
      await becomes(names, ['other.txt']);
      assert.equal(await text.inputValue(), 'Which?');
      await text.fill('Which of these?');
      await becomes(names, ['other.txt']);
      await reload();
      await edit();
      await becomes(() => text.inputValue(), 'Which of these?');
      assert.deepEqual(await names(), ['other.txt']);
      await editor.getByRole('button', { name: 'Cancel' }).click();
      await edit();
      await becomes(names, ['notes.txt', 'other.txt']);
      assert.equal(await text.inputValue(), 'Which?');
      await editor.getByRole('button', { name: 'Remove notes.txt' }).click();
      await editor.getByRole('button', { name: 'Send' }).click();
      await page.locator('.question').getByText('2/2').waitFor();
      await finished(lastAnswer(page));
      await becomes(names, ['other.txt']);
      assert.equal(sent().split('The secret word is gate.').length, 2, 'once');
      await reload();
      await becomes(names, ['other.txt']);
      await page.locator('.question').getByRole('button', { name: 'Previous version' }).click();
      await becomes(names, ['notes.txt', 'other.txt']);
      await edit();
      await becomes(names, ['notes.txt', 'other.txt']);
    });
  });

  test('are taken off the server when a question is not written anew after all', async () => {
    await visit(async (page) => {
      await ask(page, 'Which?');
      await page.locator('.question .edit').click();
      const editor = page.locator('.editor');
      await editor.locator('textarea').fill('');
      await editor.locator('input[type=file]').setInputFiles(NOTES);
      await editor.locator('.is-ready').waitFor();
      const deleted = page.waitForEvent('requestfinished', (request) => request.method() === 'DELETE');
      await editor.getByRole('button', { name: 'Cancel' }).click();
      await deleted;
      await page.locator('.question .edit').click();
      assert.equal(await editor.locator('textarea').inputValue(), 'Which?');
      assert.equal(await editor.locator('.attachment').count(), 0);
    });
  });

  test('are taken out of folders', async () => {
    await visit(async (page) => {
      await ready(page);
      fileOf('project/readme.txt', 'gamma');
      fileOf('project/deep/er/notes.txt', 'delta');
      await dropOn(page, '#welcome-title', [path.join(folder, 'project'), fileOf('c.txt', 'epsilon')]);
      await page.locator('#attached .is-ready').nth(2).waitFor();
      await ask(page, 'Which?');
      for (const word of ['gamma', 'delta', 'epsilon']) assert.ok(sent().includes(word), word);
    });
  });

  test('are not taken out of a folder that has very many, and what is hidden in one is left there', async () => {
    await visit(async (page) => {
      await ready(page);
      for (let count = 0; count < 51; count += 1) fileOf(`many/${count}.txt`, 'theta');
      await dropOn(page, '#welcome-title', [path.join(folder, 'many')]);
      await page.getByText('That is more than 50 files.').waitFor();
      assert.equal(await page.locator('#attached').count(), 0);
      fileOf('repository/.git/config', 'iota');
      fileOf('repository/shown.txt', 'kappa');
      await dropOn(page, '#welcome-title', [path.join(folder, 'repository')]);
      await page.locator('#attached .is-ready').waitFor();
      assert.equal(await page.locator('#attached li').count(), 1);
    });
  });

  test('are not opened by the browser in place of the page where nothing takes them', async () => {
    await visit(async (page) => {
      const isRefused = (selector: string): Promise<readonly boolean[]> =>
        page.evaluate(`(${DROPPED})(document.querySelector('${selector}'))`);
      for (const address of ['#/settings', '#/history', '#/dashboard', '#/chat/none']) {
        await goTo(page, address);
        await page.locator('main').waitFor();
        assert.deepEqual(await isRefused('main'), [true, true], address);
      }
      await goTo(page, '#/');
      await ready(page);
      await page.keyboard.press('Control+/');
      await page.locator('dialog[open]').waitFor();
      assert.deepEqual(await isRefused('dialog[open]'), [true, true]);
      assert.equal(await page.locator('#attached').count(), 0);
    });
  });
});
