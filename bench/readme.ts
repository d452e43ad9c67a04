import type { Beside } from './lanes.ts';
import { isAsked, type Line, show } from './report.ts';

/** What the block says of the run beside its figures. */
export interface Run {
  /** `2026-11-20` */
  readonly date: string;
  readonly machine: string;
  readonly rounds: number;
  /** Which other gateways have a column. */
  readonly others: readonly Beside[];
}

const NAMES: Readonly<Record<Beside, string>> = { nginx: 'nginx', portkey: 'Portkey 1.15.2' };

/** The rows of the README, in its words: the scenario, the metric and whose they are, as in `rows.ts`. */
const ROWS: readonly (readonly [scenario: string, metric: string, lane: Line['lane'], label: string])[] = [
  ['json', 'cpu', 'sluice', '1 KB request, CPU'],
  ['json', 'perSecond', 'sluice', 'requests a second'],
  ['flat', 'cpu', 'sluice', 'stream flat out, CPU per chunk'],
  ['flat', 'cpu', 'typed', 'the same, conversation (typed chunks)'],
  ['flat', 'cpu', 'vendor', 'the same, Anthropic through its library'],
  ['paced', 'cpu', 'sluice', '1,000 streams at 20 chunks a second, CPU per chunk'],
  ['paced', 'cpu', 'typed', 'the same, conversation'],
  ['prompt', 'cpu', 'sluice', '200 KB prompt, CPU'],
  ['answer', 'cpu', 'sluice', '2 MB answer, CPU'],
  ['latency', 'p50', 'sluice', 'added latency at 200 a second, p50, ms'],
  ['latency', 'p99', 'sluice', 'added latency at 200 a second, p99, ms'],
  ['start', 'ms', 'sluice', 'start to first answer, ms'],
  ['start', 'memory', 'sluice', 'memory idle, MiB'],
  ['slow', 'memory', 'sluice', 'memory with 1,000 slow streams, MiB'],
  ['slow', 'memoryOfTwice', 'sluice', 'memory with 2,000 slow streams, MiB'],
];

/** What stands between the marks: one table, CPU as multiples of the pass-through and everything else as it is. */
export function readmeBlock(lines: readonly Line[], { date, machine, rounds, others }: Run): string {
  const head = ['', 'Sluice', 'Rounds', 'Pass-through', ...others.map((name) => NAMES[name])];
  const rows = ROWS.flatMap(([scenario, metric, lane, label]) => {
    const line = lines.find((each) => each.scenario === scenario && each.metric === metric && each.lane === lane);
    return line === undefined ? [] : [cells(label, line, others)];
  });
  const table = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
  const many = rounds === 1 ? 'one round' : `${rounds} rounds, medians`;
  return `Measured on ${date}, ${machine}, ${many}; CPU as a multiple of the pass-through's:\n\n${table}`;
}

function cells(label: string, line: Line, others: readonly Beside[]): string[] {
  const isRatio = line.ratio !== undefined;
  const range = isRatio ? `${line.lowest?.toFixed(2)}–${line.highest?.toFixed(2)}` : '';
  const other = (name: Beside): string => {
    if (!isAsked(line, name)) return '–';
    const found = line.beside[name];
    if (found === undefined) return 'not measured';
    return found.ratio === undefined ? show(found.figure) : found.ratio.toFixed(2);
  };
  const own = line.ratio?.toFixed(2) ?? show(line.sluice);
  return [label, own, range, isRatio ? '1' : show(line.bare), ...others.map(other)];
}

/** `text` with `block` between its marks. Throws when it has none. */
export function withBlock(text: string, block: string): string {
  const [before, rest] = split(text, '<!-- bench -->');
  const [, after] = split(rest, '<!-- /bench -->');
  return `${before}<!-- bench -->\n${block}\n<!-- /bench -->${after}`;
}

function split(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  if (at < 0) throw new Error(`README.md has no ${mark}`);
  return [text.slice(0, at), text.slice(at + mark.length)];
}
