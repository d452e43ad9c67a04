import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inSlices } from './schedule.ts';

test('a job that throws is done with, and those behind it go on', (context) => {
  const idle: (() => void)[] = [];
  const requestIdleCallback = (callback: () => void): number => idle.push(callback);
  Object.assign(globalThis, { requestIdleCallback });
  context.after(() => Reflect.deleteProperty(globalThis, 'requestIdleCallback'));
  let pieces = 0;
  let isDone = false;
  inSlices(() => {
    pieces += 1;
    if (pieces === 2) throw new Error('broken');
    return true;
  });
  inSlices(() => {
    isDone = true;
    return false;
  });
  assert.throws(() => idle.shift()?.(), { message: 'broken' });
  idle.shift()?.();
  assert.equal(isDone, true);
  assert.equal(pieces, 2);
  assert.equal(idle.length, 0);
  inSlices(() => false);
  assert.equal(idle.length, 1);
  // Else it would be waited for, and later work not begun.
  idle.shift()?.();
});
