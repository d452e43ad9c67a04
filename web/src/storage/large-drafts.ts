import type { Draft } from '../state/drafts.ts';
import { readOne, takesAtOnce, write } from './database.ts';

const KIND = 'draft';

/** What is to be written next, by chat; without a draft it is removed. */
let next = new Map<string, Draft | undefined>();
/** What waits for the database to be opened. */
let early = new Map<string, Draft | undefined>();
let writing: Promise<void> | undefined;

/**
 * Puts a draft into the browser's database, or removes it from there. While one is on its way only the latest state of those
 * that follow is remembered: of some megabytes not every key press has to be written.
 */
export function writeLarge(chat: string, draft: Draft | undefined): Promise<void> {
  next.set(chat, draft);
  writing ??= writeAll();
  return writing;
}

async function writeAll(): Promise<void> {
  try {
    while (next.size > 0) await writeNext();
  } finally {
    writing = undefined;
  }
}

function writeNext(): Promise<void> {
  const entries = [...next];
  if (!takesAtOnce()) early = next;
  next = new Map();
  return write({
    put: { records: entries.flatMap(([id, draft]) => (draft === undefined ? [] : [{ kind: KIND, id, draft }])) },
    remove: { records: entries.flatMap(([id, draft]) => (draft === undefined ? [[KIND, id]] : [])) },
  }).finally(() => {
    early = new Map();
  });
}

/**
 * Puts what waits into the database's queue, behind what is on its way: the page goes. Returns what has to be kept elsewhere, since
 * the database is not open yet.
 */
export function hurryLarge(): ReadonlyMap<string, Draft | undefined> {
  if (!takesAtOnce()) return new Map([...early, ...next]);
  writeNext().catch(() => {});
  return new Map();
}

/** What is in the browser's database; undefined: nothing. */
export async function readLarge(chat: string): Promise<Draft | undefined> {
  const record = await readOne<{ readonly draft: Draft }>('records', [KIND, chat]);
  return record?.draft;
}
