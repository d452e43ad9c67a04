import { DatabaseSync } from 'node:sqlite';
import { isDamage } from './failures.ts';

const MOST_FINDINGS = 10;

/** Looks through a whole database file, on a connection of its own. Returns what is damaged; nothing: all is well. */
export function findDamage(file: string): readonly string[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = database.prepare(`pragma quick_check(${MOST_FINDINGS})`).all();
    return rows.map((row) => String(Object.values(row)[0])).filter((line) => line !== 'ok');
  } catch (error) {
    if (!isDamage(error)) throw error;
    return [String(error)];
  } finally {
    database.close();
  }
}
