import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { unzip, zip } from '../../web/src/views/transfer/zip.ts';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, comesToFit, eventually } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { answerWith } from './scripted-events.ts';
import { setStage } from './stage.ts';
import { ask, button, goTo, lastAnswer, ready } from './visit.ts';

const script: VendorScript = ({ prompt }) => ({ text: ['You said: ', prompt] });

const NOW = 1_750_000_000;

/** One conversation of each program, in its own form. */
const exports = {
  'chatgpt.json': [
    {
      title: 'From ChatGPT',
      create_time: NOW,
      update_time: NOW,
      id: '6b0f0d9c-0000-4000-8000-000000000001',
      current_node: 'a',
      mapping: {
        q: node('q', null, 'user', 'Is it far?'),
        a: node('a', 'q', 'assistant', 'It is **not** far.'),
      },
    },
    { title: 'Nothing was said', mapping: {} },
  ],
  'claude.json': [
    {
      uuid: 'c1c1c1c1-0000-4000-8000-000000000000',
      name: 'From Claude',
      created_at: '2025-05-01T10:00:00Z',
      updated_at: '2025-05-01T10:00:00Z',
      chat_messages: [
        { uuid: '1', sender: 'human', text: 'Hello Claude', content: [], created_at: '2025-05-01T10:00:00Z' },
        { uuid: '2', sender: 'assistant', text: 'Hello.', content: [], created_at: '2025-05-01T10:00:01Z' },
      ],
    },
  ],
  'open-webui.json': [
    {
      id: 'open-webui-chat',
      title: 'From Open WebUI',
      created_at: NOW,
      updated_at: NOW,
      meta: { tags: ['imported'] },
      chat: {
        history: {
          currentId: 'a',
          messages: {
            q: { id: 'q', parentId: null, role: 'user', content: 'Open?' },
            a: { id: 'a', parentId: 'q', role: 'assistant', content: 'Yes.', model: 'llama' },
          },
        },
      },
    },
  ],
  'librechat.json': {
    conversationId: 'af1ea676-f525-444f-a9ed-7c8dbf062733',
    title: 'From LibreChat',
    messages: [{ messageId: 'q', parentMessageId: null, isCreatedByUser: true, text: 'Libre?' }],
  },
};

function node(id: string, parent: string | null, role: string, text: string): object {
  return { id, parent, message: { author: { role }, content: { content_type: 'text', parts: [text] } } };
}

/** The chats in the database, and of each message the chat that it is of. */
function kept(page: Page): Promise<{ readonly chats: readonly string[]; readonly messages: readonly string[] }> {
  return page.evaluate(`new Promise((done, failed) => {
    const opening = indexedDB.open('sluice');
    opening.onerror = () => failed(opening.error);
    opening.onsuccess = () => {
      const transaction = opening.result.transaction(['chats', 'messages']);
      const chats = transaction.objectStore('chats').getAllKeys();
      const messages = transaction.objectStore('messages').getAll();
      transaction.oncomplete = () => {
        opening.result.close();
        done({ chats: chats.result, messages: messages.result.map(({ chat }) => chat) });
      };
    };
  })`);
}

function upload(name: string, content: unknown): { name: string; mimeType: string; buffer: Buffer } {
  return { name, mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(content)) };
}

