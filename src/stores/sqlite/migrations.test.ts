import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { testLogger } from '../../../test/support/call.ts';
import { temporaryFolder } from '../../../test/support/config-folder.ts';
import { dayOf } from '../../core/days.ts';
import { UsageBatch } from '../../core/usage-batch.ts';
import type { UsageRecord } from '../../core/usage-record.ts';
import { Unusable } from '../failure.ts';
import { openStores } from '../index.ts';
import { ownerWord, spaced } from '../words.ts';
import { MIGRATIONS, migrate } from './migrations.ts';

function emptyDatabase(context: TestContext, file = ':memory:'): DatabaseSync {
  const database = new DatabaseSync(file);
  context.after(() => database.close());
  return database;
}
const versions = (database: DatabaseSync) =>
  database
    .prepare('select version from schema_versions order by version')
    .all()
    .map((row) => row['version']);

describe('migrations', () => {
  test('are numbered in their order', () => {
    assert.deepEqual(
      MIGRATIONS.map(({ version }) => version),
      MIGRATIONS.map((_, index) => index + 1),
    );
  });

  test('run once each', (context) => {
    const database = emptyDatabase(context);
    const steps = [{ version: 1, name: 'one', sql: 'create table a (n)' }];
    migrate(database, steps);
    migrate(database, steps);
    migrate(database, [...steps, { version: 2, name: 'two', sql: 'insert into a values (1)' }]);
    assert.deepEqual(versions(database), [1, 2]);
    assert.equal(database.prepare('select count(*) as count from a').get()?.['count'], 1);
  });

  test('one that fails leaves nothing of itself, and all before it', (context) => {
    const database = emptyDatabase(context);
    const good = { version: 1, name: 'good', sql: 'create table a (n)' };
    const bad = { version: 2, name: 'bad', sql: 'create table b (n); insert into nowhere values (1)' };
    assert.throws(() => migrate(database, [good, bad]), /nowhere/);
    assert.equal(database.isTransaction, false);
    assert.deepEqual(versions(database), [1]);
    assert.throws(() => database.prepare('select * from b'));
    migrate(database, [good, { ...bad, sql: 'create table b (n)' }]);
    assert.deepEqual(versions(database), [1, 2]);
  });

  test('a database of a newer version is left alone', (context) => {
    const database = emptyDatabase(context);
    migrate(database, [{ version: MIGRATIONS.length + 1, name: 'future', sql: 'create table future (n)' }]);
    assert.throws(
      () => migrate(database),
      (error) => error instanceof Unusable && /newer version of Sluice/.test(error.sentence),
    );
    assert.throws(() => database.prepare('select * from records'));
  });

  test('a second process finds done what the first is doing', (context) => {
    const file = path.join(temporaryFolder(context), 'a.db');
    const first = emptyDatabase(context, file);
    const second = emptyDatabase(context, file);
    const step = { version: 1, name: 'one', sql: 'create table a (n)' };
    const before = second.exec.bind(second);
    // The first comes in between the second's look at the version and its lock.
    second.exec = (text) => {
      if (text === 'begin immediate') migrate(first, [step]);
      before(text);
    };
    migrate(second, [step]);
    assert.deepEqual(versions(second), [1]);
  });
});

describe('usage of version 1', () => {
  const DAYS = ['2026-03-01', '2026-03-02'];
  const COUNT = 1_203;

  /** A database as that version left it, with its records out of order. */
  function fill(file: string): (UsageRecord & { id: string })[] {
    const database = new DatabaseSync(file);
    migrate(database, MIGRATIONS.slice(0, 1));
    const insert = database.prepare('insert into usage_records (id, day, time, body) values (?, ?, ?, ?)');
    const records = Array.from({ length: COUNT }, (_, index) => {
      const time = Date.parse(`${DAYS[index % 2]}T00:00:00Z`) + ((index * 7_919) % COUNT);
      const counts = { promptTokens: 1, completionTokens: 2, totalTokens: 3, savedTokens: 0 };
      return {
        id: `${index}`,
        time,
        user: 'ann',
        provider: 'p',
        model: 'm',
        ...counts,
        more: { ['__proto__']: index },
      };
    });
    database.exec('begin');
    for (const record of records) insert.run(record.id, dayOf(record.time), record.time, JSON.stringify(record));
    database.exec(`
      update usage_mark set last = ${COUNT};
      insert into usage_sums select day, 'ann', 'p', 'm', count(*), count(*), 2 * count(*), 3 * count(*), 0
      from usage_records group by day;
      commit;
    `);
    database.close();
    return records;
  }

  test('is all there afterwards, in its order, and goes on', async (context) => {
    const folder = temporaryFolder(context);
    const records = fill(path.join(folder, 'sluice.db'));
    const stores = openStores({ dataDir: folder }, testLogger());
    context.after(() => stores.close());
    for (const day of DAYS) {
      const expected = records.filter(({ time }) => dayOf(time) === day).sort((one, other) => one.time - other.time);
      const found = await Array.fromAsync(stores.usage.day(day));
      assert.deepEqual(found, expected);
    }
    const [first] = records;
    if (first !== undefined) await stores.usage.add(UsageBatch.of(first));
    const { totals } = await stores.usage.stats({ today: '2026-03-02', days: 2 });
    assert.equal(totals.requests, COUNT + 1);
    assert.equal((await Array.fromAsync(stores.usage.day('2026-03-01'))).length, 603);
  });
});

describe('memory of version 2', () => {
  const OLD = ['Likes xylophones', '私は日本語を勉強しています'];

  /** A database as that version left it: its index knows words without their texts. */
  function fill(file: string): void {
    const database = new DatabaseSync(file);
    migrate(database, MIGRATIONS.slice(0, 2));
    const item = database.prepare(`
      insert into memory (user_id, id, role, text, metadata, created_at, updated_at) values ('ann', ?, 'user', ?, '{}', 0, 0)`);
    const words = database.prepare('insert into memory_words (rowid, owner, text) values (?, ?, ?)');
    words.setReadBigInts(true);
    for (const [index, text] of OLD.entries()) {
      item.run(`old-${index}`, text);
      words.run(index + 1, ownerWord('ann'), spaced(text));
    }
    database.close();
  }

  test('is found as before, and what is deleted of it leaves no word', async (context) => {
    const folder = temporaryFolder(context);
    const file = path.join(folder, 'sluice.db');
    fill(file);
    const stores = openStores({ dataDir: folder }, testLogger());
    context.after(() => stores.close());
    const search = async (text: string) => {
      const { items } = await stores.memory.find('ann', { text, offset: 0, limit: 10 });
      return items.map(({ id }) => id);
    };
    assert.deepEqual(await search('xylophones'), ['old-0']);
    assert.deepEqual(await search('日本語'), ['old-1']);
    assert.equal(await stores.memory.delete('ann', 'old-0'), 1);
    assert.deepEqual(await search('xylophones'), []);
    await stores.close();
    assert.doesNotMatch(readFileSync(file, 'latin1'), /xylo/i);
  });
});
