import type { Beside, LaneName } from './lanes.ts';

/** One line of the report: a figure of a scenario, and what it is to be. */
export interface Row {
  readonly scenario: string;
  readonly metric: string;
  /** Whose figure it is; the pass-through's stands beside it when it has one. */
  readonly lane: Exclude<LaneName, 'bare' | Beside>;
  readonly label: string;
  readonly unit: string;
  /** `ratio`: the figure divided by that of `against` counts. `value`: the figure itself. */
  readonly counts: 'ratio' | 'value';
  /** Absent: the pass-through. */
  readonly against?: LaneName;
  /** Absent: nothing is promised. */
  readonly goal?: { readonly atMost: number } | { readonly atLeast: number };
}

function ratio(scenario: string, lane: Row['lane'], label: string, unit: string, atMost: number): Row {
  return { scenario, metric: 'cpu', lane, label, unit, counts: 'ratio', goal: { atMost } };
}

/** What a small request costs in a process that has much to look after, over one that has not. */
function growth(lane: Row['lane'], label: string): Row {
  return {
    scenario: 'json',
    metric: 'cpu',
    lane,
    label,
    unit: 'µs CPU/request',
    counts: 'ratio',
    against: 'plain',
    goal: { atMost: FLAT },
  };
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

/** "Flat", with what two runs of the same differ by. */
const FLAT = 1.15;

/** The report, from top to bottom. */
export const ROWS: readonly Row[] = [
  ratio('json', 'sluice', '1 KB request, /v1', 'µs CPU/request', 0.8),
  value('json', 'perSecond', '  requests a second', '/s', { atLeast: 1000 }),
  {
    ...ratio('json', 'sluice', "  CPU of a request over Portkey's", 'µs CPU/request', 1 / 8),
    against: 'portkey',
  },
  ratio('flat', 'sluice', 'stream flat out, /v1', 'µs CPU/chunk', 1.0),
  ratio('flat', 'typed', 'stream flat out, conversation', 'µs CPU/chunk', 1.2),
  ratio('flat', 'vendor', 'stream flat out, vendor library', 'µs CPU/chunk', 2.5),
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
  value('firstPiece', 'p50', 'added time to the first chunk', 'ms', { atMost: 100 }),
  value('firstPiece', 'p50', '  the same, conversation', 'ms', { atMost: 100 }, 'typed'),
  value('atOnce', 'p99', '500 streams at once, first chunk, p99', 'ms', { atMost: 1000 }),
  value('atOnce', 'seconds', '  all of them', 's', { atMost: 30 }),
  value('atOnce', 'p99', '  first chunk, conversation, p99', 'ms', { atMost: 1000 }, 'typed'),
  value('beside', 'worst', 'light request beside 8 MB, the worst', 'ms', { atMost: 500 }),
  value('halfOpen', 'p99', 'the same beside 300 half-open, p99', 'ms', { atMost: 500 }),
  growth('models', '1 KB request, 10,000 models: few'),
  growth('records', '1 KB request, 1 million records: none'),
  value('crowd', 'times', '1 KB request, 2,000 streams: none', '', { atMost: FLAT }),
  value('start', 'ms', 'start to first 200', 'ms', { atMost: 600 }),
  value('killed', 'ms', '  after kill -9, 1 million records', 'ms', { atMost: 2000 }, 'records'),
  value('start', 'memory', 'memory idle', 'MiB', { atMost: 110 }),
  value('paced', 'memory', 'memory with all streams', 'MiB', { atMost: 170 }),
  value('paced', 'perStream', 'memory per stream', 'KB', { atMost: 65 }),
  value('slow', 'memory', 'memory, 1,000 slow streams, fresh', 'MiB', { atMost: 170 }),
  value('slow', 'memoryOfTwice', 'memory, 2,000 slow streams, fresh', 'MiB'),
  value('leftover', 'streams', 'upstream streams 1 s after clients left', '', { atMost: 0 }),
  value('leftover', 'streams', '  the same, conversation', '', { atMost: 0 }, 'typed'),
  value('connections', 'perRequest', 'new upstream connections', '/request', { atMost: 0.02 }),
];
