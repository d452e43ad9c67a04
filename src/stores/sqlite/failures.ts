import { systemCode, systemSentence } from '../../core/system-failures.ts';
import { type Failure, Unusable } from '../failure.ts';

/** Primary result codes (https://sqlite.org/rescode.html) for which the world is at fault, not a statement. */
const SENTENCES: ReadonlyMap<number, string> = new Map([
  [3, 'Sluice has no permission to use its database file: give it to the account that Sluice runs under.'],
  [5, 'The database is in use by another program.'],
  [6, 'The database is in use by another program.'],
  [7, 'The machine is out of memory.'],
  [8, 'The database file cannot be written.'],
  [10, 'The disk reports an error.'],
  [11, 'The database file is damaged.'],
  [13, 'The disk is full.'],
  [14, 'The database file cannot be opened.'],
  [15, 'The database is in use by another program.'],
  [22, 'The file system cannot hold a database.'],
  [26, 'The database file is damaged, or it is no database.'],
]);
const TOO_BIG = 18;
const FULL = 13;
const BUSY = 5;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

/** Anything thrown, for the client and the log. What neither SQLite nor the system explains counts as a bug. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Unusable) return { kind: 'storage', sentence: error.sentence, detail: error.message };
  const detail = error instanceof Error ? `${error.message} (${systemCode(error) ?? error.name})` : String(error);
  const code = primaryCode(error);
  if (code === TOO_BIG) return { kind: 'too_large', sentence: 'This is too large to be stored.', detail };
  const sentence = code === undefined ? systemSentence(error) : SENTENCES.get(code);
  if (sentence !== undefined) return { kind: 'storage', sentence, detail };
  return { kind: 'bug', sentence: 'The database refused a statement.', detail };
}

/** Whether the connection is better opened anew: a lock and a full disk pass by themselves, everything else may stick. */
export function needsNewConnection(error: unknown): boolean {
  const code = primaryCode(error);
  return failureOf(error).kind === 'storage' && code !== FULL && code !== BUSY;
}

/** Whether somebody else has the file. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === BUSY;
}

/** Whether the file itself is at fault. */
export function isDamage(error: unknown): boolean {
  const code = primaryCode(error);
  return code === CORRUPT || code === NOT_A_DATABASE;
}

function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined;
  return error.errcode & 0xff;
}
