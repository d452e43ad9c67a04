import { ConfigError } from '../config/problems.ts';
import type { Logger } from '../core/logger.ts';
import type { Fleet, Member } from './fleet.ts';

/** Waiting before a worker that crashed is replaced, in milliseconds: longer each time that another one crashes soon. */
const BACK_OFF_MS = 100;
const LONGEST_BACK_OFF_MS = 10_000;
const CALM_MS = 30_000;

interface CrewDeps {
  readonly fleet: Pick<Fleet, 'all' | 'retire'>;
  /** How many are to serve. */
  readonly count: () => number;
  /** Starts one, with the present configuration, and resolves once it serves. */
  readonly start: () => Promise<unknown>;
  /** Reads the configuration anew. Throws when it is wrong. */
  readonly reload: () => Promise<void>;
  readonly log: Logger;
}

/**
 * Sees to it that as many workers serve as are wanted. Whatever happens, what is to be done is found by looking at who is there: a
 * crash in the middle of a restart is nothing special.
 */
export class Crew {
  readonly #deps: CrewDeps;
  #step: 'steady' | 'reading' | 'restarting' = 'steady';
  #isWantedAgain = false;
  #isStopped = false;
  /** Those that were there when the last restart began, to be replaced. */
  #old: ReadonlySet<Member> = new Set();
  /** Each resolves once one of those takes no new connection any more. */
  #leaving: Promise<void>[] = [];
  /** While it runs nothing is started: something failed lately. */
  #pause: NodeJS.Timeout | undefined;
  #failures = 0;
  #lastFailure = Number.NEGATIVE_INFINITY;

  constructor(deps: CrewDeps) {
    this.#deps = deps;
  }

  /** Starts whoever is missing. */
  fill(): void {
    this.#fit();
  }

  /** One that served has ended, or is about to. */
  crashed(): void {
    this.#rest();
    this.#fit();
  }

  /** New workers take the places of the old ones, one after the other; no answer is cut. Wished twice, it is done twice. */
  restart(): void {
    if (this.#isStopped) return;
    // One that only waits until it may try again would do so with what kept it from succeeding.
    if (this.#step === 'reading' || (this.#step === 'restarting' && this.#pause === undefined)) {
      this.#isWantedAgain = true;
      this.#deps.log.info({}, 'restarting the workers once more after this time');
      return;
    }
    void this.#begin();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#pause);
  }

  async #begin(): Promise<void> {
    const { fleet, reload, count, log } = this.#deps;
    this.#step = 'reading';
    this.#isWantedAgain = false;
    this.#endPause();
    try {
      await reload();
    } catch (error) {
      this.#giveUp(error);
      return;
    }
    if (this.#isStopped) return;
    this.#step = 'restarting';
    this.#old = new Set(fleet.all);
    this.#leaving = [];
    log.info({ workers: count() }, 'restarting the workers, one after the other');
    this.#fit();
  }

  /** Retires who is one too many, and starts who is missing; a new one comes before an old one goes. */
  #fit(): void {
    if (this.#isStopped) return;
    const { fleet } = this.#deps;
    const count = this.#deps.count();
    const coming = fleet.all.filter((member) => member.state === 'starting' && !this.#old.has(member)).length;
    for (const member of this.#oldestFirst().slice(0, -count)) {
      const left = fleet.retire(member);
      if (this.#step === 'restarting') this.#leaving.push(left);
    }
    const serving = this.#oldestFirst();
    const hasOld = serving.some((member) => this.#old.has(member));
    if (this.#step === 'restarting' && !hasOld && serving.length >= count) {
      this.#end();
      return;
    }
    if (this.#pause !== undefined) return;
    const missing = Math.max(count - serving.length, hasOld ? 1 : 0) - coming;
    for (let at = 0; at < missing; at += 1) void this.#start();
  }

  /** Those that serve: the ones to be replaced, then the others. */
  #oldestFirst(): readonly Member[] {
    const serving = this.#deps.fleet.all.filter(({ state }) => state === 'serving');
    return [...serving.filter((each) => this.#old.has(each)), ...serving.filter((each) => !this.#old.has(each))];
  }

  async #start(): Promise<void> {
    const old = this.#old;
    try {
      await this.#deps.start();
    } catch (error) {
      if (this.#isStopped) return;
      this.#failed(error as Error, old === this.#old);
      return;
    }
    this.#fit();
  }

  #failed(error: Error, isOfThisRestart: boolean): void {
    const isFull = this.#oldestFirst().length >= this.#deps.count();
    if (this.#step === 'restarting' && isOfThisRestart && (isFull || this.#isWantedAgain)) {
      this.#giveUp(error);
      return;
    }
    this.#deps.log.error({ error: error.message }, 'a worker could not be started');
    this.#rest();
    this.#fit();
  }

  #giveUp(error: unknown): void {
    if (this.#isStopped) return;
    const reason = error instanceof ConfigError ? error.problems.join('\n') : (error as Error).message;
    this.#deps.log.error({}, `the restart stopped, the other workers go on serving: ${reason}`);
    this.#old = new Set();
    this.#next();
  }

  #end(): void {
    // Nobody waits for it but whoever reads this: one that hangs must keep nothing from going on.
    void Promise.all(this.#leaving).then(() => {
      if (!this.#isStopped) this.#deps.log.info({ workers: this.#deps.count() }, 'all workers are new');
    });
    this.#next();
  }

  #next(): void {
    this.#step = 'steady';
    if (this.#isWantedAgain) void this.#begin();
    else this.#fit();
  }

  /** The more has failed lately, the longer; what fails meanwhile too is the same trouble. */
  #rest(): void {
    if (this.#pause !== undefined) return;
    const now = performance.now();
    this.#failures = now - this.#lastFailure > CALM_MS ? 0 : this.#failures + 1;
    this.#lastFailure = now;
    if (this.#failures === 0) return;
    const milliseconds = Math.min(LONGEST_BACK_OFF_MS, BACK_OFF_MS * 2 ** this.#failures);
    this.#pause = setTimeout(() => {
      this.#endPause();
      this.#fit();
    }, milliseconds);
  }

  #endPause(): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
  }
}
