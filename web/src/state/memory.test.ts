import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { memoryOfNext, NEXT_WITHOUT, newUserId, usesMemory } from './memory.ts';
import type { Chat } from './model.ts';
import { requestBody } from './request.ts';
import { defaultSettings } from './settings.ts';

const on = { ...defaultSettings, memory: true, user: 'u1' };
const chat: Chat = { id: 'c', title: '', titleBy: 'question', created: 0, updated: 0, tags: [], pinned: false };

describe('memory', () => {
  test('a user has 192 random bits, in a form that the server takes', () => {
    const ids = new Set(Array.from({ length: 200 }, newUserId));
    assert.equal(ids.size, 200);
    for (const id of ids) assert.match(id, /^u[A-Za-z0-9_-]{32}$/);
  });

  test('is used where it is on, has an owner, and is not off in the chat', () => {
    assert.equal(usesMemory(chat, on), true);
    assert.equal(usesMemory(undefined, on), true);
    assert.equal(usesMemory({ ...chat, memory: false }, on), false);
    assert.equal(usesMemory({ ...chat, memory: true }, { ...on, memory: false }), false);
    assert.equal(usesMemory(chat, { ...on, user: '' }), false);
  });

  test('the next chat goes without it when that was wished', () => {
    assert.deepEqual(memoryOfNext(on), {});
    assert.deepEqual(memoryOfNext({ ...on, more: { [NEXT_WITHOUT]: true } }), { memory: false });
  });

  test('requests name the user only where it is used', () => {
    const ask = (members: Partial<Chat>, settings = on) =>
      requestBody({ ...chat, ...members }, [], { provider: '', model: '' }, settings, { action: 'next', id: 'm' });
    assert.deepEqual([ask({})['memory'], ask({})['user']], [true, 'u1']);
    for (const body of [ask({ memory: false }), ask({}, { ...on, memory: false })])
      assert.deepEqual([body['memory'], body['user']], [undefined, undefined]);
  });
});
