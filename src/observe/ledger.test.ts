import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { testLogger } from '../../test/support/call.ts';
import { seen as seenAt } from '../../test/support/seen.ts';
import { SluiceError } from '../core/errors.ts';
import type { CacheRecord, Records } from '../core/stores.ts';
import { defaultObserve } from './config.ts';
import { OwnLedger } from './ledger.ts';

const DAY_MS = 86_400_000;
/** A request of now. */
const seen = (more: Parameters<typeof seenAt>[0]) => seenAt({ time: Date.now(), ...more });
const late = seen({ id: 'late' });

/** `refuses` says of which record what fails. */
function inMemory(refuses: (id: string, what: 'put' | 'delete') => boolean = () => false) {
  const records = new Map<string, CacheRecord>();
  const check = (id: string, what: 'put' | 'delete'): void => {
    if (refuses(id, what)) throw new SluiceError('storage_failed', 'The disk fails.');
  };
  const port: Records<CacheRecord> = {
    get: async (id) => records.get(id),
    async put(record) {
      check(record.id, 'put');
      records.set(record.id, record);
    },
    async putJson(id, _, json) {
      check(id, 'put');
      records.set(id, JSON.parse(json) as CacheRecord);
    },
    async update(id, change) {
      const next = change(records.get(id));
      if (next !== undefined) await port.put(next);
      return next ?? records.get(id);
    },
    async delete(id) {
      check(id, 'delete');
      return records.delete(id);
    },
    prolong: () => Promise.reject(new Error('not asked for')),
    forgetExpired: () => Promise.reject(new Error('not asked for')),
    deleteBetween: () => Promise.reject(new Error('not asked for')),
  };
  const written = (): string => JSON.stringify([...records.values()]);
  const keptOfLog = (): string[] => [...records.keys()].filter((id) => id.startsWith('request-log'));
  return { records, port, written, keptOfLog };
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
  const { port, keptOfLog } = inMemory((id, what) => isBroken && what === 'delete' && id.startsWith('request-log '));
  const ledger = new OwnLedger({ config: defaultObserve, records: port, log: testLogger() });
  context.after(() => ledger.close());
  ledger.add(seen({ id: 'first' }), true);
  await ledger.flush();
  assert.equal(keptOfLog().length, 2);
  await assert.rejects(ledger.clear(), { code: 'storage_failed' });
  isBroken = false;
  await ledger.clear();
  assert.deepEqual(keptOfLog(), []);
  assert.equal(await ledger.find('first'), undefined);
});

test('what is being written when the log is cleared is cleared as well', { timeout: 60_000 }, async (context) => {
  const { records, port, keptOfLog } = inMemory();
  const asked = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const slow: typeof port = {
    ...port,
    async putJson(...words) {
      asked.resolve();
      await goOn.promise;
      await port.putJson(...words);
    },
  };
  const ledger = new OwnLedger({ config: defaultObserve, records: slow, log: testLogger() });
  context.after(() => ledger.close());
  ledger.add(seen({ id: 'first' }), true);
  const writing = ledger.flush();
  await asked.promise;
  const clearing = ledger.clear();
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  goOn.resolve();
  await writing;
  assert.equal(await clearing, 1);
  assert.deepEqual(keptOfLog(), [], JSON.stringify([...records.values()]));
  assert.equal(await ledger.find('first'), undefined);
});

test('entries of an earlier form are read', async (context) => {
  const { records, port } = inMemory();
  const id = 'request-log 00000000000f-earlier';
  const expires = Number.MAX_SAFE_INTEGER;
  records.set('request-log', { id: 'request-log', expires, value: [{ id, count: 1 }] });
  records.set(id, { id, expires, value: [JSON.stringify(seen({ id: 'first' }))] });
  const ledger = new OwnLedger({ config: defaultObserve, records: port, log: testLogger() });
  context.after(() => ledger.close());
  assert.equal((await ledger.find('first'))?.user, 'ann');
});

