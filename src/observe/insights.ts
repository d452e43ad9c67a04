import { boundedCache } from '../core/bounded-cache.ts';
import { DAY_MS, dayOf } from '../core/days.ts';
import type { Logger } from '../core/logger.ts';
import type { CacheRecord, Records } from '../core/stores.ts';
import { Durations } from './durations.ts';
import type { Seen } from './observation.ts';
import { isFailure, isOk } from './request-log.ts';

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

/** Groups by what they are of, at most so many. */
class Groups {
  readonly #groups = new Map<string, Group>();
  #last: Group | undefined;

  get isEmpty(): boolean {
    return this.#groups.size === 0;
  }

  values(): Iterable<Group> {
    return this.#groups.values();
  }

  add(groups: Iterable<Group>): this {
    for (const each of groups) merge(this.group(each.user, each.provider, each.model), each);
    return this;
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
    const present = this.#groups.get(name);
    if (present !== undefined) return present;
    if (this.#groups.size >= MOST_GROUPS && user !== OTHERS) return this.#find(OTHERS, provider, model);
    if (this.#groups.size >= 2 * MOST_GROUPS && model !== OTHERS) return this.#find(OTHERS, OTHERS, OTHERS);
    const group = empty(user, provider, model);
    this.#groups.set(name, group);
    return group;
  }
}

/** One day, as far as this process knows it. */
class Day {
  readonly date: string;
  /** What the disk has of it, from this process and others; undefined: not read yet. */
  kept: Groups | undefined;
  /** What is being added to that. */
  leaving = new Groups();
  /** What has come since. */
  fresh = new Groups();

  constructor(date: string) {
    this.date = date;
  }

  /** All of it is on the disk. */
  get isWritten(): boolean {
    return this.leaving.isEmpty && this.fresh.isEmpty;
  }

  get groups(): readonly Group[] {
    const all = new Groups();
    for (const each of [this.kept, this.leaving, this.fresh]) if (each !== undefined) all.add(each.values());
    return [...all.values()];
  }
}

/**
 * What a day was like, by user, provider and model, beyond the sums of tokens. Written behind the requests, now and then: what has
 * come is added to what is there, which another process on the same data may have written.
 */
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
  #working: Promise<unknown> = Promise.resolve();

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
    const days = this.#usageDays();
    const first = days === 0 ? '' : dayOf(this.#now() - days * DAY_MS);
    // What is no longer on the disk may still be in memory.
    const dayFrom = (date: string) => (date < first ? [] : this.#day(date));
    const found = await Promise.all(dates.map(async (date) => [date, await dayFrom(date)] as const));
    return new Map(found);
  }

  /** Writes what has come. Never throws: what cannot be written now is tried again. */
  async flush(): Promise<void> {
    this.#turn();
    await this.#inTurn(async () => {
      for (const day of [...this.#ended, this.#today]) {
        try {
          await this.#write(day);
          this.#ended = this.#ended.filter((each) => each !== day);
        } catch (error) {
          this.#log.debug({ error: String(error) }, 'sums of requests cannot be kept now');
        }
      }
    });
  }

  async #write(day: Day): Promise<void> {
    if (day.fresh.isEmpty) return;
    const { fresh: leaving } = day;
    day.leaving = leaving;
    day.fresh = new Groups();
    const id = idOf(day.date);
    const expires = this.#now() + KEPT_DAYS * DAY_MS;
    let whole: Groups | undefined;
    try {
      await this.#records.update(id, (present) => {
        whole = groupsOf(present).add(leaving.values());
        return { id, expires, value: toJson(whole.values()) };
      });
      day.kept = whole;
    } catch (error) {
      day.fresh = leaving.add(day.fresh.values());
      throw error;
    } finally {
      day.leaving = new Groups();
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
    if (!this.#today.isWritten) this.#ended = [...this.#ended, this.#today].slice(-MOST_ENDED);
    this.#today = this.#begin();
  }

  async #day(date: string): Promise<readonly Group[]> {
    const open = [this.#today, ...this.#ended].find((day) => day.date === date);
    if (open !== undefined) {
      await this.#load(open);
      return open.groups;
    }
    const known = this.#past.get(date);
    if (known !== undefined) return known;
    const groups = [...groupsOf(await this.#records.get(idOf(date))).values()];
    this.#past.set(date, groups);
    return groups;
  }

  /** Not while it is being written, or some of it would count twice. */
  async #load(day: Day): Promise<void> {
    if (day.kept !== undefined) return;
    await this.#inTurn(async () => {
      day.kept ??= groupsOf(await this.#records.get(idOf(day.date)));
    });
  }

  #inTurn(task: () => Promise<void>): Promise<void> {
    const turn = this.#working.then(task);
    this.#working = turn.catch(() => {});
    return turn;
  }

  #group({ user, provider = '', model = '' }: Seen): Group {
    this.#turn();
    return this.#today.fresh.group(user, provider, model);
  }
}

/** A group of no requests. */
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

/** Adds `other` to `into`, which is returned. */
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

function groupsOf(record: CacheRecord | undefined): Groups {
  return new Groups().add(fromJson(record?.value));
}

/** A group as plain JSON. */
export type KeptGroup = Omit<Group, 'codes' | 'firstChunk' | 'duration'> & {
  readonly codes: readonly (readonly [string, number])[];
  readonly firstChunk: readonly (readonly [number, number])[];
  readonly duration: readonly (readonly [number, number])[];
};

/** Groups as they are stored. */
export function toJson(groups: Iterable<Group>): readonly KeptGroup[] {
  return [...groups].map((group) => ({
    ...group,
    codes: [...group.codes],
    firstChunk: group.firstChunk.toJSON(),
    duration: group.duration.toJSON(),
  }));
}

/** The reverse; of anything but a list, none. */
export function fromJson(value: unknown): readonly Group[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly KeptGroup[]).map((group) => ({
    ...group,
    codes: new Map(group.codes),
    firstChunk: new Durations(group.firstChunk),
    duration: new Durations(group.duration),
  }));
}
