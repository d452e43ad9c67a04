import { dayOf, daysUpTo } from '../../core/days.ts';
import type { UsageRecord, UsageStats, UsageStore, UsageTotals } from '../../core/stores.ts';
import { addUp, noTotals, type Totals, type UsageBatch } from '../../core/usage-batch.ts';
import { addTotals, MOST_NAMES, NOTHING } from '../usage-sums.ts';

/** Usage in this process's memory, summed up when somebody asks. */
export class MemoryUsage implements UsageStore {
  /** The records of batches, in JSON, by the ids of these. */
  readonly #batches = new Map<string, string>();

  async add({ id, json }: UsageBatch): Promise<void> {
    if (!this.#batches.has(id)) this.#batches.set(id, json);
  }

  async *day(date: string): AsyncIterable<UsageRecord> {
    yield* this.#all()
      .filter((record) => dayOf(record.time) === date)
      .sort((one, other) => one.time - other.time);
  }

  async stats({ today, days: count, user }: Parameters<UsageStore['stats']>[0]): Promise<UsageStats> {
    const dates = daysUpTo(today, count);
    const period = new Set(dates);
    const records = this.#all().filter(
      (record) => period.has(dayOf(record.time)) && (user === undefined || record.user === user),
    );
    const byDay = sumsBy(records, (record) => dayOf(record.time));
    return {
      days: dates.map((date) => ({ date, ...(byDay.get(date) ?? NOTHING) })),
      models: named(sumsBy(records, (record) => record.model)),
      providers: named(sumsBy(records, (record) => record.provider)),
      users: named(sumsBy(records, (record) => record.user)),
      totals: [...byDay.values()].reduce(addTotals, NOTHING),
    };
  }

  #all(): readonly UsageRecord[] {
    return [...this.#batches.values()].flatMap((json) => JSON.parse(json) as UsageRecord[]);
  }
}

function sumsBy(records: readonly UsageRecord[], key: (record: UsageRecord) => string): Map<string, UsageTotals> {
  const sums = new Map<string, Totals>();
  for (const record of records) {
    const totals = sums.get(key(record)) ?? noTotals();
    addUp(totals, record);
    sums.set(key(record), totals);
  }
  return sums;
}

function named(sums: ReadonlyMap<string, UsageTotals>): { name: string; totalTokens: number }[] {
  return [...sums]
    .map(([name, { totalTokens }]) => ({ name, totalTokens }))
    .sort((one, other) => other.totalTokens - one.totalTokens || (one.name < other.name ? -1 : 1))
    .slice(0, MOST_NAMES);
}
