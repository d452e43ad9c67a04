import { DAY_MS } from '../core/days.ts';
import { cautiousNow } from '../core/file-age.ts';
import type { Logger } from '../core/logger.ts';
import { recordId } from '../core/record-id.ts';
import type { CacheRecord, Records } from '../core/stores.ts';
import type { RequestLogMode } from './config.ts';
import type { Seen } from './observation.ts';
import { endOf, type RequestLog } from './request-log.ts';

const INDEX = 'request-log';
/** Days for which an entry is kept at most. */
export const LOG_DAYS = 90;
const KEPT_MS = LOG_DAYS * DAY_MS;
/** Batches that are kept apart; then they become one. */
const MOST_BATCHES = 24;
/** A batch that is named is written at once. One that is not there so many milliseconds later was lost in a crash. */
const LOST_MS = 3_600_000;

/** An entry as it was written: until 2026-11-26 as a text. */
type Kept = Seen | string;

interface Batch {
  readonly id: string;
  readonly count: number;
}

/**
 * Keeps the request log across restarts: now and then what has come is written as one batch, behind the requests. A crash
 * loses the last seconds; a storage that is out of order only loses this. Another process on the same data, as while a new one
 * takes over, writes its own batches; whoever makes one of all takes over those of the other before.
 */
export class KeptLog {
  readonly #log: RequestLog;
  readonly #mode: RequestLogMode;
  readonly #records: Records<CacheRecord>;
  readonly #logger: Logger;
  readonly #most: number;
  readonly #keptSince: () => number;
  #isLoaded = false;
  /** On the disk is something that is no longer to be kept. */
  #isStale = false;
  /** The place in the log up to which all is written. */
  #written = 0;
  /** The latest time until which anything was to be kept. */
  #latest = 0;
  /** The batches whose entries stand in the log. */
  #known: ReadonlySet<string> = new Set();
  #working: Promise<unknown> = Promise.resolve();

  /** @param keptSince what ended before that, in milliseconds since 1970, is not kept */
  constructor(
    log: RequestLog,
    mode: RequestLogMode,
    most: number,
    records: Records<CacheRecord>,
    logger: Logger,
    keptSince: () => number,
  ) {
    this.#log = log;
    this.#mode = mode;
    this.#most = most;
    this.#records = records;
    this.#logger = logger;
    this.#keptSince = keptSince;
  }

  /** Reads what an earlier run left, once. Never throws. */
  load(): Promise<void> {
    return this.#quietly(async () => {
      if (this.#isLoaded) return;
      await this.#load();
      if (this.#isStale) await this.#writeAnew();
    });
  }

