/**
 * Counters and histograms in the text format of Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats/).
 * Counting is a look into a few maps; all else happens when somebody reads.
 */

/** Series of one family. Labels are bounded where they come from; this is the net below. */
const MOST_SERIES = 5_000;
const OTHER = 'other';

type Values = readonly string[];

interface Labelled<T> {
  readonly labels: string;
  readonly value: T;
}

/** Where the values of labels lead, one after the other. */
class Branch<T> {
  readonly next = new Map<string, Branch<T>>();
  series: Labelled<T> | undefined;
}

/** Series by their labels: found without making a text of them, which every request would do some ten times. */
class Series<T> {
  readonly #labels: readonly string[];
  readonly #create: () => T;
  readonly #root = new Branch<T>();
  readonly #all: Labelled<T>[] = [];

  constructor(labels: readonly string[], create: () => T) {
    this.#labels = labels;
    this.#create = create;
  }

  get(values: Values): T {
    let branch: Branch<T> | undefined = this.#root;
    for (const value of values) branch = branch?.next.get(value);
    return branch?.series === undefined ? this.#begin(values) : branch.series.value;
  }

  values(): Iterable<Labelled<T>> {
    return this.#all;
  }

  #begin(values: Values): T {
    if (this.#all.length >= MOST_SERIES && values.some((value) => value !== OTHER)) {
      return this.get(values.map(() => OTHER));
    }
    const labels = this.#labels.map((label, index) => `${label}="${escaped(values[index] ?? '')}"`).join(',');
    const series = { labels, value: this.#create() };
    this.#all.push(series);
    let branch = this.#root;
    for (const value of values) {
      const next = branch.next.get(value) ?? new Branch<T>();
      branch.next.set(value, next);
      branch = next;
    }
    branch.series = series;
    return series.value;
  }
}

/** A metric with all of its series, in Prometheus' text format (https://prometheus.io/docs/instrumenting/exposition_formats/). */
export interface Family {
  render(): string;
}

/** What only grows. */
export class Counter implements Family {
  readonly #head: string;
  readonly #name: string;
  readonly #series: Series<{ count: number }>;

  constructor(name: string, help: string, labels: readonly string[]) {
    this.#name = name;
    this.#head = headOf(name, help, 'counter');
    this.#series = new Series(labels, () => ({ count: 0 }));
  }

  add(values: Values, count = 1): void {
    this.#series.get(values).count += count;
  }

  render(): string {
    let text = this.#head;
    for (const { labels, value } of this.#series.values()) text += line(this.#name, labels, value.count);
    return text;
  }
}

/** How often what was measured fell between which bounds. */
export class Histogram implements Family {
  readonly #head: string;
  readonly #name: string;
  readonly #bounds: readonly number[];
  readonly #series: Series<{ readonly buckets: number[]; sum: number; count: number }>;

  /** @param bounds upper ones, ascending */
  constructor(name: string, help: string, labels: readonly string[], bounds: readonly number[]) {
    this.#name = name;
    this.#bounds = bounds;
    this.#head = headOf(name, help, 'histogram');
    this.#series = new Series(labels, () => ({ buckets: bounds.map(() => 0), sum: 0, count: 0 }));
  }

  observe(values: Values, measured: number): void {
    const series = this.#series.get(values);
    series.sum += measured;
    series.count += 1;
    const at = this.#bounds.findIndex((bound) => measured <= bound);
    if (at !== -1) series.buckets[at] = (series.buckets[at] ?? 0) + 1;
  }

  render(): string {
    let text = this.#head;
    for (const { labels, value } of this.#series.values()) {
      const more = labels === '' ? '' : `${labels},`;
      let below = 0;
      for (const [index, bound] of this.#bounds.entries()) {
        below += value.buckets[index] ?? 0;
        text += line(`${this.#name}_bucket`, `${more}le="${bound}"`, below);
      }
      text += line(`${this.#name}_bucket`, `${more}le="+Inf"`, value.count);
      text += line(`${this.#name}_sum`, labels, value.sum);
      text += line(`${this.#name}_count`, labels, value.count);
    }
    return text;
  }
}

/** What is asked for when somebody reads; undefined: not known here. */
export function gauge(
  name: string,
  help: string,
  value: number | undefined | readonly (readonly [labels: string, value: number])[],
  type: 'gauge' | 'counter' | 'summary' = 'gauge',
): string {
  if (value === undefined) return '';
  const values: readonly (readonly [string, number])[] = typeof value === 'number' ? [['', value]] : value;
  return headOf(name, help, type) + values.map(([labels, each]) => line(name, labels, each)).join('');
}

/** The value of a label, between its quotes. */
export function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function headOf(name: string, help: string, type: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function line(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${value}\n`;
}
