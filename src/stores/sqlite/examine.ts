import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { Unusable } from '../failure.ts';
import { failureOf } from './failures.ts';
import { refuseNewer } from './migrations.ts';

/** What keeps a database file from being used, as far as its beginning and its size tell, in a sentence; undefined: nothing. Changes nothing. */
export function whyUnusable(file: string): string | undefined {
  try {
    closeSync(openSync(file, 'r+'));
    // After a full disk or a sudden end, what was last written may stand there alone, or half in both.
    const hasLog = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    // Without that file the log cannot be read, unless it is made: the next start does.
    if (hasLog && !existsSync(`${file}-shm`)) return undefined;
    const address = pathToFileURL(file);
    // Else SQLite makes files beside it, which would belong to whoever looks, or writes into them.
    address.searchParams.set(hasLog ? 'readonly_shm' : 'immutable', '1');
    const database = new DatabaseSync(address, { readOnly: true });
    try {
      const isNew = database.prepare("select 1 from sqlite_master where name = 'schema_versions'").get() === undefined;
      if (!isNew) refuseNewer(database);
      // That whole pages are missing, SQLite has seen; of the last one it counts any part.
      if (!hasLog && statSync(file).size < pragmaOf(database, 'page_count') * pragmaOf(database, 'page_size'))
        throw new Unusable('The database file is damaged: its end is missing.', 'the last page is not whole');
    } finally {
      database.close();
    }
    return undefined;
  } catch (error) {
    return failureOf(error).sentence;
  }
}

function pragmaOf(database: DatabaseSync, pragma: 'page_count' | 'page_size'): number {
  return Number(database.prepare(`pragma ${pragma}`).get()?.[pragma]);
}
