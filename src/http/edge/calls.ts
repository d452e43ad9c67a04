import { setTimeout as sleep } from 'node:timers/promises';
import type { CallScope } from '../../core/call.ts';
import { shuttingDown } from '../../core/errors.ts';
import { Roster, type Rostered } from '../../core/roster.ts';
import { clientOf } from './client.ts';
import type { Places } from './places.ts';

interface Visit extends Rostered {
  readonly call: CallScope;
  readonly client: string | undefined;
}

/** Gives the place of an answer back. */
export type Leave = () => void;

/** The answers that are running: counted, so that one client cannot take all places, and known, so that shutdown can wait. */
export class Calls {
  readonly #places: Places;
  readonly #running = new Roster<Visit>();
  #onEmpty: (() => void) | undefined;
  #draining = false;

  constructor(places: Places) {
    this.#places = places;
  }

  /** Whether the server shuts down: nothing new begins. */
  get draining(): boolean {
    return this.#draining;
  }

  get running(): number {
    return this.#running.size;
  }

  /**
   * Takes a place and returns the function that gives it back; for programs on this machine only the total counts. A promise
   * comes back only where another process has to be asked for a place.
   */
  enter(call: CallScope, address: string): Leave | Promise<Leave> {
    const client = clientOf(address);
    const late = this.#places.take(client);
    return late === undefined ? this.begin(call, client) : late.then(() => this.#beginLate(call, client));
  }

  /** Waits until every answer has ended, at most `milliseconds`; then ends the rest with an error. */
  async drain(milliseconds: number): Promise<void> {
    this.#draining = true;
    if (this.#running.size === 0) return;
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    const timer = new AbortController();
    const late = sleep(milliseconds, undefined, { signal: timer.signal }).catch(() => {});
    await Promise.race([empty, late]);
    timer.abort();
    this.#running.each(({ call }) => call.cancel(shuttingDown()));
    // The last words are on their way; a client that does not take them is not waited for.
    if (this.#running.size > 0) await Promise.race([empty, sleep(1_000)]);
  }

  /** An answer has its place. */
  protected begin(call: CallScope, client: string | undefined): Leave {
    const visit: Visit = { place: -1, call, client };
    this.#running.add(visit);
    return () => this.#leave(visit);
  }

  #beginLate(call: CallScope, client: string | undefined): Leave {
    if (!this.#draining) return this.begin(call, client);
    this.#places.give(client);
    throw shuttingDown({ retryAfter: 5 });
  }

  #leave(visit: Visit): void {
    if (!this.#running.remove(visit)) return;
    this.#places.give(visit.client);
    if (this.#running.size === 0) this.#onEmpty?.();
  }
}
