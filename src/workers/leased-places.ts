import { type PlaceLimits, type Places, tooMany, tooManyOfClient } from '../http/edge/places.ts';
import type { Channel } from './channel.ts';

/** How often places that were lent for a client who has gone are given back, in milliseconds. */
const CLEAN_MS = 10_000;

interface Waiting {
  /** Whether the primary was asked for it already. */
  asked: boolean;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Places that the primary has lent to this worker: in all, or of one client. */
interface Lease {
  readonly client: string | undefined;
  held: number;
  used: number;
  /** Of those in use, so many are to be given back when they are free. */
  owed: number;
  isAsking: boolean;
  waiting: Waiting[];
}

/**
 * The places of one worker. The primary lends some ahead, so that the usual request asks nobody; one that finds none left waits
 * for the primary, who takes unused ones back from the other workers before it says no.
 */
export class LeasedPlaces implements Places {
  readonly #primary: Channel;
  readonly #limits: () => PlaceLimits;
  readonly #all: Lease = leaseOf(undefined);
  readonly #clients = new Map<string, Lease>();

  constructor(primary: Channel, limits: () => PlaceLimits) {
    this.#primary = primary;
    this.#limits = limits;
    primary.on('unused', ({ client, all }) =>
      this.#giveBack(client === undefined ? this.#all : this.#clients.get(client), all),
    );
    setInterval(() => this.#clean(), CLEAN_MS).unref();
  }

  take(client: string | undefined): Promise<void> | undefined {
    const own = client === undefined ? undefined : this.#leaseOf(client);
    if (!hasRoom(this.#all) || (own !== undefined && !hasRoom(own))) return this.#takeLate(client);
    this.#all.used += 1;
    if (own !== undefined) own.used += 1;
    return undefined;
  }

  give(client: string | undefined): void {
    this.#free(this.#all);
    const own = client === undefined ? undefined : this.#clients.get(client);
    if (own !== undefined) this.#free(own);
  }

  /** The client's own first: while the primary is asked for it, nobody else must miss a place that may not be needed. */
  async #takeLate(client: string | undefined): Promise<void> {
    const own = client === undefined ? undefined : this.#leaseOf(client);
    if (own !== undefined) await this.#reserve(own);
    try {
      await this.#reserve(this.#all);
    } catch (error) {
      if (own !== undefined) this.#free(own);
      throw error;
    }
  }

  async #reserve(lease: Lease): Promise<void> {
    if (hasRoom(lease)) {
      lease.used += 1;
      return;
    }
    const place = new Promise<void>((resolve, reject) => {
      lease.waiting.push({ asked: false, resolve, reject });
    });
    if (!lease.isAsking) void this.#ask(lease);
    await place;
  }

  /** Asks for all that wait, until nobody does. */
  async #ask(lease: Lease): Promise<void> {
    lease.isAsking = true;
    while (lease.waiting.length > 0) {
      for (const each of lease.waiting) each.asked = true;
      let refusal: Error | undefined;
      try {
        const granted = await this.#primary.ask('places', { client: lease.client, want: lease.waiting.length });
        // Not added to what was there before the question: that may have changed.
        lease.held += granted;
      } catch (error) {
        refusal = error as Error;
      }
      this.#serve(lease);
      // Those for whom there was none, while all others were really in use.
      const refused = lease.waiting.filter(({ asked }) => asked);
      lease.waiting = lease.waiting.filter(({ asked }) => !asked);
      for (const { reject } of refused) reject(refusal ?? this.#refusal(lease));
    }
    lease.isAsking = false;
  }

  #serve(lease: Lease): void {
    while (lease.waiting.length > 0 && lease.used < lease.held) {
      lease.used += 1;
      lease.waiting.shift()?.resolve();
    }
  }

  #free(lease: Lease): void {
    lease.used -= 1;
    if (lease.owed > 0) {
      lease.owed -= 1;
      lease.held -= 1;
      this.#primary.tell('back', { client: lease.client, count: 1 });
    }
    this.#serve(lease);
  }

  #giveBack(lease: Lease | undefined, all: boolean): number {
    if (lease === undefined) return 0;
    if (all) lease.owed = lease.used;
    const count = Math.max(0, lease.held - lease.used);
    lease.held -= count;
    return count;
  }

  #refusal({ client }: Lease): Error {
    const { streams, streamsPerClient } = this.#limits();
    return client === undefined ? tooMany(streams) : tooManyOfClient(streamsPerClient);
  }

  #leaseOf(client: string): Lease {
    let lease = this.#clients.get(client);
    if (lease === undefined) {
      lease = leaseOf(client);
      this.#clients.set(client, lease);
    }
    return lease;
  }

  #clean(): void {
    for (const [client, lease] of this.#clients) {
      if (lease.used > 0 || lease.isAsking) continue;
      this.#clients.delete(client);
      if (lease.held > 0) this.#primary.tell('back', { client, count: lease.held });
    }
  }
}

function leaseOf(client: string | undefined): Lease {
  return { client, held: 0, used: 0, owed: 0, isAsking: false, waiting: [] };
}

function hasRoom({ held, used, waiting }: Lease): boolean {
  return used < held && waiting.length === 0;
}
