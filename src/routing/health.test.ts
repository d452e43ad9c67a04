import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Provider } from '../core/provider.ts';
import { Health } from './health.ts';
import type { Target } from './select.ts';

const target = (id: string): Target => ({
  provider: { id, label: id, origin: 'file', auth: { kind: 'none' }, models: async () => [] } satisfies Provider,
  model: 'm',
});
const [a, b, c] = [target('a'), target('b'), target('c')];

describe('Health', () => {
  test('who failed comes last, but is never left out', () => {
    const health = new Health(() => 0);
    health.failed(a);
    assert.deepEqual(health.order([a, b, c]), [b, c, a]);
    health.failed(b);
    health.failed(c);
    assert.deepEqual(health.order([a, b, c]), [a, b, c]);
    assert.deepEqual(health.order([a]), [a]);
  });

  test('success is forgiveness', () => {
    const health = new Health(() => 0);
    for (let count = 0; count < 50; count += 1) health.failed(a);
    health.succeeded(a);
    assert.deepEqual(health.order([a, b]), [a, b]);
  });

  test('failures in a row cool down longer, but never longer than half a minute', () => {
    let now = 0;
    const health = new Health(() => now);
    const coolsFor = (): number => {
      const start = now;
      while (health.order([a, b])[0] !== a) now += 500;
      return now - start;
    };
    health.failed(a);
    const once = coolsFor();
    health.failed(a);
    assert.ok(coolsFor() > once);
    for (let count = 0; count < 2_000; count += 1) health.failed(a);
    assert.ok(coolsFor() <= 30_000);
  });
});
