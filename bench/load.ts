import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from './connection.ts';
import type { Question } from './requests.ts';

/** An answer that was not exact: the benchmark then fails, however fast it was. */
export class WrongAnswer extends Error {}

const LIMIT_MS = 120_000;

/** Fails instead of waiting for ever. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const giveUp = new AbortController();
  const limit = sleep(LIMIT_MS, undefined, { signal: giveUp.signal }).then(() => {
    throw new WrongAnswer(`no end after ${LIMIT_MS / 1000} s`);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    limit.catch(() => {});
    giveUp.abort();
  }
}

async function ask(connection: Connection, question: Question, onBody?: (piece: string) => void): Promise<void> {
  const answer = await connection.send(question.bytes, onBody).catch((error: Error) => {
    throw new WrongAnswer(error.message, { cause: error });
  });
  const wrong = question.judge(answer);
  if (wrong !== undefined) throw new WrongAnswer(wrong);
}

async function withConnections<T>(port: number, count: number, use: (all: Connection[]) => Promise<T>): Promise<T> {
  const all: Connection[] = [];
  try {
    // In small groups, so that the backlog of the listening socket never overflows.
    while (all.length < count) {
      const group = Math.min(50, count - all.length);
      all.push(...(await Promise.all(Array.from({ length: group }, () => Connection.open(port)))));
    }
    return await inTime(use(all));
  } finally {
    for (const connection of all) connection.close();
  }
}

/** `count` requests, always `concurrency` of them under way. */
export async function closedLoop(port: number, question: Question, concurrency: number, count: number): Promise<void> {
  let begun = 0;
  await withConnections(port, concurrency, async (all) => {
    await Promise.all(
      all.map(async (connection) => {
        while (begun < count) {
          begun += 1;
          await ask(connection, question);
        }
      }),
    );
  });
}

/** Time from sending to the end of each answer, in ms, sorted: one request every 1/`perSecond`, whatever comes back. */
export async function openLoop(port: number, question: Question, perSecond: number, count: number): Promise<number[]> {
  const times: number[] = [];
  await withConnections(port, 32, async (all) => {
    const idle = [...all];
    const pending = new Set<Promise<void>>();
    const began = performance.now();
    for (let index = 0; index < count; index += 1) {
      const due = began + (index * 1000) / perSecond;
      await sleep(Math.max(0, due - performance.now()));
      // When everything is held up, waiting for a connection is part of the time that a client would have to wait.
      const sent = idle.length === 0 ? due : performance.now();
      while (idle.length === 0) await Promise.race(pending);
      const connection = idle.pop() as Connection;
      const done = ask(connection, question).then(() => {
        pending.delete(done);
        times.push(performance.now() - sent);
        idle.push(connection);
      });
      done.catch(() => {});
      pending.add(done);
    }
    await Promise.all(pending);
  });
  return times.sort((a, b) => a - b);
}

interface Paced {
  readonly streams: number;
  readonly chunks: number;
  readonly perSecond: number;
}

interface PacedResult {
  /** Chunks that arrived between the two samples. */
  readonly chunks: number;
  /** How much of the upstream's pace reached the clients, in percent: mean over the streams. */
  readonly pace: number;
  /** The longest silence within a stream, in ms: 99th percentile over the streams. */
  readonly worstGap: number;
}

/**
 * Many slow streams at once. `sample` is called twice while all of them flow, so that neither their start nor their
 * end is in what it measures.
 */
export async function pacedLoop(
  port: number,
  question: Question,
  load: Paced,
  sample: () => void,
): Promise<PacedResult> {
  const lasts = (load.chunks * 1000) / load.perSecond;
  let arrived = 0;
  const paces: number[] = [];
  const gaps: number[] = [];
  const one = async (connection: Connection): Promise<void> => {
    let first = 0;
    let last = 0;
    let gap = 0;
    await ask(connection, question, (piece) => {
      const now = performance.now();
      for (let at = piece.indexOf('"content":" w'); at >= 0; at = piece.indexOf('"content":" w', at + 1)) {
        arrived += 1;
        if (first === 0) first = now;
        else gap = Math.max(gap, now - last);
        last = now;
      }
    });
    paces.push(Math.min(1, ((load.chunks - 1) * 1000) / load.perSecond / (last - first)));
    gaps.push(gap);
  };
  const window = await withConnections(port, load.streams, async (all) => {
    const began = performance.now();
    const until = (part: number): Promise<void> => sleep(Math.max(0, began + lasts * part - performance.now()));
    const started: Promise<void>[] = [];
    for (const [index, connection] of all.entries()) {
      // Spread over the first tenth: 1,000 requests in one instant are another test.
      if (index % 10 === 0) await until((index / all.length) * 0.1);
      const done = one(connection);
      done.catch(() => {});
      started.push(done);
    }
    await until(0.2);
    sample();
    const before = arrived;
    await until(0.9);
    const chunks = arrived - before;
    sample();
    await Promise.all(started);
    return chunks;
  });
  const mean = paces.reduce((sum, pace) => sum + pace, 0) / paces.length;
  gaps.sort((a, b) => a - b);
  return { chunks: window, pace: mean * 100, worstGap: percentile(gaps, 99) };
}

/** Time of every answer, in ms, sorted: one request, a pause of `pauseMs`, the next one, until `work` is done. */
export async function timesWhile(
  port: number,
  question: Question,
  pauseMs: number,
  work: () => Promise<void>,
): Promise<number[]> {
  const times: number[] = [];
  let over = false;
  await withConnections(port, 1, async ([connection]) => {
    const working = work().finally(() => {
      over = true;
    });
    while (!over && connection !== undefined) {
      const sent = performance.now();
      await ask(connection, question);
      times.push(performance.now() - sent);
      await sleep(pauseMs);
    }
    await working;
  });
  return times.sort((a, b) => a - b);
}

/** Time from sending to the first chunk of each stream, in ms, sorted: `count` in the same instant, `rounds` times. */
export async function firstPieces(port: number, question: Question, count: number, rounds: number): Promise<number[]> {
  const times: number[] = [];
  await withConnections(port, count, async (all) => {
    for (let round = 0; round < rounds; round += 1) {
      const sent = performance.now();
      await Promise.all(
        all.map((connection) =>
          ask(connection, question, (piece) => {
            if (piece.includes('"content":" w0"')) times.push(performance.now() - sent);
          }),
        ),
      );
    }
  });
  return times.sort((a, b) => a - b);
}

/** Does `work` while `count` streams are open, and leaves them then. Begins when each has brought its first bytes. */
export async function withStreams<T>(
  port: number,
  question: Question,
  count: number,
  work: () => Promise<T>,
): Promise<T> {
  return withConnections(port, count, async (all) => {
    await Promise.all(
      all.map((connection) => {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        connection.send(question.bytes, () => resolve()).catch(reject);
        return promise;
      }),
    );
    return work();
  });
}

/** Of sorted figures. */
export function percentile(sorted: readonly number[], percent: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN;
}

/** Of figures in any order; of an even number of them the mean of the middle two. NaN for none. */
export function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
