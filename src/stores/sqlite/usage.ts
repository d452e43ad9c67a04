import { dayOf, daysUpTo } from '../../core/days.ts';
import type { UsageRecord, UsageStats, UsageStore, UsageTotals } from '../../core/stores.ts';
import { checkId } from '../id.ts';
import { addSums, MOST_NAMES, NOTHING, sumsOf } from '../usage-sums.ts';
import type { DatabaseHandle, Row } from './protocol.ts';
import { type Statement, sql } from './sql.ts';

/** Records that are read at a time. */
const PAGE = 500;

const SUMS = sql`sum(requests) as requests, sum(prompt_tokens) as promptTokens,
  sum(completion_tokens) as completionTokens, sum(total_tokens) as totalTokens, sum(saved_tokens) as savedTokens`;

/** Usage: the records, and sums by day, user, provider and model that are kept in the same transaction. */
export class SqliteUsage implements UsageStore {
  readonly #database: DatabaseHandle;

  constructor(database: DatabaseHandle) {
    this.#database = database;
  }

  /**
   * All records travel as one text, which `jsonb_each` parses once: answers come by the thousand a second, and each must cost
   * next to nothing. Their sums come with them. Where a record is there already, because a batch is written a second time, they are
   * made of what was really inserted instead, so that it counts once.
   */
  async add(records: readonly UsageRecord[]): Promise<void> {
    const rows = records.map((record) => [checkId(record.id), dayOf(record.time), record.time, record] as const);
    const isNew = sql`(select count(*) from usage_records where number > (select last from usage_mark)) = ${records.length}`;
    const addUp = sql`on conflict (day, user, provider, model) do update set
      requests = requests + excluded.requests,
      prompt_tokens = prompt_tokens + excluded.prompt_tokens,
      completion_tokens = completion_tokens + excluded.completion_tokens,
      total_tokens = total_tokens + excluded.total_tokens,
      saved_tokens = saved_tokens + excluded.saved_tokens`;
    await this.#database.write(
      sql`insert into usage_records (id, day, time, body)
          select value->>0, value->>1, value->>2, value->3 from jsonb_each(${JSON.stringify(rows)}) where true
          on conflict (id) do nothing`,
      sql`insert into usage_sums
          select value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7, value->>8
          from json_each(${JSON.stringify(groupsOf(rows))}) where ${isNew} ${addUp}`,
      sql`insert into usage_sums
          select day, body->>'user', body->>'provider', body->>'model', count(*), ${sumOf('promptTokens')},
                 ${sumOf('completionTokens')}, ${sumOf('totalTokens')}, ${sumOf('savedTokens')}
          from usage_records where number > (select last from usage_mark) and not ${isNew}
          group by 1, 2, 3, 4 ${addUp}`,
      sql`update usage_mark set last = coalesce((select max(number) from usage_records), 0)`,
    );
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

/** Clients report usage too; one absurd count must not turn a sum into Infinity for good. */
function sumOf(count: 'promptTokens' | 'completionTokens' | 'totalTokens' | 'savedTokens'): Statement {
  return sql`sum(max(0, min(body->>${count}, ${Number.MAX_SAFE_INTEGER})))`;
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

interface Group {
  readonly day: string;
  readonly user: string;
  readonly provider: string;
  readonly model: string;
  sums: UsageTotals;
}

/** Sums by day, user, provider and model, in the order of the columns. */
function groupsOf(
  rows: readonly (readonly [id: string, day: string, time: number, record: UsageRecord])[],
): readonly (string | number)[][] {
  const groups = new Map<string, Group>();
  let group: Group | undefined;
  for (const [, day, , record] of rows) {
    const { user, provider, model } = record;
    // Most have the names of the one before.
    if (group?.day !== day || group.user !== user || group.provider !== provider || group.model !== model) {
      // Two groups with one name would be a sum that is wrong; clients choose what users are called.
      const name = [day, user, provider, model].map((each) => `${each.length} ${each}`).join();
      group = groups.get(name) ?? { day, user, provider, model, sums: NOTHING };
      groups.set(name, group);
    }
    group.sums = addSums(group.sums, sumsOf(record));
  }
  return [...groups.values()].map(({ day, user, provider, model, sums }) => {
    const { requests, promptTokens, completionTokens, totalTokens, savedTokens } = sums;
    return [day, user, provider, model, requests, promptTokens, completionTokens, totalTokens, savedTokens];
  });
}