  /** Writes what is new. Never throws. */
  flush(): Promise<void> {
    return this.#quietly(async () => {
      await this.#load();
      await this.#write();
    });
  }

  /** Forgets everything, here and on the disk. Throws when the disk does not. */
  clear(): Promise<number> {
    return this.#inTurn(async () => {
      await this.#load();
      await this.#erase();
      this.#isStale = false;
      return this.#log.clear();
    });
  }

  /** Forgets what is too old, here and on the disk. Throws when the disk does not. Returns how many there were. */
  forgetOld(): Promise<number> {
    return this.#inTurn(async () => {
      await this.#load();
      const count = this.#log.dropBefore(this.#keptSince());
      if (count > 0) this.#isStale = true;
      await this.#takeOver(await this.#batches());
      if (this.#isStale) await this.#writeAnew();
      return count;
    });
  }

  async #load(): Promise<void> {
    if (this.#isLoaded) return;
    if (this.#mode === 'none') await this.#erase();
    else await this.#read(await this.#batches());
    this.#isLoaded = true;
  }

  /** What other processes have added or rewritten comes into the log, and what they have removed goes; where no log is kept, all goes. */
  async #takeOver(batches: readonly Batch[]): Promise<void> {
    const isSame = batches.length === this.#known.size && batches.every(({ id }) => this.#known.has(id));
    if (isSame) return;
    if (this.#mode === 'none') await this.#erase();
    else await this.#read(batches);
  }

  /** Reads what is written; what is not yet stays behind it. */
  async #read(batches: readonly Batch[]): Promise<void> {
    const found = await Promise.all(batches.map(({ id }) => this.#records.get(id)));
    const all = found.flatMap((record) => (record === undefined ? [] : (record.value as readonly Kept[]).map(seenOf)));
    const since = this.#keptSince();
    const entries = all.filter((entry) => endOf(entry) >= since);
    const hasContent = this.#mode === 'meta' && entries.some(({ content }) => content !== undefined);
    this.#isStale ||= hasContent || entries.length < all.length;
    this.#written = this.#log.restore(hasContent ? entries.map(withoutContent) : entries, this.#written);
    const known = batches.filter((batch, at) => found[at] !== undefined || isLost(batch));
    this.#known = new Set(known.map(({ id }) => id));
  }

  async #write(): Promise<void> {
    if (this.#mode === 'none') return;
    if (this.#log.end === this.#written && !this.#isStale) return;
    const batches = await this.#batches();
    if (this.#isStale || batches.length >= MOST_BATCHES) return this.#writeAnew();
    let count = await this.#put(this.#written);
    // From the newest on: those that hold nothing of what is still kept go.
    const full = batches.toReversed().filter((each) => {
      const isNeeded = count < this.#most;
      count += each.count;
      return !isNeeded;
    });
    await this.#remove(full.map(({ id }) => id));
  }

  async #writeAnew(): Promise<void> {
    await this.#takeOver(await this.#batches());
    const old = [...this.#known];
    await this.#put(0);
    await this.#remove(old);
    this.#isStale = false;
  }

  /** Writes what stands in the log from a place on, beside the batches that are there. Returns how many entries that were. */
  async #put(place: number): Promise<number> {
    const { end } = this.#log;
    const entries = this.#log.from(place, this.#most);
    const batch = { id: `${INDEX} ${recordId()}`, count: entries.length };
    const name = (named: readonly Batch[]) => (named.some(({ id }) => id === batch.id) ? undefined : [...named, batch]);
    // The index first: what it does not name, nobody would find again.
    await this.#index(name);
    const expires = this.#expires();
    // Entries are JSON, and stay what they are: as texts in JSON each of their quotes would be looked at and written anew.
    const json = `{"id":"${batch.id}","expires":${expires},"value":[${entries.join(',')}]}`;
    try {
      await this.#records.putJson(batch.id, expires, json);
    } catch (error) {
      await this.#remove([batch.id]).catch(() => {
        // It stays named, and goes with the others.
      });
      throw error;
    }
    this.#written = end;
    this.#known = new Set([...this.#known, batch.id]);
    // Others may have cleared the log meanwhile, or taken it for lost.
    await this.#index(name);
    return entries.length;
  }

  /** Removes batches; the index names them until they are gone. */
  async #remove(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#forget(ids);
    await this.#index((named) => named.filter(({ id }) => !ids.includes(id)));
    this.#known = new Set([...this.#known].filter((id) => !ids.includes(id)));
  }

  async #erase(): Promise<void> {
    // The index last: it is how the rest is found again where this fails.
    const batches = await this.#batches();
    await this.#forget(batches.map(({ id }) => id));
    await this.#records.delete(INDEX);
    this.#known = new Set();
  }

  async #batches(): Promise<readonly Batch[]> {
    const index = await this.#records.get(INDEX);
    this.#expires(index);
    return (index?.value as readonly Batch[] | undefined) ?? [];
  }

  /** Until when what is written now is kept: no shorter than what was before, since the clock may have been set back. */
  #expires(index?: CacheRecord): number {
    this.#latest = Math.max(this.#latest, index?.expires ?? 0, Date.now() + KEPT_MS);
    return this.#latest;
  }

  /** Changes the index as it is then: another process may have changed it, too. */
  async #index(change: (named: readonly Batch[]) => readonly Batch[] | undefined): Promise<void> {
    await this.#records.update(INDEX, (present) => {
      const value = change((present?.value as readonly Batch[] | undefined) ?? []);
      return value && { id: INDEX, expires: this.#expires(present), value };
    });
  }

  async #forget(ids: readonly string[]): Promise<void> {
    await Promise.all(ids.map((id) => this.#records.delete(id)));
  }

  /** One after the other: each reads the index, and acts on that. */
  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#working.then(task, task);
    this.#working = turn.catch(() => {});
    return turn;
  }

  async #quietly(task: () => Promise<void>): Promise<void> {
    try {
      await this.#inTurn(task);
    } catch (error) {
      this.#logger.debug({ error: String(error) }, 'the request log cannot be kept now');
    }
  }
}

/** Its name begins with the time at which it was to be written. */
function isLost({ id }: Batch): boolean {
  return cautiousNow() - Number.parseInt(id.slice(INDEX.length + 1), 16) > LOST_MS;
}

function withoutContent({ content: _, error, ...seen }: Seen): Seen {
  return error === undefined ? seen : { ...seen, error: { code: error.code, name: error.name } };
}

function seenOf(kept: Kept): Seen {
  return typeof kept === 'string' ? (JSON.parse(kept) as Seen) : kept;
}
