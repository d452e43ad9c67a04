/** One line of the report: a figure of a scenario, and what it is to be. */
export interface Row {
  readonly scenario: string;
  readonly metric: string;
  /** Whose figure it is; the pass-through's stands beside it when it has one. */
  readonly lane: 'sluice' | 'typed';
  readonly label: string;
  readonly unit: string;
  /** `ratio`: the figure divided by the pass-through's counts. `value`: the figure itself. */
  readonly counts: 'ratio' | 'value';
  /** Absent: nothing is promised. */
  readonly goal?: { readonly atMost: number } | { readonly atLeast: number };
}

function ratio(scenario: string, lane: Row['lane'], label: string, unit: string, atMost: number): Row {
  return { scenario, metric: 'cpu', lane, label, unit, counts: 'ratio', goal: { atMost } };
}

function value(
  scenario: string,
  metric: string,
  label: string,
  unit: string,
  goal?: Row['goal'],
  lane: Row['lane'] = 'sluice',
): Row {
  return { scenario, metric, lane, label, unit, counts: 'value', ...(goal && { goal }) };
}

export const ROWS: readonly Row[] = [
  ratio('json', 'sluice', '1 KB request, /v1', 'µs CPU/request', 0.8),
  value('json', 'perSecond', '  requests a second', '/s'),
  ratio('flat', 'sluice', 'stream flat out, /v1', 'µs CPU/chunk', 1.0),
  ratio('flat', 'typed', 'stream flat out, conversation', 'µs CPU/chunk', 1.2),
  ratio('paced', 'sluice', 'paced streams, /v1', 'µs CPU/chunk', 1.1),
  value('paced', 'pace', '  pace kept', '%', { atLeast: 98 }),
  value('paced', 'gap', '  worst gap, p99 of streams', 'ms', { atMost: 80 }),
  ratio('paced', 'typed', 'paced streams, conversation', 'µs CPU/chunk', 1.3),
  value('paced', 'pace', '  pace kept', '%', { atLeast: 98 }, 'typed'),
  value('paced', 'gap', '  worst gap, p99 of streams', 'ms', { atMost: 80 }, 'typed'),
  ratio('prompt', 'sluice', '200 KB prompt', 'µs CPU/request', 1.5),
  ratio('answer', 'sluice', '2 MB answer', 'µs CPU/request', 1.05),
  value('latency', 'p50', 'added latency at 200/s, p50', 'ms', { atMost: 0.6 }),
  value('latency', 'p99', 'added latency at 200/s, p99', 'ms', { atMost: 3 }),
  value('start', 'ms', 'start to first 200', 'ms', { atMost: 600 }),
  value('start', 'memory', 'memory idle', 'MiB', { atMost: 110 }),
  value('paced', 'memory', 'memory with all streams', 'MiB', { atMost: 170 }),
  value('paced', 'perStream', 'memory per stream', 'KB', { atMost: 65 }),
  value('slow', 'memory', 'memory, 1,000 slow streams', 'MiB'),
  value('slow', 'memoryOfTwice', 'memory, 2,000 slow streams', 'MiB'),
  value('leftover', 'streams', 'upstream streams 1 s after clients left', '', { atMost: 0 }),
  value('leftover', 'streams', '  the same, conversation', '', { atMost: 0 }, 'typed'),
  value('connections', 'perRequest', 'new upstream connections', '/request', { atMost: 0.02 }),
];
