import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { testLogger } from '../../../test/support/call.ts';
import { temporaryFolder } from '../../../test/support/config-folder.ts';
import { eventually, untilItWorks } from '../../../test/support/eventually.ts';
import { slowDisk } from '../../../test/support/slow-disk.ts';
import type { ChatRecord } from '../../core/stores.ts';
import { SqlRecords } from '../sql/records.ts';
import { sql } from '../sql/sql.ts';
import { Database } from './database.ts';
import { sqlite } from './dialect.ts';
import type { FromWorker } from './protocol.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const insert = (id: string) =>
  sql`insert into records (kind, id, version, body) values (${'test'}, ${id}, ${'v'}, ${'{}'})`;
function openDatabase(context: TestContext) {
  // Hooks run in this order, and the folder must not go before the database is closed.
  context.after(() => database.close());
  const file = path.join(temporaryFolder(context), 'data', 'sluice.db');
  const log = testLogger();
  const workers: Worker[] = [];
  const groups: number[] = [];
  const start = (entry: string, workerData: string) => {
    const worker = new Worker(path.join(FOLDER, `${entry}.ts`), { workerData, env: {}, execArgv: [] });
    worker.on('message', (message: FromWorker) => {
      if (message.type === 'answers') groups.push(message.answers.length);
    });
    workers.push(worker);
    return worker;
  };
  const database = new Database(file, log, { start });
  const ids = async () => {
    const [result] = await database.read(sql`select id from records where kind = ${'test'} order by id`);
    return result?.rows.map((row) => row['id']);
  };
  return { file, log, database, workers, groups, ids };
}

