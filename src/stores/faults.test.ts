import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type TestLogger, testLogger } from '../../test/support/call.ts';
import { temporaryFolder } from '../../test/support/config-folder.ts';
import { untilItWorks } from '../../test/support/eventually.ts';
import { SluiceError } from '../core/errors.ts';
import type { ChatRecord, Stores } from '../core/stores.ts';
import { UsageBatch } from '../core/usage-batch.ts';
import { openStores } from './index.ts';
import { Database } from './sqlite/database.ts';

const USAGE = { promptTokens: 1, completionTokens: 1, totalTokens: 2, savedTokens: 0, more: {} };
const MEMORY = { role: 'user', text: 'x', conversationId: null, metadata: {} };
const UPLOAD = { name: 'x', mimeType: 'text/plain', purpose: 'x', size: 1, path: 'x' };
const chat = (id: string, body: Record<string, unknown> = {}): ChatRecord => ({ id, owner: null, updated: 0, body });

interface World {
  readonly folder: string;
  readonly file: string;
  readonly log: TestLogger;
  open(): Stores;
}

function world(context: TestContext): World {
  const opened: Stores[] = [];
  // Hooks run in this order, and the folder must not go before the stores are closed.
  context.after(() => Promise.all(opened.map((stores) => stores.close())));
  const folder = path.join(temporaryFolder(context), 'data');
  const log = testLogger();
  return {
    folder,
    file: path.join(folder, 'sluice.db'),
    log,
    open() {
      const stores = openStores({ dataDir: folder }, log);
      opened.push(stores);
      return stores;
    },
  };
}

/** Everything of the database refuses, in words for clients; `problem` says the same. */
async function assertOutOfOrder(stores: Stores, sentence: RegExp): Promise<void> {
  const works: readonly (() => Promise<unknown>)[] = [
    () => stores.chats.put(chat('x')),
    () => stores.chats.get('x'),
    () => stores.chats.update('x', () => chat('x')),
    () => stores.memory.find('u', { text: 'x', offset: 0, limit: 1 }),
    () => stores.usage.stats({ today: '2026-01-01', days: 1 }),
    () => stores.log.newest(1),
    () => stores.chats.delete('x'),
    () => stores.memory.add([{ id: 'x', userId: 'u', createdAt: 0, updatedAt: 0, ...MEMORY }]),
    () => stores.memory.delete('u'),
    () => stores.memory.delete('u', 'x'),
    () => stores.usage.add(UsageBatch.of({ time: 0, user: '', provider: '', model: '', ...USAGE })),
    () => stores.log.add({ id: 'x', time: 0, body: {} }),
    () => stores.conversations.create({ id: 'x', owner: null, createdAt: 0, metadata: {} }, []),
    () => stores.conversations.describe('x', {}),
    () => stores.conversations.append('x', [{ id: 'y', body: {} }]),
    () => stores.conversations.deleteItem('x', 'y'),
    () => stores.conversations.delete('x'),
    () => stores.uploads.add({ id: 'x', owner: null, createdAt: 0, expires: null, ...UPLOAD }),
    () => stores.uploads.delete('x'),
  ];
  for (const work of works) {
    await assert.rejects(work, (error) => {
      assert.ok(error instanceof SluiceError, `${error}`);
      assert.equal(error.code, 'storage_failed');
      assert.equal(error.status, 507);
      assert.match(error.message, sentence);
      assert.doesNotMatch(error.message, /sluice\.db|\/tmp|SQL/i);
      return true;
    });
  }
  assert.match(stores.problem ?? 'none', sentence);
}

function closing(database: Database): Database & AsyncDisposable {
  return Object.assign(database, { [Symbol.asyncDispose]: () => database.close() });
}

