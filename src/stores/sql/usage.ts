import { daysUpTo } from '../../core/days.ts';
import type { TokensOf, UsageStats, UsageStore } from '../../core/stores.ts';
import { noTotals, type UsageBatch } from '../../core/usage-batch.ts';
import type { UsageRecord, UsageTotals } from '../../core/usage-record.ts';
import type { Dialect } from './dialect.ts';
import type { DatabaseHandle, Row } from './handle.ts';
import { type Statement, sql } from './sql.ts';

/** Batches that are read at a time. */
const PAGE = 100;
/** Rows that are deleted at a time, while other requests wait. */
const DELETED_AT_ONCE = 500;

/**
 * Names in a list of statistics: those with the most tokens. Clients may choose user names freely, and nobody reads a list
 * of a million.
 */
const MOST_NAMES = 1_000;

const NOTHING: UsageTotals = noTotals();

const SUMS = sql`sum(requests) as requests, sum(prompt_tokens) as "promptTokens",
  sum(completion_tokens) as "completionTokens", sum(total_tokens) as "totalTokens", sum(saved_tokens) as "savedTokens"`;

/** Of the members of a list of sums. */
const FIGURES = sql`cast(value ->> 3 as double precision), cast(value ->> 4 as double precision),
  cast(value ->> 5 as double precision), cast(value ->> 6 as double precision), cast(value ->> 7 as double precision)`;

/** Usage: the records, and sums by day, user, provider and model that are kept in the same transaction. */
export class SqlUsage implements UsageStore {
  readonly #database: DatabaseHandle;
  readonly #dialect: Dialect;

  constructor(database: DatabaseHandle, dialect: Dialect) {
    this.#database = database;
    this.#dialect = dialect;
  }

  /** Answers come by the thousand a second, and each must cost next to nothing: the database sees a text and a few sums. */
  async add(usage: UsageBatch): Promise<void> {
    if (usage.size === 0) return;
    const { id, day, first, json } = usage;
    const sums = Array.from(usage.sums, ({ user, provider, model, totals }) => [
      ...[user, provider, model, totals.requests],
      ...[totals.promptTokens, totals.completionTokens, totals.totalTokens, totals.savedTokens],
    ]);
    // In one order everywhere: of two that add to the same sums in another one each might have what the other waits for.
    sums.sort();
    const batch = sql`insert into usage_batches (id, day, first, records) values (${id}, ${day}, ${first}, ${json})
      on conflict (id) do nothing`;
    await this.#database.write(
      ...this.#dialect.ifInserted(
        batch,
        (inserted) => sql`insert into usage_sums
          select ${day}, value ->> 0, value ->> 1, value ->> 2, ${FIGURES} from ${this.#dialect.list(sums)} as sums where ${inserted}
          on conflict (day, "user", provider, model) do update set
            requests = usage_sums.requests + excluded.requests,
            prompt_tokens = usage_sums.prompt_tokens + excluded.prompt_tokens,
            completion_tokens = usage_sums.completion_tokens + excluded.completion_tokens,
            total_tokens = usage_sums.total_tokens + excluded.total_tokens,
            saved_tokens = usage_sums.saved_tokens + excluded.saved_tokens`,
      ),
    );
  }

  async *day(date: string): AsyncIterable<UsageRecord> {
    // Batches of several processes overlap: a record is the next one when no later batch can have an older one.
    let waiting: UsageRecord[] = [];
    for await (const { first, records } of this.#batches(date)) {
      const ready = waiting.findIndex(({ time }) => time >= first);
      yield* waiting.splice(0, ready === -1 ? waiting.length : ready);
      waiting = [...waiting, ...records].sort((one, other) => one.time - other.time);
    }
    yield* waiting;
  }

  async stats({ today, days: count, user }: Parameters<UsageStore['stats']>[0]): Promise<UsageStats> {
    const dates = daysUpTo(today, count);
    const period = sql`day between ${dates[0] ?? today} and ${today}`;
    const where = user === undefined ? period : sql`${period} and "user" = ${user}`;
    const byName = (column: Statement) =>
      sql`select ${column} as name, sum(total_tokens) as "totalTokens" from usage_sums where ${where}
          group by name order by "totalTokens" desc, name limit ${MOST_NAMES}`;
    const [byDay, models, providers, users] = await this.#database.read(
      sql`select day, ${SUMS} from usage_sums where ${where} group by day`,
      byName(sql`model`),
      byName(sql`provider`),
      byName(sql`"user"`),
    );
    const present = new Map((byDay?.rows ?? []).map((row) => [String(row['day']), totalsOf(row)]));
    const days = dates.map((date) => ({ date, ...(present.get(date) ?? NOTHING) }));
    return {
      days,
      models: (models?.rows ?? []).map(namedOf),
      providers: (providers?.rows ?? []).map(namedOf),
      users: (users?.rows ?? []).map(namedOf),
      totals: [...present.values()].reduce(addTotals, NOTHING),
    };
  }

  async forgetBefore(date: string): Promise<number> {
    const batches = sql`select number from usage_batches where day < ${date} limit ${DELETED_AT_ONCE}`;
    const sums = sql`select day, "user", provider, model from usage_sums where day < ${date} limit ${DELETED_AT_ONCE}`;
    for (let count = 0; ; ) {
      const deleted = await this.#database.write(
        sql`delete from usage_batches where number in (${batches})`,
        sql`delete from usage_sums where (day, "user", provider, model) in (${sums})`,
      );
      const some = deleted.reduce((sum, { changes }) => sum + changes, 0);
      if (some === 0) return count;
      count += some;
    }
  }

  /** The batches of a day, in the order in which they begin. */
  async *#batches(day: string): AsyncIterable<{ readonly first: number; readonly records: readonly UsageRecord[] }> {
    let after = sql`true`;
    for (;;) {
      const [result] = await this.#database.read(
        sql`select first, number, records from usage_batches where day = ${day} and ${after}
            order by first, number limit ${PAGE}`,
      );
      const rows = result?.rows ?? [];
      for (const row of rows) yield { first: Number(row['first']), records: JSON.parse(String(row['records'])) };
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return;
      after = sql`(first, number) > (${Number(last['first'])}, ${Number(last['number'])})`;
    }
  }
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

function namedOf(row: Row): TokensOf {
  return { name: String(row['name']), totalTokens: Number(row['totalTokens']) };
}

function addTotals(one: UsageTotals, other: UsageTotals): UsageTotals {
  return {
    requests: one.requests + other.requests,
    promptTokens: one.promptTokens + other.promptTokens,
    completionTokens: one.completionTokens + other.completionTokens,
    totalTokens: one.totalTokens + other.totalTokens,
    savedTokens: one.savedTokens + other.savedTokens,
  };
}
