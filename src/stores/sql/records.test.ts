import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { testLogger } from '../../../test/support/call.ts';
import { temporaryFolder } from '../../../test/support/config-folder.ts';
import type { CacheRecord } from '../../core/stores.ts';
import { Database } from '../sqlite/database.ts';
import { sqlite } from '../sqlite/dialect.ts';
import { SqlRecords } from './records.ts';
import { sql } from './sql.ts';

/** Writes after which something is forgotten for certain. */
const ENOUGH = 64;

function world(context: TestContext, most: number) {
  // Hooks run in this order, and the folder must not go before the database is closed.
  context.after(() => database.close());
  const database = new Database(path.join(temporaryFolder(context), 'sluice.db'), testLogger());
  const clock = { now: 0 };
  const open = (kind: string) =>
    new SqlRecords<CacheRecord>(database, sqlite, kind, {
      expires: (record) => record.expires,
      most: () => most,
      now: () => clock.now,
    });
  const idsOf = async (kind: string): Promise<readonly unknown[]> => {
    const [found] = await database.read(sql`select id from records where kind = ${kind} order by expires`);
    return found?.rows.map((row) => row['id']) ?? [];
  };
  return { clock, open, idsOf };
}

const record = (id: string, expires: number): CacheRecord => ({ id, expires, value: null });

describe('records that may be forgotten', () => {
  test('are so many of a kind: those that expire first go first', async (context) => {
    const { open, idsOf } = world(context, 3);
    const [one, other] = [open('one'), open('other')];
    await other.put(record('x', 10));
    await other.put(record('y', 20));
    // 37 and 65 have no common divisor, so they come in no order.
    for (let n = 0; n <= ENOUGH; n += 1) await one.put(record(`${(n * 37) % 65}`, 100 + ((n * 37) % 65)));
    assert.deepEqual(await idsOf('one'), ['62', '63', '64']);
    assert.deepEqual(await idsOf('other'), ['x', 'y']);
  });

  test('leave the file once they have expired', async (context) => {
    const { clock, open, idsOf } = world(context, 1_000);
    const [one, other] = [open('one'), open('other')];
    await other.put(record('x', 50));
    for (const [id, expires] of [
      ['past', 49],
      ['now', 50],
      ['later', 51],
    ] as const) {
      await one.put(record(id, expires));
    }
    clock.now = 50;
    for (let n = 0; n < ENOUGH; n += 1) await one.put(record('again', 100));
    assert.deepEqual(await idsOf('one'), ['later', 'again']);
    assert.deepEqual(await idsOf('other'), ['x']);
  });

  test('live as long as was said last, to the millisecond', async (context) => {
    const { clock, open } = world(context, 1_000);
    const records = open('one');
    for (const id of ['a', 'b']) await records.put(record(id, 10));
    await records.put(record('a', 20));
    await records.update('b', () => record('b', 20));
    clock.now = 19;
    for (const id of ['a', 'b']) assert.deepEqual(await records.get(id), record(id, 20));
    clock.now = 20;
    for (const id of ['a', 'b']) assert.equal(await records.get(id), undefined);
  });
});

test('a record that changes while it is being deleted is looked at again', async (context) => {
  const records = world(context, 1_000).open('one');
  await records.put(record('a', 1));
  const seen: number[] = [];
  const isGone = records.delete('a', ({ expires }) => seen.push(expires) > 0);
  await records.put(record('a', 2));
  assert.equal(await isGone, true);
  assert.deepEqual(seen, [1, 2]);
  assert.equal(await records.get('a'), undefined);
});

test('an update that meets another write is made of what that has left', async (context) => {
  const { open } = world(context, 1_000);
  const [one, other] = [open('one'), open('one')];
  await one.put(record('there', 1));
  const seen: (number | undefined)[] = [];
  const writes: Promise<void>[] = [];
  for (const id of ['there', 'new']) {
    await one.update(id, (present) => {
      seen.push(present?.expires);
      // Once it has been read, and before it is written.
      if (seen.length % 2 === 1) writes.push(other.put(record(id, 10)));
      return record(id, (present?.expires ?? 0) + 5);
    });
    assert.deepEqual(await other.get(id), record(id, 15));
  }
  assert.deepEqual(seen, [1, 10, undefined, 10]);
  await Promise.all(writes);
});

test('ids between two go of one kind only', async (context) => {
  const { open, idsOf } = world(context, 1_000);
  const [one, other] = [open('one'), open('other')];
  for (const records of [one, other]) await records.put(record('day 1', 1));
  assert.equal(await one.deleteBetween('day ', 'day 2'), 1);
  assert.deepEqual([await idsOf('one'), await idsOf('other')], [[], ['day 1']]);
});
