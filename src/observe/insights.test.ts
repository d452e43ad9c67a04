import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testLogger } from '../../test/support/call.ts';
import { seen } from '../../test/support/seen.ts';
import { temporaryStores } from '../../test/support/stores.ts';
import type { CacheRecord, Records } from '../core/stores.ts';
import { Durations } from './durations.ts';
import { empty, Insights, merge } from './insights.ts';

const DAY = '2026-03-01';
const NOON = Date.parse(`${DAY}T12:00:00Z`);

describe('sums of days', () => {
  test('survive a restart, also when requests come before the old ones were read', async (context) => {
    const { caches } = temporaryStores(context);
    const open = () => new Insights(caches, testLogger(), () => NOON);
    const first = open();
    first.add(seen());
    first.spent(seen(), 2);
    await first.flush();
    const second = open();
    second.add(seen({ status: 500 }));
    second.spent(seen(), null);
    await second.flush();
    await second.flush();
    const [group, ...others] = (await open().days([DAY])).get(DAY) ?? [];
    assert.equal(others.length, 0);
    assert.deepEqual(
      [group?.requests, group?.errors, group?.cost, group?.priced, group?.unpriced, group?.duration.count],
      [2, 1, 2, 1, 1, 1],
    );
  });

  test('are kept with all that belongs to them, and read once, however many ask', async (context) => {
    const { caches } = temporaryStores(context);
    const open = () => new Insights(caches, testLogger(), () => NOON);
    const cancelled = { status: 499, error: { code: 'cancelled', name: 'CancelledError' } } as const;
    for (let run = 0; run < 2; run += 1) {
      const insights = open();
      for (const more of [{ firstChunk: 10 }, { status: 500 }, { status: 500 }, cancelled]) insights.add(seen(more));
      await Promise.all([insights.days([DAY]), insights.days([DAY]), insights.flush()]);
      await insights.flush();
    }
    const [group, ...others] = (await open().days([DAY])).get(DAY) ?? [];
    assert.equal(others.length, 0);
    assert.deepEqual(
      [group?.requests, group?.errors, [...(group?.codes ?? [])], group?.firstChunk.count, group?.duration.count],
      [8, 4, [['500', 4]], 2, 2],
    );
  });

  test('are those of one user, provider and model each', async (context) => {
    const insights = new Insights(temporaryStores(context).caches, testLogger(), () => NOON);
    for (const more of [
      {},
      { model: 'n' },
      { provider: 'q', model: 'n' },
      { user: 'bob', provider: 'q', model: 'n' },
    ]) {
      insights.add(seen(more));
    }
    const groups = (await insights.days([DAY])).get(DAY) ?? [];
    assert.deepEqual(
      groups.map(({ user, provider, model, requests }) => [user, provider, model, requests]),
      [
        ['ann', 'p', 'm', 1],
        ['ann', 'p', 'n', 1],
        ['ann', 'q', 'n', 1],
        ['bob', 'q', 'n', 1],
      ],
    );
  });

  test('begin anew at midnight, and not before', async (context) => {
    let now = Date.parse(`${DAY}T23:59:59.999Z`);
    const insights = new Insights(temporaryStores(context).caches, testLogger(), () => now);
    insights.add(seen());
    now += 1;
    insights.add(seen());
    const days = await insights.days([DAY, '2026-03-02']);
    assert.deepEqual(
      [...days.values()].map(([group]) => group?.requests),
      [1, 1],
    );
  });

  test('a day ends, and is still known', async (context) => {
    const { caches } = temporaryStores(context);
    let now = NOON;
    const insights = new Insights(caches, testLogger(), () => now);
    insights.add(seen());
    // Nothing was written in between.
    now += 86_400_000;
    insights.add(seen());
    insights.add(seen());
    await insights.flush();
    for (const each of [insights, new Insights(caches, testLogger(), () => now)]) {
      const days = await each.days([DAY, '2026-03-02', '2026-03-03']);
      assert.deepEqual(
        [...days.values()].map((groups) => groups.map(({ requests }) => requests)),
        [[1], [2], []],
      );
    }
  });

  test('a clock that was wrong and is put right: what follows belongs to the right day', async (context) => {
    const { caches } = temporaryStores(context);
    let now = NOON;
    const insights = new Insights(caches, testLogger(), () => now);
    insights.add(seen());
    now += 1_000 * 86_400_000;
    insights.add(seen());
    now = NOON + 1_000;
    insights.add(seen());
    assert.equal((await insights.days([DAY])).get(DAY)?.[0]?.requests, 2);
    await insights.flush();
    insights.add(seen());
    await insights.flush();
    for (const each of [insights, new Insights(caches, testLogger(), () => now)]) {
      assert.equal((await each.days([DAY])).get(DAY)?.[0]?.requests, 3);
    }
    // A day that has been written already goes on where it was.
    now += 86_400_000;
    insights.add(seen());
    await insights.flush();
    assert.equal((await insights.days([DAY])).get(DAY)?.[0]?.requests, 3);
    now = NOON;
    insights.add(seen());
    await insights.flush();
    assert.equal((await new Insights(caches, testLogger(), () => now).days([DAY])).get(DAY)?.[0]?.requests, 4);
    now += 86_400_000;
    await insights.flush();
    assert.equal((await insights.days([DAY])).get(DAY)?.[0]?.requests, 4);
  });

  test('a storage that fails loses nothing once it is back', async (context) => {
    const { caches } = temporaryStores(context);
    let isBroken: readonly string[] = ['get', 'update'];
    const failing = new Proxy(caches, {
      get: (target, name: keyof Records<CacheRecord>) =>
        isBroken.includes(name) ? () => Promise.reject(new Error('broken')) : target[name].bind(target),
    });
    const insights = new Insights(failing, testLogger(), () => NOON);
    insights.add(seen());
    await insights.flush();
    isBroken = ['update'];
    await insights.flush();
    isBroken = [];
    await insights.flush();
    const again = new Insights(caches, testLogger(), () => NOON);
    assert.equal((await again.days([DAY])).get(DAY)?.[0]?.requests, 1);
  });

  test('a day that ends while it is being written loses nothing where that fails', async (context) => {
    const { caches } = temporaryStores(context);
    const { promise: asked, resolve: wasAsked } = Promise.withResolvers<void>();
    const { promise: failed, reject: fail } = Promise.withResolvers<never>();
    let isBroken = true;
    const failing = new Proxy(caches, {
      get(target, name: keyof Records<CacheRecord>) {
        if (name !== 'update' || !isBroken) return target[name].bind(target);
        wasAsked();
        return () => failed;
      },
    });
    let now = Date.parse(`${DAY}T23:59:59.999Z`);
    const insights = new Insights(failing, testLogger(), () => now);
    insights.add(seen());
    const flushing = insights.flush();
    await asked;
    now += 1;
    insights.add(seen());
    fail(new Error('broken'));
    await flushing;
    isBroken = false;
    await insights.flush();
    const days = await new Insights(caches, testLogger(), () => now).days([DAY, '2026-03-02']);
    assert.deepEqual(
      [...days.values()].map((groups) => groups.map(({ requests }) => requests)),
      [[1], [1]],
    );
  });

  test('what is just being written counts, and once', { timeout: 60_000 }, async (context) => {
    const { caches } = temporaryStores(context);
    let written = (): void => {};
    let answer = Promise.resolve();
    const slow = new Proxy(caches, {
      get(target, name: keyof Records<CacheRecord>) {
        if (name !== 'update') return target[name].bind(target);
        return async (...words: Parameters<typeof target.update>) => {
          const found = await target.update(...words);
          written();
          await answer;
          return found;
        };
      },
    });
    const insights = new Insights(slow, testLogger(), () => NOON);
    const flush = async () => {
      const [onDisk, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      written = onDisk.resolve;
      answer = answered.promise;
      const flushing = insights.flush();
      await onDisk.promise;
      return async () => {
        answered.resolve();
        await flushing;
      };
    };
    const count = async () => (await insights.days([DAY])).get(DAY)?.[0]?.requests;

    insights.add(seen());
    let end = await flush();
    const early = count();
    // One after the other: whatever was asked before the second has its answer then.
    for (let turn = 0; turn < 2; turn += 1) await caches.get('something else');
    await end();
    assert.equal(await early, 1, 'it reads when that is over');
    insights.add(seen());
    end = await flush();
    assert.equal(await count(), 2, 'it knows the rest already');
    await end();
    assert.equal(await count(), 2);
  });

  test('any number of users takes no more than so much room', async (context) => {
    const insights = new Insights(temporaryStores(context).caches, testLogger(), () => NOON);
    for (let n = 0; n < 5_000; n += 1) insights.add(seen({ user: `user-${n}`, model: `model-${n % 3_000}` }));
    const groups = (await insights.days([DAY])).get(DAY) ?? [];
    assert.ok(groups.length <= 1_001);
    assert.equal(groups.reduce(merge, empty('', '', '')).requests, 5_000);
  });

  test('who comes after many users counts without a name, but by provider and model', async (context) => {
    const insights = new Insights(temporaryStores(context).caches, testLogger(), () => NOON);
    for (let n = 0; n < 600; n += 1) insights.add(seen({ user: `user-${n}`, model: n % 2 === 0 ? 'm' : 'n' }));
    const groups = (await insights.days([DAY])).get(DAY) ?? [];
    assert.deepEqual(
      groups.slice(499).map(({ user, provider, model, requests }) => [user, provider, model, requests]),
      [
        ['user-499', 'p', 'n', 1],
        ['(others)', 'p', 'm', 50],
        ['(others)', 'p', 'n', 50],
      ],
    );
  });

  test('percentiles are right within a tenth', () => {
    const durations = new Durations();
    for (let n = 1; n <= 1_000; n += 1) durations.add(n);
    for (const [share, expected] of [
      [0.5, 500],
      [0.9, 900],
      [0.99, 990],
    ] as const) {
      const found = durations.percentile(share) ?? 0;
      assert.ok(Math.abs(found - expected) / expected < 0.1, `${share}: ${found}`);
    }
    assert.equal(new Durations().percentile(0.5), undefined);
    assert.deepEqual(new Durations(durations.toJSON()).percentile(0.9), durations.percentile(0.9));
  });
});
