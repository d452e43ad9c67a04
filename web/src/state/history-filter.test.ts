import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanName, foldersOf, noFilter, organised, passes, tagsOf } from './history-filter.ts';
import type { Chat } from './model.ts';

function chat(id: string, members: Partial<Chat> = {}): Chat {
  return { id, title: id, titleBy: 'person', created: 1, updated: 1, tags: [], pinned: false, ...members };
}

const chats = [
  chat('a', { folder: 'Work', tags: ['x', 'y'] }),
  chat('b', { folder: 'Work', tags: ['y'], share: 's' }),
  chat('c', { tags: ['x'] }),
  chat('d', { folder: 'Home' }),
];
const listed = (filter: Partial<typeof noFilter>): string[] =>
  chats.filter((each) => passes(each, { ...noFilter, ...filter })).map(({ id }) => id);

test('filters by folder, tags and sharing', () => {
  assert.deepEqual(listed({}), ['a', 'b', 'c', 'd']);
  assert.deepEqual(listed({ folder: 'Work' }), ['a', 'b']);
  assert.deepEqual(listed({ folder: '' }), ['c']);
  assert.deepEqual(listed({ tags: ['x', 'y'] }), ['a']);
  assert.deepEqual(listed({ isShared: true }), ['b']);
});

test('counts folders and tags', () => {
  assert.deepEqual(foldersOf(chats), [
    { name: 'Home', count: 1 },
    { name: 'Work', count: 2 },
  ]);
  assert.deepEqual(tagsOf(chats), [
    { name: 'x', count: 2 },
    { name: 'y', count: 2 },
  ]);
});

test('organises several chats at once, and touches only those that change', () => {
  const changed = organised(chats, { folder: 'Work', add: ['z'], remove: ['y'] });
  assert.deepEqual(
    changed.map(({ id, folder, tags }) => [id, folder, tags]),
    [
      ['a', 'Work', ['x', 'z']],
      ['b', 'Work', ['z']],
      ['c', 'Work', ['x', 'z']],
      ['d', 'Work', ['z']],
    ],
  );
  assert.deepEqual(
    organised(chats, { add: ['y'], remove: [] }).map(({ id }) => id),
    ['c', 'd'],
  );
  const [out] = organised([chats[3] as Chat], { folder: '', add: [], remove: [] });
  assert.equal(out !== undefined && 'folder' in out, false);
});

test('names have no blanks around them and are not endless', () => {
  assert.equal(cleanName('  a \n b '), 'a b');
  assert.equal(cleanName('x'.repeat(100)).length, 60);
});
