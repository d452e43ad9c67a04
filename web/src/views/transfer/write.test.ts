import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import type { Chat, Message } from '../../state/model.ts';
import { fileName, toJson, toMarkdown } from './write.ts';
import { unzip, zip } from './zip.ts';

const words = { you: 'You', answer: 'Answer', system: 'System', sources: 'Sources', untitled: 'Untitled' };
const chat: Chat = {
  id: 'c',
  title: 'Tea\nand more',
  titleBy: 'person',
  created: Date.UTC(2026, 0, 2),
  updated: Date.UTC(2026, 0, 2),
  folder: 'Kitchen',
  tags: ['hot'],
  pinned: false,
  system: 'Be brief',
  leaf: 'c2',
};

function message(id: string, parent: string | null, role: Message['role'], text: string, more = {}): Message {
  return { id, chat: 'c', parent, role, parts: [{ type: 'text', text }], createdAt: 1, ...more };
}

test('markdown has the shown branch', () => {
  const messages = [
    message('a', null, 'user', 'Green or black?'),
    message('b', 'a', 'assistant', 'Black.'),
    message('c2', 'a', 'assistant', 'Green.', {
      model: 'gpt',
      label: 'Scripted',
      sources: [{ url: 'https://example.com/a', title: 'A [page]' }],
    }),
  ];
  assert.equal(
    toMarkdown({ chat, messages }, words),
    `# Tea and more

2026-01-02 · Kitchen · #hot

**System:** Be brief

## You

Green or black?

## Answer (gpt, Scripted)

Green.

**Sources**

- [A page](<https://example.com/a>)
`,
  );
});

test('what an export has beside chats is as it was, whatever is in it', () => {
  const more = { records: [{ text: "From $`here$& to $'there, for $$5" }], settings: { theme: 'dark' } };
  const exported = JSON.parse(toJson([{ chat, messages: [] }], new Date(chat.created), more).join('')) as object;
  assert.deepEqual({ ...exported, ...more }, exported);
});

test('names of files are names that every system takes, each once', () => {
  const taken = new Set<string>();
  const nameOf = (title: string): string => fileName({ ...chat, title }, 'md', 'Untitled', taken);
  assert.equal(nameOf('../../etc: "passwd" | <x>?'), 'etc passwd x.md');
  assert.equal(nameOf('Über 中文 😀'), 'Über 中文 😀.md');
  assert.equal(nameOf('über 中文 😀'), 'über 中文 😀 (2).md');
  assert.equal(nameOf('...'), 'Untitled.md');
});

describe('ZIP archives', () => {
  test('come back as they were', async () => {
    const members = [
      { name: 'a/ä.md', text: 'first ✓' },
      { name: 'b.md', text: '' },
      { name: 'c.md', text: 'x'.repeat(100_000) },
    ];
    const archive = zip(members, new Date(2026, 0, 2, 3, 4, 6));
    assert.deepEqual(await unzip(archive, () => true), members);
    assert.deepEqual(
      (await unzip(archive, (name) => name === 'b.md')).map(({ name }) => name),
      ['b.md'],
    );
  });

  test('of others are unpacked', async () => {
    const text = JSON.stringify([{ title: 'packed' }]).repeat(50);
    const archive = await packed('conversations.json', text);
    assert.deepEqual(await unzip(archive, () => true), [{ name: 'conversations.json', text }]);
  });

  test('that are none are refused, and a damaged member has no text', async () => {
    await assert.rejects(
      unzip(new Blob(['{"not": "a zip"}']), () => true),
      /no ZIP/,
    );
    const archive = await packed('x.json', 'y'.repeat(1_000));
    const bytes = new Uint8Array(await archive.arrayBuffer());
    // There are no blocks of type 3 in deflate.
    bytes.fill(0xff, 36, 38);
    assert.deepEqual(await unzip(new Blob([bytes]), () => true), [{ name: 'x.json' }]);
  });

  test('have no text of a member in which a letter is another one', async () => {
    const members = ['x.json', 'z.json'].map((name) => ({ name, text: 'y'.repeat(1_000) }));
    const bytes = new Uint8Array(await zip(members, new Date(2026, 0, 2)).arrayBuffer());
    bytes[500] = 'n'.charCodeAt(0);
    assert.deepEqual(await unzip(new Blob([bytes]), () => true), [{ name: 'x.json' }, members[1]]);
    const whole = new Uint8Array(await (await packed('x.json', 'y'.repeat(1_000))).arrayBuffer());
    // The sum in the list of members.
    whole.fill(0, whole.length - 22 - 6 - 46 + 16, whole.length - 22 - 6 - 46 + 20);
    assert.deepEqual(await unzip(new Blob([whole]), () => true), [{ name: 'x.json' }]);
  });
});

/** What our own writer makes of one text, with its content replaced by a deflated one. */
async function packed(name: string, text: string): Promise<Blob> {
  const stored = Buffer.from(await zip([{ name, text }], new Date(2026, 0, 2)).arrayBuffer());
  const content = deflateRawSync(text);
  const headLength = 30 + Buffer.byteLength(name);
  const directory = Buffer.from(stored.subarray(headLength + Buffer.byteLength(text)));
  const head = Buffer.from(stored.subarray(0, headLength));
  head.writeUInt16LE(8, 8);
  head.writeUInt32LE(content.length, 18);
  directory.writeUInt16LE(8, 10);
  directory.writeUInt32LE(content.length, 20);
  directory.writeUInt32LE(headLength + content.length, directory.length - 6);
  return new Blob([head, content, directory]);
}
