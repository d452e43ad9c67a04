import assert from 'node:assert/strict';
import os from 'node:os';
import { describe, test } from 'node:test';
import { parseWorkers } from './workers.ts';

describe('a number of processes', () => {
  for (const [text, count] of Object.entries({ '1': 1, ' 2 ': 2, '08': 8, '256': 256 })) {
    test(`is "${text}"`, () => assert.equal(parseWorkers(text), count));
  }

  for (const text of ['', ' ', '0', '000', '257', '1000', '-1', '+1', '1.5', '1e2', '0x2', '1 2', 'Auto', 'many']) {
    test(`is not "${text}"`, () => assert.equal(parseWorkers(text), undefined));
  }

  test('is that of the processors, for auto', () => {
    assert.equal(parseWorkers(' auto '), Math.min(256, os.availableParallelism()));
  });
});
