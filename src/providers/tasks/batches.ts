import type { Call } from '../../core/call.ts';

/** Requests to one upstream at the same time, on behalf of one client. */
const AT_ONCE = 4;

/**
 * Asks for many things in pieces that the upstream takes, a few of them at the same time; the answers are in the order of the
 * pieces. The first failure ends the others.
 */
export function inBatches<T, R>(
  items: readonly T[],
  size: number,
  call: Call,
  ask: (batch: readonly T[], signal: AbortSignal) => Promise<R>,
): Promise<readonly R[]> {
  const count = Math.max(1, Math.ceil(items.length / size));
  const batches = Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
  return fewAtOnce(batches, call, ask);
}

/** The same for things that are asked for one by one. */
export async function fewAtOnce<T, R>(
  items: readonly T[],
  call: Call,
  ask: (item: T, signal: AbortSignal) => Promise<R>,
): Promise<readonly R[]> {
  const [only] = items;
  if (items.length === 1) return [await ask(only as T, call.signal)];
  const stop = new AbortController();
  const signal = AbortSignal.any([call.signal, stop.signal]);
  const answers: R[] = [];
  const open = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of open) {
      signal.throwIfAborted();
      answers[index] = await ask(item, signal);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, work));
  } catch (error) {
    stop.abort(error);
    throw error;
  }
  return answers;
}
