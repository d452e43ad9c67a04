import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { testLogger } from '../../test/support/call.ts';
import { seen } from '../../test/support/seen.ts';
import { SluiceError } from '../core/errors.ts';
import type { CacheRecord, Records } from '../core/stores.ts';
import { defaultObserve } from './config.ts';
import { OwnLedger } from './ledger.ts';

const late = seen({ id: 'late' });

/** `refuses` says of which record a deletion fails. */
function inMemory(refuses: (id: string) => boolean = () => false) {
  const records = new Map<string, CacheRecord>();
  const port: Records<CacheRecord> = {
    get: async (id) => records.get(id),
    put: async (record) => void records.set(record.id, record),
    putJson: async (id, _, json) => void records.set(id, JSON.parse(json) as CacheRecord),
    update: () => Promise.reject(new Error('not asked for')),
    async delete(id) {
      if (refuses(id)) throw new SluiceError('storage_failed', 'The disk fails.');
      return records.delete(id);
    },
    forgetExpired: () => Promise.reject(new Error('not asked for')),
  };
  const written = (): string => JSON.stringify([...records.values()]);
  return { records, port, written };
}

test('what is known only after the others were written is written, too, though no request follows', async (context) => {
  const { port, written } = inMemory();
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const ledger = new OwnLedger({ config: defaultObserve, records: port, log: testLogger() });
  context.after(() => ledger.close());
  const pass = async (): Promise<void> => {
    context.mock.timers.tick(5_000);
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  };
  ledger.add(late, false);
  await pass();
  assert.match(written(), /"requests":1/);
  assert.doesNotMatch(written(), /"late"/);
  ledger.keep(late);
  await pass();
  assert.match(written(), /"late"/);
  assert.doesNotMatch(written(), /"cost":2/);
  ledger.spent(late, 2);
  await pass();
  assert.match(written(), /"cost":2/);
});

test('a log whose clearing failed in its middle is cleared by the next, on the disk too', async (context) => {
  let isBroken = true;
  const { records, port } = inMemory((id) => isBroken && id.startsWith('request-log '));
  const ledger = new OwnLedger({ config: defaultObserve, records: port, log: testLogger() });
  context.after(() => ledger.close());
  const keptOfLog = (): string[] => [...records.keys()].filter((id) => id.startsWith('request-log'));
  ledger.add(seen({ id: 'first' }), true);
  await ledger.flush();
  assert.equal(keptOfLog().length, 2);
  await assert.rejects(ledger.clear(), { code: 'storage_failed' });
  isBroken = false;
  await ledger.clear();
  assert.deepEqual(keptOfLog(), []);
  assert.equal(await ledger.find('first'), undefined);
});
