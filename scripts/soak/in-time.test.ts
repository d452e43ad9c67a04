import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Hung, inTime } from './in-time.ts';

describe('work that has a bound', () => {
  test('comes to what it comes to', async () => {
    assert.equal(await inTime(Promise.resolve(7), 60_000), 7);
    await assert.rejects(inTime(Promise.reject(new Error('refused')), 60_000), /^Error: refused$/);
  });

  test('is told of when it comes to no end', async () => {
    await assert.rejects(inTime(new Promise(() => {}), 1), Hung);
  });
});
