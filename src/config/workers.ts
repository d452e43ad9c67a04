import { availableParallelism } from 'node:os';

/** More than any machine has cores to spare for. */
export const MOST_WORKERS = 256;

/** What `workers` may be, in words. */
export const WORKERS_FORM = `auto, or a whole number from 1 to ${MOST_WORKERS}`;

/** A number of processes from its text; undefined when it has none of the allowed forms. */
export function parseWorkers(text: string): number | undefined {
  const trimmed = text.trim();
  if (trimmed === 'auto') return Math.min(MOST_WORKERS, availableParallelism());
  const count = /^\d{1,3}$/.test(trimmed) ? Number(trimmed) : 0;
  return count >= 1 && count <= MOST_WORKERS ? count : undefined;
}
