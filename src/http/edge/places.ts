import { SluiceError } from '../../core/errors.ts';

/** How many answers there may be at once: to all, and to one client. */
export interface PlaceLimits {
  readonly streams: number;
  readonly streamsPerClient: number;
}

/** Where running answers take their places. */
export interface Places {
  /**
   * Takes a place, which a client that is known counts for itself too. Done when it returns nothing; else the promise tells.
   * Throws, or rejects with, `overloaded` or, for the share of one client, `rate_limited`.
   */
  take(client: string | undefined): Promise<void> | undefined;
  give(client: string | undefined): void;
}

/** The places of the one process that serves. */
export class OwnPlaces implements Places {
  readonly #limits: () => PlaceLimits;
  readonly #byClient = new Map<string, number>();
  #taken = 0;

  constructor(limits: () => PlaceLimits) {
    this.#limits = limits;
  }

  take(client: string | undefined): undefined {
    const { streams, streamsPerClient } = this.#limits();
    if (this.#taken >= streams) throw tooMany(streams);
    if (client !== undefined) {
      const own = this.#byClient.get(client) ?? 0;
      if (own >= streamsPerClient) throw tooManyOfClient(streamsPerClient);
      this.#byClient.set(client, own + 1);
    }
    this.#taken += 1;
  }

  give(client: string | undefined): void {
    this.#taken -= 1;
    if (client === undefined) return;
    const rest = (this.#byClient.get(client) ?? 1) - 1;
    if (rest === 0) this.#byClient.delete(client);
    else this.#byClient.set(client, rest);
  }
}

/** 503: all places are taken. */
export function tooMany(streams: number): SluiceError {
  return new SluiceError('overloaded', `Sluice is answering ${streams} requests already; try again shortly.`, {
    retryAfter: 1,
  });
}

/** 429: this client has its share, others may still have a place. */
export function tooManyOfClient(streamsPerClient: number): SluiceError {
  return new SluiceError('rate_limited', `One client gets at most ${streamsPerClient} answers at once.`, {
    retryAfter: 1,
  });
}
