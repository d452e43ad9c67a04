import assert from 'node:assert/strict';
import { test } from 'node:test';
import { split } from './split.ts';

test('every fourth cycle is one of the whole gateway, and at least one is', () => {
  assert.deepEqual(split(200, 'all'), { stores: 150, http: 50 });
  assert.deepEqual(split(20, 'all'), { stores: 15, http: 5 });
  assert.deepEqual(split(1, 'all'), { stores: 0, http: 1 });
  assert.deepEqual(split(7, 'stores'), { stores: 7, http: 0 });
  assert.deepEqual(split(7, 'http'), { stores: 0, http: 7 });
});

test('refuses what it cannot split, and names the option', () => {
  for (const cycles of [0, -1, 1.5, Number.NaN]) assert.throws(() => split(cycles, 'all'), /--cycles/);
  assert.throws(() => split(1, 'everything'), /--subject takes all, stores or http/);
});
