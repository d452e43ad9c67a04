import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testLogger } from '../../test/support/call.ts';
import { SluiceError } from '../core/errors.ts';
import type { UsageRecord, UsageStore } from '../core/stores.ts';
import { UsageRecorder } from './recorder.ts';

const answer = (model: string) => ({
  user: 'ann',
  provider: 'mock',
  label: 'Mock',
  model,
  usage: { promptTokens: 3, completionTokens: 4, totalTokens: 7, cachedTokens: 1 },
});

function store(): { readonly batches: UsageRecord[][]; broken: boolean; readonly port: UsageStore } {
  const batches: UsageRecord[][] = [];
  const self = {
    batches,
    broken: false,
    port: {
      async add(records: readonly UsageRecord[]) {
        if (self.broken) throw new SluiceError('storage_failed', 'The disk is full.');
        batches.push([...records]);
      },
      async *day() {},
      stats: () => Promise.reject(new Error('not asked for')),
    },
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
    [['a', 'b', 'c']],
  );
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
    [{ label: 'Mock', cache_write_tokens: 2 }, { label: 'Mock' }],
  );
});
