import { randomUUID } from 'node:crypto';
import { cautiousNow } from '../../core/file-age.ts';
import { Locks } from '../../core/locks.ts';
import type { Records } from '../../core/stores.ts';
import { checkId } from '../id.ts';
import type { Dialect } from './dialect.ts';
import type { DatabaseHandle } from './handle.ts';
import { type Statement, sql } from './sql.ts';

interface RecordsOptions<T> {
  /** When a record begins to count as absent, milliseconds since 1970. Only for records that may be forgotten. */
  readonly expires?: (record: T) => number;
  /** Records that may be forgotten: how many are kept, about; those that expire first go first. */
  readonly most?: () => number;
  readonly now?: () => number;
}

/** Forgetting is done once for so many writes. */
const FORGET_EVERY = 64;

interface Stored<T> {
  readonly version: string;
  readonly record: T | undefined;
}

/** Records of one kind, as JSON. */
export class SqlRecords<T extends { readonly id: string }> implements Records<T> {
  readonly #database: DatabaseHandle;
  readonly #dialect: Dialect;
  readonly #kind: string;
  readonly #options: RecordsOptions<T>;
  /** One update of an id after the other: what would otherwise read, lose and read again, waits. */
  readonly #updates = new Locks();
  #writes = 0;

  constructor(database: DatabaseHandle, dialect: Dialect, kind: string, options: RecordsOptions<T> = {}) {
    this.#database = database;
    this.#dialect = dialect;
    this.#kind = kind;
    this.#options = options;
  }

  async get(id: string): Promise<T | undefined> {
    return (await this.#read(checkId(id)))?.record;
  }

  async put(record: T): Promise<void> {
    await this.putJson(record.id, this.#expires(record), JSON.stringify(record));
  }

  async putJson(id: string, expires: number | null, json: string): Promise<void> {
    await this.#database.write(
      sql`insert into records (kind, id, version, expires, body)
          values (${this.#kind}, ${checkId(id)}, ${newVersion()}, ${expires}, ${json})
          on conflict (kind, id) do update set version = excluded.version, expires = excluded.expires, body = excluded.body`,
      ...this.#forgetting(),
    );
  }

  async update(id: string, change: (present: T | undefined) => T | undefined): Promise<T | undefined> {
    checkId(id);
    return await this.#updates.run(id, async () => {
      for (;;) {
        const stored = await this.#read(id);
        const next = change(stored?.record);
        if (next === undefined) return stored?.record;
        if (next.id !== id) throw new Error('an update must not change the id');
        if (await this.#swap(stored?.version, next)) return next;
      }
    });
  }

  async delete(id: string, only?: (present: T) => boolean): Promise<boolean> {
    if (only !== undefined) return await this.#deleteIf(id, only);
    const [result] = await this.#database.write(
      sql`delete from records where kind = ${this.#kind} and id = ${checkId(id)} returning expires`,
    );
    const [row] = result?.rows ?? [];
    return row !== undefined && !this.#isPast(row['expires']);
  }

  async prolong(ids: readonly string[], lapsing: number, until: number): Promise<void> {
    const list = this.#dialect.list(ids.map((id) => [checkId(id)]));
    await this.#database.write(
      sql`update records set expires = ${until}
          where kind = ${this.#kind} and expires > ${this.#now()} and expires < ${lapsing}
            and id in (select value ->> 0 from ${list} as ids)`,
    );
  }

  async forgetExpired(now: number): Promise<number> {
    const [result] = await this.#database.write(this.#expiredBy(now));
    return result?.changes ?? 0;
  }

  async deleteBetween(from: string, end: string): Promise<number> {
    const [result] = await this.#database.write(
      sql`delete from records where kind = ${this.#kind} and id >= ${checkId(from)} and id < ${checkId(end)}`,
    );
    return result?.changes ?? 0;
  }

  async #deleteIf(id: string, only: (present: T) => boolean): Promise<boolean> {
    for (;;) {
      const stored = await this.#read(checkId(id));
      if (stored?.record === undefined || !only(stored.record)) return false;
      const [result] = await this.#database.write(
        sql`delete from records where kind = ${this.#kind} and id = ${id} and version = ${stored.version}`,
      );
      if (result?.changes === 1) return true;
    }
  }

  async #read(id: string): Promise<Stored<T> | undefined> {
    const [result] = await this.#database.read(
      sql`select version, expires, body from records where kind = ${this.#kind} and id = ${id}`,
    );
    const [row] = result?.rows ?? [];
    if (row === undefined) return undefined;
    const record = this.#isPast(row['expires']) ? undefined : (JSON.parse(String(row['body'])) as T);
    return { version: String(row['version']), record };
  }

  /** Writes the record unless somebody else has written since `before` was read; undefined: there was none. */
  async #swap(before: string | undefined, record: T): Promise<boolean> {
    const version = newVersion();
    const expires = this.#expires(record);
    const body = JSON.stringify(record);
    const [result] = await this.#database.write(
      before === undefined
        ? sql`insert into records (kind, id, version, expires, body)
              values (${this.#kind}, ${record.id}, ${version}, ${expires}, ${body})
              on conflict (kind, id) do nothing`
        : sql`update records set version = ${version}, expires = ${expires}, body = ${body}
              where kind = ${this.#kind} and id = ${record.id} and version = ${before}`,
      ...this.#forgetting(),
    );
    return result?.changes === 1;
  }

  #expires(record: T): number | null {
    return this.#options.expires?.(record) ?? null;
  }

  #isPast(expires: unknown): boolean {
    return typeof expires === 'number' && expires <= this.#now();
  }

  #forgetting(): readonly Statement[] {
    const { most } = this.#options;
    if (most === undefined || this.#writes++ % FORGET_EVERY !== 0) return [];
    return [
      this.#expiredBy((this.#options.now ?? cautiousNow)()),
      sql`delete from records where number in (
            select number from records where kind = ${this.#kind} and expires is not null
            order by expires desc limit ${Number.MAX_SAFE_INTEGER} offset ${most()})`,
    ];
  }

  #expiredBy(now: number): Statement {
    return sql`delete from records where kind = ${this.#kind} and expires <= ${now}`;
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now();
  }
}

/** A version is never used twice, so that a record that was deleted and made again does not pass for the old one. */
function newVersion(): string {
  return randomUUID();
}
