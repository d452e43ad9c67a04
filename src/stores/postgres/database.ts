import type { ClientBase, Pool, PoolClient } from 'pg';
import type { Logger } from '../../core/logger.ts';
import { errorOf, storageFailed } from '../failure.ts';
import { Problem } from '../problem.ts';
import type { DatabaseHandle, Result, Row } from '../sql/handle.ts';
import { type Statement, sql } from '../sql/sql.ts';
import { storableText } from './dialect.ts';
import { failureOf, isEndOfConnection, isOfServer, isTransient } from './failures.ts';
import { migrate, SCHEMA } from './migrations.ts';
import { refuseSharing } from './pooler.ts';
import { checkServer } from './server.ts';

/** Connections of one node. A server allows a hundred in all, if nobody says otherwise. */
const CONNECTIONS = 8;
const CONNECT_MS = 5_000;
/** A new connection costs some milliseconds of cryptography. */
const IDLE_MS = 300_000;
/** Then the request fails, whatever became of it. */
const ANSWER_MS = 20_000;
/** Waiting for another node's write, in milliseconds. */
const LOCK_MS = 10_000;
/** After the database could not be opened, requests fail at once for so long, in milliseconds. */
const RETRY_MS = 1_000;
/** How often what others were faster with is tried again. */
const MOST_ATTEMPTS = 6;

/**
 * What holds for each connection. Whatever is acknowledged is on the server's disk: where `synchronous_commit` is off for all, it
 * is on for us; a server that waits for others as well goes on doing so.
 */
const SETTINGS = `
  set search_path to ${SCHEMA};
  set statement_timeout to ${ANSWER_MS};
  set lock_timeout to ${LOCK_MS};
  set idle_in_transaction_session_timeout to ${ANSWER_MS};
  set jit to off;
  select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off';
`;

/** A row that nobody reads, written and removed to see whether that can be done. */
const PROBE: readonly Statement[] = [
  sql`insert into records (kind, id, version, body) values ('probe', 'probe', '', '') on conflict (kind, id) do nothing`,
  sql`delete from records where kind = 'probe'`,
];

/** A database on a PostgreSQL server, which several nodes may share. Connects in the background; the first requests wait for that. */
export class PostgresDatabase implements DatabaseHandle {
  readonly #url: string;
  readonly #log: Logger;
  readonly #problem: Problem;
  /** What was asked and is not answered yet. */
  readonly #running = new Set<Promise<unknown>>();
  /** Who waits for a connection; each of those that are in use lets the next one have it. */
  readonly #waiting: PromiseWithResolvers<void>[] = [];
  #inUse = 0;
  #opening: Promise<Pool> | undefined;
  #pool: Pool | undefined;
  #recovering: Promise<void> | undefined;
  #lastFailure: { readonly error: unknown; readonly at: number } | undefined;
  #closed = false;

  /** @param url `postgres://user:password@host:port/database` */
  constructor(url: string, log: Logger) {
    this.#url = url;
    this.#log = log;
    this.#problem = new Problem(log);
    // Whoever asks first is told what is wrong; by then it is known.
    void this.#ask([], false).catch(() => {});
  }

  get problem(): string | undefined {
    return this.#problem.sentence;
  }

  async read(...statements: readonly Statement[]): Promise<readonly Result[]> {
    await this.#recovering;
    return await this.#ask(statements, false);
  }

  async write(...statements: readonly Statement[]): Promise<readonly Result[]> {
    return await this.#ask(statements, true);
  }

  recover(): void {
    if (this.#problem.sentence === undefined) return;
    this.#recovering ??= this.#ask(PROBE, true)
      .then(
        () => {},
        () => {},
      )
      .finally(() => {
        this.#recovering = undefined;
      });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#running);
    await this.#pool?.end();
  }

  #ask(statements: readonly Statement[], writes: boolean): Promise<readonly Result[]> {
    const answered = this.#answer(statements, writes);
    this.#running.add(answered);
    const forget = () => this.#running.delete(answered);
    answered.then(forget, forget);
    return answered;
  }

  async #answer(statements: readonly Statement[], writes: boolean): Promise<readonly Result[]> {
    if (this.#closed) throw storageFailed('It was closed.');
    try {
      const pool = await this.#open();
      if (statements.length === 0) return [];
      const results = await this.#withPlace(() => persistently(() => onConnection(pool, statements, writes)));
      if (writes) this.#problem.ended();
      return results;
    } catch (error) {
      const failure = failureOf(error);
      if (failure.kind === 'storage') this.#problem.began(failure.sentence, failure.detail);
      throw errorOf(failure);
    }
  }

