import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beginning } from './beginning.ts';

test('a text is not cut within what people see as one character', () => {
  assert.equal(beginning('abc', 3), 'abc');
  assert.equal(beginning('abcd', 3), 'abc');
  for (const character of [
    '\u{1f600}',
    '\u{1f44d}\u{1f3fd}',
    '\u{1f469}\u200d\u{1f52c}',
    '\u{1f1eb}\u{1f1f7}',
    'e\u0301',
  ]) {
    const text = `ab${character}c`;
    for (let most = 3; most < 2 + character.length; most += 1) assert.equal(beginning(text, most), 'ab');
    assert.equal(beginning(text, 2 + character.length), `ab${character}`);
  }
  assert.equal(beginning('e\u0301\u0302\u0303', 2), 'e\u0301');
});
