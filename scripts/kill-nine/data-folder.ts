import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { BucketRecord } from '../../src/core/stores.ts';
import { MOST_ENTRIES } from '../../src/stores/sql/log.ts';
import { isDamage } from '../../src/stores/sqlite/failures.ts';

/**
 * A look past the gateway, at what lies in its data folder: for what no endpoint tells. Reads only, also while it runs.
 */
export class DataFolder {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** What SQLite finds wrong with its tables, indexes and full-text indexes; nothing: all is well. */
  damage(): readonly string[] {
    try {
      return this.#query('pragma integrity_check')
        .map((row) => String(Object.values(row)[0]))
        .filter((line) => line !== 'ok');
    } catch (error) {
      if (!isDamage(error)) throw error;
      return [String(error)];
    }
  }

  /** What clients logged as this user, the oldest first. `isFull`: the log is a ring, and older entries are gone. */
  log(user: string): { readonly bodies: readonly Record<string, unknown>[]; readonly isFull: boolean } {
    const rows = this.#query("select body from log where json_extract(body, '$.user') = ? order by number", user);
    const [counted] = this.#query('select count(*) as count from log');
    return {
      bodies: rows.map((row) => JSON.parse(String(row['body'])) as Record<string, unknown>),
      isFull: Number(counted?.['count']) >= MOST_ENTRIES,
    };
  }

  /** Names of files that are being written or removed, or were when a process died. */
  temporary(): readonly string[] {
    const folder = path.join(this.#folder, 'files', '.tmp');
    return existsSync(folder) ? readdirSync(folder) : [];
  }

  /** Stored files that no bucket knows, as paths below `files`. */
  strays(): readonly string[] {
    const known = new Set(
      this.#query("select body from records where kind = 'buckets'")
        .map((row) => JSON.parse(String(row['body'])) as BucketRecord)
        .flatMap(({ files }) => files.flatMap((file) => [file.path, file.thumbnail])),
    );
    const root = path.join(this.#folder, 'files');
    return readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'))
      .filter((name) => !name.startsWith('.tmp/') && !known.has(name));
  }

  #query(text: string, ...values: readonly string[]): Record<string, unknown>[] {
    const database = new DatabaseSync(path.join(this.#folder, 'sluice.db'), { readOnly: true, timeout: 10_000 });
    try {
      return database.prepare(text).all(...values);
    } finally {
      database.close();
    }
  }
}
