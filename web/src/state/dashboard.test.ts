import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Stats, UsageLine } from '../api/observe.ts';
import { seriesOf, ticksUpTo } from './dashboard.ts';

const sums = { prompt_tokens: 0, completion_tokens: 0 };
const stats: Stats = {
  days: [
    { date: '2026-11-19', requests: 3, total_tokens: 60, cost: 0.3, ...sums },
    { date: '2026-11-20', requests: 1, total_tokens: 40, cost: null, ...sums },
  ],
  models: {},
  providers: {},
  totals: { requests: 4, total_tokens: 100, ...sums },
};

function line(model: string, tokens: number, cost: number | null = null): UsageLine {
  return { provider: model.slice(0, 1), model, total_tokens: tokens, cost };
}

describe('the parts of the bars', () => {
  const usage = new Map([
    ['2026-11-19', [line('a1', 10, 0.1), line('a2', 20, 0.2), line('b', 30)]],
    ['2026-11-20', [line('b', 40)]],
  ]);

  test('are the largest first', () => {
    assert.deepEqual(seriesOf(stats, usage, 'tokens', 'model'), [
      { name: 'b', values: [30, 40] },
      { name: 'a2', values: [20, 0] },
      { name: 'a1', values: [10, 0] },
    ]);
    assert.deepEqual(seriesOf(stats, usage, 'requests', 'provider'), [
      { name: 'a', values: [2, 0] },
      { name: 'b', values: [1, 1] },
    ]);
  });

  test('leave out what has no price, and do not take noise for a rest', () => {
    assert.deepEqual(seriesOf(stats, usage, 'cost', 'model'), [
      { name: 'a2', values: [0.2, 0] },
      { name: 'a1', values: [0.1, 0] },
    ]);
  });

  test('are the sums of the server while the records are not there', () => {
    assert.deepEqual(seriesOf(stats, new Map(), 'tokens', 'model'), [{ name: '', values: [60, 40] }]);
  });

  test('put many small ones together', () => {
    const many = Array.from({ length: 12 }, (_, index) => line(`m${index}`, index + 1));
    const day = { date: '2026-11-20', requests: 12, total_tokens: 78, ...sums };
    const series = seriesOf({ ...stats, days: [day] }, new Map([['2026-11-20', many]]), 'tokens', 'model');
    assert.equal(series.length, 7);
    assert.deepEqual(series.at(0), { name: 'm11', values: [12] });
    assert.deepEqual(series.at(-1), { name: '', values: [21] });
  });
});

test('the marks of the axis are round and reach over the highest bar', () => {
  assert.deepEqual(ticksUpTo(0), [0]);
  assert.deepEqual(ticksUpTo(7), [0, 2, 4, 6, 8]);
  assert.deepEqual(ticksUpTo(100), [0, 50, 100]);
  assert.deepEqual(ticksUpTo(0.034), [0, 0.01, 0.02, 0.03, 0.04]);
  for (const most of [1, 3.3, 999, 1e7, 1e-6]) assert.ok((ticksUpTo(most).at(-1) ?? 0) >= most, String(most));
});
