import { closeSync, openSync, statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { Unusable } from '../failure.ts';
import type { Result, Row } from '../sql/handle.ts';
import type { Statement } from '../sql/sql.ts';
import { failureOf } from './failures.ts';
import { migrate } from './migrations.ts';
import type { Answer, Request } from './protocol.ts';

/** Waiting for another program's write, in milliseconds. Requests behind it wait too, so it is short. */
const BUSY_MS = 2_000;
/** The write-ahead log is cut back to this many bytes after a checkpoint. */
const WAL_BYTES = 32 * 1024 * 1024;
const PREPARED = 100;
/** What is written to see whether there is room. */
const PROBE_BYTES = 64 * 1024;

interface Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
}

/**
 * The one connection to the database file. Everything here blocks, so it lives in a thread of its own.
 *
 * Durability: WAL with `synchronous = FULL` brings every commit to the disk before it is acknowledged. With NORMAL a
 * killed process would lose nothing either, but a power loss could take the last acknowledged writes. What FULL costs is
 * one fsync for each group of requests.
 *
 * What is deleted is overwritten (`secure_delete`). For small records that costs nothing to be measured, for one of 64 KB 0.2 ms.
 */
export class Connection {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, Prepared>();
  readonly #identity: string;

  constructor(path: string) {
    this.#path = path;
    // SQLite gives the files beside it the mode of the database file, and would create that one readable for all.
    closeSync(openSync(path, 'a', 0o600));
    this.#database = new DatabaseSync(path, { timeout: BUSY_MS });
    try {
      this.#database.exec(`
        pragma journal_mode = wal;
        pragma synchronous = full;
        pragma fullfsync = on;
        pragma foreign_keys = on;
        pragma trusted_schema = off;
        pragma temp_store = memory;
        pragma secure_delete = on;
        pragma journal_size_limit = ${WAL_BYTES};
      `);
      migrate(this.#database);
      this.#identity = this.#filesInPlace();
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Works the log into the database file, and brings that to the disk. */
  settle(): void {
    this.#database.exec('pragma wal_checkpoint(truncate)');
  }

  /**
   * The same, without waiting for whoever else uses the file: what was deleted stands in the log until it is emptied. Returns
   * whether it is empty.
   */
  emptyLog(): boolean {
    return this.#withoutWaiting(() => this.#database.prepare('pragma wal_checkpoint(truncate)').get()?.['busy'] === 0);
  }

  /** Writes a record that nobody reads and removes it, each for itself, without waiting for whoever else uses the file. Throws what is in the way. */
  probe(): void {
    this.#withoutWaiting(() =>
      this.#database.exec(`
        insert or replace into records (kind, id, version, body) values ('probe', '', '', hex(zeroblob(${PROBE_BYTES / 2})));
        delete from records where kind = 'probe';
      `),
    );
  }

  /**
   * Carries out a group of requests in one transaction; each succeeds or fails as a whole, and for itself. Throws when the
   * transaction fails: then nothing of it was written.
   */
  answer(requests: readonly Request[]): readonly Answer[] {
    const writes = requests.some((request) => request.writes);
    this.#database.exec(writes ? 'begin immediate' : 'begin');
    try {
      const answers = requests.map((request) => this.#attempt(request));
      this.#database.exec('commit');
      // SQLite goes on writing into a file that was deleted or replaced; nobody would find that again.
      if (writes && this.#filesInPlace() !== this.#identity) {
        // Else the log of the old file would be taken for that of the file which has its name now.
        this.settle();
        throw new Unusable('The database file was moved or deleted.', `${this.#path} is another file than at first`);
      }
      return answers;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('rollback');
      throw error;
    }
  }

  close(): void {
    this.#prepared.clear();
    this.#database.close();
  }

  #withoutWaiting<T>(work: () => T): T {
    this.#database.exec('pragma busy_timeout = 0');
    try {
      return work();
    } finally {
      this.#database.exec(`pragma busy_timeout = ${BUSY_MS}`);
    }
  }

  #attempt({ id, statements }: Request): Answer {
    this.#database.exec('savepoint request');
    try {
      const results = statements.map((statement) => this.#run(statement));
      this.#database.exec('release request');
      return { id, results };
    } catch (error) {
      // Some failures end the whole transaction, a full disk for example.
      if (!this.#database.isTransaction) throw error;
      this.#database.exec('rollback to request; release request');
      return { id, failure: failureOf(error) };
    }
  }

  #run({ text, values }: Statement): Result {
    const { statement, returnsRows } = this.#prepare(text);
    if (!returnsRows) return { rows: [], changes: Number(statement.run(...values).changes) };
    const rows = statement.all(...values) as Row[];
    return { rows, changes: rows.length };
  }

  #prepare(text: string): Prepared {
    const present = this.#prepared.get(text);
    if (present !== undefined) return present;
    const statement = this.#database.prepare(text);
    const prepared = { statement, returnsRows: statement.columns().length > 0 };
    // Node reports the last row number with the changes, and those of the full-text index leave the safe integers.
    if (!prepared.returnsRows) statement.setReadBigInts(true);
    const [oldest] = this.#prepared.keys();
    if (oldest !== undefined && this.#prepared.size >= PREPARED) this.#prepared.delete(oldest);
    this.#prepared.set(text, prepared);
    return prepared;
  }

  /** Which files on the disk carry the database's names. */
  #filesInPlace(): string {
    return [this.#path, `${this.#path}-wal`]
      .map((name) => {
        const found = statSync(name, { bigint: true, throwIfNoEntry: false });
        return found === undefined ? 'none' : `${found.dev}:${found.ino}`;
      })
      .join(' ');
  }
}