test('content that is no longer to be kept goes with the next attempt where it cannot be deleted', async (context) => {
  let isBroken = true;
  const isRefused = (id: string, what: string) => isBroken && what === 'delete' && id.startsWith('request-log ');
  const { records, port, written, keptOfLog } = inMemory(isRefused);
  const open = (requestLog: 'full' | 'meta') => {
    const ledger = new OwnLedger({ config: { ...defaultObserve, requestLog }, records: port, log: testLogger() });
    context.after(() => ledger.close());
    return ledger;
  };
  const answer = { text: 'Moonlight', reasoning: '', tool_calls: [], truncated: false };
  const first = open('full');
  first.add(seen({ id: 'first', content: { request: { body: {}, truncated: false }, answer } }), true);
  await first.flush();
  const second = open('meta');
  await second.flush();
  assert.match(written(), /Moonlight/);
  const named = ((records.get('request-log')?.value ?? []) as { id: string }[]).map(({ id }) => id);
  assert.deepEqual(
    keptOfLog().filter((id) => id !== 'request-log' && !named.includes(id)),
    [],
    'nothing lies there that is not known',
  );
  const third = open('meta');
  assert.equal((await third.query({ limit: 10 })).total, 1, 'what is there twice is shown once');
  isBroken = false;
  await third.flush();
  assert.doesNotMatch(written(), /Moonlight/);
  assert.equal(keptOfLog().length, 2);
  assert.equal((await open('full').find('first'))?.content, undefined);
});

for (const mode of ['meta', 'none'] as const) {
  test(`content of an earlier run goes when one begins that keeps ${mode}, be there no request and no end`, async (context) => {
    const { port, written } = inMemory();
    const open = async (requestLog: 'full' | typeof mode): Promise<OwnLedger> => {
      const ledger = new OwnLedger({ config: { ...defaultObserve, requestLog }, records: port, log: testLogger() });
      context.after(() => ledger.close());
      for (let turn = 0; turn < 20; turn += 1) await setImmediate();
      return ledger;
    };
    const answer = { text: 'Moonlight', reasoning: '', tool_calls: [], truncated: false };
    const earlier = await open('full');
    earlier.add(seen({ id: 'first', content: { request: { body: {}, truncated: false }, answer } }), true);
    await earlier.flush();
    assert.match(written(), /Moonlight/);
    await open(mode);
    assert.doesNotMatch(written(), /Moonlight/);
  });
}

test('a log that is no longer kept goes with the next attempt where it could not be deleted', async (context) => {
  let isBroken = false;
  const { port, keptOfLog } = inMemory((id, what) => isBroken && what === 'delete' && id.startsWith('request-log '));
  const open = (requestLog: 'meta' | 'none') => {
    const ledger = new OwnLedger({ config: { ...defaultObserve, requestLog }, records: port, log: testLogger() });
    context.after(() => ledger.close());
    return ledger;
  };
  const first = open('meta');
  first.add(seen({ id: 'first' }), true);
  await first.flush();
  isBroken = true;
  const second = open('none');
  await second.flush();
  assert.equal(keptOfLog().length, 2);
  isBroken = false;
  await second.flush();
  assert.deepEqual(keptOfLog(), []);
});

for (const [name, isRefused] of [
  ['noted as kept', (id: string) => id === 'request-log'],
  ['written', (id: string) => id.startsWith('request-log ')],
] as const) {
  test(`what could not be ${name} leaves nothing behind, and is kept later`, async (context) => {
    let isBroken = true;
    const { records, port, keptOfLog } = inMemory((id, what) => isBroken && what === 'put' && isRefused(id));
    const ledger = new OwnLedger({ config: defaultObserve, records: port, log: testLogger() });
    context.after(() => ledger.close());
    ledger.add(seen({ id: 'first' }), true);
    await ledger.flush();
    assert.deepEqual(records.get('request-log')?.value ?? [], []);
    assert.deepEqual(
      keptOfLog().filter((id) => id !== 'request-log'),
      [],
    );
    isBroken = false;
    await ledger.flush();
    assert.equal(keptOfLog().length, 2);
  });
}

