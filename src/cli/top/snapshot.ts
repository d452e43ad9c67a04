/** One value of a metric. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** All that `GET /metrics` told at one moment. */
export class Snapshot {
  /** Milliseconds of a clock that never jumps. */
  readonly at: number;
  readonly #samples: readonly Sample[];

  constructor(text: string, at: number) {
    this.#samples = parse(text);
    this.at = at;
  }

  get isEmpty(): boolean {
    return this.#samples.length === 0;
  }

  /** All values of a metric whose labels are these. */
  all(name: string, labels: Readonly<Record<string, string>> = {}): readonly Sample[] {
    const wanted = Object.entries(labels);
    return this.#samples.filter(
      (sample) => sample.name === name && wanted.every(([label, value]) => sample.labels[label] === value),
    );
  }

  /** Their sum; undefined: there is no such metric. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    const found = this.all(name, labels);
    return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
  }

  /** The different values of a label. */
  values(name: string, label: string): readonly string[] {
    return [...new Set(this.all(name).map(({ labels }) => labels[label] ?? ''))];
  }

  label(name: string, label: string): string | undefined {
    return this.all(name)[0]?.labels[label];
  }
}

/** How much a metric has grown between two moments; what a restart set back counts from nothing. */
export function growth(
  now: Snapshot,
  before: Snapshot | undefined,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const present = now.sum(name, labels) ?? 0;
  const past = before?.sum(name, labels) ?? 0;
  return present < past ? present : present - past;
}

/** The same in a second; undefined where there is no earlier moment. */
export function rate(
  now: Snapshot,
  before: Snapshot | undefined,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  if (before === undefined || now.at <= before.at) return undefined;
  return growth(now, before, name, labels) / ((now.at - before.at) / 1_000);
}

/** What this share of everything in a histogram stays below; undefined: it is empty. Infinity: above the last bound. */
export function quantile(
  now: Snapshot,
  name: string,
  share: number,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const buckets = new Map<number, number>();
  for (const { labels: own, value } of now.all(`${name}_bucket`, labels)) {
    const bound = own['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(own['le']);
    buckets.set(bound, (buckets.get(bound) ?? 0) + value);
  }
  const count = buckets.get(Number.POSITIVE_INFINITY) ?? 0;
  if (count === 0) return undefined;
  const sorted = [...buckets].sort(([one], [other]) => one - other);
  return sorted.find(([, below]) => below >= count * share)?.[0];
}

const LINE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /\b([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** The text format of Prometheus, as far as Sluice uses it; a line that is none is passed over. */
function parse(text: string): readonly Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined || Number.isNaN(Number(value))) return [];
    const pairs = [...labels.matchAll(LABEL)].map(([, label = '', quoted = '']) => [label, unquoted(quoted)]);
    return [{ name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) }];
  });
}

function unquoted(text: string): string {
  return text.replaceAll(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character));
}
