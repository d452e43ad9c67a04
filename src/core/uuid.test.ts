import assert from 'node:assert/strict';
import { test } from 'node:test';
import { uuid } from './uuid.ts';

test('random UUIDs are of version 4, and none comes twice', () => {
  const all = Array.from({ length: 2_000 }, uuid);
  for (const each of all) assert.match(each, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(new Set(all).size, all.length);
  // Every digit that may differ does.
  for (let at = 0; at < 36; at += 1) {
    const found = new Set(all.map((each) => each[at])).size;
    assert.equal(found, [8, 13, 14, 18, 23].includes(at) ? 1 : at === 19 ? 4 : 16, String(at));
  }
});
