import { LRUCache } from 'lru-cache';
import type { Logger } from '../core/logger.ts';
import type { CacheRecord, Records } from '../core/stores.ts';
import { Durations } from './durations.ts';
import type { Seen } from './observation.ts';
import { isFailure, isOk } from './request-log.ts';

const DAY_MS = 86_400_000;
/** As long as `stats` can look back, and a little more. */
const KEPT_MS = 400 * DAY_MS;
/** Groups of a day: names of users are free, and nobody reads a list of a million. What comes later counts without its user. */
const MOST_GROUPS = 500;
const OTHERS = '(others)';
const MOST_PAST_DAYS = 400;

/** Sums of what was asked by one user of one model. */
export interface Group {
  readonly user: string;
  readonly provider: string;
  readonly model: string;
  requests: number;
  errors: number;
  /** US dollars of all requests whose price is known. */
  cost: number;
  /** Requests with a price; whatever else used tokens has none. */
  priced: number;
  unpriced: number;
  readonly codes: Map<string, number>;
  readonly firstChunk: Durations;
  readonly duration: Durations;
}

/** What a day was like, by user, provider and model, beyond the sums of tokens. Written behind the requests, now and then. */
export class Insights {
  readonly #records: Records<CacheRecord>;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #past = new LRUCache<string, readonly Group[]>({ max: MOST_PAST_DAYS });
  #date: string;
  #groups = new Map<string, Group>();
  /** Whether what an earlier run kept of today is part of it. */
  #isLoaded = false;
  #isChanged = false;

  constructor(records: Records<CacheRecord>, log: Logger, now: () => number = Date.now) {
    this.#records = records;
    this.#log = log;
    this.#now = now;
    this.#date = dayOf(now());
  }

  add(seen: Seen): void {
    const group = this.#group(seen.user, seen.provider ?? '', seen.model ?? '');
    group.requests += 1;
    if (isFailure(seen)) {
      group.errors += 1;
      const code = seen.error?.code ?? String(seen.status);
      group.codes.set(code, (group.codes.get(code) ?? 0) + 1);
    } else if (isOk(seen)) {
      group.duration.add(seen.duration);
      if (seen.firstChunk !== undefined) group.firstChunk.add(seen.firstChunk);
    }
    this.#isChanged = true;
  }

  /** What a request cost, which may be known later than its end; null: unknown. */
  spent({ user, provider = '', model = '' }: Seen, cost: number | null): void {
    const group = this.#group(user, provider, model);
    if (cost === null) group.unpriced += 1;
    else {
      group.cost += cost;
      group.priced += 1;
    }
    this.#isChanged = true;
  }

  /** Of each day its groups; a day of which nothing is known has none. Throws when the storage is out of order. */
  async days(dates: readonly string[]): Promise<ReadonlyMap<string, readonly Group[]>> {
    await this.#load();
    const found = await Promise.all(dates.map(async (date) => [date, await this.#day(date)] as const));
    return new Map(found);
  }

  /** Writes what has changed. Never throws: what cannot be written now is tried again. */
  async flush(): Promise<void> {
    const date = this.#date;
    try {
      await this.#load();
      if (this.#isChanged) {
        this.#isChanged = false;
        await this.#records.put({ id: idOf(date), expires: this.#now() + KEPT_MS, value: toJson(this.#groups) });
      }
    } catch (error) {
      this.#isChanged = true;
      this.#log.debug({ error: String(error) }, 'sums of requests cannot be kept now');
    }
    if (dayOf(this.#now()) !== date) this.#turn();
  }

  /** A new day has begun; that of yesterday was written a moment ago, or never will be. */
  #turn(): void {
    this.#past.set(this.#date, [...this.#groups.values()]);
    this.#date = dayOf(this.#now());
    this.#groups = new Map();
    this.#isLoaded = false;
    this.#isChanged = false;
  }

  async #day(date: string): Promise<readonly Group[]> {
    if (date === this.#date) return [...this.#groups.values()];
    const known = this.#past.get(date);
    if (known !== undefined) return known;
    const groups = fromJson((await this.#records.get(idOf(date)))?.value);
    this.#past.set(date, groups);
    return groups;
  }

  async #load(): Promise<void> {
    if (this.#isLoaded) return;
    const kept = fromJson((await this.#records.get(idOf(this.#date)))?.value);
    if (this.#isLoaded) return;
    this.#isLoaded = true;
    for (const group of kept) merge(this.#group(group.user, group.provider, group.model), group);
  }

  #group(user: string, provider: string, model: string): Group {
    const name = JSON.stringify([user, provider, model]);
    const present = this.#groups.get(name);
    if (present !== undefined) return present;
    if (this.#groups.size >= MOST_GROUPS && user !== OTHERS) return this.#group(OTHERS, provider, model);
    if (this.#groups.size >= 2 * MOST_GROUPS && model !== OTHERS) return this.#group(OTHERS, OTHERS, OTHERS);
    const group = empty(user, provider, model);
    this.#groups.set(name, group);
    return group;
  }
}

/** The day of a time, UTC, as yyyy-mm-dd. */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

export function empty(user: string, provider: string, model: string): Group {
  return {
    user,
    provider,
    model,
    requests: 0,
    errors: 0,
    cost: 0,
    priced: 0,
    unpriced: 0,
    codes: new Map(),
    firstChunk: new Durations(),
    duration: new Durations(),
  };
}

export function merge(into: Group, other: Group): Group {
  into.requests += other.requests;
  into.errors += other.errors;
  into.cost += other.cost;
  into.priced += other.priced;
  into.unpriced += other.unpriced;
  for (const [code, count] of other.codes) into.codes.set(code, (into.codes.get(code) ?? 0) + count);
  into.firstChunk.merge(other.firstChunk);
  into.duration.merge(other.duration);
  return into;
}

function idOf(date: string): string {
  return `observed-day ${date}`;
}

type Kept = Omit<Group, 'codes' | 'firstChunk' | 'duration'> & {
  readonly codes: readonly (readonly [string, number])[];
  readonly firstChunk: readonly (readonly [number, number])[];
  readonly duration: readonly (readonly [number, number])[];
};

function toJson(groups: ReadonlyMap<string, Group>): readonly Kept[] {
  return [...groups.values()].map((group) => ({
    ...group,
    codes: [...group.codes],
    firstChunk: group.firstChunk.toJSON(),
    duration: group.duration.toJSON(),
  }));
}

function fromJson(value: unknown): readonly Group[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly Kept[]).map((group) => ({
    ...group,
    codes: new Map(group.codes),
    firstChunk: new Durations(group.firstChunk),
    duration: new Durations(group.duration),
  }));
}
