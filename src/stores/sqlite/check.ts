import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { isDamage } from './failures.ts';

/** A thread that looks for damage, on a connection of its own, so that nobody waits for it. Says nothing when all is well. */

const MOST_FINDINGS = 10;

const findings = look(String(workerData));
if (findings.length > 0) parentPort?.postMessage(findings.join('; '));

function look(file: string): readonly string[] {
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
