import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Actor, bucketActor, chatActor, type Finding, memoryActor, usageActor } from './actors.ts';
import type { Running, Subject } from './subject.ts';

export interface Outcome {
  readonly cycles: number;
  /** Writes that were acknowledged. */
  readonly acknowledged: number;
  readonly lost: number;
  readonly torn: number;
  /** Half-written things that were still there after a restart. */
  readonly leftovers: number;
  readonly findings: readonly string[];
  readonly slowestStartMs: number;
}

/** Writers of each kind at the same time. */
const WRITERS = 4;
/** Life of a process under load, in milliseconds. */
const SHORTEST_LIFE_MS = 5;
const LONGEST_LIFE_MS = 250;
/** Cycles for which the same things are written; then they rest until the end, and new ones take their place. */
const GENERATION = 10;
/** Cleaning up is done in the background of a start. */
const CLEANING_TRIES = 100;

/** Kills a process under concurrent writes, again and again, and looks each time what is left of what it promised. */
export async function killNine(
  subject: Subject,
  cycles: number,
  onCycle: (cycle: number, outcome: Outcome) => void = () => {},
): Promise<Outcome> {
  const everyone: Actor[] = [];
  const findings: Finding[] = [];
  let writing: readonly Actor[] = [];
  let leftovers = 0;
  let slowestStartMs = 0;
  const outcome = (done: number): Outcome => ({
    cycles: done,
    acknowledged: everyone.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
    lost: findings.filter(({ kind }) => kind === 'lost').length,
    torn: findings.filter(({ kind }) => kind === 'torn').length,
    leftovers,
    findings: findings.map(({ kind, what }) => `${kind}: ${what}`),
    slowestStartMs: Math.round(slowestStartMs),
  });
  for (let cycle = 0; cycle <= cycles; cycle += 1) {
    const isLast = cycle === cycles;
    const running = await subject.start();
    try {
      slowestStartMs = Math.max(slowestStartMs, running.readyMs);
      leftovers += await leftoversOf(subject);
      const verified = await Promise.all((isLast ? everyone : writing).map((actor) => actor.verify(running)));
      findings.push(...verified.flat());
      if (isLast) continue;
      if (cycle % GENERATION === 0) {
        writing = newActors(cycle);
        everyone.push(...writing);
      }
      await writeForAWhile(running, writing);
      onCycle(cycle + 1, outcome(cycle + 1));
    } finally {
      await running.kill();
    }
  }
  return outcome(cycles);
}

function newActors(generation: number): readonly Actor[] {
  return Array.from({ length: WRITERS }, (_, n) => `k${generation}x${n}`).flatMap((id) => [
    chatActor(id),
    memoryActor(id),
    bucketActor(id),
    usageActor(id),
  ]);
}

/** Ends with the death of the process, amid writes; rejects when one failed before. */
async function writeForAWhile(running: Running, actors: readonly Actor[]): Promise<void> {
  let ended = false;
  const works = actors.map(async (actor) => {
    while (!ended) {
      try {
        await actor.write(running);
      } catch (error) {
        if (!ended) throw error;
      }
    }
  });
  try {
    await Promise.race([sleep(SHORTEST_LIFE_MS + randomInt(LONGEST_LIFE_MS)), ...works]);
  } finally {
    ended = true;
    await running.kill();
    await Promise.allSettled(works);
  }
}

async function leftoversOf(subject: Subject): Promise<number> {
  for (let tries = 1; tries < CLEANING_TRIES; tries += 1) {
    if (subject.leftovers().length === 0) return 0;
    await sleep(20);
  }
  return subject.leftovers().length;
}
