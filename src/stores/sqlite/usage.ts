import type { UsageRecord, UsageStats, UsageStore, UsageTotals } from '../../core/stores.ts';
import { dayOf, daysUpTo } from '../days.ts';
import { checkId } from '../id.ts';
import { addSums, MOST_NAMES, NOTHING, sumsOf } from '../usage-sums.ts';
import type { Database } from './database.ts';
import type { Row } from './protocol.ts';
import { type Statement, sql } from './sql.ts';

/** Records that are read at a time. */
const PAGE = 500;

const SUMS = sql`sum(requests) as requests, sum(prompt_tokens) as promptTokens,
  sum(completion_tokens) as completionTokens, sum(total_tokens) as totalTokens, sum(saved_tokens) as savedTokens`;

/** Usage: the records, and sums by day, user, provider and model that are kept in the same transaction. */
export class SqliteUsage implements UsageStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async add(records: readonly UsageRecord[]): Promise<void> {
    await this.#database.write(...records.flatMap(adding));
  }

  async *day(date: string): AsyncIterable<UsageRecord> {
    let after = sql`true`;
    for (;;) {
      const [result] = await this.#database.read(
        sql`select time, number, body from usage_records where day = ${date} and ${after}
            order by time, number limit ${PAGE}`,
      );
      const rows = result?.rows ?? [];
      for (const row of rows) yield JSON.parse(String(row['body'])) as UsageRecord;
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return;
      after = sql`(time, number) > (${Number(last['time'])}, ${Number(last['number'])})`;
    }
  }

  async stats({ today, days: count, user }: Parameters<UsageStore['stats']>[0]): Promise<UsageStats> {
    const dates = daysUpTo(today, count);
    const period = sql`day between ${dates[0] ?? today} and ${today}`;
    const where = user === undefined ? period : sql`${period} and user = ${user}`;
    const byName = (column: Statement) =>
      sql`select ${column} as name, sum(total_tokens) as totalTokens from usage_sums where ${where}
          group by name order by totalTokens desc, name limit ${MOST_NAMES}`;
    const [byDay, models, providers, users] = await this.#database.read(
      sql`select day, ${SUMS} from usage_sums where ${where} group by day`,
      byName(sql`model`),
      byName(sql`provider`),
      byName(sql`user`),
    );
    const present = new Map((byDay?.rows ?? []).map((row) => [String(row['day']), totalsOf(row)]));
    const days = dates.map((date) => ({ date, ...(present.get(date) ?? NOTHING) }));
    return {
      days,
      models: (models?.rows ?? []).map(namedOf),
      providers: (providers?.rows ?? []).map(namedOf),
      users: (users?.rows ?? []).map(namedOf),
      totals: [...present.values()].reduce(addSums, NOTHING),
    };
  }
}

function adding(record: UsageRecord): readonly Statement[] {
  const day = dayOf(record.time);
  const { requests, promptTokens, completionTokens, totalTokens, savedTokens } = sumsOf(record);
  return [
    sql`insert into usage_records (id, day, time, body)
        values (${checkId(record.id)}, ${day}, ${record.time}, ${JSON.stringify(record)}) on conflict (id) do nothing`,
    // changes() is 0 for a record that was there already: it must not count twice.
    sql`insert into usage_sums
        select ${day}, ${record.user}, ${record.provider}, ${record.model},
               ${requests}, ${promptTokens}, ${completionTokens}, ${totalTokens}, ${savedTokens}
        where changes() > 0
        on conflict (day, user, provider, model) do update set
          requests = requests + excluded.requests,
          prompt_tokens = prompt_tokens + excluded.prompt_tokens,
          completion_tokens = completion_tokens + excluded.completion_tokens,
          total_tokens = total_tokens + excluded.total_tokens,
          saved_tokens = saved_tokens + excluded.saved_tokens`,
  ];
}

function totalsOf(row: Row): UsageTotals {
  return {
    requests: Number(row['requests']),
    promptTokens: Number(row['promptTokens']),
    completionTokens: Number(row['completionTokens']),
    totalTokens: Number(row['totalTokens']),
    savedTokens: Number(row['savedTokens']),
  };
}

function namedOf(row: Row): { name: string; totalTokens: number } {
  return { name: String(row['name']), totalTokens: Number(row['totalTokens']) };
}
