import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { roomBeside } from './streams.ts';

describe('the places of a tab', () => {
  test('are all where no other tab follows anything', () => {
    assert.equal(roomBeside([], 4), 4);
  });

  test('are those that the others do not need', () => {
    assert.equal(roomBeside([1], 4), 3);
    assert.equal(roomBeside([1, 1], 4), 2);
  });

  test('are no more than all have together, while every tab can have one', () => {
    for (const most of [4, 5]) {
      for (const counts of [
        [8, 8],
        [6, 1],
        [3, 3, 3],
        [9, 9, 1],
        [2, 2, 2, 2],
      ]) {
        const taken = counts.map((count, tab) => Math.min(count, roomBeside(counts.toSpliced(tab, 1), most)));
        assert.ok(taken.reduce((sum, each) => sum + each) <= most, `${counts} of ${most}: ${taken}`);
      }
    }
  });

  test('are one at least', () => {
    assert.equal(roomBeside([9, 9, 9, 9, 9, 9], 4), 1);
  });
});
