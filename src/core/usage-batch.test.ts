import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { UsageBatch } from './usage-batch.ts';

const record = (user: string, provider: string, model: string, promptTokens = 1) => ({
  time: 1,
  user,
  provider,
  model,
  promptTokens,
  completionTokens: 2,
  totalTokens: promptTokens + 2,
  savedTokens: 0,
  more: {},
});

function sumsOf(...records: readonly ReturnType<typeof record>[]): string[] {
  const batch = new UsageBatch('1970-01-01');
  for (const each of records) batch.add(each);
  return [...batch.sums].map(({ user, provider, model, totals }) =>
    [user, provider, model, totals.requests, totals.promptTokens].join('|'),
  );
}

describe('sums', () => {
  test('are apart as soon as one name is another', () => {
    const names = [
      ['a', 'b', 'c'],
      ['x', 'b', 'c'],
      ['x', 'y', 'c'],
      ['x', 'y', 'z'],
      ['a', 'b', 'z'],
    ] as const;
    assert.deepEqual(
      sumsOf(...names.map(([user, provider, model]) => record(user, provider, model))),
      names.map((each) => [...each, 1, 1].join('|')),
    );
  });

  test('grow whatever comes between', () => {
    assert.deepEqual(sumsOf(record('a', 'b', 'c', 1), record('x', 'b', 'c', 5), record('a', 'b', 'c', 10)), [
      'a|b|c|2|11',
      'x|b|c|1|5',
    ]);
  });

  test('do not become one for names that hold what stands between names', () => {
    const sums = sumsOf(record('a', 'b,c', 'd'), record('a,b', 'c', 'd'), record('a,1 b', 'c', 'd'));
    assert.equal(new Set(sums).size, 3);
    assert.equal(sums.length, 3);
  });

  test('pass over what is no count, and what is absurd', () => {
    assert.deepEqual(sumsOf(record('a', 'b', 'c', Number.NaN), record('a', 'b', 'c', -5)), ['a|b|c|2|0']);
    assert.deepEqual(sumsOf(record('a', 'b', 'c', Number.POSITIVE_INFINITY)), [`a|b|c|1|${Number.MAX_SAFE_INTEGER}`]);
  });
});
