import { forTerminal, table } from '../table.ts';
import { growth, quantile, rate, type Snapshot } from './snapshot.ts';

/** A finished request, as `GET /backend-api/v2/requests` tells it. */
export interface Finished {
  readonly time: string;
  readonly dialect: string;
  readonly provider: string | null;
  readonly model: string | null;
  readonly asked: string | null;
  readonly status: number;
  readonly error: { readonly code: string } | null;
  readonly first_chunk_ms: number | null;
  readonly duration_ms: number;
  readonly usage: { readonly total_tokens: number } | null;
  readonly cost: number | null;
}

/** What there is to show, of one look. */
export interface Shown {
  readonly url: string;
  readonly now: Snapshot;
  /** A moment ago. */
  readonly before: Snapshot | undefined;
  /** The newest first; undefined: they are not shown to us. */
  readonly requests: readonly Finished[] | undefined;
  /** Why there is nothing newer. */
  readonly problem?: string | undefined;
}

/** In characters. A pipe has no end in either direction. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
}

/** Providers and requests that are shown where there is room without end. */
const MOST_ROWS = 20;

/** What is to be seen, line by line, at most as large as the screen. */
export function view(seen: Shown, screen: Screen): readonly string[] {
  const wrapped = (words: readonly string[], between: string): readonly string[] =>
    wrap(words, between, screen.columns);
  const head: readonly Line[] = [
    { text: title(seen) },
    // What follows is old then.
    ...wrapped(seen.problem === undefined ? [] : forTerminal(seen.problem).split(' '), ' ').map(bad),
    { text: '' },
    ...overview(seen).flatMap((row) => wrapped(row, '   ').map((text) => ({ text }))),
    { text: '' },
  ];
  const providers = providerRows(seen);
  const requests = requestRows(seen.requests);
  const room = screen.rows - head.length - 2;
  const share = Math.max(2, Math.min(providers.length, room - Math.min(requests.length, Math.floor(room / 2))));
  const lines: Line[] = [
    ...head,
    ...tableOf(providers.slice(0, share)),
    { text: '' },
    ...tableOf(requests.slice(0, Math.max(1, screen.rows - head.length - share - 1))),
  ];
  return lines.slice(0, Math.max(1, screen.rows)).map((line, index) => painted(line, index === 0, screen));
}

interface Line {
  readonly text: string;
  readonly style?: 'head' | 'bad';
}

const bad = (text: string): Line => ({ text, style: 'bad' });

/** Pieces side by side, and below each other where the screen is too narrow for that. */
function wrap(pieces: readonly string[], between: string, columns: number): readonly string[] {
  const lines: string[] = [];
  for (const piece of pieces) {
    const longer = lines.length === 0 ? piece : `${lines.at(-1)}${between}${piece}`;
    if (lines.length > 0 && longer.length > columns) lines.push(piece);
    else lines.splice(-1, 1, longer);
  }
  return lines;
}

function title({ url, now }: Shown): string {
  const version = now.label('sluice_info', 'version');
  const started = now.sum('process_start_time_seconds');
  const up = started === undefined ? '' : `, up ${span(Date.now() / 1_000 - started)}`;
  return `Sluice${version === undefined ? '' : ` ${version}`} at ${url}${up}`;
}

function overview({ now, before }: Shown): readonly (readonly string[])[] {
  const perSecond = (name: string, labels = {}) => number(rate(now, before, name, labels));
  const requests = sumOfModels(now);
  const lag = now.sum('sluice_event_loop_lag_seconds', { quantile: '0.99' });
  const cpu = rate(now, before, 'process_cpu_seconds_total');
  const cost = now.sum('sluice_cost_usd_total');
  const rows: (readonly [string, string][])[] = [
    [
      ['requests', `${number(requests)} (${number(requestRate(now, before))}/s)`],
      ['running', number(now.sum('sluice_requests_running'))],
      ['streams', number(now.sum('sluice_streams_running'))],
      ['errors', number(failures(now))],
      ['fallbacks', number(now.sum('sluice_fallbacks_total') ?? 0)],
    ],
    [
      ['tokens in', `${perSecond('sluice_tokens_total', { type: 'input' })}/s`],
      ['out', `${perSecond('sluice_tokens_total', { type: 'output' })}/s`],
      ['first chunk', `${quantiles(now, {})}`],
      ['cost', cost === undefined ? '-' : dollars(cost)],
    ],
    [
      ['cpu', cpu === undefined ? '-' : `${Math.round(cpu * 100)} %`],
      ['memory', `${number((now.sum('process_resident_memory_bytes') ?? 0) / 1_048_576)} MiB`],
      ['loop lag p99', lag === undefined ? '-' : milliseconds(lag * 1_000)],
      ['descriptors', number(now.sum('process_open_fds'))],
    ],
  ];
  return rows.map((row) => row.map(([name, value]) => `${name} ${value}`));
}

