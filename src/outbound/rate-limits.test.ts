import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rateLimits } from './rate-limits.ts';

describe('of the headers of an upstream', () => {
  test('those whose names begin like a limit are told, and no others that speak of one', () => {
    const told = { 'x-ratelimit-limit': '1', 'anthropic-ratelimit-tokens-limit': '2' };
    const kept = { 'x-internal-x-ratelimit-limit': '3', 'set-x-ratelimit-limit': '4', 'x-ratelimits': '5' };
    assert.deepEqual(rateLimits({ ...told, ...kept }), told);
  });

  test('no more are told than a client needs', () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`x-ratelimit-${index}`, '1']));
    assert.equal(Object.keys(rateLimits(many)).length, 32);
  });

  test('none is told that is long, though it paces', () => {
    const paces = (length: number): string => '1'.padEnd(length, ',1');
    assert.deepEqual(rateLimits({ 'x-ratelimit-a': paces(255), 'x-ratelimit-b': paces(257) }), {
      'x-ratelimit-a': paces(255),
    });
  });
});
