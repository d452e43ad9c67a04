import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor, Finding, Running, Subject } from './subject.ts';

/** What came of the cycles so far. What is lost, torn or left over fails the run. */
export interface Outcome {
  readonly cycles: number;
  /** Writes that were acknowledged. */
  readonly acknowledged: number;
  /** The same, by what was written. */
  readonly kinds: Readonly<Partial<Record<Actor<Running>['kind'], number>>>;
  readonly lost: number;
  readonly torn: number;
  /** Half-written things that were still there after a restart. */
  readonly leftovers: number;
  /** Files that no record knew in the end: they are served to nobody, but take up room. */
  readonly strays: number;
  readonly findings: readonly string[];
  readonly slowestStartMs: number;
  /** Starts that took longer than `SLOW_START_MS`. */
  readonly slowStarts: number;
}

/** What a start may take, in milliseconds. It depends on the machine, so it is told and fails nothing. */
export const SLOW_START_MS = 2_000;

/** Writers of each kind at the same time. */
const WRITERS = 4;
/** Life of a process under load, in milliseconds. */
const SHORTEST_LIFE_MS = 5;
/** Cycles for which the same things are written; then they rest until the end, and new ones take their place. */
const GENERATION = 10;
/** Cleaning up is done in the background of a start, for which a busy machine may take seconds: 30 s, and most starts none. */
const CLEANING_TRIES = 1_500;

/** Kills a process under concurrent writes, again and again, and looks each time what is left of what it promised. */
export async function killNine<R extends Running>(
  subject: Subject<R>,
  cycles: number,
  onCycle: (cycle: number, outcome: Outcome) => void = () => {},
): Promise<Outcome> {
  const everyone: Actor<R>[] = [];
  const findings: Finding[] = [];
  let writing: readonly Actor<R>[] = [];
  let leftovers = 0;
  let strays = 0;
  let slowestStartMs = 0;
  let slowStarts = 0;
  const outcome = (done: number): Outcome => ({
    cycles: done,
    acknowledged: everyone.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
    kinds: countByKind(everyone),
    lost: findings.filter(({ kind }) => kind === 'lost').length,
    torn: findings.filter(({ kind }) => kind === 'torn').length,
    leftovers,
    strays,
    findings: findings.map(({ kind, what }) => `${kind}: ${what}`),
    slowestStartMs: Math.round(slowestStartMs),
    slowStarts,
  });
  for (let cycle = 0; cycle <= cycles; cycle += 1) {
    const isLast = cycle === cycles;
    const running = await subject.start();
    try {
      slowestStartMs = Math.max(slowestStartMs, running.readyMs);
      if (running.readyMs > SLOW_START_MS) slowStarts += 1;
      leftovers += await leftoversOf(subject);
      const verified = await Promise.all((isLast ? everyone : writing).map((actor) => actor.verify(running)));
      findings.push(...verified.flat());
      const inspection = await subject.inspect?.(running);
      findings.push(...(inspection?.findings ?? []));
      strays = inspection?.strays ?? 0;
      if (isLast) continue;
      if (cycle % GENERATION === 0) {
        writing = newActors(subject, cycle);
        everyone.push(...writing);
      }
      await writeForAWhile(subject, running, writing);
      onCycle(cycle + 1, outcome(cycle + 1));
    } finally {
      await running.kill();
    }
  }
  return outcome(cycles);
}

function countByKind<R extends Running>(actors: readonly Actor<R>[]): Outcome['kinds'] {
  const counts: Partial<Record<Actor<R>['kind'], number>> = {};
  for (const { kind, acknowledged } of actors) counts[kind] = (counts[kind] ?? 0) + acknowledged;
  return counts;
}

function newActors<R extends Running>(subject: Subject<R>, generation: number): readonly Actor<R>[] {
  return Array.from({ length: WRITERS }, (_, n) => `k${generation}x${n}`).flatMap((id) => subject.actors(id));
}

/** Ends with the death of the process, amid writes; rejects when one failed before. */
async function writeForAWhile<R extends Running>(
  { longestLifeMs, longestRestMs }: Subject<R>,
  running: R,
  actors: readonly Actor<R>[],
): Promise<void> {
  let ended = false;
  const works = actors.map(async (actor) => {
    while (!ended) {
      try {
        await actor.write(running);
        if (longestRestMs > 0) await sleep(randomInt(longestRestMs));
      } catch (error) {
        if (!ended) throw error;
      }
    }
  });
  try {
    await Promise.race([sleep(SHORTEST_LIFE_MS + randomInt(longestLifeMs)), ...works]);
  } finally {
    ended = true;
    await running.kill();
    await Promise.allSettled(works);
  }
}

async function leftoversOf<R extends Running>(subject: Subject<R>): Promise<number> {
  for (let tries = 1; tries < CLEANING_TRIES; tries += 1) {
    if (subject.leftovers().length === 0) return 0;
    await sleep(20);
  }
  return subject.leftovers().length;
}
