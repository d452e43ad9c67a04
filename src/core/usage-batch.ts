import { dayOf } from './days.ts';
import { recordId } from './record-id.ts';
import type { UsageRecord, UsageTotals } from './usage-record.ts';

/** Sums that grow. */
export type Totals = { -readonly [Name in keyof UsageTotals]: number };

/** What one user used of one model. */
export interface UsageSum {
  readonly user: string;
  readonly provider: string;
  readonly model: string;
  readonly totals: Totals;
}

/**
 * Records of one day that are kept together. Each is text from the moment it comes: while it waits for the others, nothing of
 * it is an object that the collector would look through and copy, and later nobody has to make text of it.
 */
export class UsageBatch {
  /** The same batch counts once, however often it is kept. */
  readonly id = recordId();
  /** yyyy-mm-dd, UTC. */
  readonly day: string;
  readonly #texts: string[] = [];
  /** By their names, each with its length in front: clients choose what users are called, and two sums must not become one. */
  readonly #sums = new Map<string, UsageSum>();
  #last: UsageSum | undefined;
  #first = Number.POSITIVE_INFINITY;

  constructor(day: string) {
    this.day = day;
  }

  static of(record: UsageRecord): UsageBatch {
    const batch = new UsageBatch(dayOf(record.time));
    batch.add(record);
    return batch;
  }

  get size(): number {
    return this.#texts.length;
  }

  /** The time of its oldest record, in milliseconds since 1970. */
  get first(): number {
    return this.#first;
  }

  /** All records as a list in JSON. */
  get json(): string {
    return `[${this.#texts.join(',')}]`;
  }

  /** What is added to the sums of the day. */
  get sums(): Iterable<UsageSum> {
    return this.#sums.values();
  }

  /** Takes a record of its day. */
  add(record: UsageRecord): void {
    this.#texts.push(JSON.stringify(record));
    if (record.time < this.#first) this.#first = record.time;
    addUp(this.#sumOf(record).totals, record);
  }

  #sumOf({ user, provider, model }: UsageRecord): UsageSum {
    // Most have the names of the one before.
    const last = this.#last;
    if (last?.user === user && last.provider === provider && last.model === model) return last;
    const name = [user, provider, model].map((each) => `${each.length} ${each}`).join();
    const sum = this.#sums.get(name) ?? { user, provider, model, totals: noTotals() };
    this.#sums.set(name, sum);
    this.#last = sum;
    return sum;
  }
}

/** Sums to begin with. */
export function noTotals(): Totals {
  return { requests: 0, promptTokens: 0, completionTokens: 0, totalTokens: 0, savedTokens: 0 };
}

/** Adds a record to sums. */
function addUp(totals: Totals, record: UsageRecord): void {
  totals.requests += 1;
  totals.promptTokens += tokens(record.promptTokens);
  totals.completionTokens += tokens(record.completionTokens);
  totals.totalTokens += tokens(record.totalTokens);
  totals.savedTokens += tokens(record.savedTokens);
}

/** Clients report usage too; one absurd count must not turn a sum into Infinity or NaN for good. */
function tokens(count: number): number {
  return count > 0 ? Math.min(count, Number.MAX_SAFE_INTEGER) : 0;
}
