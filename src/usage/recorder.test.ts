import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testLogger } from '../../test/support/call.ts';
import { dayOf } from '../core/days.ts';
import { SluiceError } from '../core/errors.ts';
import type { UsageRecord, UsageStore } from '../core/stores.ts';
import type { UsageBatch } from '../core/usage-batch.ts';
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
    } satisfies UsageStore,
  };
  return self;
}

test('answers that come together are written together, each once', async () => {
  const { batches, port } = store();
  const recorder = new UsageRecorder(port, testLogger());
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
});

test('what a broken store did not take is written when it is back, and said once', async () => {
  const log = testLogger();
  const target = store();
  const recorder = new UsageRecorder(target.port, log);
  target.broken = true;
  for (const model of ['a', 'b']) {
    recorder.note(answer(model));
    await recorder.flush();
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
  assert.equal(log.lines.filter(({ level }) => level === 'warn').length, 1);
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
  setImmediate(() => price.resolve(1));
  await flushed;
  assert.deepEqual(
    batches.flat().map(({ model, more }) => [model, more['cost']]),
    [
      ['quick', 2],
      ['slow', 1],
    ],
  );
});

test('while the store is out of order, the newest ten thousand wait', async () => {
  const target = store();
  const recorder = new UsageRecorder(target.port, testLogger());
  target.broken = true;
  for (let count = 0; count < 12_500; count += 1) recorder.note(answer(`${count}`));
  await recorder.flush();
  target.broken = false;
  await recorder.flush();
  const models = target.batches.flat().map(({ model }) => Number(model));
  assert.equal(models.at(-1), 12_499);
  // In thousands, of which the last one is half full.
  assert.equal(models.length, 9_500);
  assert.equal(models[0], 12_500 - models.length);
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
