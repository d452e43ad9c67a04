import { boundedCache } from '../core/bounded-cache.ts';
import { dayOf } from '../core/days.ts';
import type { Logger } from '../core/logger.ts';
import type { CacheRecord, Records } from '../core/stores.ts';
import { Durations } from './durations.ts';
import type { Seen } from './observation.ts';
import { isFailure, isOk } from './request-log.ts';

const DAY_MS = 86_400_000;
/** As long as `stats` can look back, and a little more. */
const KEPT_DAYS = 400;
/** Groups of a day: names of users are free, and nobody reads a list of a million. What comes later counts without its user. */
const MOST_GROUPS = 500;
const OTHERS = '(others)';
/** Days that wait for a storage that is out of order. */
const MOST_ENDED = 7;

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

/** One day, as far as this process knows it. */
class Day {
  readonly date: string;
  readonly groups = new Map<string, Group>();
  /** Whether what an earlier run kept of it is part of it. */
  isLoaded = false;
  isChanged = false;
  #last: Group | undefined;

  constructor(date: string) {
    this.date = date;
  }

  group(user: string, provider: string, model: string): Group {
    // Most have the names of the one before.
    const last = this.#last;
    if (last?.user === user && last.provider === provider && last.model === model) return last;
    this.#last = this.#find(user, provider, model);
    return this.#last;
  }

  #find(user: string, provider: string, model: string): Group {
    // No name of a user or provider holds this character.
    const name = `${user}\0${provider}\0${model}`;
    const present = this.groups.get(name);
    if (present !== undefined) return present;
    if (this.groups.size >= MOST_GROUPS && user !== OTHERS) return this.#find(OTHERS, provider, model);
    if (this.groups.size >= 2 * MOST_GROUPS && model !== OTHERS) return this.#find(OTHERS, OTHERS, OTHERS);
    const group = empty(user, provider, model);
    this.groups.set(name, group);
    return group;
  }
}

/** What a day was like, by user, provider and model, beyond the sums of tokens. Written behind the requests, now and then. */
export class Insights {
  readonly #records: Records<CacheRecord>;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #usageDays: () => number;
  readonly #past = boundedCache<string, readonly Group[]>(KEPT_DAYS);
  #today: Day;
  /** When this day began, in milliseconds since 1970. */
  #began = 0;
  /** Days that have ended and are not written yet. */
  #ended: Day[] = [];

  /** @param usageDays days for which anything is kept of users, where that is less than `KEPT_DAYS`; 0: it is not */
  constructor(
    records: Records<CacheRecord>,
    log: Logger,
    now: () => number = Date.now,
    usageDays: () => number = () => 0,
  ) {
    this.#records = records;
    this.#log = log;
    this.#now = now;
    this.#usageDays = usageDays;
    this.#today = this.#begin();
  }

  add(seen: Seen): void {
    const group = this.#group(seen);
    group.requests += 1;
    if (isFailure(seen)) {
      group.errors += 1;
      const code = seen.error?.code ?? String(seen.status);
      group.codes.set(code, (group.codes.get(code) ?? 0) + 1);
    } else if (isOk(seen)) {
      group.duration.add(seen.duration);
      if (seen.firstChunk !== undefined) group.firstChunk.add(seen.firstChunk);
    }
  }

  /** What a request cost, which may be known later than its end; null: unknown. */
  spent(seen: Seen, cost: number | null): void {
    const group = this.#group(seen);
    if (cost === null) group.unpriced += 1;
    else {
      group.cost += cost;
      group.priced += 1;
    }
  }

