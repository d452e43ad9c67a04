import { BESIDE, type Beside, type Figures, type LaneName } from './lanes.ts';
import { median } from './load.ts';
import { ROWS, type Row } from './rows.ts';
import { SCENARIOS } from './scenarios.ts';

/** Everything measured: scenario → lane → the figures of each round. */
export type Results = ReadonlyMap<string, ReadonlyMap<LaneName, readonly Figures[]>>;

/** A row with its figures, the medians of all rounds. */
export interface Line {
  readonly label: string;
  /** Of which scenario and metric: see `rows.ts`. */
  readonly scenario: string;
  readonly metric: string;
  readonly lane: Row['lane'];
  readonly unit: string;
  readonly bare?: number;
  readonly sluice: number;
  /** Median of the rounds' ratios, each round's figure over the same round's pass-through; then its extremes. */
  readonly ratio?: number;
  readonly lowest?: number;
  readonly highest?: number;
  /** The other gateways' medians, and for a ratio theirs to the pass-through. */
  readonly beside: Readonly<Partial<Record<Beside, { readonly figure: number; readonly ratio?: number }>>>;
  readonly goal?: Row['goal'];
  readonly met?: boolean;
}

/** The rows for which something was measured. */
export function summarise(results: Results): Line[] {
  return ROWS.flatMap((row) => {
    const lanes = results.get(row.scenario);
    const of = (lane: LaneName): readonly number[] =>
      lanes?.get(lane)?.map((figures) => figures[row.metric] ?? Number.NaN) ?? [];
    const own = of(row.lane);
    const bare = of(row.against ?? 'bare');
    if (own.length === 0 || (row.against !== undefined && bare.length === 0)) return [];
    const ratiosOf = (figures: readonly number[]): readonly number[] =>
      figures.slice(0, bare.length).map((figure, round) => figure / (bare[round] ?? Number.NaN));
    const ratios = ratiosOf(own);
    // What the other lanes do is nobody else's.
    const others = row.lane !== 'sluice' ? [] : BESIDE.filter((lane) => of(lane).length > 0);
    const beside = Object.fromEntries(
      others.map((lane) => {
        const figure = median(of(lane));
        return [lane, row.counts === 'ratio' ? { figure, ratio: median(ratiosOf(of(lane))) } : { figure }];
      }),
    );
    const sluice = median(own);
    const counted = row.counts === 'ratio' ? median(ratios) : sluice;
    return [
      {
        label: row.label,
        scenario: row.scenario,
        metric: row.metric,
        lane: row.lane,
        unit: row.unit,
        sluice,
        beside,
        ...(row.goal && { goal: row.goal, met: meets(counted, row.goal) }),
        ...(bare.length > 0 && row.against === undefined && { bare: median(bare) }),
        ...(row.counts === 'ratio' && {
          ratio: median(ratios),
          lowest: Math.min(...ratios),
          highest: Math.max(...ratios),
        }),
      },
    ];
  });
}

function meets(figure: number, goal: NonNullable<Row['goal']>): boolean {
  return 'atMost' in goal ? figure <= goal.atMost : figure >= goal.atLeast;
}

/** The lines as one aligned table, with a column for each of `others`. */
export function table(lines: readonly Line[], others: readonly Beside[] = []): string {
  const head = ['', 'unit', 'bare', ...others, 'sluice', 'ratio', '(rounds)', 'goal', ''];
  const cells = lines.map((line) => [
    line.label,
    line.unit,
    show(line.bare),
    ...others.map((name) => (isAsked(line, name) ? show(line.beside[name]?.figure) || 'not measured' : '')),
    show(line.sluice),
    line.ratio === undefined ? '' : line.ratio.toFixed(2),
    line.lowest === undefined ? '' : `${line.lowest.toFixed(2)}–${(line.highest ?? line.lowest).toFixed(2)}`,
    line.goal === undefined ? '' : 'atMost' in line.goal ? `≤ ${line.goal.atMost}` : `≥ ${line.goal.atLeast}`,
    line.met === undefined ? '' : line.met ? 'met' : 'MISSED',
  ]);
  const widths = head.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)));
  return [head, ...cells]
    .map((row) => row.map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))))
    .map((row) => row.join('  ').trimEnd())
    .join('\n');
}

/** Whether another gateway runs the line's scenario at all, when it is there. */
export function isAsked(line: Line, name: Beside): boolean {
  return line.lane === 'sluice' && SCENARIOS.some((each) => each.name === line.scenario && each.lanes.includes(name));
}

/** A figure with about three digits; nothing for none. */
export function show(figure: number | undefined): string {
  if (figure === undefined) return '';
  if (figure !== 0 && Math.abs(figure) < 10) return figure.toFixed(2);
  return figure.toFixed(Math.abs(figure) < 100 && figure !== 0 ? 1 : 0);
}
