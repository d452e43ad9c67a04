import { systemCode } from '../../core/system-failures.ts';
import { type Failure, Unusable } from '../failure.ts';

const GONE = 'The database server cannot be reached.';

/**
 * SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html), or its class, for which the world is at fault, not
 * a statement.
 */
const SENTENCES: ReadonlyMap<string, string> = new Map([
  ['08', GONE],
  ['25006', 'The database server takes no writes: it follows another one.'],
  ['28', 'The database server refuses the user or the password.'],
  ['3D', 'The database server has no such database.'],
  ['40', 'The database is in use by others.'],
  ['42501', 'The database server gives the user no right to write: let it own the database.'],
  ['53', 'The database server is out of room or connections.'],
  ['53100', 'The disk of the database server is full.'],
  ['55P03', 'The database is in use by others.'],
  ['57', 'The database server stops, or does not answer in time.'],
  ['58', 'The database server reports an error of its system.'],
  ['XX001', 'The database is damaged.'],
  ['XX002', 'The database is damaged.'],
]);
const TOO_LARGE: ReadonlySet<string> = new Set(['54', '22001']);
/** Somebody else was faster; done again, it will be right. */
const TRANSIENT: ReadonlySet<string> = new Set(['40001', '40P01']);
/** The server stops, one of its processes died, or somebody ended the connection: the last words on it. */
const ENDS: ReadonlySet<string> = new Set(['57P01', '57P02', '57P05']);
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Anything thrown, for the client and the log. What neither the server nor the network explains counts as a bug. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Unusable) return { kind: 'storage', sentence: error.sentence, detail: error.message };
  const code = systemCode(error);
  const detail = error instanceof Error ? `${error.message} (${code ?? error.name})` : String(error);
  if (error instanceof TypeError && code === undefined)
    return { kind: 'bug', sentence: 'The database was asked wrongly.', detail };
  if (code === undefined || !isOfServer(error)) return { kind: 'storage', sentence: GONE, detail };
  if (TOO_LARGE.has(code) || TOO_LARGE.has(code.slice(0, 2)))
    return { kind: 'too_large', sentence: 'This is too large to be stored.', detail };
  const sentence = SENTENCES.get(code) ?? SENTENCES.get(code.slice(0, 2));
  if (sentence !== undefined) return { kind: 'storage', sentence, detail };
  return { kind: 'bug', sentence: 'The database refused a statement.', detail };
}

/** Whether the server says so. All else is the network, TLS, or `pg` about the connection. */
export function isOfServer(error: unknown): boolean {
  return SQLSTATE.test(systemCode(error) ?? '');
}

/** Whether the server says that it closes the connection. */
export function isEndOfConnection(error: unknown): boolean {
  return ENDS.has(systemCode(error) ?? '');
}

/** Whether the same may be tried again at once: nothing of it was done, and nobody is at fault. */
export function isTransient(error: unknown): boolean {
  return TRANSIENT.has(systemCode(error) ?? '');
}
