import { z } from 'zod';
import { empty, type Group, merge } from '../../observe/insights.ts';
import type { Ledger } from '../../observe/ledger.ts';

/** Names in a list: those that cost or were asked most. */
const MOST_NAMES = 200;

const count = z.int().nonnegative();
const cost = z.number().nullable().describe('US dollars of all answers whose price is known; null: there is none');
const percentiles = z
  .object({ p50: z.number(), p90: z.number(), p99: z.number() })
  .nullable()
  .describe('Milliseconds, right within some 10 %; null: nothing was measured');

const Insight = z.object({
  requests: count.describe('Requests to models in any dialect, those included that failed'),
  errors: count,
  cost,
  unpriced: count.describe('Answers that used tokens and have no known price'),
  first_chunk_ms: percentiles,
  duration_ms: percentiles,
});
const Named = Insight.extend({ name: z.string() });

const Sums = z.looseObject({
  requests: z.number(),
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  total_tokens: z.number(),
  saved_tokens: z.number(),
});

const Insights = z.object({
  days: z.array(Insight.extend({ date: z.string() })).describe('The oldest first'),
  all: Insight,
  models: z.array(Named.extend({ provider: z.string() })),
  providers: z.array(Named),
  users: z.array(Named),
  errors: z.record(z.string(), count).describe('Failures by code'),
});

/** What `GET stats` answers. */
export const StatsAnswer = z.object({
  days: z.array(Sums.extend({ date: z.string() })).describe('The oldest first'),
  models: z.record(z.string(), z.number()).describe('Tokens'),
  providers: z.record(z.string(), z.number()).describe('Tokens'),
  users: z.record(z.string(), z.number()).describe('Tokens'),
  totals: Sums,
  insights: Insights,
});

/** What days were like, beyond their sums of tokens. */
export async function insightsOf(
  ledger: Ledger,
  dates: readonly string[],
  user: string | undefined,
): Promise<z.infer<typeof Insights>> {
  const found = await ledger.days(dates);
  const byDay = [...found].map(
    ([date, groups]) => [date, groups.filter((group) => user === undefined || group.user === user)] as const,
  );
  const groups = byDay.flatMap(([, each]) => each);
  const all = sumOf(groups);
  return {
    days: byDay.map(([date, each]) => ({ date, ...toWire(sumOf(each)) })),
    all: toWire(all),
    models: named(groups.filter(hasModel), ({ provider, model }) => [model, provider]).map(
      ({ names: [name = '', provider = ''], sum }) => ({ name, provider, ...toWire(sum) }),
    ),
    providers: named(groups.filter(hasModel), ({ provider }) => [provider]).map(withName),
    users: named(groups, (group) => [group.user]).map(withName),
    errors: Object.fromEntries([...all.codes].sort(([, one], [, other]) => other - one)),
  };
}

interface NamedSum {
  readonly names: readonly string[];
  readonly sum: Group;
}

/** The sums of all groups with the same names. */
function named(groups: readonly Group[], namesOf: (group: Group) => readonly string[]): readonly NamedSum[] {
  const found = new Map<string, NamedSum>();
  for (const group of groups) {
    const names = namesOf(group);
    const key = names.join('\0');
    const present = found.get(key) ?? { names, sum: empty('', '', '') };
    found.set(key, present);
    merge(present.sum, group);
  }
  return [...found.values()]
    .sort(({ sum: one }, { sum: other }) => other.cost - one.cost || other.requests - one.requests)
    .slice(0, MOST_NAMES);
}

function withName({ names: [name = ''], sum }: NamedSum) {
  return { name, ...toWire(sum) };
}

function hasModel({ provider }: Group): boolean {
  return provider !== '';
}

function sumOf(groups: readonly Group[]): Group {
  return groups.reduce(merge, empty('', '', ''));
}

function toWire(group: Group): z.infer<typeof Insight> {
  return {
    requests: group.requests,
    errors: group.errors,
    cost: costOf(group),
    unpriced: group.unpriced,
    first_chunk_ms: percentilesOf(group.firstChunk),
    duration_ms: percentilesOf(group.duration),
  };
}

/** Without a single price nothing is known, which is not 0. */
function costOf({ cost, priced }: Group): number | null {
  // Sums of floating-point numbers end in noise.
  return priced === 0 ? null : Number(cost.toPrecision(12));
}

function percentilesOf(durations: Group['duration']): z.infer<typeof percentiles> {
  const [p50, p90, p99] = [0.5, 0.9, 0.99].map((share) => durations.percentile(share));
  return p50 === undefined || p90 === undefined || p99 === undefined ? null : { p50, p90, p99 };
}
