import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SluiceError } from '../core/errors.ts';
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

  test('one model may rest while the others of its provider go on, unless nobody can be reached there', () => {
    const health = new Health(() => 0);
    const other = { ...a, model: 'another' };
    health.failed(a, new SluiceError('rate_limited', ''));
    assert.deepEqual(health.order([a, other, b]), [other, b, a]);
    health.failed(a, new SluiceError('upstream_unreachable', ''));
    assert.deepEqual(health.order([a, other, b]), [b, a, other]);
    // Where one model answers, somebody can.
    health.succeeded(other);
    assert.deepEqual(health.order([other, a, b]), [other, b, a]);
  });

  test('one answer that is late changes the mean time by its share', () => {
    const health = new Health();
    assert.equal(health.latency(a), undefined);
    health.answered(a, 100);
    health.answered(a, 200);
    assert.equal(health.latency(a), 120);
  });

  test('an upstream that asks for patience gets it', () => {
    let now = 0;
    const health = new Health(() => now);
    health.failed(a, new SluiceError('rate_limited', '', { retryAfter: 60 }));
    now = 59_000;
    assert.deepEqual(health.order([a, b]), [b, a]);
    now = 61_000;
    assert.deepEqual(health.order([a, b]), [a, b]);
    // But not for ever.
    health.failed(b, new SluiceError('rate_limited', '', { retryAfter: 86_400 }));
    now += 599_000;
    assert.deepEqual(health.order([b, a]), [a, b]);
    now += 2_000;
    assert.deepEqual(health.order([b, a]), [b, a]);
  });

  test('after the cool-down one request tries; others wait for what comes of it', () => {
    let now = 0;
    const health = new Health(() => now);
    health.failed(a);
    now = 1_500;
    assert.deepEqual(health.order([a, b]), [a, b]);
    assert.deepEqual(health.order([a, b]), [b, a]);
    // Whoever hears nothing of it for a second tries too.
    now += 1_000;
    assert.deepEqual(health.order([a, b]), [a, b]);
    assert.deepEqual(health.order([a, b]), [b, a]);
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
