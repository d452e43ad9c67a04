import { DatabaseSync } from 'node:sqlite';
import type { Client } from 'pg';
import { inWords, Unusable } from './failure.ts';
import { settle } from './postgres/database.ts';
import { storable } from './postgres/dialect.ts';
import { failureOf as failureOfServer } from './postgres/failures.ts';
import { foundBy } from './postgres/memory.ts';
import { migrate as migrateServer } from './postgres/migrations.ts';
import { checkServer } from './postgres/server.ts';
import type { Row } from './sql/handle.ts';
import { failureOf as failureOfFile, isBusy } from './sqlite/failures.ts';
import { migrate as migrateFile } from './sqlite/migrations.ts';

const CONNECT_MS = 5_000;
/** So many characters of JSON go to the server at once, or a single row. */
const ENOUGH_AT_ONCE = 1_000_000;

interface Table {
  readonly name: string;
  /** What its rows are to people. */
  readonly holds: string;
  /** Columns that only PostgreSQL has. */
  readonly more?: (row: Row) => Row;
}

/** All that a `sluice.db` holds, but for its index of words, which is made of the memory. The tables have one name in both databases, and so have columns. */
export const TABLES: readonly Table[] = [
  { name: 'records', holds: 'chats, buckets, stored responses and caches' },
  {
    name: 'memory',
    holds: 'items of memory',
    more: (row) => foundBy({ text: String(row['text']), metadata: JSON.parse(String(row['metadata'])) }),
  },
  { name: 'usage_batches', holds: 'batches of usage' },
  { name: 'usage_sums', holds: 'sums of usage' },
  { name: 'log', holds: 'entries of the log' },
  { name: 'conversations', holds: 'conversations' },
  { name: 'conversation_items', holds: 'items of conversations' },
  { name: 'uploads', holds: 'sent files' },
];

/** How many rows of a table were copied. */
export interface Copied {
  readonly holds: string;
  readonly count: number;
}

/**
 * Copies what a `sluice.db` holds into a database on a PostgreSQL server that holds nothing: everything, or nothing. The file stays
 * as it is, but that it is brought to the present form, as by a start; nobody else can use it meanwhile.
 */
export async function move(file: string, url: string): Promise<readonly Copied[]> {
  const source = openAlone(file);
  try {
    return await withServer(url, (target) => copyAll(source, target));
  } catch (error) {
    const isOfFile = error instanceof Error && 'errcode' in error;
    throw notCopied(inWords(error, isOfFile ? failureOfFile(error) : failureOfServer(error)), error);
  } finally {
    source.close();
  }
}

function openAlone(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    // Whoever uses a file with a write-ahead log holds a lock on it, also while nothing is asked.
    database.exec('pragma locking_mode = exclusive');
    migrateFile(database);
    return database;
  } catch (error) {
    database.close();
    const inUse = `${file} is in use: end the Sluice that runs with it first.`;
    throw notCopied(isBusy(error) ? inUse : inWords(error, failureOfFile(error)), error);
  }
}

function notCopied(why: string, cause: unknown): Error {
  return new Error(`nothing was copied: ${why}`, { cause });
}

async function withServer<T>(url: string, task: (client: Client) => Promise<T>): Promise<T> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({
    connectionString: url,
    application_name: 'sluice move',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await settle(client);
    await checkServer(client);
    await migrateServer(client);
    return await task(client);
  } finally {
    // What was begun and not committed is gone with it.
    await client.end().catch(() => {});
  }
}

async function copyAll(source: DatabaseSync, target: Client): Promise<readonly Copied[]> {
  await target.query('begin');
  await target.query(`lock table ${TABLES.map(({ name }) => name).join(', ')} in exclusive mode`);
  await refuseFull(target);
  const copied: Copied[] = [];
  for (const table of TABLES) copied.push({ holds: table.holds, count: await copy(table, source, target) });
  await target.query('commit');
  return copied;
}

/** Rows of the same number would replace each other, or be refused. */
async function refuseFull(target: Client): Promise<void> {
  const found: string[] = [];
  for (const { name, holds } of TABLES) {
    const { rows } = await target.query(`select 1 from ${name} limit 1`);
    if (rows.length > 0) found.push(holds);
  }
  if (found.length > 0)
    throw new Unusable(`The database on the server holds something already: ${found.join('; ')}.`, 'not empty');
}

async function copy({ name, more }: Table, source: DatabaseSync, target: Client): Promise<number> {
  let count = 0;
  let last = 0;
  let waiting: string[] = [];
  let size = 0;
  for (const row of source.prepare(`select * from ${name}`).iterate() as Iterable<Row>) {
    const json = JSON.stringify({ ...row, ...more?.(row) }, storable);
    count += 1;
    last = Math.max(last, Number(row['number'] ?? 0));
    size += json.length;
    waiting.push(json);
    if (size < ENOUGH_AT_ONCE) continue;
    await insert(name, waiting, target);
    waiting = [];
    size = 0;
  }
  await insert(name, waiting, target);
  // What comes later gets higher numbers.
  if (last > 0) await target.query("select setval(pg_get_serial_sequence($1, 'number'), $2)", [name, last]);
  const { rows } = await target.query(`select count(*)::integer as count from ${name}`);
  if (rows[0]?.count !== count) throw new Unusable(`Of ${count} ${name} arrived ${rows[0]?.count}.`, 'count');
  return count;
}

async function insert(name: string, rows: readonly string[], target: Client): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.keys(JSON.parse(first)).map((column) => `"${column}"`);
  await target.query(
    `insert into ${name} (${columns}) overriding system value
     select ${columns} from json_populate_recordset(null::${name}, $1)`,
    [`[${rows.join(',')}]`],
  );
}
