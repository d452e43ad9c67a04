import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMicros, type Running } from './gateway.ts';
import { type Dialect, type Question, question } from './requests.ts';

/** One gateway spoken to in one dialect. */
export interface Lane {
  readonly name: LaneName;
  readonly dialect: Dialect;
  readonly gateway: Running;
  /** What it has to be told with each request: header lines. */
  readonly headers?: readonly string[];
  /** A second process of the same kind, to see how it starts and what it holds when idle. */
  another(): Promise<Running>;
}

/**
 * `typed` and `vendor` are the same process as `sluice`: its conversations, and an upstream of another format that is
 * spoken to by its vendor's library. `plain`, `models` and `records` are Sluice too, each a process that does small requests
 * only: with a few models, with ten thousand, and with a million usage records.
 */
export type LaneName = 'bare' | 'sluice' | 'typed' | 'vendor' | 'plain' | 'models' | 'records' | Beside;

/** The other gateways, which run only when they are asked for. */
export const BESIDE = ['nginx', 'portkey'] as const;

/** One of them, by name. */
export type Beside = (typeof BESIDE)[number];

/** What all scenarios of a run share: the upstream, and how much is done. */
export interface Context {
  readonly mock: Running;
  readonly size: Size;
}

/** How much of everything one round does. */
export interface Size {
  readonly requests: number;
  readonly flatStreams: number;
  readonly pacedStreams: number;
  readonly pacedChunks: number;
  /** Of the look at memory, which takes twice as many after them. */
  readonly slowStreams: number;
  readonly bigPrompts: number;
  readonly bigAnswers: number;
  readonly latencyRequests: number;
  readonly leavers: number;
  readonly settleMs: number;
  /** Of those that begin in the same instant. */
  readonly streamsAtOnce: number;
  /** Requests of 8 MB, of each shape. */
  readonly heavyRequests: number;
  readonly halfOpen: number;
  readonly manyModels: number;
  readonly manyRecords: number;
}

/** A whole run, as the README's figures need it. */
export const FULL: Size = {
  requests: 8000,
  flatStreams: 400,
  pacedStreams: 1000,
  pacedChunks: 200,
  slowStreams: 1000,
  bigPrompts: 1000,
  bigAnswers: 200,
  latencyRequests: 1000,
  leavers: 200,
  settleMs: 1000,
  streamsAtOnce: 500,
  heavyRequests: 10,
  halfOpen: 300,
  manyModels: 10_000,
  manyRecords: 1_000_000,
};

/** Enough to see that every answer is exact and the figures are about right. */
export const QUICK: Size = {
  requests: 400,
  flatStreams: 16,
  pacedStreams: 100,
  pacedChunks: 20,
  slowStreams: 100,
  bigPrompts: 40,
  bigAnswers: 8,
  latencyRequests: 100,
  leavers: 50,
  settleMs: 200,
  streamsAtOnce: 50,
  heavyRequests: 1,
  halfOpen: 50,
  manyModels: 1000,
  manyRecords: 10_000,
};

/** What one run found, by metric: see `rows.ts`. */
export type Figures = Readonly<Record<string, number>>;

/** A kind of load, and the lanes that it is put on. */
export interface Scenario {
  readonly name: string;
  readonly lanes: readonly LaneName[];
  /** A run that nobody measures, so that the compiler has seen the code. */
  warmUp?(lane: Lane, context: Context): Promise<void>;
  /** How many runs are one round, each on all lanes before the next; their means count. Absent: one. */
  readonly turns?: number;
  run(lane: Lane, context: Context): Promise<Figures>;
}

/** A chat that asks for `model` in the words of the lane, of `gateway`: the lane's own, or another one. */
export function ask(lane: Lane, gateway: Running, model: string, promptBytes: number, turns?: number): Question {
  return question(lane.dialect, gateway.port, model, promptBytes, lane.headers, turns);
}

/** The mean of each metric. */
export function meanOf(runs: readonly Figures[]): Figures {
  const metrics = Object.keys(runs[0] ?? {});
  return Object.fromEntries(
    metrics.map((metric) => [metric, runs.reduce((sum, run) => sum + (run[metric] ?? Number.NaN), 0) / runs.length]),
  );
}

/** CPU of the gateway while `work` runs, and shortly after it: what is put off to the end is part of the cost. */
export async function cpuOf(lane: Lane, work: () => Promise<void>): Promise<number> {
  const before = cpuMicros(lane.gateway.pid);
  await work();
  await sleep(200);
  return cpuMicros(lane.gateway.pid) - before;
}
