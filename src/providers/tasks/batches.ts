import type { Call } from '../../core/call.ts';

/** Requests to one upstream at the same time, on behalf of one client. */
const AT_ONCE = 4;

/**
 * Asks for many things in pieces that the upstream takes, a few of them at the same time; the answers are in the order of the
 * pieces. The first failure ends the others.
 */
export async function inBatches<T, R>(
  items: readonly T[],
  size: number,
  call: Call,
  ask: (batch: readonly T[], signal: AbortSignal) => Promise<R>,
): Promise<readonly R[]> {
  const count = Math.max(1, Math.ceil(items.length / size));
  if (count === 1) return [await ask(items, call.signal)];
  const stop = new AbortController();
  const signal = AbortSignal.any([call.signal, stop.signal]);
  const answers: R[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      signal.throwIfAborted();
      answers[index] = await ask(items.slice(index * size, (index + 1) * size), signal);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, work));
  } catch (error) {
    stop.abort(error);
    throw error;
  }
  return answers;
}