describe('exports and imports', { skip: withoutBrowser }, () => {
  const { visit, gateway } = setStage(() => openGateway(script, ['gpt-4o']));

  const openImport = async (page: Page): Promise<Locator> => {
    await goTo(page, '#/history');
    await page.getByRole('button', { name: 'Import chats' }).click();
    return page.getByRole('dialog', { name: 'Import chats' });
  };
  const saved = async (page: Page, choose: () => Promise<void>): Promise<{ file: Buffer; name: string }> => {
    const downloading = page.waitForEvent('download');
    await choose();
    const download = await downloading;
    return { file: await readFile(await download.path()), name: download.suggestedFilename() };
  };
  const fromMenu = (page: Page, menu: string, item: string) => async (): Promise<void> => {
    await page.getByRole('button', { name: menu }).last().click();
    await page.getByRole('menuitem', { name: item, exact: true }).click();
  };

  test('takes chats of other programs, and says what it did not take', async () => {
    await visit(async (page) => {
      const dialog = await openImport(page);
      const files = [
        ...Object.entries(exports).map(([name, content]) => upload(name, content)),
        upload('settings.json', { theme: 'dark' }),
        { name: 'holiday.png', mimeType: 'image/png', buffer: Buffer.from('not a picture either') },
      ];
      await page.locator('#import-files').setInputFiles(files);
      const report = (name: string): Locator => dialog.getByRole('region', { name });
      await report('holiday.png').waitFor();
      await comesToFit(() => report('chatgpt.json').innerText(), /From ChatGPT\s+1 chat imported\s+1 without messages/);
      await report('chatgpt.json').getByText('1 without messages').click();
      await report('chatgpt.json').getByText('Nothing was said').waitFor();
      for (const name of ['claude.json', 'open-webui.json', 'librechat.json'])
        await comesToFit(() => report(name).innerText(), /1 chat imported/);
      await comesToFit(() => report('settings.json').innerText(), /There are no chats in this file/);
      await comesToFit(() => report('holiday.png').innerText(), /neither JSON nor a ZIP/);
      // The same again: nothing is there twice.
      await page.locator('#import-files').setInputFiles([upload('again.json', exports['claude.json'])]);
      await report('again.json').getByText('1 was here already').waitFor();
      await dialog.getByRole('link', { name: 'Show the chats' }).click();
      await page.getByText('4 chats', { exact: true }).waitFor();
      await becomes(() => page.locator('.history-fact').allInnerTexts(), ['imported']);
      await page.getByLabel('Search chats').fill('not far');
      await page.locator('.history-link').click();
      await page.locator('.answer strong').getByText('not').waitFor();
      await page.reload();
      await page.locator('.answer strong').getByText('not').waitFor();
      await ask(page, 'Thank you');
      assert.match(String(gateway.upstream.chats.at(-1)?.rawBody), /Is it far\?.*It is \*\*not\*\* far\..*Thank you/);
    });
  });

  test('takes a chat whose times are none as one of now', async () => {
    await visit(async (page) => {
      const [chat] = exports['chatgpt.json'];
      for (const [index, time] of [1e300, -1e300, '9'.repeat(400), 'NaN', '+275760-09-13T00:00:01Z'].entries()) {
        const odd = { ...chat, id: `odd-times-${index}`, title: `Odd ${index}`, create_time: time, update_time: time };
        const dialog = await openImport(page);
        await page.locator('#import-files').setInputFiles([upload('odd.json', [odd])]);
        await comesToFit(() => dialog.getByRole('region', { name: 'odd.json' }).innerText(), /1 chat imported/);
        await dialog.getByRole('link', { name: 'Show the chats' }).click();
        await page
          .getByRole('link', { name: `Odd ${index}` })
          .last()
          .waitFor();
        const [shown] = await page.locator('.history-row time').evaluateAll((all) => all.map((each) => each.outerHTML));
        assert.match(String(shown), new RegExp(`datetime="${new Date().getUTCFullYear()}-`));
      }
    });
  });

  test('takes the whole lines of a file of lines that is cut off, and says that the last one is incomplete', async () => {
    await visit(async (page) => {
      const dialog = await openImport(page);
      const lines = ['librechat.json', 'librechat.json'].map((name, index) =>
        JSON.stringify({ ...exports[name as keyof typeof exports], conversationId: `cut-off-${index}-of-two` }),
      );
      const cut = {
        name: 'cut.jsonl',
        mimeType: 'application/jsonl',
        buffer: Buffer.from(lines.join('\n').slice(0, -9)),
      };
      await page.locator('#import-files').setInputFiles([cut]);
      const report = dialog.getByRole('region', { name: 'cut.jsonl' });
      await comesToFit(() => report.innerText(), /1 chat imported\s+The last line is incomplete/);
      await dialog.getByRole('link', { name: 'Show the chats' }).click();
      await becomes(() => page.locator('.history-title').allInnerTexts(), ['From LibreChat']);
    });
  });

  test('takes the archive that they come in', async () => {
    await visit(async (page) => {
      const archive = zip(
        [
          { name: 'export/conversations.json', text: JSON.stringify(exports['chatgpt.json']) },
          { name: 'export/user.json', text: '{"email":"a@example.com"}' },
        ],
        new Date(),
      );
      const dialog = await openImport(page);
      const buffer = Buffer.from(await archive.arrayBuffer());
      await page.locator('#import-files').setInputFiles([{ name: 'export.zip', mimeType: 'application/zip', buffer }]);
      await comesToFit(() => dialog.getByRole('region', { name: 'export.zip' }).innerText(), /1 chat imported/);
      await dialog.getByRole('link', { name: 'Show the chats' }).click();
      await page.getByRole('link', { name: 'From ChatGPT' }).last().waitFor();
    });
  });

  test('takes what can be read of an archive, and names the files that cannot', async () => {
    await visit(async (page) => {
      const names = ['broken.json', 'locked.json', 'good.json'].map((name) => `chats/${name}`);
      const texts = ['{"mapping":', '[]', JSON.stringify(exports['claude.json'])];
      const buffer = Buffer.from(
        await zip(
          names.map((name, index) => ({ name, text: texts[index] ?? '' })),
          new Date(),
        ).arrayBuffer(),
      );
      // In the list of members, 38 bytes before the name: that a password is needed.
      const flags = buffer.lastIndexOf('chats/locked.json') - 38;
      buffer.writeUInt16LE(buffer.readUInt16LE(flags) | 1, flags);
      const dialog = await openImport(page);
      await page.locator('#import-files').setInputFiles([{ name: 'some.zip', mimeType: 'application/zip', buffer }]);
      const report = dialog.getByRole('region', { name: 'some.zip' });
      await comesToFit(() => report.innerText(), /chats? imported\s+2 files in the archive could not be read/);
      await report.getByText('2 files in the archive could not be read').click();
      await becomes(() => report.locator('li').allInnerTexts(), names.slice(0, 2));
    });
  });

  test('exports one chat, and brings all of it into another browser', async () => {
    let copy: Buffer = Buffer.alloc(0);
    await visit(async (page) => {
      await page.locator('#providers').waitFor({ state: 'attached' });
      await ask(page, 'First question');
      await button(page, 'Regenerate').click();
      await lastAnswer(page).getByText('2/2').waitFor();
      await lastAnswer(page).locator('.line').waitFor();
      const text = await saved(page, fromMenu(page, 'What to do with “First question”', 'Export as Markdown'));
      assert.equal(text.name, 'First question.md');
      const markdown = text.file.toString();
      assert.match(markdown, /^# First question\n/);
      assert.match(
        markdown,
        /## You\n\nFirst question\n\n## Answer \(gpt-4o, Scripted\)\n\nYou said: First question\n$/,
      );
      const json = await saved(page, fromMenu(page, 'What to do with “First question”', 'Export as JSON'));
      assert.equal(json.name, 'First question.json');
      copy = json.file;
    });
    await visit(async (page) => {
      await page.locator('#providers').waitFor({ state: 'attached' });
      const dialog = await openImport(page);
      await page
        .locator('#import-files')
        .setInputFiles([{ name: 'copy.json', mimeType: 'application/json', buffer: copy }]);
      await dialog.getByText('From Sluice').waitFor();
      await dialog.getByRole('link', { name: 'Show the chats' }).click();
      await page.getByRole('link', { name: 'First question' }).last().click();
      await lastAnswer(page).getByText('2/2').waitFor();
      await comesToFit(() => lastAnswer(page).locator('.info').innerText(), /gpt-4o · Scripted · 11 → 7 tokens/);
    });
  });

  test('exports all chats, as JSON and as an archive of texts', async () => {
    await visit(async (page) => {
      for (const question of ['Same name', 'Same name']) {
        await goTo(page, '#/');
        await page.locator('#providers').waitFor({ state: 'attached' });
        await ask(page, question);
      }
      await goTo(page, '#/history');
      const json = await saved(page, fromMenu(page, 'What to do with all chats', 'Export all as JSON'));
      assert.match(json.name, /^sluice-chats-\d{4}-\d\d-\d\d\.json$/);
      const { format, chats } = JSON.parse(json.file.toString()) as {
        format: string;
        chats: { messages: unknown[] }[];
      };
      assert.deepEqual([format, chats.map(({ messages }) => messages.length)], ['sluice-chats', [2, 2]]);
      const archive = await saved(page, fromMenu(page, 'What to do with all chats', 'Export all as Markdown'));
      const members = await unzip(new Blob([new Uint8Array(archive.file)]), () => true);
      assert.deepEqual(
        members.map(({ name }) => name),
        ['Same name.md', 'Same name (2).md'],
      );
      assert.match(members[1]?.text ?? '', /You said: Same name/);
      // Only those that are selected.
      await page.locator('.history-check input').first().check();
      const one = await saved(page, async () => {
        await page.getByRole('toolbar').getByRole('button', { name: 'Export' }).click();
        await page.getByRole('menuitem', { name: 'Export as JSON' }).click();
      });
      assert.equal(one.name, 'Same name.json');
    });
  });

  test('a title comes by itself, and a person’s own is not overwritten', async () => {
    await visit(async (page) => {
      await page.locator('#providers').waitFor({ state: 'attached' });
      await ask(page, '# Some *marked* words\nand more');
      const title = page.locator('.chat-list a').first();
      await eventually(async () => assert.equal(await title.innerText(), 'Some marked words'));
      await page.getByRole('button', { name: 'What to do with' }).click();
      await page.getByRole('menuitem', { name: 'Rename' }).click();
      await page.locator('.rename').fill('My own');
      await page.locator('.rename').press('Enter');
      await answerWith(page, [
        { type: 'content', content: 'Fine' },
        { type: 'title', title: 'From the server' },
        { type: 'finish', finish: { reason: 'stop' } },
      ]);
      await ask(page, 'again');
      await becomes(() => title.innerText(), 'My own');
    });
  });

  test('takes chats in whole while another tab deletes all of them', async () => {
    await visit(async (page, context) => {
      await ready(page);
      const other = await context.newPage();
      await other.goto(`${gateway.origin}/#/history`);
      await other.getByRole('button', { name: 'Import chats…' }).click();
      await other.locator('#import-files').waitFor({ state: 'attached' });
      // What this tab puts off goes on when the other one is done.
      await other.evaluate(`{
        const { setTimeout } = window;
        const later = [];
        window.setTimeout = (run, after, ...given) => (after ? setTimeout(run, after, ...given) : later.push(run));
        window.goOn = () => {
          window.setTimeout = setTimeout;
          for (const run of later) run();
        };
      }`);
      await other.locator('#import-files').setInputFiles([upload('chats.json', exports['claude.json'])]);
      await eventually(async () => assert.ok((await kept(page)).messages.length > 0));
      // Behind another tab it would get a frame now and then.
      await page.bringToFront();
      await goTo(page, '#/history');
      await page.getByRole('button', { name: 'What to do with all chats' }).click();
      await page.getByRole('menuitem', { name: 'Delete all chats' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete all chats' }).click();
      await page.getByText('All chats were deleted.').waitFor();
      await other.evaluate('goOn(); new Promise((done) => setTimeout(done))');
      const { chats, messages } = await kept(other);
      assert.deepEqual([...new Set(messages)].toSorted(), chats.toSorted());
    });
  });
});
