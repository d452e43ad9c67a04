/** What no sum says: when the first process started, and the worst delay of any event loop. */
const FIRST: ReadonlySet<string> = new Set(['process_start_time_seconds']);
const WORST: ReadonlySet<string> = new Set(['sluice_event_loop_lag_seconds']);

const SAMPLE = /^([A-Za-z_:][\w:]*)(\{.*\})? (\S+)$/;

/** Metrics of several processes, in the text format of Prometheus, as those of one: sums, but for a few. */
export function sumOfProcesses(texts: readonly string[]): string {
  /** Lines by family, heads first, in the order in which they turned up. */
  const families = new Map<string, { readonly head: string[]; readonly values: Map<string, number> }>();
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
