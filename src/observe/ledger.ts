import { DAY_MS, dayOf } from '../core/days.ts';
import { cautiousNow } from '../core/file-age.ts';
import type { Logger } from '../core/logger.ts';
import type { CacheRecord, Records } from '../core/stores.ts';
import type { ObserveConfig } from './config.ts';
import { type Group, Insights } from './insights.ts';
import { KeptLog, LOG_DAYS } from './keeping.ts';
import { Metrics, type Present } from './metrics/metrics.ts';
import type { Seen } from './observation.ts';
import { type LogPage, type LogQuery, RequestLog } from './request-log.ts';

/** How often what is to be kept is written, in milliseconds. */
const FLUSH_MS = 5_000;

/** A page of the log, and how many entries there are in all. */
export interface KeptPage extends LogPage {
  readonly kept: number;
}

/** Where finished requests are written down: counters, sums of days, the log. Several processes may have one in common. */
export interface Ledger {
  /** A request that asked no model, or was not let in: it is counted, and nothing else. */
  count(seen: Seen): void;
  /** @param isComplete whether its cost is known too, if it has any; else `keep` follows */
  add(seen: Seen, isComplete: boolean): void;
  /** Puts a request into the log of which all is known only now. */
  keep(seen: Seen): void;
  /** What a request cost, which may be known later than its end; null: unknown. */
  spent(seen: Seen, cost: number | null): void;
  query(query: LogQuery): Promise<KeptPage>;
  find(id: string): Promise<Seen | undefined>;
  /** Forgets the log, and tells how many entries it had. */
  clear(): Promise<number>;
  /** Of each day its groups. */
  days(dates: readonly string[]): Promise<ReadonlyMap<string, readonly Group[]>>;
  /** All metrics as text. */
  render(present: Present): Promise<string>;
  /** Writes what waits. Never throws. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

interface LedgerDeps {
  readonly config: ObserveConfig;
  readonly records: Records<CacheRecord>;
  readonly log: Logger;
  /** Days for which usage is kept; 0: for ever. */
  readonly usageDays?: () => number;
}

/** The ledger of this process. */
export class OwnLedger implements Ledger {
  readonly #metrics = new Metrics();
  readonly #insights: Insights;
  readonly #requests: RequestLog;
  readonly #kept: KeptLog;
  readonly #config: ObserveConfig;
  #timer: NodeJS.Timeout | undefined;

  constructor({ config, records, log, usageDays }: LedgerDeps) {
    const { requestLog: mode, requestLogEntries: entries, requestLogBytes: bytes } = config;
    this.#config = config;
    this.#insights = new Insights(records, log, Date.now, usageDays);
    this.#requests = new RequestLog({ entries, bytes });
    this.#kept = new KeptLog(this.#requests, mode, entries, records, log, () => keptSince(usageDays?.() ?? 0));
    // What an earlier run kept and this one shall not goes now, and not with the first request.
    void this.#kept.load();
  }

  count(seen: Seen): void {
    this.#metrics.add(seen);
  }

  add(seen: Seen, isComplete: boolean): void {
    this.#metrics.add(seen);
    this.#insights.add(seen);
    if (isComplete) this.keep(seen);
    this.#flushLater();
  }

  keep(seen: Seen): void {
    if (this.#config.requestLog !== 'none') this.#requests.add(seen);
    this.#flushLater();
  }

  spent(seen: Seen, cost: number | null): void {
    this.#insights.spent(seen, cost);
    if (cost !== null) this.#metrics.spent(seen, cost);
    this.#flushLater();
  }

  async query(query: LogQuery): Promise<KeptPage> {
    await this.#kept.load();
    const kept = Math.min(this.#requests.size, this.#config.requestLogEntries);
    return { ...this.#requests.query(query), kept };
  }

  async find(id: string): Promise<Seen | undefined> {
    await this.#kept.load();
    return this.#requests.find(id);
  }

  clear(): Promise<number> {
    return this.#kept.clear();
  }

  /** Forgets what the log holds no longer. Returns how many entries there were. */
  forgetOld(): Promise<number> {
    return this.#kept.forgetOld();
  }

  days(dates: readonly string[]): Promise<ReadonlyMap<string, readonly Group[]>> {
    return this.#insights.days(dates);
  }

  /** @param processes metrics of the processes, where they are not those of this one */
  render(present: Present, processes?: string): Promise<string> {
    return this.#metrics.render(present, processes);
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await Promise.all([this.#kept.flush(), this.#insights.flush()]);
  }

  async close(): Promise<void> {
    this.#metrics.stop();
    await this.flush();
  }

  #flushLater(): void {
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }
}

/** The beginning of the first day (UTC) of which the log tells: it names users, so it knows no more of them than their usage. */
function keptSince(usageDays: number): number {
  const days = usageDays === 0 ? LOG_DAYS : Math.min(usageDays, LOG_DAYS);
  return Date.parse(dayOf(cautiousNow() - days * DAY_MS));
}
