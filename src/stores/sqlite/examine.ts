import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { failureOf } from './failures.ts';
import { refuseNewer } from './migrations.ts';

/** What keeps a database file from being used, as far as its beginning tells, in a sentence; undefined: nothing. Changes nothing. */
export function whyUnusable(file: string): string | undefined {
  try {
    closeSync(openSync(file, 'r+'));
    const address = pathToFileURL(file);
    // Else SQLite makes files beside it, which would belong to whoever looks.
    address.searchParams.set('immutable', '1');
    const database = new DatabaseSync(address, { readOnly: true });
    try {
      const isNew = database.prepare("select 1 from sqlite_master where name = 'schema_versions'").get() === undefined;
      if (!isNew) refuseNewer(database);
    } finally {
      database.close();
    }
    return undefined;
  } catch (error) {
    return failureOf(error).sentence;
  }
}
