import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import Fastify from 'fastify';
import { testLogger } from '../../../test/support/call.ts';
import { USED } from '../../../test/support/usage.ts';
import { SluiceError } from '../../core/errors.ts';
import type { UsageRecord } from '../../core/usage-record.ts';
import type { Deps } from '../deps.ts';
import { getUsage } from './usage.ts';

const RECORD: UsageRecord = { ...USED, time: 0 };

/** The address of a server that has only the usage of a day, and what it logs. */
async function serve(context: TestContext, day: () => AsyncIterable<UsageRecord>) {
  const log = testLogger();
  const secrets = { mask: (text: string) => text.replace('sk-1', '***') };
  const writeUsage = async (): Promise<void> => {};
  const deps = { log, secrets, writeUsage, stores: { usage: { day } } } as unknown as Deps;
  const app = Fastify({ forceCloseConnections: true });
  context.after(() => app.close());
  app.get('/usage/:date', getUsage(deps));
  return { log, address: `${await app.listen()}/usage/1970-01-01` };
}

test('a storage that fails in the middle of a day cuts the answer', { timeout: 30_000 }, async (context) => {
  const { log, address } = await serve(context, async function* () {
    yield RECORD;
    throw new SluiceError('storage_failed', 'The disk of sk-1 is gone.');
  });
  const response = await fetch(address);
  assert.equal(response.status, 200);
  await assert.rejects(response.text(), { message: 'terminated' });
  assert.deepEqual(
    log.lines.map(({ level, message, fields }) => [level, message, 'error' in fields && fields.error]),
    [['warn', 'reading the usage of a day failed', 'The disk of *** is gone.']],
  );
});

describe('a long day', { timeout: 60_000 }, () => {
  const LARGE: UsageRecord = { ...RECORD, more: { text: 'x'.repeat(64 * 1024) } };
  /** Far more than lies on the way between two sockets. */
  const MOST = 4_000;

  test('is read no faster than the client takes it, and no further once that has left', async (context) => {
    let count = 0;
    const left = Promise.withResolvers<void>();
    const { address } = await serve(context, async function* () {
      try {
        for (; count < MOST; count += 1) {
          await immediate();
          yield LARGE;
        }
      } finally {
        left.resolve();
      }
    });
    const leaving = new AbortController();
    const response = await fetch(address, { signal: leaving.signal });
    await standsStill(() => count);
    assert.ok(count < MOST, 'nobody takes it');
    leaving.abort();
    await left.promise;
    assert.ok(count < MOST, 'nobody is there');
    await assert.rejects(response.text());
  });
});

/** Waits until a figure is the same after many turns of the event loop. */
async function standsStill(figure: () => number): Promise<void> {
  for (let before = -1; before !== figure(); ) {
    before = figure();
    for (let turn = 0; turn < 100; turn += 1) await immediate();
  }
}
