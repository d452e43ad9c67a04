import type { Stats, UsageLine } from '../api/observe.ts';

/** What the bars count; costs are US dollars. */
export type Measure = 'tokens' | 'cost' | 'requests';
/** Of what a bar's parts are. */
export type Grouping = 'model' | 'provider';

/** One part of every bar, with a value a day. */
export interface Series {
  /** Empty: all that have no series of their own. */
  readonly name: string;
  readonly values: readonly number[];
}

/** More parts could not be told from each other. */
const MOST_SERIES = 6;

/** Records by day, as far as they were read. */
export type UsageByDay = ReadonlyMap<string, readonly UsageLine[]>;

/** What the bars are made of: the largest ones, then all others together. */
export function seriesOf(stats: Stats, usage: UsageByDay, measure: Measure, grouping: Grouping): readonly Series[] {
  const dates = stats.days.map(({ date }) => date);
  const values = new Map<string, number[]>();
  for (const [at, date] of dates.entries()) {
    for (const line of usage.get(date) ?? []) {
      const name = line[grouping] || '–';
      const row = values.get(name) ?? dates.map(() => 0);
      values.set(name, row);
      row[at] = (row[at] ?? 0) + amountOf(line, measure);
    }
  }
  const sorted = [...values]
    .map(([name, row]): Series => ({ name, values: row }))
    .filter((series) => sum(series.values) > 0)
    .sort((a, b) => sum(b.values) - sum(a.values));
  const shown = sorted.length > MOST_SERIES + 1 ? sorted.slice(0, MOST_SERIES) : sorted;
  // What the sums of the server have beyond the records that were read, and the many small ones.
  const rest = stats.days.map((day, at) => {
    const total = measure === 'tokens' ? day.total_tokens : measure === 'requests' ? day.requests : (day.cost ?? 0);
    const named = shown.reduce((all, series) => all + (series.values[at] ?? 0), 0);
    return Math.max(0, total - named);
  });
  // Costs are floating-point numbers, whose differences are never quite nothing.
  return sum(rest) > 1e-9 ? [...shown, { name: '', values: rest.map((value) => (value > 1e-9 ? value : 0)) }] : shown;
}

function amountOf({ total_tokens: tokens, cost }: UsageLine, measure: Measure): number {
  if (measure === 'requests') return 1;
  return measure === 'tokens' ? tokens : (cost ?? 0);
}

/** 0 for none. */
export function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

/** About so many steps an axis has. */
const STEPS = 4;

/** Marks of an axis from 0 to at least `most`: 1, 2 or 5 times a power of ten apart. */
export function ticksUpTo(most: number): readonly number[] {
  if (!(most > 0)) return [0];
  const rough = most / STEPS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10);
  const steps = Math.ceil(most / step - 1e-9);
  return Array.from({ length: steps + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}
