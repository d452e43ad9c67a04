import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countOf } from './count.ts';

test('digits are a count, and nothing else is', () => {
  for (const text of ['0', '7', '10', '007', '123456789012345', '999999999999999']) {
    assert.equal(countOf(text), Number(text), text);
  }
  for (const text of ['', ' 1', '1 ', '-1', '+1', '1.0', '1e3', '0x1', '1/', ':1', '1,1', '١', '1234567890123456']) {
    assert.equal(countOf(text), undefined, text);
  }
});
