import { setTimeout as sleep } from 'node:timers/promises';

/** Something that came to no end in the time that it has at most. */
export class Hung extends Error {
  constructor(ms: number) {
    super(`nothing came within ${ms / 1000} s`);
  }
}

/** What `work` comes to; rejects with `Hung` when that takes longer than `ms`. The work itself goes on: nobody can end it. */
export async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  const timer = new AbortController();
  const over = sleep(ms, undefined, { signal: timer.signal }).then(() => {
    throw new Hung(ms);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    timer.abort();
  }
}
