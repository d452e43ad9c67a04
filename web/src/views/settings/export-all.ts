import { listMemory, type Remembered } from '../../api/memory.ts';
import { app } from '../../state/app.ts';
import { readAll } from '../../storage/database.ts';
import { save, wholeChats } from '../transfer/export.ts';
import { toJson } from '../transfer/write.ts';

/** Everything of this person, in one file: what the browser keeps, without keys, and what the server remembers. */
export async function exportEverything(): Promise<void> {
  const { keys: _, user, ...settings } = app.get().settings;
  const now = new Date();
  const [chats, records, memory] = await Promise.all([
    wholeChats('all'),
    readAll<Readonly<Record<string, unknown>>>('records'),
    user === '' ? [] : allMemory(user),
  ]);
  // In the form of an export of chats, so that these can be imported; the rest stands behind them.
  const pieces = toJson(chats, now, { memory, records, settings, drafts: app.get().drafts });
  save(new Blob(pieces, { type: 'application/json' }), `sluice-${now.toISOString().slice(0, 10)}.json`);
}

async function allMemory(user: string): Promise<readonly Remembered[]> {
  const all: Remembered[] = [];
  for (let page: number | null = 1; page !== null; ) {
    const { results, next } = await listMemory(user, { search: '', page }, AbortSignal.timeout(60_000));
    all.push(...results);
    page = next;
  }
  return all;
}
