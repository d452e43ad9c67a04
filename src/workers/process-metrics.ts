import type { Channel } from './channel.ts';

/** What no sum says: when the first process started, and the worst delay of any event loop. */
const FIRST: ReadonlySet<string> = new Set(['process_start_time_seconds']);
const WORST: ReadonlySet<string> = new Set(['sluice_event_loop_lag_seconds']);

const SAMPLE = /^([A-Za-z_:][\w:]*)(\{.*\})? (\S+)$/;

/** Lines by family, heads first, in the order in which they turned up. */
type Families = Map<string, { readonly head: string[]; readonly values: Map<string, number> }>;

/** Metrics of all processes, as those of one: what ended ones have counted stays in the sums, since no counter may fall. */
export class ProcessSums {
  /** What each running worker said last. */
  readonly #last = new Map<Channel, string>();
  /** Counters of those that have ended. */
  #ended = '';

  join(worker: Channel): void {
    this.#last.set(worker, '');
  }

  /** Metrics of a worker, in the text format of Prometheus. */
  note(worker: Channel, text: string): void {
    if (this.#last.has(worker)) this.#last.set(worker, text);
  }

  leave(worker: Channel): void {
    const families = sumOf([this.#ended, this.#last.get(worker) ?? '']);
    this.#last.delete(worker);
    for (const [name, { head }] of families) {
      if (!head.includes(`# TYPE ${name} counter`)) families.delete(name);
    }
    this.#ended = print(families);
  }

  /** The sums over all, but for a few; `own` are the metrics of the primary. */
  render(own: string): string {
    return print(sumOf([own, this.#ended, ...this.#last.values()]));
  }
}

function sumOf(texts: readonly string[]): Families {
  const families: Families = new Map();
  for (const text of texts) {
    for (const line of text.split('\n')) {
      const [, name, labels = '', value] = SAMPLE.exec(line) ?? [];
      const family = name ?? /^# (?:HELP|TYPE) (\S+)/.exec(line)?.[1];
      if (family === undefined) continue;
      const found = families.get(family) ?? { head: [], values: new Map<string, number>() };
      families.set(family, found);
      if (name === undefined) {
        if (!found.head.includes(line)) found.head.push(line);
        continue;
      }
      const sample = name + labels;
      const before = found.values.get(sample);
      found.values.set(sample, before === undefined ? Number(value) : together(name, before, Number(value)));
    }
  }
  return families;
}

function print(families: Families): string {
  let all = '';
  for (const { head, values } of families.values()) {
    for (const line of head) all += `${line}\n`;
    for (const [sample, value] of values) all += `${sample} ${value}\n`;
  }
  return all;
}

function together(name: string, one: number, other: number): number {
  if (FIRST.has(name)) return Math.min(one, other);
  return WORST.has(name) ? Math.max(one, other) : one + other;
}
