import { dayOf, daysUpTo } from '../../core/days.ts';
import type { UsageRecord, UsageStats, UsageStore, UsageTotals } from '../../core/stores.ts';
import { checkId } from '../id.ts';
import { addSums, MOST_NAMES, NOTHING, sumsOf } from '../usage-sums.ts';

/** Usage in this process's memory, summed up when somebody asks. */
export class MemoryUsage implements UsageStore {
  readonly #records = new Map<string, string>();

  async add(records: readonly UsageRecord[]): Promise<void> {
    for (const record of records) checkId(record.id);
    for (const record of records) {
      if (!this.#records.has(record.id)) this.#records.set(record.id, JSON.stringify(record));
    }
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
      totals: [...byDay.values()].reduce(addSums, NOTHING),
    };
  }

  #all(): readonly UsageRecord[] {
    return [...this.#records.values()].map((json) => JSON.parse(json) as UsageRecord);
  }
}

function sumsBy(records: readonly UsageRecord[], key: (record: UsageRecord) => string): Map<string, UsageTotals> {
  const sums = new Map<string, UsageTotals>();
  for (const record of records) {
    sums.set(key(record), addSums(sums.get(key(record)) ?? NOTHING, sumsOf(record)));
  }
  return sums;
}

function named(sums: ReadonlyMap<string, UsageTotals>): { name: string; totalTokens: number }[] {
  return [...sums]
    .map(([name, { totalTokens }]) => ({ name, totalTokens }))
    .sort((one, other) => other.totalTokens - one.totalTokens || (one.name < other.name ? -1 : 1))
    .slice(0, MOST_NAMES);
}
