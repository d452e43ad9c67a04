import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dayOf } from '../../src/core/days.ts';
import type { UsageStore } from '../../src/core/stores.ts';
import { UsageBatch } from '../../src/core/usage-batch.ts';
import type { UsageRecord } from '../../src/core/usage-record.ts';
import { all } from './assertions.ts';
import type { Open } from './worlds.ts';

const TODAY = '2026-03-01';
const NOON = Date.parse(`${TODAY}T12:00:00Z`);
const DAY_MS = 86_400_000;

const record = (name: string, more: Partial<UsageRecord> = {}): UsageRecord => ({
  time: NOON,
  user: 'ann',
  provider: 'p',
  model: 'm',
  promptTokens: 10,
  completionTokens: 5,
  totalTokens: 15,
  savedTokens: 1,
  more: { name },
  ...more,
});
const NOTHING = { requests: 0, promptTokens: 0, completionTokens: 0, totalTokens: 0, savedTokens: 0 };

function batch(...records: readonly UsageRecord[]): UsageBatch {
  const made = new UsageBatch(dayOf(records[0]?.time ?? NOON));
  for (const each of records) made.add(each);
  return made;
}

/** What every implementation of `UsageStore` does. */
export function usageContract(name: string, open: Open<UsageStore>): void {
  describe(`usage: ${name}`, () => {
    test('without records every day is there, with nothing', async (context) => {
      const { store } = await open(context);
      await store.add(batch());
      assert.deepEqual(await store.stats({ today: TODAY, days: 3 }), {
        days: ['2026-02-27', '2026-02-28', '2026-03-01'].map((date) => ({ date, ...NOTHING })),
        models: [],
        providers: [],
        users: [],
        totals: NOTHING,
      });
      assert.deepEqual(await all(store.day(TODAY)), []);
    });

    test('records come back whole, those of the day only, the oldest first', async (context) => {
      const { store } = await open(context);
      const more = JSON.parse('{"label":"x","__proto__":{"polluted":true},"estimated":true,"list":[null]}');
      const first = record('first', { time: Date.parse('2026-03-01T00:00:00.000Z'), more });
      const last = record('last', { time: Date.parse('2026-03-01T23:59:59.999Z') });
      await store.add(batch(last, record('noon')));
      await store.add(batch(record('before', { time: first.time - 1 })));
      await store.add(batch(first));
      await store.add(batch(record('after', { time: last.time + 1 })));
      assert.deepEqual(await all(store.day(TODAY)), [first, record('noon'), last]);
      assert.deepEqual(await all(store.day('2026-03-0_')), []);
      assert.deepEqual(await all(store.day('%')), []);
      assert.equal(Reflect.get({}, 'polluted'), undefined);
    });

    test('sums are by day, model, provider and user, those with the most tokens first', async (context) => {
      const { store } = await open(context);
      await store.add(
        batch(
          record('1', { model: 'small', provider: 'q', totalTokens: 1 }),
          record('2', { model: 'large', totalTokens: 60, user: 'bob' }),
        ),
      );
      await store.add(batch(record('2b', { model: 'large', totalTokens: 40, user: 'bob' })));
      await store.add(batch(record('3', { model: 'large', totalTokens: 50, time: NOON - DAY_MS })));
      await store.add(batch(record('4', { model: 'small', totalTokens: 1_000, time: NOON - 2 * DAY_MS })));
      await store.add(batch(record('5', { model: 'other', totalTokens: 1_000, time: NOON + DAY_MS })));
      const { days, models, providers, users, totals } = await store.stats({ today: TODAY, days: 2 });
      assert.deepEqual(
        days.map(({ date, requests, totalTokens }) => [date, requests, totalTokens]),
        [
          ['2026-02-28', 1, 50],
          ['2026-03-01', 3, 101],
        ],
      );
      assert.deepEqual(models, [
        { name: 'large', totalTokens: 150 },
        { name: 'small', totalTokens: 1 },
      ]);
      assert.deepEqual(providers, [
        { name: 'p', totalTokens: 150 },
        { name: 'q', totalTokens: 1 },
      ]);
      assert.deepEqual(users, [
        { name: 'bob', totalTokens: 100 },
        { name: 'ann', totalTokens: 51 },
      ]);
      assert.deepEqual(totals, {
        requests: 4,
        promptTokens: 40,
        completionTokens: 20,
        totalTokens: 151,
        savedTokens: 4,
      });
    });

    test('of very many names the first thousand are told, in the order of the alphabet where they have as much', async (context) => {
      const { store } = await open(context);
      const users = Array.from({ length: 1_001 }, (_, n) => `u${10_000 + n}`);
      await store.add(batch(...users.toReversed().map((user) => record(user, { user }))));
      await store.add(batch(record('much', { user: 'z' })));
      await store.add(batch(record('more', { user: 'z' })));
      const stats = await store.stats({ today: TODAY, days: 1 });
      assert.deepEqual(
        stats.users.map(({ name: user }) => user),
        ['z', ...users.slice(0, 999)],
      );
      assert.equal(stats.totals.requests, 1_003);
    });

    test('a user’s own sums hold nothing of others', async (context) => {
      const { store } = await open(context);
      const others = ['Ann', 'ann%', ''].map((user, index) => record(`${index}`, { user }));
      await store.add(batch(record('own'), ...others));
      for (const user of ['ann', 'Ann', 'ann%', '']) {
        const stats = await store.stats({ today: TODAY, days: 30, user });
        assert.deepEqual(stats.users, [{ name: user, totalTokens: 15 }]);
        assert.equal(stats.totals.requests, 1);
        assert.equal(stats.days.length, 30);
      }
      assert.deepEqual((await store.stats({ today: TODAY, days: 30, user: '%' })).totals, NOTHING);
    });

    test('a batch counts once, however often it is added', async (context) => {
      const { store, another } = await open(context);
      const twice = batch(record('1'), record('2'));
      await store.add(twice);
      await Promise.all([store.add(twice), store.add(batch(record('3'))), store.add(twice)]);
      await (await another()).add(twice);
      const { totals, days } = await store.stats({ today: TODAY, days: 1 });
      assert.deepEqual(totals, {
        requests: 3,
        promptTokens: 30,
        completionTokens: 15,
        totalTokens: 45,
        savedTokens: 3,
      });
      assert.deepEqual(days, [{ date: TODAY, ...totals }]);
      assert.deepEqual(
        (await all(store.day(TODAY))).map(({ more }) => more['name']),
        ['1', '2', '3'],
      );
    });

    test('names may be names of properties, and counts may be absurd', async (context) => {
      const { store } = await open(context);
      await store.add(
        batch(
          record('1', { user: '__proto__', model: 'constructor', provider: 'toString' }),
          record('2', { promptTokens: Number.NaN, completionTokens: -5, totalTokens: Number.POSITIVE_INFINITY }),
          record('3', { totalTokens: Number.MAX_VALUE }),
        ),
      );
      const { users, models, totals } = await store.stats({ today: TODAY, days: 1 });
      assert.deepEqual(users.at(-1), { name: '__proto__', totalTokens: 15 });
      assert.deepEqual(models.at(-1), { name: 'constructor', totalTokens: 15 });
      assert.ok(Number.isFinite(totals.totalTokens));
      assert.equal(totals.promptTokens, 20);
      assert.equal(totals.completionTokens, 10);
    });

    test('days before one are forgotten with their sums, however many they are', async (context) => {
      const { store, another } = await open(context);
      const before = Array.from({ length: 1_100 }, (_, n) =>
        record(`${n}`, { time: NOON - (1 + (n % 3)) * DAY_MS, user: `u${n}` }),
      );
      await Promise.all(before.map((each) => store.add(batch(each))));
      await store.add(batch(record('of the day')));
      assert.equal(await store.forgetBefore(TODAY), 2_200);
      assert.equal(await store.forgetBefore(TODAY), 0);
      for (const from of [store, await another()]) {
        for (const date of ['2026-02-26', '2026-02-27', '2026-02-28']) assert.deepEqual(await all(from.day(date)), []);
        assert.equal((await all(from.day(TODAY))).length, 1);
        const { totals, users } = await from.stats({ today: TODAY, days: 30 });
        assert.deepEqual([totals.requests, users], [1, [{ name: 'ann', totalTokens: 15 }]]);
      }
    });

    test('records are in the order of their times, however batches overlap', async (context) => {
      const { store } = await open(context);
      const at = (time: number) => record(`${time}`, { time: NOON + time });
      for (const times of [
        [30, 10, 20],
        [5, 25],
        [15, 40],
        [35, 35],
        [0, 50],
      ]) {
        await store.add(batch(...times.map(at)));
      }
      const times = (await all(store.day(TODAY))).map(({ time }) => time - NOON);
      assert.deepEqual(times, [0, 5, 10, 15, 20, 25, 30, 35, 35, 40, 50]);
    });

    test('parallel records are all counted, and a day may have many', async (context) => {
      const { store } = await open(context);
      const records = Array.from({ length: 1_300 }, (_, n) =>
        record(`${n}`, { time: NOON + (n % 7), user: `u${n % 4}` }),
      );
      await Promise.all(records.map((each) => store.add(batch(each))));
      const day = await all(store.day(TODAY));
      assert.equal(day.length, 1_300, 'each once');
      assert.equal(new Set(day.map(({ more }) => more['name'])).size, 1_300);
      assert.deepEqual(
        day.map(({ time }) => time),
        day.map(({ time }) => time).sort(),
      );
      const { totals, users } = await store.stats({ today: TODAY, days: 1 });
      assert.equal(totals.requests, 1_300);
      assert.equal(totals.totalTokens, 1_300 * 15);
      assert.deepEqual(
        users.map(({ totalTokens }) => totalTokens),
        [4_875, 4_875, 4_875, 4_875],
      );
    });

    test('everything is there when it is opened again', async (context) => {
      const { store, reopen } = await open(context);
      const kept = batch(record('1'), record('2'));
      await store.add(kept);
      const before = await store.stats({ today: TODAY, days: 2 });
      const again = await reopen();
      await again.add(kept);
      assert.deepEqual(await again.stats({ today: TODAY, days: 2 }), before);
      assert.deepEqual(await all(again.day(TODAY)), [record('1'), record('2')]);
    });
  });
}
