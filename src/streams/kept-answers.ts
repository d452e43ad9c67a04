import { randomBytes } from 'node:crypto';
import type { Limits } from '../config/config.ts';
import type { CallScope } from '../core/call.ts';
import { SluiceError } from '../core/errors.ts';
import { EventLog } from './event-log.ts';

/** What an answer that outlives its connection may take, and for how long. */
export type KeptLimits = Pick<
  Limits,
  'unattendedMs' | 'keptAnswerMs' | 'keptAnswerBytes' | 'keptAnswers' | 'keptAnswersPerClient'
>;

/** An answer that belongs to the server and not to a connection: readers come and go. */
export class KeptAnswer {
  /** 128 random bits behind the tag of the process: whoever knows it may read the answer, and stop it. */
  readonly id: string;
  /** Whose share of the places it takes; undefined counts for nobody. */
  readonly client: string | undefined;
  readonly events: EventLog;
  readonly #call: CallScope;
  readonly #limits: KeptLimits;
  readonly #onExpire: () => void;
  #readers = 0;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(tag: string, client: string | undefined, call: CallScope, limits: KeptLimits, onExpire: () => void) {
    this.id = tag + randomBytes(16).toString('hex');
    this.client = client;
    this.events = new EventLog(limits.keptAnswerBytes);
    this.#call = call;
    this.#limits = limits;
    this.#onExpire = onExpire;
  }

  /** Whether it ended because somebody wanted it to. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** It has ended, and nobody reads it now. */
  get isSpare(): boolean {
    return this.events.ended && this.#readers === 0;
  }

  /** Counts a reader in; the function that is returned counts it out again. */
  attend(): () => void {
    this.#readers += 1;
    clearTimeout(this.#timer);
    return () => {
      this.#readers -= 1;
      this.#rest();
    };
  }

  /** Cancels what is running; one that has ended stays as it is. */
  stop(): void {
    if (this.events.ended) return;
    this.#stopped = true;
    this.#call.cancel(new SluiceError('cancelled', 'The answer was stopped.'));
  }

  /** Adds the last events; whatever comes afterwards counts no more. */
  end(lastEvents = ''): void {
    if (this.events.ended) return;
    this.events.append(lastEvents);
    this.events.end();
    this.#rest();
  }

  /** Lets go of the time that was running for it. */
  release(): void {
    clearTimeout(this.#timer);
  }

  /** Without readers time runs: until it is stopped, or once it has ended, until it is forgotten. */
  #rest(): void {
    if (this.#readers > 0) return;
    clearTimeout(this.#timer);
    const { keptAnswerMs, unattendedMs } = this.#limits;
    this.#timer = this.events.ended
      ? setTimeout(this.#onExpire, keptAnswerMs).unref()
      : setTimeout(() => this.#abandon(), unattendedMs).unref();
  }

  #abandon(): void {
    const { unattendedMs } = this.#limits;
    this.#call.cancel(
      new SluiceError('cancelled', `Nobody has read this answer for ${unattendedMs} ms, so it was stopped.`),
    );
  }
}

/** The tag in front of an id; undefined: it has none, or is none of ours. */
export function tagOfAnswer(id: string): string | undefined {
  return /^([0-9a-f]{4})[0-9a-f]{32}$/.exec(id)?.[1];
}

/** All answers that can be read again, by id. There is no way to list them. */
export class KeptAnswers {
  readonly #limits: () => KeptLimits;
  readonly #tag: string;
  readonly #answers = new Map<string, KeptAnswer>();

  /** @param tag stands in front of all ids */
  constructor(limits: () => KeptLimits, tag = '') {
    this.#limits = limits;
    this.#tag = tag;
  }

  get size(): number {
    return this.#answers.size;
  }

  /**
   * Makes room for an answer that `call` will run. One that has ended and is not being read makes way for it, the oldest
   * first; where there is none, this throws `overloaded` or, for the share of one client, `rate_limited`.
   */
  open(client: string | undefined, call: CallScope): KeptAnswer {
    const limits = this.#limits();
    const isOwn = (answer: KeptAnswer): boolean => client !== undefined && answer.client === client;
    if (!this.#makeRoom(limits.keptAnswersPerClient, isOwn)) {
      throw new SluiceError(
        'rate_limited',
        `One client gets at most ${limits.keptAnswersPerClient} resumable answers at once; ask without 'resumable', or later.`,
        { retryAfter: 1 },
      );
    }
    if (!this.#makeRoom(limits.keptAnswers, () => true)) {
      throw new SluiceError(
        'overloaded',
        `Sluice keeps ${limits.keptAnswers} resumable answers already; ask without 'resumable', or try again shortly.`,
        { retryAfter: 1 },
      );
    }
    const answer = new KeptAnswer(this.#tag, client, call, limits, () => this.forget(answer));
    this.#answers.set(answer.id, answer);
    return answer;
  }

  find(id: string): KeptAnswer | undefined {
    return this.#answers.get(id);
  }

  forget(answer: KeptAnswer): void {
    answer.release();
    this.#answers.delete(answer.id);
  }

  /** Whether one more has room among those that count. */
  #makeRoom(most: number, counts: (answer: KeptAnswer) => boolean): boolean {
    const all = [...this.#answers.values()].filter(counts);
    const spare = all.filter((answer) => answer.isSpare).slice(0, Math.max(0, all.length - most + 1));
    if (all.length - spare.length >= most) return false;
    for (const answer of spare) this.forget(answer);
    return true;
  }
}
