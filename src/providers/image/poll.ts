import { setTimeout as sleep } from 'node:timers/promises';

/** Between two looks, in milliseconds: it grows from the first to the last. */
export interface Pauses {
  readonly first: number;
  readonly longest: number;
}

/** Looks again and again, until what is seen is the end. */
export async function poll<T>(
  look: () => Promise<T>,
  isOver: (seen: T) => boolean,
  { first, longest }: Pauses,
  signal: AbortSignal,
): Promise<T> {
  for (let wait = first; ; wait = Math.min(longest, wait * 1.5)) {
    const seen = await look();
    if (isOver(seen)) return seen;
    await sleep(wait, undefined, { signal });
  }
}