  /** Waits for a place as long as others are answered. Where the server is gone, all who wait are told with the first one. */
  async #withPlace<T>(task: () => Promise<T>): Promise<T> {
    if (this.#inUse === CONNECTIONS) {
      const place = Promise.withResolvers<void>();
      this.#waiting.push(place);
      await place.promise;
    } else this.#inUse += 1;
    try {
      return await task();
    } catch (error) {
      if (!isOfServer(error)) for (const { reject } of this.#waiting.splice(0)) reject(error);
      throw error;
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#inUse -= 1;
      else next.resolve();
    }
  }

  #open(): Promise<Pool> {
    const { error, at = Number.NEGATIVE_INFINITY } = this.#lastFailure ?? {};
    if (this.#opening === undefined && performance.now() - at < RETRY_MS) return Promise.reject(error);
    this.#opening ??= this.#connect().catch((reason: unknown) => {
      this.#lastFailure = { error: reason, at: performance.now() };
      this.#opening = undefined;
      throw reason;
    });
    return this.#opening;
  }

  async #connect(): Promise<Pool> {
    const startedAt = performance.now();
    await refuseSharing(this.#url);
    this.#pool ??= await makePool(this.#url);
    const client = await this.#pool.connect();
    try {
      await checkServer(client);
      await migrate(client);
    } finally {
      client.release();
    }
    this.#problem.ended();
    this.#log.debug({ milliseconds: Math.round(performance.now() - startedAt) }, 'database opened');
    return this.#pool;
  }
}

async function makePool(url: string): Promise<Pool> {
  const { default: pg } = await import('pg');
  const INT8 = 20;
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'sluice',
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: IDLE_MS,
    query_timeout: ANSWER_MS + CONNECT_MS,
    keepAlive: true,
    // An idle database keeps no process alive.
    allowExitOnIdle: true,
    onConnect: settle,
    // Counts and numbers of rows stay far below 2^53.
    types: { getTypeParser: (oid: number, format) => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) },
  });
  // A connection that breaks while nobody uses it is replaced, and whoever uses it is told.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => lost.add(client)));
  return pool;
}

/** Gives a new connection what holds for each. */
export async function settle(client: ClientBase): Promise<void> {
  await client.query(SETTINGS);
}

/** What runs into another one's changes is done again. */
async function persistently<T>(task: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await task();
    } catch (error) {
      if (!isTransient(error) || attempt === MOST_ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * 2 ** attempt));
    }
  }
}

/** Connections that somebody has used before, and such as have broken. */
const used = new WeakSet<ClientBase>();
const lost = new WeakSet<ClientBase>();

/**
 * That a connection has broken since it was last used may show only now. A read is then done again, on a new connection in the end;
 * of a write nobody knows whether the server did it.
 */
async function onConnection(pool: Pool, statements: readonly Statement[], writes: boolean): Promise<readonly Result[]> {
  for (;;) {
    const client = await pool.connect();
    const isNew = !used.has(client);
    used.add(client);
    try {
      return await inTransaction(client, statements, writes);
    } catch (error) {
      if (writes || isNew || !(lost.has(client) || isEndOfConnection(error))) throw error;
    }
  }
}

/** Gives the connection back. */
async function inTransaction(
  client: PoolClient,
  statements: readonly Statement[],
  writes: boolean,
): Promise<readonly Result[]> {
  let broken: Error | undefined;
  try {
    const [only] = statements;
    // It is a transaction by itself.
    if (only !== undefined && statements.length === 1) return [await run(client, only)];
    await client.query(writes ? 'begin' : 'begin isolation level repeatable read read only');
    const results: Result[] = [];
    for (const statement of statements) results.push(await run(client, statement));
    await client.query('commit');
    return results;
  } catch (error) {
    // One that the server still answers serves again.
    if (!isOfServer(error) || isEndOfConnection(error)) broken = new Error('broken', { cause: error });
    else if (statements.length > 1) {
      await client.query('rollback').catch((cause: unknown) => {
        broken = new Error('broken', { cause });
      });
    }
    throw error;
  } finally {
    client.release(broken);
  }
}

async function run(client: PoolClient, { text, values }: Statement): Promise<Result> {
  let number = 0;
  const { rows, rowCount } = await client.query<Record<string, Row[string]>>(
    text.replace(/\?/g, () => `$${++number}`),
    values.map((value) => (typeof value === 'string' ? storableText(value) : value)),
  );
  return { rows, changes: rowCount ?? 0 };
}
