import { setTimeout as sleep } from 'node:timers/promises';
import type { CallScope } from '../../core/call.ts';
import { SluiceError } from '../../core/errors.ts';
import { Roster, type Rostered } from '../../core/roster.ts';
import { isLoopbackName } from './guard.ts';

/** An IPv4 address as sockets of IPv6 show it. */
const MAPPED = '::ffff:';

interface CallLimits {
  readonly streams: number;
  readonly streamsPerClient: number;
}

interface Visit extends Rostered {
  readonly call: CallScope;
  readonly client: string | undefined;
}

/** The answers that are running: counted, so that one client cannot take all places, and known, so that shutdown can wait. */
export class Calls {
  readonly #limits: () => CallLimits;
  readonly #running = new Roster<Visit>();
  readonly #byClient = new Map<string, number>();
  #onEmpty: (() => void) | undefined;
  #draining = false;

  constructor(limits: () => CallLimits) {
    this.#limits = limits;
  }

  /** Whether the server shuts down: nothing new begins. */
  get draining(): boolean {
    return this.#draining;
  }

  get running(): number {
    return this.#running.size;
  }

  /**
   * Takes a place and returns the function that gives it back. All programs on this machine share one address, so only the
   * total counts for them.
   */
  enter(call: CallScope, address: string): () => void {
    const { streams, streamsPerClient } = this.#limits();
    if (this.#running.size >= streams) {
      throw new SluiceError('overloaded', `Sluice is answering ${streams} requests already; try again shortly.`, {
        retryAfter: 1,
      });
    }
    const client = isLoopbackName(address.startsWith(MAPPED) ? address.slice(MAPPED.length) : address)
      ? undefined
      : address;
    if (client !== undefined) {
      const own = this.#byClient.get(client) ?? 0;
      if (own >= streamsPerClient) {
        throw new SluiceError('rate_limited', `One client gets at most ${streamsPerClient} answers at once.`, {
          retryAfter: 1,
        });
      }
      this.#byClient.set(client, own + 1);
    }
    const visit: Visit = { place: -1, call, client };
    this.#running.add(visit);
    return () => this.#leave(visit);
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
    this.#running.each(({ call }) => call.cancel(new SluiceError('shutting_down', 'Sluice is shutting down.')));
    // The last words are on their way; a client that does not take them is not waited for.
    if (this.#running.size > 0) await Promise.race([empty, sleep(1_000)]);
  }

  #leave(visit: Visit): void {
    if (!this.#running.remove(visit)) return;
    const { client } = visit;
    if (client !== undefined) {
      const rest = (this.#byClient.get(client) ?? 1) - 1;
      if (rest === 0) this.#byClient.delete(client);
      else this.#byClient.set(client, rest);
    }
    if (this.#running.size === 0) this.#onEmpty?.();
  }
}
