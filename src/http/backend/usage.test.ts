import assert from 'node:assert/strict';
import { test } from 'node:test';
import Fastify from 'fastify';
import { testLogger } from '../../../test/support/call.ts';
import { SluiceError } from '../../core/errors.ts';
import type { UsageRecord } from '../../core/stores.ts';
import type { Deps } from '../deps.ts';
import { getUsage } from './usage.ts';

const RECORD: UsageRecord = {
  time: 0,
  user: 'u',
  provider: 'p',
  model: 'm',
  promptTokens: 1,
  completionTokens: 1,
  totalTokens: 2,
  savedTokens: 0,
  more: {},
};

test('a storage that fails in the middle of a day cuts the answer', { timeout: 30_000 }, async (context) => {
  async function* day(): AsyncIterable<UsageRecord> {
    yield RECORD;
    throw new SluiceError('storage_failed', 'The disk is gone.');
  }
  const log = testLogger();
  const secrets = { mask: (text: string) => text };
  const deps = { log, secrets, stores: { usage: { day } } } as unknown as Deps;
  const app = Fastify();
  context.after(() => app.close());
  app.get('/usage/:date', getUsage(deps));
  const response = await fetch(`${await app.listen()}/usage/1970-01-01`);
  assert.equal(response.status, 200);
  await assert.rejects(response.text(), { message: 'terminated' });
  assert.deepEqual(
    log.lines.map(({ level, message }) => [level, message]),
    [['warn', 'reading the usage of a day failed']],
  );
});