  /** Of each day its groups; a day of which nothing is known has none. Throws when the storage is out of order. */
  async days(dates: readonly string[]): Promise<ReadonlyMap<string, readonly Group[]>> {
    this.#turn();
    await this.#load(this.#today);
    const days = this.#usageDays();
    const first = days === 0 ? '' : dayOf(this.#now() - days * DAY_MS);
    // What is no longer on the disk may still be in memory.
    const dayFrom = (date: string) => (date < first ? [] : this.#day(date));
    const found = await Promise.all(dates.map(async (date) => [date, await dayFrom(date)] as const));
    return new Map(found);
  }

  /** Writes what has changed. Never throws: what cannot be written now is tried again. */
  async flush(): Promise<void> {
    this.#turn();
    for (const day of [...this.#ended, this.#today]) {
      try {
        await this.#write(day);
        this.#ended = this.#ended.filter((each) => each !== day);
      } catch (error) {
        this.#log.debug({ error: String(error) }, 'sums of requests cannot be kept now');
      }
    }
  }

  async #write(day: Day): Promise<void> {
    if (!day.isChanged) return;
    await this.#load(day);
    const value = toJson(day.groups.values());
    day.isChanged = false;
    try {
      await this.#records.put({ id: idOf(day.date), expires: this.#now() + KEPT_DAYS * DAY_MS, value });
    } catch (error) {
      day.isChanged = true;
      throw error;
    }
  }

  #begin(): Day {
    const date = dayOf(this.#now());
    this.#began = Date.parse(`${date}T00:00:00Z`);
    this.#past.delete(date);
    const before = this.#ended.find((day) => day.date === date);
    this.#ended = this.#ended.filter((day) => day !== before);
    return before ?? new Day(date);
  }

  /** Begins a new day when it is time; or one that has been, once a clock that was wrong is put right. */
  #turn(): void {
    const sinceBegin = this.#now() - this.#began;
    if (sinceBegin >= 0 && sinceBegin < DAY_MS) return;
    if (this.#today.isChanged) this.#ended = [...this.#ended, this.#today].slice(-MOST_ENDED);
    this.#today = this.#begin();
  }

  async #day(date: string): Promise<readonly Group[]> {
    const open = [this.#today, ...this.#ended].find((day) => day.date === date);
    if (open !== undefined) {
      await this.#load(open);
      return [...open.groups.values()];
    }
    const known = this.#past.get(date);
    if (known !== undefined) return known;
    const groups = fromJson((await this.#records.get(idOf(date)))?.value);
    this.#past.set(date, groups);
    return groups;
  }

  async #load(day: Day): Promise<void> {
    if (day.isLoaded) return;
    const kept = fromJson((await this.#records.get(idOf(day.date)))?.value);
    if (day.isLoaded) return;
    day.isLoaded = true;
    for (const group of kept) merge(day.group(group.user, group.provider, group.model), group);
  }

  #group({ user, provider = '', model = '' }: Seen): Group {
    this.#turn();
    this.#today.isChanged = true;
    return this.#today.group(user, provider, model);
  }
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

/** Removes what is kept of days before one. Returns how many there were. */
export function forgetDaysBefore(records: Pick<Records<CacheRecord>, 'deleteBetween'>, date: string): Promise<number> {
  return records.deleteBetween(idOf(''), idOf(date));
}

function idOf(date: string): string {
  return `observed-day ${date}`;
}

export type KeptGroup = Omit<Group, 'codes' | 'firstChunk' | 'duration'> & {
  readonly codes: readonly (readonly [string, number])[];
  readonly firstChunk: readonly (readonly [number, number])[];
  readonly duration: readonly (readonly [number, number])[];
};

export function toJson(groups: Iterable<Group>): readonly KeptGroup[] {
  return [...groups].map((group) => ({
    ...group,
    codes: [...group.codes],
    firstChunk: group.firstChunk.toJSON(),
    duration: group.duration.toJSON(),
  }));
}

export function fromJson(value: unknown): readonly Group[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly KeptGroup[]).map((group) => ({
    ...group,
    codes: new Map(group.codes),
    firstChunk: new Durations(group.firstChunk),
    duration: new Durations(group.duration),
  }));
}
