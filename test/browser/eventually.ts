import assert from 'node:assert/strict';
import { untilItWorks } from '../support/eventually.ts';

/** How long anything on the page may take, in milliseconds: two busy cores are slow. */
export const PATIENCE_MS = 15_000;

/** Tries until `check` no longer throws, for at most as long as anything on the page may take. */
export function eventually(check: () => Promise<void>, milliseconds = PATIENCE_MS): Promise<void> {
  return untilItWorks(check, milliseconds);
}

/** Waits until `read` gives `wanted`: what follows a click is on the page a moment later. */
export function becomes<Value>(read: () => Promise<Value>, wanted: Value, message?: string): Promise<void> {
  return eventually(async () =>
    message === undefined ? assert.deepEqual(await read(), wanted) : assert.deepEqual(await read(), wanted, message),
  );
}

/** Waits until `read` gives words that fit. */
export function comesToFit(read: () => Promise<string>, wanted: RegExp): Promise<void> {
  return eventually(async () => assert.match(await read(), wanted));
}
