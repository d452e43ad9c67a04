import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownerByKey, ownerNow } from './keys.ts';

test('the owner of what was kept is the same in every version', () => {
  // As it stands on disks: with another one, nobody would find again what is there.
  const owner = 'd50eda7622611a3b4bf36dea2c6843bd2267cc845a7461b211a21b20408d4f83';
  assert.equal(ownerByKey('the-access-key'), owner);
  assert.equal(ownerNow({ key: 'the-access-key' }), owner);
  assert.equal(ownerNow({}), null);
});
