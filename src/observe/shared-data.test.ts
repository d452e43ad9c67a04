import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { testLogger } from '../../test/support/call.ts';
import { temporaryFolder } from '../../test/support/config-folder.ts';
import { eventually } from '../../test/support/eventually.ts';
import { seen as seenAt } from '../../test/support/seen.ts';
import { dayOf } from '../core/days.ts';
import { openStores } from '../stores/index.ts';
import { defaultObserve } from './config.ts';
import { OwnLedger } from './ledger.ts';

const DAY_MS = 86_400_000;
/** More than are kept apart. */
const ROUNDS = 30;

const seen = (id: string, daysAgo = 0) => seenAt({ id, time: Date.now() - daysAgo * DAY_MS });

/** Several processes on the same data, as while a new one takes over from one that still answers. */
function sharing(context: TestContext) {
  const opened: { close(): Promise<void> }[] = [];
  context.after(async () => {
    for (const each of opened.reverse()) await each.close();
  });
  const folder = temporaryFolder(context);
  const days = { kept: 0 };
  const openWith = (config = defaultObserve) => {
    const stores = openStores({ dataDir: folder }, testLogger());
    const usageDays = () => days.kept;
    const ledger = new OwnLedger({ config, records: stores.caches, log: testLogger(), usageDays });
    opened.push(stores, ledger);
    return { ledger, records: stores.caches };
  };
  return { open: () => openWith().ledger, openWith, days };
}

async function idsOf(ledger: OwnLedger): Promise<readonly string[]> {
  return (await ledger.query({ limit: 1_000 })).entries.map(({ id }) => id).sort();
}

describe('two processes on the same data', { timeout: 120_000 }, () => {
  test('keep the requests and sums of both, however often each writes anew', async (context) => {
    const { open } = sharing(context);
    const two = [open(), open()];
    const today = dayOf(Date.now());
    const expected: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await Promise.all(
        two.map((ledger, at) => {
          const id = `${at} ${round}`;
          expected.push(id);
          ledger.add(seen(id), true);
          return ledger.flush();
        }),
      );
    }
    const later = open();
    assert.deepEqual(await idsOf(later), expected.sort());
    const sums = [...(await later.days([today, dayOf(Date.now())])).values()].flat();
    assert.equal(
      sums.reduce((sum, { requests }) => sum + requests, 0),
      expected.length,
    );
  });

  test('forget what is too old of each other, and nothing else', async (context) => {
    const { open, days } = sharing(context);
    const [one, other] = [open(), open()];
    for (const [ledger, name] of [
      [one, 'one'],
      [other, 'other'],
    ] as const) {
      ledger.add(seen(`${name} old`, 8), true);
      ledger.add(seen(`${name} young`, 1), true);
      await ledger.flush();
    }
    days.kept = 7;
    await one.forgetOld();
    days.kept = 0;
    assert.deepEqual(await idsOf(open()), ['one young', 'other young'], 'on the disk');
    assert.deepEqual(await idsOf(one), ['one young', 'other young']);
    days.kept = 7;
    await other.forgetOld();
    days.kept = 0;
    assert.deepEqual(await idsOf(open()), ['one young', 'other young']);
  });

  test('forget what is too old of one that is gone, also where the other has nothing that old', async (context) => {
    const { open, days } = sharing(context);
    const [one, gone] = [open(), open()];
    one.add(seen('young', 1), true);
    await one.flush();
    gone.add(seen('old', 8), true);
    await gone.flush();
    days.kept = 7;
    await one.forgetOld();
    days.kept = 0;
    assert.deepEqual(await idsOf(open()), ['young']);
  });

  test('bring nothing back that one of them has cleared', async (context) => {
    const { open } = sharing(context);
    const [one, other] = [open(), open()];
    for (const [ledger, id] of [
      [one, 'one'],
      [other, 'other'],
    ] as const) {
      ledger.add(seen(id), true);
      await ledger.flush();
    }
    await one.clear();
    const expected: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      expected.push(`later ${round}`);
      other.add(seen(`later ${round}`), true);
      await other.flush();
    }
    assert.deepEqual(await idsOf(open()), expected.sort());
    assert.deepEqual(await idsOf(other), expected);
  });

  test('show nothing any more that the other has cleared, though it has written as much since', async (context) => {
    const { open } = sharing(context);
    const one = open();
    one.add(seen('cleared'), true);
    await one.flush();
    const other = open();
    await other.clear();
    other.add(seen('later'), true);
    await other.flush();
    await one.forgetOld();
    assert.deepEqual(await idsOf(one), ['later']);
  });

  test('show what the other has written, though as much has made room for it since', async (context) => {
    const { openWith } = sharing(context);
    const few = { ...defaultObserve, requestLogEntries: 2 };
    const { ledger: one } = openWith(few);
    for (const id of ['1', '2']) {
      one.add(seen(id), true);
      await one.flush();
    }
    const { ledger: other } = openWith(few);
    other.add(seen('3'), true);
    await other.flush();
    await one.forgetOld();
    assert.deepEqual(await idsOf(one), ['2', '3']);
  });

  test('forget what the other still writes where one of them keeps no log', async (context) => {
    const { open, openWith } = sharing(context);
    const older = open();
    const { ledger: newer } = openWith({ ...defaultObserve, requestLog: 'none' });
    assert.deepEqual(await idsOf(newer), []);
    older.add(seen('late'), true);
    await older.flush();
    await newer.forgetOld();
    assert.deepEqual(await idsOf(newer), []);
    assert.deepEqual(await idsOf(open()), [], 'on the disk');
  });

  for (const [what, act] of [
    ['looked', 'forgetOld'],
    ['cleared the log', 'clear'],
  ] as const) {
    test(`show what one of them was about to write when the other ${what}`, async (context) => {
      const { open, openWith } = sharing(context);
      const { ledger: one, records } = openWith();
      const { promise: goOn, resolve: write } = Promise.withResolvers<void>();
      const { putJson } = records;
      const writing = context.mock.method(records, 'putJson', async (...words: Parameters<typeof putJson>) => {
        await goOn;
        await putJson.apply(records, words);
      });
      one.add(seen('late'), true);
      const written = one.flush();
      await eventually('it is about to be written', () => writing.mock.callCount() > 0);
      const other = open();
      await other[act]();
      assert.deepEqual(await idsOf(other), []);
      write();
      await written;
      await other.forgetOld();
      assert.deepEqual(await idsOf(other), ['late']);
      assert.deepEqual(await idsOf(open()), ['late']);
    });
  }

  test('look no longer for what one of them was about to write when it crashed', async (context) => {
    const { openWith } = sharing(context);
    const { ledger, records } = openWith();
    const lost = { id: 'request-log 000000000001-lost', count: 1 };
    await records.put({ id: 'request-log', expires: Number.MAX_SAFE_INTEGER, value: [lost] });
    for (let round = 0; round < ROUNDS; round += 1) {
      ledger.add(seen(`${round}`), true);
      await ledger.flush();
    }
    const index = await records.get('request-log');
    assert.doesNotMatch(JSON.stringify(index), /lost/);
    assert.equal((await idsOf(ledger)).length, ROUNDS);
  });
});

describe('what makes room in the log', { timeout: 60_000 }, () => {
  test('goes from the disk as well', async (context) => {
    const { open, openWith } = sharing(context);
    const { ledger } = openWith({ ...defaultObserve, requestLogEntries: 2 });
    for (const id of ['1', '2', '3', '4', '5']) {
      ledger.add(seen(id), true);
      await ledger.flush();
    }
    assert.deepEqual(await idsOf(open()), ['4', '5']);
  });
});
