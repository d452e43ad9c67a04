import { readBy, write } from './database.ts';
import { listen, tell } from './tabs.ts';

/** Something a screen keeps: a prompt, a preset. */
export interface KeptRecord {
  readonly id: string;
}

/** All records of a kind. */
export async function readRecords<Shape extends KeptRecord>(kind: string): Promise<Shape[]> {
  const records = await readBy<Shape & { kind?: string }>('records', 'kind', kind);
  return records.map(({ kind: _, ...record }) => record as unknown as Shape);
}

/** Writes records, over those with the same ids, and tells all tabs. */
export async function putRecords(kind: string, records: readonly KeptRecord[]): Promise<void> {
  await write({ put: { records: records.map((record) => ({ ...record, kind })) } });
  tellAll(kind);
}

/** Deletes records, and tells all tabs. */
export async function removeRecords(kind: string, ids: readonly string[]): Promise<void> {
  await write({ remove: { records: ids.map((id) => [kind, id]) } });
  tellAll(kind);
}

const listeners = new Set<(kind: string) => void>();

/** The other tabs, and this one. */
function tellAll(kind: string): void {
  tell({ kind: 'records', of: kind });
  for (const listener of [...listeners]) listener(kind);
}

/** Calls back when records of a kind have changed, in this tab or in another one. Returns the way to end it. */
export function onRecords(kind: string, listener: () => void): () => void {
  const hear = (changed: string): void => {
    if (changed === kind) listener();
  };
  listeners.add(hear);
  const end = listen((word) => {
    if (word.kind === 'records') hear(word.of);
  });
  return () => {
    listeners.delete(hear);
    end();
  };
}
