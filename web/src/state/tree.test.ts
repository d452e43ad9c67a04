import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Message } from './model.ts';
import { childrenOf, leafBelow, type MessageMap, newestLeaf, pathTo } from './tree.ts';

function tree(...rows: readonly (readonly [id: string, parent: string | null])[]): MessageMap {
  return Object.fromEntries(
    rows.map(([id, parent], index): [string, Message] => [
      id,
      { id, chat: 'c', parent, role: 'user', parts: [], createdAt: index },
    ]),
  );
}

const branched = tree(['q1', null], ['a1', 'q1'], ['a2', 'q1'], ['q2', 'a1'], ['a3', 'q2']);

describe('the tree of messages', () => {
  test('a path leads from the first message to the leaf', () => {
    assert.deepEqual(
      pathTo(branched, 'a3').map(({ id }) => id),
      ['q1', 'a1', 'q2', 'a3'],
    );
    assert.deepEqual(pathTo(branched, undefined), []);
    assert.deepEqual(pathTo(branched, 'gone'), []);
  });

  test('a path ends where a parent is missing, and in a circle', () => {
    assert.deepEqual(
      pathTo(tree(['b', 'gone']), 'b').map(({ id }) => id),
      ['b'],
    );
    assert.equal(pathTo(tree(['a', 'b'], ['b', 'a']), 'a').length, 2);
  });

  test('children come in the order they were made', () => {
    assert.deepEqual(
      childrenOf(branched)
        .get('q1')
        ?.map(({ id }) => id),
      ['a1', 'a2'],
    );
  });

  test('a branch is entered at its newest message', () => {
    assert.equal(leafBelow(branched, 'a1'), 'a3');
    assert.equal(leafBelow(branched, 'a2'), 'a2');
    assert.equal(leafBelow(branched, 'q1'), 'a3', 'the branch that was worked on last, not the one begun last');
    assert.equal(newestLeaf(branched), 'a3');
    const atOnce = Object.fromEntries(Object.entries(branched).map(([key, each]) => [key, { ...each, createdAt: 0 }]));
    assert.equal(leafBelow(atOnce, 'q1'), 'a3', 'made within one millisecond');
    assert.equal(leafBelow(tree(['a', 'b'], ['b', 'a']), 'a').length, 1);
  });
});