function providerRows({ now, before }: Shown): readonly Row[] {
  const names = new Set([
    ...now.values('sluice_requests_total', 'provider'),
    ...now.values('sluice_upstream_attempts_total', 'provider'),
  ]);
  names.delete('');
  const rows = [...names].map((provider) => {
    const errors = now.all('sluice_upstream_errors_total', { provider });
    const count = now.sum('sluice_requests_total', { provider }) ?? 0;
    const codes = [...errors]
      .sort((one, other) => other.value - one.value)
      .map(({ labels, value }) => `${value} ${labels['code'] ?? ''}`);
    return {
      count,
      isBad: growth(now, before ?? now, 'sluice_upstream_errors_total', { provider }) > 0,
      cells: [
        forTerminal(provider),
        number(count),
        number(rate(now, before, 'sluice_requests_total', { provider })),
        number(rate(now, before, 'sluice_tokens_total', { provider, type: 'output' })),
        quantiles(now, { provider }),
        codes.length === 0 ? '-' : forTerminal(codes.join(', ')),
      ],
    };
  });
  rows.sort((one, other) => other.count - one.count);
  return [headRow('PROVIDER', 'ANSWERS', '/S', 'TOKENS/S', 'FIRST P50/P99', 'ERRORS'), ...rows.slice(0, MOST_ROWS)];
}

function requestRows(requests: readonly Finished[] | undefined): readonly Row[] {
  if (requests === undefined) return [];
  const rows = requests.slice(0, MOST_ROWS).map((each) => {
    const target = each.provider === null ? (each.asked ?? '-') : `${each.provider}/${each.model ?? ''}`;
    return {
      isBad: each.status >= 400 || each.error !== null,
      cells: [
        // As clocks are here.
        new Date(each.time).toTimeString().slice(0, 8),
        each.error === null ? String(each.status) : `${each.status} ${each.error.code}`,
        milliseconds(each.first_chunk_ms ?? undefined),
        milliseconds(each.duration_ms),
        number(each.usage?.total_tokens),
        each.cost === null ? '-' : dollars(each.cost),
        each.dialect,
        forTerminal(target),
      ],
    };
  });
  return [headRow('TIME', 'STATUS', 'FIRST', 'TOTAL', 'TOKENS', 'COST', 'DIALECT', 'MODEL'), ...rows];
}

interface Row {
  readonly cells: readonly string[];
  readonly isBad?: boolean;
  readonly isHead?: true;
}

function headRow(...cells: readonly string[]): Row {
  return { cells, isHead: true };
}

function tableOf(rows: readonly Row[]): readonly Line[] {
  return table(rows.map(({ cells }) => cells)).map((text, index) => {
    const row = rows[index];
    if (row?.isHead === true) return { text, style: 'head' };
    return row?.isBad === true ? { text, style: 'bad' } : { text };
  });
}

function painted({ text, style }: Line, isTitle: boolean, { columns, colour }: Screen): string {
  const clean = forTerminal(text);
  const short = clean.length > columns ? clean.slice(0, Math.max(0, columns)) : clean;
  if (!colour) return short;
  if (isTitle) return `\x1b[1m${short}\x1b[0m`;
  if (style === 'head') return `\x1b[2m${short}\x1b[0m`;
  return style === 'bad' ? `\x1b[31m${short}\x1b[0m` : short;
}

/** Requests to models: whatever has a dialect. */
function sumOfModels(now: Snapshot): number {
  return ofModels(now).reduce((sum, { value }) => sum + value, 0);
}

function requestRate(now: Snapshot, before: Snapshot | undefined): number | undefined {
  if (before === undefined || now.at <= before.at) return undefined;
  const grown = sumOfModels(now) - sumOfModels(before);
  return Math.max(0, grown) / ((now.at - before.at) / 1_000);
}

function failures(now: Snapshot): number {
  const failed = ofModels(now).filter(({ labels }) => Number(labels['status']) >= 400 && labels['status'] !== '499');
  return failed.reduce((sum, { value }) => sum + value, 0) + (now.sum('sluice_streams_broken_total') ?? 0);
}

function ofModels(now: Snapshot) {
  return now.all('sluice_requests_total').filter(({ labels }) => labels['dialect'] !== '');
}

function quantiles(now: Snapshot, labels: Readonly<Record<string, string>>): string {
  const [half, most] = [0.5, 0.99].map((share) => quantile(now, 'sluice_time_to_first_chunk_seconds', share, labels));
  if (half === undefined || most === undefined) return '-';
  return `<${milliseconds(half * 1_000)}/${milliseconds(most * 1_000)}`;
}

/** Short, and never wider than it has to be. */
export function number(value: number | undefined): string {
  if (value === undefined) return '-';
  if (value >= 1e7) return `${(value / 1e6).toFixed(1)}M`;
  if (value >= 1e4) return `${(value / 1e3).toFixed(1)}k`;
  return value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1);
}

/** `-` where nothing is known, `more` for what is above the last bound of a histogram. */
export function milliseconds(value: number | undefined): string {
  if (value === undefined) return '-';
  if (value === Number.POSITIVE_INFINITY) return 'more';
  if (value >= 10_000) return `${Math.round(value / 1_000)}s`;
  return value >= 1_000 ? `${(value / 1_000).toFixed(1)}s` : `${Math.round(value)}ms`;
}

function dollars(value: number): string {
  return `$${value >= 1 ? value.toFixed(2) : value.toPrecision(2)}`;
}

function span(seconds: number): string {
  const minutes = Math.floor(Math.max(0, seconds) / 60);
  if (minutes < 1) return `${Math.floor(Math.max(0, seconds))}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 1) return `${minutes}m`;
  return hours < 48 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}