for (const [usageDays, kept] of [
  [7, 7],
  [365, 90],
  [0, 90],
] as const) {
  test(`the log tells of ${kept} days where usage is kept for ${usageDays}, in memory, on the disk and after a restart`, async (context) => {
    const { port, written } = inMemory();
    let days = 0;
    const open = () => {
      const ledger = new OwnLedger({ config: defaultObserve, records: port, log: testLogger(), usageDays: () => days });
      context.after(() => ledger.close());
      return ledger;
    };
    const told = async (ledger: OwnLedger) => (await ledger.query({ limit: 10 })).entries.map(({ id }) => id);
    const ledger = open();
    // They ended in this order, each a minute after it had begun.
    for (const ago of [91, 89, 8, 6, 0])
      ledger.add(seen({ id: `${ago} days`, time: Date.now() - ago * DAY_MS - 60_000, duration: 60_000 }), true);
    await ledger.flush();
    days = usageDays;
    const young = ['0 days', '6 days', ...(kept === 90 ? ['8 days', '89 days'] : [])];
    const restarted = open();
    assert.deepEqual(await told(restarted), young);
    assert.equal(await ledger.forgetOld(), 5 - young.length);
    assert.deepEqual(await told(ledger), young);
    assert.equal(await ledger.forgetOld(), 0);
    for (const id of ['8 days', '91 days']) assert.equal(written().includes(id), young.includes(id), id);
    context.mock.method(Date, 'now', () => performance.timeOrigin + performance.now() + 1_000 * DAY_MS);
    assert.equal(await ledger.forgetOld(), 0, 'a clock that jumps is not believed');
  });
}

test('what is too old goes from the disk of a process that goes on, and the rest stays there', async (context) => {
  const { port, written } = inMemory();
  let days = 0;
  const ledger = new OwnLedger({ config: defaultObserve, records: port, log: testLogger(), usageDays: () => days });
  context.after(() => ledger.close());
  for (const [id, ago] of [
    ['too old', 8],
    ['young', 6],
  ] as const)
    ledger.add(seen({ id, time: Date.now() - ago * DAY_MS }), true);
  await ledger.flush();
  days = 7;
  assert.equal(await ledger.forgetOld(), 1);
  assert.doesNotMatch(written(), /"too old"/);
  assert.match(written(), /"young"/);
});

test('what a shorter time no longer allows goes from the disk with a start', async (context) => {
  const { port, written } = inMemory();
  const open = (days: number) => {
    const ledger = new OwnLedger({ config: defaultObserve, records: port, log: testLogger(), usageDays: () => days });
    context.after(() => ledger.close());
    return ledger;
  };
  const earlier = open(0);
  earlier.add(seen({ id: 'too old', time: Date.now() - 8 * DAY_MS }), true);
  await earlier.flush();
  assert.match(written(), /"too old"/);
  assert.equal((await open(7).query({ limit: 10 })).total, 0);
  assert.doesNotMatch(written(), /"too old"/);
});

test('a part of the log that is named and not there, as after a crash, hides nothing of the rest', async (context) => {
  const { records, port, keptOfLog } = inMemory();
  const open = () => {
    const ledger = new OwnLedger({ config: defaultObserve, records: port, log: testLogger() });
    context.after(() => ledger.close());
    return ledger;
  };
  const earlier = open();
  for (const id of ['lost', 'found']) {
    earlier.add(seen({ id }), true);
    await earlier.flush();
  }
  const [lost] = keptOfLog().filter((id) => JSON.stringify(records.get(id)).includes('"lost"'));
  assert.ok(lost !== undefined && records.delete(lost));
  const later = open();
  assert.deepEqual(
    (await later.query({ limit: 10 })).entries.map(({ id }) => id),
    ['found'],
  );
  assert.equal(await later.clear(), 1);
});
