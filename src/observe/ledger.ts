import type { Logger } from '../core/logger.ts';
import type { CacheRecord, Records } from '../core/stores.ts';
import type { ObserveConfig } from './config.ts';
import { type Group, Insights } from './insights.ts';
import { KeptLog } from './keeping.ts';
import { Metrics, type Present } from './metrics/metrics.ts';
import type { Seen } from './observation.ts';
import { type LogPage, type LogQuery, RequestLog } from './request-log.ts';

/** How often what is to be kept is written, in milliseconds. */
const FLUSH_MS = 5_000;
/**
 * How long finished requests wait to be written down together, in milliseconds. Many at a time take a third of what each takes
 * in between others that are running. A reader does not wait for it.
 */
const WAIT_MS = 20;

/** What a ledger is told, as data. */
export type Noted =
  | { readonly type: 'count'; readonly seen: Seen }
  | { readonly type: 'add'; readonly seen: Seen; readonly isComplete: boolean }
  | { readonly type: 'keep'; readonly seen: Seen }
  | { readonly type: 'spent'; readonly seen: Seen; readonly cost: number | null };

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

export interface LedgerDeps {
  readonly config: ObserveConfig;
  readonly records: Records<CacheRecord>;
  readonly log: Logger;
}

/** The ledger of this process. */
export class OwnLedger implements Ledger {
  readonly #metrics = new Metrics();
  readonly #insights: Insights;
  readonly #requests: RequestLog;
  readonly #kept: KeptLog;
  readonly #config: ObserveConfig;
  #waiting: Noted[] = [];
  #settling: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor({ config, records, log }: LedgerDeps) {
    const { requestLog: mode, requestLogEntries: entries, requestLogBytes: bytes } = config;
    this.#config = config;
    this.#insights = new Insights(records, log);
    this.#requests = new RequestLog({ entries, bytes });
    this.#kept = new KeptLog(this.#requests, mode, entries, records, log);
  }

  count(seen: Seen): void {
    this.note({ type: 'count', seen });
  }

  add(seen: Seen, isComplete: boolean): void {
    this.note({ type: 'add', seen, isComplete });
  }

  keep(seen: Seen): void {
    this.note({ type: 'keep', seen });
  }

  spent(seen: Seen, cost: number | null): void {
    this.note({ type: 'spent', seen, cost });
  }

  /** The same as each of the four above. */
  note(noted: Noted): void {
    this.#waiting.push(noted);
    this.#settling ??= setTimeout(() => this.#settle(), WAIT_MS).unref();
  }

  async query(query: LogQuery): Promise<KeptPage> {
    this.#settle();
    await this.#kept.load();
    const kept = Math.min(this.#requests.size, this.#config.requestLogEntries);
    return { ...this.#requests.query(query), kept };
  }

  async find(id: string): Promise<Seen | undefined> {
    this.#settle();
    await this.#kept.load();
    return this.#requests.find(id);
  }

  clear(): Promise<number> {
    this.#settle();
    return this.#kept.clear();
  }

  days(dates: readonly string[]): Promise<ReadonlyMap<string, readonly Group[]>> {
    this.#settle();
    return this.#insights.days(dates);
  }

  /** @param processes metrics of the processes, where they are not those of this one */
  render(present: Present, processes?: string): Promise<string> {
    this.#settle();
    return this.#metrics.render(present, processes);
  }

  async flush(): Promise<void> {
    this.#settle();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await Promise.all([this.#kept.flush(), this.#insights.flush()]);
  }

  async close(): Promise<void> {
    this.#metrics.stop();
    await this.flush();
  }

  #settle(): void {
    clearTimeout(this.#settling);
    this.#settling = undefined;
    const all = this.#waiting;
    this.#waiting = [];
    for (const each of all) this.#take(each);
  }

  #take(noted: Noted): void {
    const { seen } = noted;
    switch (noted.type) {
      case 'count':
        this.#metrics.add(seen);
        break;
      case 'add':
        this.#metrics.add(seen);
        this.#insights.add(seen);
        if (noted.isComplete) this.#keep(seen);
        this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
        break;
      case 'keep':
        this.#keep(seen);
        break;
      case 'spent':
        this.#insights.spent(seen, noted.cost);
        if (noted.cost !== null) this.#metrics.spent(seen, noted.cost);
    }
  }

  #keep(seen: Seen): void {
    if (this.#config.requestLog !== 'none') this.#requests.add(seen);
  }
}
