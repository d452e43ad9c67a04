import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isBusy } from './failures.ts';

/**
 * Whether one Sluice alone uses a data folder. The one that does has a file there locked through SQLite, since Node has no
 * locks of its own; the system frees it whatever ends the process.
 */

/** Someone may be looking at that moment: `sluice doctor`. In milliseconds. */
const PATIENCE_MS = 200;

const lockOf = (databaseFile: string): string => path.join(path.dirname(databaseFile), 'sluice.lock');

/** Locks the data folder of a database for as long as what comes back is open; false: another Sluice has. */
export function lockFolder(databaseFile: string, patienceMs = PATIENCE_MS): { close(): void } | false | undefined {
  const file = lockOf(databaseFile);
  try {
    create(file);
    const lock = new DatabaseSync(file, { timeout: patienceMs });
    // Else there would be an empty journal beside it.
    return holds(lock, 'pragma journal_mode = off; begin exclusive') ? lock : false;
  } catch {
    // A file system without locks, for example: then nobody can tell.
    return undefined;
  }
}

/** Whether a running Sluice uses the data folder of a database. Changes nothing. */
export function isFolderInUse(databaseFile: string): boolean {
  try {
    const lock = new DatabaseSync(lockOf(databaseFile), { readOnly: true });
    if (!holds(lock, 'select * from sqlite_master')) return true;
    lock.close();
  } catch {
    // There is no such file, or it cannot be read.
  }
  return false;
}

/** Whether it could have the lock that this takes. */
function holds(lock: DatabaseSync, statements: string): boolean {
  try {
    lock.exec(statements);
    return true;
  } catch (error) {
    lock.close();
    if (isBusy(error)) return false;
    throw error;
  }
}

/** For its owner only, who else could keep others from starting. Where it is there it stays closed: closing it would free our own lock. */
function create(file: string): void {
  try {
    closeSync(openSync(file, 'ax', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
