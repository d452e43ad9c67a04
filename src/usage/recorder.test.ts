import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { testLogger } from '../../test/support/call.ts';
import { dayOf } from '../core/days.ts';
import { SluiceError } from '../core/errors.ts';
import type { UsageStore } from '../core/stores.ts';
import type { UsageBatch } from '../core/usage-batch.ts';
import type { UsageRecord } from '../core/usage-record.ts';
import { UsageRecorder } from './recorder.ts';

const answer = (model: string) => ({
  user: 'ann',
  provider: 'mock',
  label: 'Mock',
  model,
  usage: { promptTokens: 3, completionTokens: 4, totalTokens: 7, cachedTokens: 1 },
  cost: null,
});

function store() {
  const batches: UsageRecord[][] = [];
  /** The ids of all batches that came, also of those that were not taken. */
  const tried: string[] = [];
  const self = {
    batches,
    tried,
    broken: false,
    port: {
      async add({ id, day, json }: UsageBatch) {
        tried.push(id);
        if (self.broken) throw new SluiceError('storage_failed', 'The disk is full.');
        const records = JSON.parse(json) as UsageRecord[];
        for (const { time } of records) assert.equal(dayOf(time), day);
        batches.push(records);
      },
      async *day() {},
      stats: () => Promise.reject(new Error('not asked for')),
      forgetBefore: () => Promise.reject(new Error('not asked for')),
    } satisfies UsageStore,
  };
  return self;
}

test('answers that come together are written together, each once', async () => {
  const { batches, tried, port } = store();
  const log = testLogger();
  const recorder = new UsageRecorder(port, log);
  for (const model of ['a', 'b', 'c']) recorder.note(answer(model));
  await recorder.flush();
  await recorder.flush();
  assert.deepEqual(
    batches.map((batch) => batch.map(({ model, totalTokens, savedTokens }) => [model, totalTokens, savedTokens])),
    [
      [
        ['a', 7, 1],
        ['b', 7, 1],
        ['c', 7, 1],
      ],
    ],
  );
  assert.equal(tried.length, 1);
  assert.deepEqual(log.lines, []);
});

test('what a broken store did not take is written when it is back, and said once', async () => {
  const log = testLogger();
  const target = store();
  const recorder = new UsageRecorder(target.port, log);
  target.broken = true;
  const said = { level: 'warn', fields: { error: 'The disk is full.' }, message: 'usage cannot be recorded now' };
  for (const model of ['a', 'b']) {
    recorder.note(answer(model));
    await recorder.flush();
    assert.deepEqual(log.lines, [said]);
  }
  target.broken = false;
  recorder.note(answer('c'));
  await recorder.flush();
  assert.deepEqual(
    target.batches.map((batch) => batch.map(({ model }) => model)),
    [['a'], ['b'], ['c']],
  );
  // Whatever became of the first try: nothing was added to a batch that may have been kept.
  const [a, b, c] = new Set(target.tried);
  assert.deepEqual(target.tried, [a, a, a, b, c]);
  assert.deepEqual(log.lines, [said]);
  // Out of order once more: that is news.
  target.broken = true;
  recorder.note(answer('d'));
  await recorder.flush();
  assert.deepEqual(log.lines, [said, said]);
});

test('what a broken store did not take is tried again though nothing else is answered, until the end', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const target = store();
  const recorder = new UsageRecorder(target.port, testLogger());
  target.broken = true;
  recorder.note(answer('a'));
  await recorder.flush();
  context.mock.timers.tick(5_000);
  await setImmediate();
  assert.deepEqual([target.tried.length, target.batches.length], [2, 0]);
  target.broken = false;
  context.mock.timers.tick(5_000);
  await setImmediate();
  assert.deepEqual([target.tried.length, target.batches.length], [3, 1]);
  target.broken = true;
  recorder.note(answer('b'));
  await recorder.close();
  context.mock.timers.tick(60_000);
  await setImmediate();
  assert.equal(target.tried.length, 4);
});

test('what waits is written before the end', async () => {
  const { batches, port } = store();
  const recorder = new UsageRecorder(port, testLogger());
  recorder.note(answer('a'));
  await recorder.close();
  assert.deepEqual(
    batches.flat().map(({ model }) => model),
    ['a'],
  );
});

test('what comes while others are being written is written after them, however much it is', async () => {
  const { batches, port } = store();
  const slow = Promise.withResolvers<void>();
  const recorder = new UsageRecorder(
    { ...port, add: (batch) => slow.promise.then(() => port.add(batch)) },
    testLogger(),
  );
  recorder.note(answer('first'));
  const flushed = recorder.flush();
  await setImmediate();
  for (let count = 0; count < 1_500; count += 1) recorder.note(answer(`${count}`));
  slow.resolve();
  await flushed;
  await recorder.flush();
  assert.deepEqual(
    batches.map((batch) => [batch.length, batch[0]?.model]),
    [
      [1, 'first'],
      [1_000, '0'],
      [500, '1000'],
    ],
  );
});

