import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/** Far longer than anything takes here, in milliseconds: only a test that fails waits for so long, and machines may be busy. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 10;

/**
 * Looks until there is something else than `undefined` or `false`, and gives that. What should come about soon is waited for
 * in this way; the assertion is that it does. Fails with `what` where it never does.
 */
export async function eventually<T>(
  what: string,
  look: () => T | Promise<T>,
  withinMs = PATIENCE_MS,
): Promise<Exclude<T, false | undefined>> {
  const end = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found as Exclude<T, false | undefined>;
    assert.ok(performance.now() < end, `${what}: not within ${withinMs} ms`);
    await sleep(PAUSE_MS);
  }
}

/** Does something again as long as it throws, and gives what it gives then. Throws its last error where it always does. */
export async function untilItWorks<T>(work: () => Promise<T>, withinMs = PATIENCE_MS): Promise<T> {
  const end = performance.now() + withinMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await sleep(PAUSE_MS);
  }
}
