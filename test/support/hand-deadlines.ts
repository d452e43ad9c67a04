import type { Deadlines } from '../../src/routing/deadlines.ts';

/** Deadlines that pass when a test says so. */
export interface HandDeadlines {
  readonly deadlines: Deadlines;
  /** How long those that are open were given, in milliseconds. */
  readonly open: readonly number[];
  /** How often one of them began anew. */
  readonly touches: number;
  /** Lets pass all that can. */
  expire(): void;
}

export function handDeadlines(): HandDeadlines {
  const all = new Map<object, { length: number; readonly onExpire: () => void }>();
  let touches = 0;
  const start: Deadlines['start'] = (length, onExpire) => {
    const entry = { length, onExpire };
    const deadline = {
      touch() {
        touches += 1;
      },
      set(milliseconds: number) {
        touches += 1;
        entry.length = milliseconds;
      },
      clear: () => void all.delete(deadline),
    };
    all.set(deadline, entry);
    return deadline;
  };
  return {
    deadlines: { start } as Deadlines,
    get open() {
      return [...all.values()].map(({ length }) => length);
    },
    get touches() {
      return touches;
    },
    expire() {
      // One that begins anew by that does not pass as well.
      for (const [deadline, { length, onExpire }] of [...all]) {
        if (length === Number.POSITIVE_INFINITY || !all.delete(deadline)) continue;
        onExpire();
      }
    },
  };
}
