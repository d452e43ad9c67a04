import { median } from './load.ts';
import { ROWS, type Row } from './rows.ts';
import type { Figures, LaneName } from './scenarios.ts';

/** Everything measured: scenario → lane → the figures of each round. */
export type Results = ReadonlyMap<string, ReadonlyMap<LaneName, readonly Figures[]>>;

export interface Line {
  readonly label: string;
  readonly lane: LaneName;
  readonly unit: string;
  readonly bare?: number;
  readonly sluice: number;
  /** Median of the rounds' ratios, each round's figure over the same round's pass-through; then its extremes. */
  readonly ratio?: number;
  readonly lowest?: number;
  readonly highest?: number;
  readonly goal: Row['goal'];
  readonly met: boolean;
}

/** The rows for which something was measured. */
export function summarise(results: Results): Line[] {
  return ROWS.flatMap((row) => {
    const lanes = results.get(row.scenario);
    const own = lanes?.get(row.lane)?.map((figures) => figures[row.metric] ?? Number.NaN) ?? [];
    if (own.length === 0) return [];
    const bare = lanes?.get('bare')?.map((figures) => figures[row.metric] ?? Number.NaN) ?? [];
    const ratios = own.slice(0, bare.length).map((figure, round) => figure / (bare[round] ?? Number.NaN));
    const sluice = median(own);
    const counted = row.counts === 'ratio' ? median(ratios) : sluice;
    const met = 'atMost' in row.goal ? counted <= row.goal.atMost : counted >= row.goal.atLeast;
    return [
      {
        label: row.label,
        lane: row.lane,
        unit: row.unit,
        sluice,
        goal: row.goal,
        met,
        ...(bare.length > 0 && { bare: median(bare) }),
        ...(row.counts === 'ratio' && {
          ratio: median(ratios),
          lowest: Math.min(...ratios),
          highest: Math.max(...ratios),
        }),
      },
    ];
  });
}

/** The lines as one aligned table. */
export function table(lines: readonly Line[]): string {
  const head = ['', 'unit', 'bare', 'sluice', 'ratio', '(rounds)', 'goal', ''];
  const cells = lines.map((line) => [
    line.label,
    line.unit,
    show(line.bare),
    show(line.sluice),
    line.ratio === undefined ? '' : line.ratio.toFixed(2),
    line.lowest === undefined ? '' : `${line.lowest.toFixed(2)}–${(line.highest ?? line.lowest).toFixed(2)}`,
    'atMost' in line.goal ? `≤ ${line.goal.atMost}` : `≥ ${line.goal.atLeast}`,
    line.met ? 'met' : 'MISSED',
  ]);
  const widths = head.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)));
  return [head, ...cells]
    .map((row) => row.map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))))
    .map((row) => row.join('  ').trimEnd())
    .join('\n');
}

function show(figure: number | undefined): string {
  if (figure === undefined) return '';
  if (figure !== 0 && Math.abs(figure) < 10) return figure.toFixed(2);
  return figure.toFixed(Math.abs(figure) < 100 && figure !== 0 ? 1 : 0);
}
