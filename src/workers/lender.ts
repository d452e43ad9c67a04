import { setTimeout as sleep } from 'node:timers/promises';
import { Locks } from '../core/locks.ts';
import type { PlaceLimits } from '../http/edge/places.ts';
import type { Channel } from './channel.ts';

/** A worker gets at most so many places ahead at a time. */
const MOST_AHEAD = 64;
/** How long a worker may take to give places back, in milliseconds: one that hangs must not hold up all others. */
const PATIENCE_MS = 1_000;

/** Stands for the places of all clients together. */
const ALL = '';

/**
 * Lends the places for answers to the workers: the primary's side of `LeasedPlaces`. What is lent never exceeds the limit, and
 * nobody is refused a place that another worker has without using it.
 */
export class Lender {
  readonly #limits: () => PlaceLimits;
  /** By client, or of all: which worker holds how many. */
  readonly #lent = new Map<string, Map<Channel, number>>();
  /** One after the other, so that two do not get the same place. */
  readonly #locks = new Locks();
  readonly #workers = new Set<Channel>();
  /** Those that have not answered in time, and are not waited for until they do. */
  readonly #late = new Set<Channel>();

  constructor(limits: () => PlaceLimits) {
    this.#limits = limits;
  }

  serve(worker: Channel): void {
    this.#workers.add(worker);
    worker.on('places', ({ client, want }) => this.#locks.run(client ?? ALL, () => this.#lend(worker, client, want)));
    worker.on('back', ({ client, count }) => this.#note(client ?? ALL, worker, -count));
  }

  /** A worker has ended: its places are free. */
  forget(worker: Channel): void {
    this.#workers.delete(worker);
    this.#late.delete(worker);
    for (const [key, holders] of this.#lent) {
      holders.delete(worker);
      if (holders.size === 0) this.#lent.delete(key);
    }
  }

  /** The limits have changed: whatever is lent comes back, as soon as it is free, so that the new ones hold. */
  async recall(): Promise<void> {
    const keys = [...this.#lent.keys()];
    await Promise.all(keys.map((key) => this.#locks.run(key, () => this.#collect(key, undefined, true))));
  }

  async #lend(worker: Channel, client: string | undefined, want: number): Promise<number> {
    const key = client ?? ALL;
    const { streams, streamsPerClient } = this.#limits();
    const limit = client === undefined ? streams : streamsPerClient;
    if (limit - this.#sum(key) < want) await this.#collect(key, worker);
    if (!this.#workers.has(worker)) return 0;
    const ahead = Math.min(MOST_AHEAD, Math.floor(limit / (4 * this.#workers.size)));
    const count = Math.max(0, Math.min(limit - this.#sum(key), Math.max(want, ahead)));
    this.#note(key, worker, count);
    return count;
  }

  /** Takes back what the others hold and do not use; with `all`, the rest later. */
  async #collect(key: string, except: Channel | undefined, all = false): Promise<void> {
    const holders = [...(this.#lent.get(key)?.keys() ?? [])].filter((each) => each !== except);
    const late = holders.filter((each) => this.#late.has(each));
    const prompt = holders.filter((each) => !this.#late.has(each));
    const open = new Set(prompt);
    const back = prompt.map((holder) => this.#callBack(key, holder, all).finally(() => open.delete(holder)));
    // What is to come back later has to be said once; else the question that it owes an answer to is enough.
    if (all) for (const holder of late) void this.#callBack(key, holder, all);
    const enough = new AbortController();
    const over = sleep(PATIENCE_MS, undefined, { signal: enough.signal }).catch(() => undefined);
    await Promise.race([Promise.all(back), over]);
    enough.abort();
    for (const holder of open) if (this.#workers.has(holder)) this.#late.add(holder);
  }

  async #callBack(key: string, holder: Channel, all: boolean): Promise<void> {
    const count = await holder.ask('unused', { client: key === ALL ? undefined : key, all }).catch(() => 0);
    this.#late.delete(holder);
    // Also when nobody waits for it any more.
    this.#note(key, holder, -count);
  }

  #sum(key: string): number {
    let sum = 0;
    for (const count of this.#lent.get(key)?.values() ?? []) sum += count;
    return sum;
  }

  #note(key: string, worker: Channel, count: number): void {
    if (!this.#workers.has(worker)) return;
    const holders = this.#lent.get(key) ?? new Map<Channel, number>();
    const held = (holders.get(worker) ?? 0) + count;
    if (held > 0) holders.set(worker, held);
    else holders.delete(worker);
    if (holders.size > 0) this.#lent.set(key, holders);
    else this.#lent.delete(key);
  }
}
