import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { boundedCache } from './bounded-cache.ts';

describe('boundedCache', () => {
  it('keeps what was used last, and no more than asked', () => {
    const cache = boundedCache<string, number>(3);
    for (const [at, name] of ['a', 'b', 'c'].entries()) cache.set(name, at);
    cache.get('a');
    cache.set('d', 3);
    cache.set('d', 4);
    assert.deepEqual([...cache.keys()].toSorted(), ['a', 'c', 'd']);
    assert.equal(cache.get('d'), 4);
  });

  it('takes no room for entries that it does not have', () => {
    assert.equal(boundedCache(Number.MAX_SAFE_INTEGER).size, 0);
  });
});
