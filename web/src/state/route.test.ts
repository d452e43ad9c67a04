import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { initialState } from './index.ts';
import { addressOf, parseRoute } from './route.ts';

describe('an address inside the page', () => {
  test('names a screen and what is on it', () => {
    assert.deepEqual(parseRoute('#/chat/a%20b/c'), { screen: 'chat', path: ['a b', 'c'] });
    assert.deepEqual(parseRoute(addressOf('chat', 'a/b')), { screen: 'chat', path: ['a/b'] });
    assert.deepEqual(parseRoute(''), { screen: 'chat', path: [] });
  });

  test('finds nothing that all objects inherit', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const [id = ''] = parseRoute(`#/chat/${name}`).path;
      assert.equal(initialState.chats.byId[id], undefined, name);
      assert.equal(initialState.drafts[id], undefined, name);
    }
  });
});