test('however many ask for it while the store hangs, what waits is tried once for all of them', async () => {
  const target = store();
  const slow = Promise.withResolvers<void>();
  const recorder = new UsageRecorder(
    { ...target.port, add: (batch) => slow.promise.then(() => target.port.add(batch)) },
    testLogger(),
  );
  target.broken = true;
  recorder.note(answer('first'));
  const first = recorder.flush();
  await setImmediate();
  recorder.note(answer('second'));
  const others = Array.from({ length: 20 }, () => recorder.flush());
  await setImmediate();
  slow.resolve();
  await Promise.all([first, ...others]);
  assert.equal(target.tried.length, 2);
  target.broken = false;
  await recorder.flush();
  assert.deepEqual(
    target.batches.flat().map(({ model }) => model),
    ['first', 'second'],
  );
});

test('what was written to a cache is noted, and nothing where nothing was', async () => {
  const { batches, port } = store();
  const recorder = new UsageRecorder(port, testLogger());
  const { usage, ...rest } = answer('a');
  for (const cacheWriteTokens of [2, 0]) recorder.note({ ...rest, usage: { ...usage, cacheWriteTokens } });
  await recorder.flush();
  assert.deepEqual(
    batches.flat().map(({ more }) => more),
    [
      { label: 'Mock', cache_write_tokens: 2, cost: null },
      { label: 'Mock', cost: null },
    ],
  );
});

test('what was estimated says so, and what no upstream tells of a cache was not saved', async () => {
  const { batches, port } = store();
  const recorder = new UsageRecorder(port, testLogger());
  const usage = { promptTokens: 3, completionTokens: 4, totalTokens: 7 };
  for (const estimated of [true, false]) recorder.note({ ...answer('a'), usage: { ...usage, estimated } });
  await recorder.flush();
  assert.deepEqual(
    batches.flat().map(({ savedTokens, more }) => [savedTokens, more]),
    [
      [0, { label: 'Mock', estimated: true, cost: null }],
      [0, { label: 'Mock', cost: null }],
    ],
  );
});

test('an answer whose price is being looked up is recorded with it, and a flush waits for that', async () => {
  const { batches, port } = store();
  const recorder = new UsageRecorder(port, testLogger());
  const price = Promise.withResolvers<number | null>();
  recorder.note({ ...answer('slow'), cost: price.promise });
  recorder.note({ ...answer('quick'), cost: 2 });
  const flushed = recorder.flush();
  await setImmediate();
  price.resolve(1);
  await flushed;
  assert.deepEqual(
    batches.flat().map(({ model, more }) => [model, more['cost']]),
    [
      ['quick', 2],
      ['slow', 1],
    ],
  );
});

test('a flush waits for all prices that are being looked up, not for the newest only', async () => {
  const { batches, port } = store();
  const recorder = new UsageRecorder(port, testLogger());
  const price = Promise.withResolvers<number | null>();
  recorder.note({ ...answer('slow'), cost: price.promise });
  recorder.note({ ...answer('quick'), cost: Promise.resolve(2) });
  const flushed = recorder.flush();
  await setImmediate();
  price.resolve(1);
  await flushed;
  assert.deepEqual(
    batches.flat().map(({ model }) => model),
    ['quick', 'slow'],
  );
});

test('each batch is written by itself after a while, not the first one only', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { batches, port } = store();
  const recorder = new UsageRecorder(port, testLogger());
  for (const model of ['a', 'b']) {
    recorder.note(answer(model));
    context.mock.timers.runAll();
    await setImmediate();
  }
  assert.deepEqual(
    batches.map((batch) => batch.map(({ model }) => model)),
    [['a'], ['b']],
  );
});

test('while the store is out of order, the newest ten thousand wait', async () => {
  // In thousands: where the last one is half full, the first one has no room.
  for (const [all, kept] of [
    [12_500, 9_500],
    [13_000, 10_000],
  ] as const) {
    const target = store();
    const recorder = new UsageRecorder(target.port, testLogger());
    target.broken = true;
    for (let count = 0; count < all; count += 1) recorder.note(answer(`${count}`));
    await recorder.flush();
    target.broken = false;
    await recorder.flush();
    const models = target.batches.flat().map(({ model }) => Number(model));
    assert.deepEqual([models.length, models[0], models.at(-1)], [kept, all - kept, all - 1]);
  }
});

test('records of two days are two batches', async (context) => {
  const { batches, port } = store();
  const recorder = new UsageRecorder(port, testLogger());
  context.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-03-01T23:59:59.999Z') });
  recorder.note(answer('before'));
  context.mock.timers.tick(1);
  recorder.note(answer('after'));
  await recorder.flush();
  assert.deepEqual(
    batches.map((batch) => batch.map(({ model }) => model)),
    [['before'], ['after']],
  );
});
