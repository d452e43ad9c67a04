import type { Seen } from '../../src/observe/observation.ts';

/** A request that went well, as it is remembered. */
export function seen(more: Partial<Seen> = {}): Seen {
  return {
    id: 'x',
    time: 0,
    method: 'POST',
    route: '/',
    user: 'ann',
    provider: 'p',
    model: 'm',
    status: 200,
    stream: false,
    duration: 100,
    cost: null,
    attempts: 1,
    failures: [],
    ...more,
  };
}
