import type { Logger } from '../core/logger.ts';
import { recordId } from '../core/record-id.ts';
import type { CacheRecord, Records } from '../core/stores.ts';
import type { RequestLogMode } from './config.ts';
import type { Seen } from './observation.ts';
import { endOf, type RequestLog } from './request-log.ts';

const INDEX = 'request-log';
/** Days for which an entry is kept at most. */
export const LOG_DAYS = 90;
const KEPT_MS = LOG_DAYS * 86_400_000;
/** Batches that are kept apart; then they become one. */
const MOST_BATCHES = 24;

/** An entry as it was written: until 2026-11-26 as a text. */
type Kept = Seen | string;

interface Batch {
  readonly id: string;
  readonly count: number;
}

/**
 * Keeps the request log across restarts: now and then what has come is written as one batch, behind the requests. A crash
 * loses the last seconds; a storage that is out of order only loses this.
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
      if (this.#isStale) await this.#writeAnew();
      return count;
    });
  }

  async #load(): Promise<void> {
    if (this.#isLoaded) return;
    if (this.#mode === 'none') await this.#erase();
    else {
      const batches = await this.#batches();
      const found = await Promise.all(batches.map(({ id }) => this.#records.get(id)));
      const all = found.flatMap((record) =>
        record === undefined ? [] : (record.value as readonly Kept[]).map(seenOf),
      );
      const since = this.#keptSince();
      const entries = all.filter((entry) => endOf(entry) >= since);
      const hasContent = this.#mode === 'meta' && entries.some(({ content }) => content !== undefined);
      this.#isStale = hasContent || entries.length < all.length;
      const allowed = hasContent ? entries.map(withoutContent) : entries;
      const fresh = this.#log.size;
      this.#log.restore(allowed);
      this.#written = this.#log.end - fresh;
    }
    this.#isLoaded = true;
  }

  async #write(): Promise<void> {
    if (this.#mode === 'none') return;
    if (this.#log.end === this.#written && !this.#isStale) return;
    const batches = await this.#batches();
    if (this.#isStale || batches.length >= MOST_BATCHES) return this.#writeAnew();
    let count = 0;
    // From the newest on: those that hold nothing of what is still kept go.
    const kept = [...batches, await this.#put(this.#written, batches)].reverse().filter((each) => {
      const isNeeded = count < this.#most;
      count += each.count;
      return isNeeded;
    });
    await this.#replace(
      batches.filter((each) => !kept.includes(each)),
      kept.reverse(),
    );
  }

  async #writeAnew(): Promise<void> {
    const batches = await this.#batches();
    await this.#replace(batches, [await this.#put(0, batches)]);
    this.#isStale = false;
  }

  /** Writes what stands in the log from a place on, beside the batches that are there. */
  async #put(place: number, batches: readonly Batch[]): Promise<Batch> {
    const { end } = this.#log;
    const entries = this.#log.from(place, this.#most);
    const batch = { id: `${INDEX} ${recordId()}`, count: entries.length };
    // The index first: what it does not name, nobody would find again.
    await this.#index([...batches, batch]);
    const expires = Date.now() + KEPT_MS;
    // Entries are JSON, and stay what they are: as texts in JSON each of their quotes would be looked at and written anew.
    const json = `{"id":"${batch.id}","expires":${expires},"value":[${entries.join(',')}]}`;
    try {
      await this.#records.putJson(batch.id, expires, json);
    } catch (error) {
      await this.#replace([batch], batches).catch(() => {
        // It stays named, and goes with the others.
      });
      throw error;
    }
    this.#written = end;
    return batch;
  }

  /** Removes batches; the index names them until they are gone. */
  async #replace(old: readonly Batch[], kept: readonly Batch[]): Promise<void> {
    if (old.length === 0) return;
    await this.#forget(old);
    await this.#index(kept);
  }

  async #erase(): Promise<void> {
    // The index last: it is how the rest is found again where this fails.
    await this.#forget(await this.#batches());
    await this.#records.delete(INDEX);
  }

  async #batches(): Promise<readonly Batch[]> {
    return ((await this.#records.get(INDEX))?.value as readonly Batch[] | undefined) ?? [];
  }

  async #index(batches: readonly Batch[]): Promise<void> {
    await this.#records.put({ id: INDEX, expires: Date.now() + KEPT_MS, value: batches });
  }

  async #forget(batches: readonly Batch[]): Promise<void> {
    await Promise.all(batches.map(({ id }) => this.#records.delete(id)));
  }

  /** One after the other: each reads the index and writes it. */
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

function withoutContent({ content: _, error, ...seen }: Seen): Seen {
  return error === undefined ? seen : { ...seen, error: { code: error.code, name: error.name } };
}

function seenOf(kept: Kept): Seen {
  return typeof kept === 'string' ? (JSON.parse(kept) as Seen) : kept;
}
