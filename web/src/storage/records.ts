import { readBy, write } from './database.ts';
import { tell } from './tabs.ts';

/** Something a screen keeps: a prompt, a preset. */
export interface KeptRecord {
  readonly id: string;
}

export async function readRecords<Shape extends KeptRecord>(kind: string): Promise<Shape[]> {
  const records = await readBy<Shape & { kind?: string }>('records', 'kind', kind);
  return records.map(({ kind: _, ...record }) => record as unknown as Shape);
}

export async function putRecords(kind: string, records: readonly KeptRecord[]): Promise<void> {
  await write({ put: { records: records.map((record) => ({ ...record, kind })) } });
  tell({ kind: 'records', of: kind });
}

export async function removeRecords(kind: string, ids: readonly string[]): Promise<void> {
  await write({ remove: { records: ids.map((id) => [kind, id]) } });
  tell({ kind: 'records', of: kind });
}