describe('a database that is out of order', () => {
  test('another program holds the lock: writes fail, reads go on, afterwards all is well', async (context) => {
    const { open, file } = world(context);
    const stores = open();
    await stores.chats.put(chat('before'));
    const other = new DatabaseSync(file);
    context.after(() => other.close());
    other.exec('begin immediate');
    // While the first is waited for, the others come together.
    const [first, write, read] = await Promise.allSettled([
      stores.chats.put(chat('refused')),
      stores.chats.put(chat('refused')),
      stores.chats.get('before'),
    ]);
    for (const { status, ...rest } of [first, write]) {
      assert.equal(status, 'rejected');
      assert.equal('reason' in rest && rest.reason.code, 'storage_failed');
    }
    assert.equal(read.status, 'fulfilled');
    assert.match(stores.problem ?? '', /in use by another program/);
    await stores.recover();
    assert.equal((await stores.chats.get('before'))?.id, 'before', 'to look again keeps nobody waiting');
    assert.match(stores.problem ?? '', /in use by another program/);
    other.exec('rollback');
    await stores.recover();
    await stores.chats.get('before');
    assert.equal(stores.problem, undefined, 'known without a write');
    assert.deepEqual(other.prepare(`select id from records where kind = 'probe'`).all(), []);
    await stores.chats.put(chat('after'));
    assert.equal(stores.problem, undefined);
    assert.equal(await stores.chats.get('refused'), undefined);
  });

  test('the file is deleted: the next write is not acknowledged, then a new file takes over', async (context) => {
    const { open, folder, log } = world(context);
    const stores = open();
    await stores.chats.put(chat('lost'));
    for (const name of ['sluice.db', 'sluice.db-wal', 'sluice.db-shm']) rmSync(path.join(folder, name));
    await assert.rejects(stores.chats.put(chat('refused')), { code: 'storage_failed' });
    assert.match(stores.problem ?? '', /moved or deleted/);
    await stores.chats.put(chat('kept'));
    assert.equal(stores.problem, undefined);
    await stores.close();
    const again = open();
    assert.deepEqual(await again.chats.get('kept'), chat('kept'));
    assert.equal(await again.chats.get('lost'), undefined);
    assert.ok(log.lines.some(({ level, message }) => level === 'error' && /moved or deleted/.test(message)));
    assert.ok(!log.lines.some(({ message }) => /another Sluice/.test(message)), 'it takes itself for no other one');
  });

  test('the whole data folder is deleted: database and files begin anew', async (context) => {
    const { open, folder } = world(context);
    const stores = open();
    await stores.chats.put(chat('lost'));
    await stores.files.write('a/b', [Buffer.from('lost')]);
    rmSync(folder, { recursive: true });
    await assert.rejects(stores.chats.put(chat('refused')), { code: 'storage_failed' });
    await stores.chats.put(chat('kept'));
    await stores.files.write('a/c', [Buffer.from('kept')]);
    assert.equal(await stores.files.stat('a/b'), undefined);
    assert.equal(stores.problem, undefined);
    await stores.close();
    assert.deepEqual(await open().chats.get('kept'), chat('kept'));
  });

  test('the file is replaced by a copy: that one is used from then on', async (context) => {
    const { open, file } = world(context);
    const first = open();
    await first.chats.put(chat('old', { n: 1 }));
    await first.close();
    copyFileSync(file, `${file}.copy`);
    const stores = open();
    await stores.chats.put(chat('old', { n: 2 }));
    renameSync(`${file}.copy`, file);
    await assert.rejects(stores.chats.put(chat('refused')), { code: 'storage_failed' });
    assert.deepEqual(await stores.chats.get('old'), chat('old', { n: 1 }));
    await stores.chats.put(chat('new'));
    await stores.close();
    assert.deepEqual(await open().chats.get('new'), chat('new'));
  });

  test('the file is no database: nothing is overwritten, and once it is moved away all is well', async (context) => {
    const { open, folder, file } = world(context);
    mkdirSync(folder);
    writeFileSync(file, 'my only copy of something else. '.repeat(1_000));
    const stores = open();
    await assertOutOfOrder(stores, /damaged, or it is no database/);
    assert.match(readFileSync(file, 'utf8'), /^my only copy/);
    await stores.files.write('a', [Buffer.from('files go on')]);
    rmSync(file);
    await untilItWorks(() => stores.chats.put(chat('a')));
    assert.equal(stores.problem, undefined);
  });

  test('the database is of a newer version: it is left alone', async (context) => {
    const { open, file } = world(context);
    const first = open();
    await first.chats.put(chat('a'));
    await first.close();
    const other = new DatabaseSync(file);
    other.exec("insert into schema_versions values (999, 'future', 'x')");
    other.close();
    await assertOutOfOrder(open(), /newer version of Sluice/);
  });

  test('what stood in the log when it went out of order is on the disk before anything follows it', async (context) => {
    const { open, file } = world(context);
    const first = open();
    await first.chats.put(chat('a'));
    await first.close();
    const other = new DatabaseSync(file);
    context.after(() => other.close());
    other.exec("insert into schema_versions values (999, 'future', 'x')");
    const stores = open();
    await assert.rejects(stores.chats.get('a'), { code: 'storage_failed' });
    other.exec('delete from schema_versions where version = 999');
    assert.notEqual(statSync(`${file}-wal`).size, 0);
    await untilItWorks(() => stores.chats.get('a'));
    assert.equal(statSync(`${file}-wal`).size, 0);
  });

  test('the data folder is a file: chats are refused, and it is tried again', async (context) => {
    const { open, folder } = world(context);
    writeFileSync(folder, 'x');
    const stores = open();
    await assertOutOfOrder(stores, /data folder is no folder/);
    await assert.rejects(stores.files.write('a', []), { code: 'storage_failed' });
    rmSync(folder);
    await untilItWorks(() => stores.chats.put(chat('a')));
    await stores.files.write('a', []);
    assert.equal(stores.problem, undefined);
  });

  test('the database file is a folder: everything of the database is refused', async (context) => {
    const { open, file } = world(context);
    mkdirSync(file, { recursive: true });
    const stores = open();
    await assertOutOfOrder(stores, /a folder where a file belongs/);
    rmSync(file, { recursive: true });
    await untilItWorks(() => stores.chats.put(chat('a')));
    assert.equal(stores.problem, undefined);
  });

  for (const [by, checkedAlong] of [
    ['the thread of the database', Number.POSITIVE_INFINITY],
    ['a thread of its own', 0],
  ] as const) {
    test(`damage that nothing has run into yet is found after the start, by ${by}`, async (context) => {
      const { open, file, log } = world(context);
      const first = open();
      await Promise.all(
        Array.from({ length: 200 }, (_, n) => first.chats.put(chat(`${n}`, { filler: 'x'.repeat(3_000) }))),
      );
      await first.close();
      const bytes = readFileSync(file);
      // Pages in the middle, so that the first ones still say what there should be.
      bytes.fill(0xa5, 300_000, 320_000);
      writeFileSync(file, bytes);
      await using database = closing(new Database(file, log, { checkAfterMs: 0, checkedAlong }));
      await untilItWorks(async () => assert.equal(database.problem, 'The database file is damaged.'));
      assert.ok(log.lines.some(({ level, message }) => level === 'error' && /damaged/.test(message)));
      await database.write({ text: "insert into log (id, time, body) values ('a', 0, '{}')", values: [] });
      assert.equal(database.problem, 'The database file is damaged.', 'it does not go away by itself');
    });
  }

  test('a sound database has no problem after the check', async (context) => {
    const { file, log, folder } = world(context);
    mkdirSync(folder);
    await using database = closing(new Database(file, log, { checkAfterMs: 0 }));
    await database.read({ text: 'select 1', values: [] });
    await sleep(300);
    assert.equal(database.problem, undefined);
    assert.deepEqual(
      log.lines.filter(({ level }) => level !== 'debug'),
      [],
    );
  });
});
