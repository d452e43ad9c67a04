import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Long enough that nothing of the start is still under way. */
const AFTER_MS = 2_000;

/**
 * Gives back what only the start needed, about 20 MB: sources that were read, tables that were built. V8 would keep the room
 * until it is short of some. Takes some 50 ms, once, and only when nobody is being answered.
 */
export function settleSoon(isIdle: () => boolean): void {
  setTimeout(() => {
    if (!isIdle()) return settleSoon(isIdle);
    // The collector is not reachable without this flag; a context of its own keeps it out of everybody's globals.
    setFlagsFromString('--expose-gc');
    const collect: unknown = runInNewContext('gc');
    setFlagsFromString('--no-expose-gc');
    if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }, AFTER_MS).unref();
}