describe('database', () => {
  test('commits are on the disk before they are acknowledged, and the files are their owner’s only', async (context) => {
    const { database, file } = openDatabase(context);
    await database.write(insert('a'));
    const [mode, synchronous, foreign, fullFsync] = await database.read(
      sql`pragma journal_mode`,
      sql`pragma synchronous`,
      sql`pragma foreign_keys`,
      sql`pragma fullfsync`,
    );
    assert.deepEqual(mode?.rows[0]?.['journal_mode'], 'wal');
    assert.deepEqual(synchronous?.rows[0]?.['synchronous'], 2, 'FULL');
    assert.deepEqual(foreign?.rows[0]?.['foreign_keys'], 1);
    assert.deepEqual(fullFsync?.rows[0]?.['fullfsync'], 1, 'macOS leaves it in the cache of the disk without');
    if (process.platform === 'win32') return context.skip('files have no mode there');
    const lock = path.join(path.dirname(file), 'sluice.lock');
    for (const name of [file, `${file}-wal`, `${file}-shm`, lock])
      assert.equal(statSync(name).mode & 0o777, 0o600, name);
    assert.equal(statSync(path.dirname(file)).mode & 0o777, 0o700);
  });

  test('what it keeps stands in its own files only, and goes from there when it is deleted', async (context) => {
    const { database } = openDatabase(context);
    const [temporary, deleted, logged, trusted] = await database.read(
      sql`pragma temp_store`,
      sql`pragma secure_delete`,
      sql`pragma journal_size_limit`,
      sql`pragma trusted_schema`,
    );
    assert.deepEqual(temporary?.rows[0]?.['temp_store'], 2, 'in memory');
    assert.deepEqual(deleted?.rows[0]?.['secure_delete'], 1);
    assert.deepEqual(logged?.rows[0]?.['journal_size_limit'], 32 * 1024 * 1024);
    assert.deepEqual(trusted?.rows[0]?.['trusted_schema'], 0, 'a file from elsewhere calls no functions');
  });

  test('requests that come together share a commit', async (context) => {
    const { database, groups, ids } = openDatabase(context);
    await Promise.all(Array.from({ length: 200 }, (_, n) => database.write(insert(`${n}`))));
    assert.ok(groups.length < 50, `${groups.length} commits for 200 requests`);
    assert.equal((await ids())?.length, 200);
  });

  test('a request that fails takes nobody along, and leaves nothing of itself', async (context) => {
    const { database, groups, ids } = openDatabase(context);
    await database.read(sql`select 1`);
    const results = await Promise.allSettled([
      database.write(insert('a')),
      database.write(insert('b'), insert('b2'), sql`insert into nowhere values (1)`),
      database.write(insert('c')),
      database.write(insert('a')),
      database.read(sql`select count(*) as count from records`),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
    );
    assert.ok(
      groups.some((size) => size > 1),
      'they were one group',
    );
    assert.deepEqual(await ids(), ['a', 'c']);
    assert.equal(database.problem, undefined, 'a wrong statement is no problem of the storage');
  });

  test('closing answers what was asked before, and nothing after', async (context) => {
    const { database, file } = openDatabase(context);
    const writes = Array.from({ length: 100 }, (_, n) => database.write(insert(`${n}`)));
    await database.close();
    await Promise.all(writes);
    await assert.rejects(database.read(sql`select 1`), { code: 'storage_failed' });
    assert.throws(() => statSync(`${file}-wal`), 'the log was worked in');
    await database.close();
  });

  test('the log that a process left which was killed is emptied, also when nothing is written', async (context) => {
    const { database, file } = openDatabase(context);
    await database.write(insert('planted'));
    const copy = path.join(path.dirname(file), 'copy.db');
    for (const end of ['', '-wal']) copyFileSync(file + end, copy + end);
    assert.notEqual(statSync(`${copy}-wal`).size, 0);
    const second = new Database(copy, testLogger());
    try {
      const [found] = await second.read(sql`select id from records`);
      assert.equal(found?.rows[0]?.['id'], 'planted');
      await eventually('the log is empty', () => statSync(`${copy}-wal`).size === 0);
    } finally {
      await second.close();
    }
  });

  test('the log is emptied after every write, and as soon as nobody reads from it any more', async (context) => {
    let passed = 0;
    const start = (entry: string, workerData: string) => {
      // What it does in some seconds it does in as many hundredths, and tells when it has.
      const script = `const { setTimeout: wait } = globalThis;
        const { parentPort } = require('node:worker_threads');
        globalThis.setTimeout = (work, ms) => wait(() => { work(); parentPort.postMessage({ type: 'passed' }); }, ms / 100);
        void import(${JSON.stringify(new URL(`./${entry}.ts`, import.meta.url).href)});`;
      const worker = new Worker(script, { eval: true, workerData, env: {}, execArgv: [] });
      worker.on('message', ({ type }) => {
        if (type === 'passed') passed += 1;
      });
      return worker;
    };
    context.after(() => database.close());
    const file = path.join(temporaryFolder(context), 'sluice.db');
    const database = new Database(file, testLogger(), { start });
    const logged = (): number => statSync(`${file}-wal`).size;
    await database.write(insert('a'));
    await eventually('the log is empty', () => logged() === 0);
    const reader = new DatabaseSync(file);
    context.after(() => reader.close());
    reader.exec('begin; select * from records');
    await database.write(insert('b'));
    const before = passed;
    await eventually('it was tried', () => passed > before);
    assert.notEqual(logged(), 0);
    reader.exec('rollback');
    await eventually('the log is empty again', () => logged() === 0);
  });

  test('a thread that ends fails what it owed, and another takes its place', async (context) => {
    // The time stands still: a busy machine may take longer for all this than a thread has to be left in peace.
    const now = performance.now();
    const { mock } = context.mock.method(performance, 'now', () => now);
    const { database, workers, ids, log } = openDatabase(context);
    await database.write(insert('kept'));
    const owed = Array.from({ length: 50 }, (_, n) => database.write(insert(`${n}`)));
    void workers[0]?.terminate();
    const settled = await Promise.allSettled(owed);
    const acknowledged = settled.flatMap(({ status }, n) => (status === 'fulfilled' ? [`${n}`] : []));
    for (const result of settled) {
      if (result.status === 'rejected') assert.equal(result.reason.code, 'storage_failed');
    }
    assert.match(database.problem ?? '', /stopped unexpectedly/);
    await assert.rejects(ids(), { code: 'storage_failed' }, 'not started again at once, without end');
    mock.restore();
    const present = await untilItWorks(ids);
    for (const id of ['kept', ...acknowledged]) assert.ok(present?.includes(id), id);
    assert.equal(database.problem, undefined);
    assert.equal(log.lines.filter(({ level }) => level === 'error').length, 1);
  });

  test('a thread that does not answer fails the request, and does not hold up the end', async (context) => {
    const start = () => new Worker('setInterval(() => {}, 1000)', { eval: true });
    const database = new Database(path.join(temporaryFolder(context), 'a.db'), testLogger(), { start, answerMs: 50 });
    await assert.rejects(database.write(insert('a')), { code: 'storage_failed' });
    assert.equal(database.problem, 'The disk does not answer.');
    await database.close();
  });

  test('a moment in which the disk did not answer is over once it answers', async (context) => {
    const { database, standStill, goOn } = slowDisk(path.join(temporaryFolder(context), 'a.db'));
    context.after(() => database.close());
    await untilItWorks(() => database.read(sql`select 1`));
    standStill();
    await assert.rejects(database.write(insert('late')), { code: 'storage_failed' });
    assert.equal(database.problem, 'The disk does not answer.');
    goOn();
    await untilItWorks(() => database.read(sql`select 1`));
    assert.equal(database.problem, undefined);
  });

  for (const [when, use] of [
    ['after use', "await stores.chats.put({ id: 'a', owner: null, updated: 0, body: {} });"],
    ['never used', ''],
  ] as const) {
    test(`an idle database keeps no process alive: ${when}`, (context) => {
      const index = new URL('../index.ts', import.meta.url);
      const log = '{ debug() {}, info() {}, warn: console.log, error: console.log }';
      const script = `import { openStores } from ${JSON.stringify(index)};
      const stores = openStores({ dataDir: process.argv[1] }, ${log});
      ${use}
      setTimeout(() => console.log('waited'), 200);`;
      const words = ['--input-type=module', '--eval', script, temporaryFolder(context)];
      const { stdout, status } = spawnSync(process.execPath, words, { encoding: 'utf8', timeout: 60_000, env: {} });
      assert.equal(stdout, 'waited\n');
      assert.equal(status, 0);
    });
  }
});

describe('records in the database', () => {
  const chat = (updated: number): ChatRecord => ({ id: 'a', owner: null, updated, body: {} });

  test('a record that was deleted and made again while an update ran is not taken for the old one', async (context) => {
    const { database } = openDatabase(context);
    const store = new SqlRecords<ChatRecord>(database, sqlite, 'chats');
    // A clock tells no version from another: they may be made in one moment, and it may be set back.
    context.mock.method(Date, 'now', () => 0);
    await store.put(chat(1));
    const seen: (number | undefined)[] = [];
    const others: Promise<unknown>[] = [];
    await store.update('a', (present) => {
      seen.push(present?.updated);
      // These reach the database before what this function returns.
      if (seen.length === 1) others.push(store.delete('a'), store.put(chat(100)));
      return chat((present?.updated ?? 0) + 1);
    });
    await Promise.all(others);
    assert.deepEqual(seen, [1, 100]);
    assert.equal((await store.get('a'))?.updated, 101);
  });

  test('a record that was made while an update ran is not overwritten unseen', async (context) => {
    const { database } = openDatabase(context);
    const store = new SqlRecords<ChatRecord>(database, sqlite, 'chats');
    const others: Promise<unknown>[] = [];
    await store.update('a', (present) => {
      if (others.length === 0) others.push(store.put(chat(100)));
      return chat((present?.updated ?? 0) + 1);
    });
    await Promise.all(others);
    assert.equal((await store.get('a'))?.updated, 101);
  });

  test('kinds are apart', async (context) => {
    const { database } = openDatabase(context);
    const chats = new SqlRecords<ChatRecord>(database, sqlite, 'chats');
    const others = new SqlRecords<ChatRecord>(database, sqlite, 'others');
    await chats.put(chat(1));
    assert.equal(await others.get('a'), undefined);
    assert.equal(await others.delete('a'), false);
    await others.put(chat(2));
    assert.equal((await chats.get('a'))?.updated, 1);
  });

  test('of records that may be forgotten the last to expire are kept', async (context) => {
    const { database } = openDatabase(context);
    const chats = new SqlRecords<ChatRecord>(database, sqlite, 'chats');
    await chats.put(chat(1));
    const store = new SqlRecords<ChatRecord>(database, sqlite, 'caches', {
      expires: ({ updated }) => updated,
      most: () => 10,
      now: () => 1_000,
    });
    for (let n = 0; n < 129; n += 1) await store.put({ ...chat(980 + n), id: `${n}` });
    const [rows] = await database.read(sql`select expires from records where kind = ${'caches'} order by expires`);
    assert.deepEqual(
      rows?.rows.map((row) => row['expires']),
      Array.from({ length: 10 }, (_, n) => 980 + 119 + n),
    );
    assert.equal((await chats.get('a'))?.updated, 1);
  });
});
