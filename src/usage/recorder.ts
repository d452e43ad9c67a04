import type { Usage } from '../core/chunk.ts';
import { dayOf } from '../core/days.ts';
import { toSluiceError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { UsageStore } from '../core/stores.ts';
import type { Cost } from '../core/usage.ts';
import { UsageBatch } from '../core/usage-batch.ts';

/** How long records wait for others to be written with them, in milliseconds. */
const WAIT_MS = 50;
/** After so long what could not be written is tried again though nothing new has come, in milliseconds. */
const AGAIN_MS = 5_000;
/** Records of one batch. */
const MOST_IN_BATCH = 1_000;
/** Records that wait at most while the store is out of order; the oldest batches go first. */
const MOST = 10_000;

/** One answer, as it is recorded. */
export interface Answered {
  readonly user: string;
  readonly provider: string;
  readonly label: string;
  readonly model: string;
  readonly usage: Usage;
  readonly cost: Cost;
}

/** Records the usage of every answer once, in batches, behind the answer: nobody waits for it. */
export class UsageRecorder {
  readonly #store: UsageStore;
  readonly #log: Logger;
  /** Takes the next record. */
  #open: UsageBatch | undefined;
  /** Complete: whatever became of the first try, the second one must be the same batch. */
  #complete: UsageBatch[] = [];
  /** Fulfilled once no price is being looked up. */
  #pricing: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #again: NodeJS.Timeout | undefined;
  #closed = false;
  #writing: Promise<void> = Promise.resolve();
  /** What will be written behind that: one time for all who ask meanwhile, or a store that hangs would keep each waiting for all others. */
  #next: Promise<void> | undefined;
  #failing = false;

  constructor(store: UsageStore, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  note(answered: Answered): void {
    const { cost } = answered;
    const now = Date.now();
    if (!(cost instanceof Promise)) {
      this.#add(answered, now, cost);
      return;
    }
    const priced = cost.then((known) => this.#add(answered, now, known));
    // Their own results would be held one in the other.
    this.#pricing = Promise.all([this.#pricing, priced]).then(() => undefined);
  }

  /** Writes what waits now. Never throws: usage that cannot be written is tried again with the next, or after a while. */
  async flush(): Promise<void> {
    await this.#pricing;
    await this.#flush();
  }

  /** Writes what waits, a last time. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.flush();
  }

  #add({ user, provider, label, model, usage }: Answered, time: number, cost: number | null): void {
    this.#batchOf(dayOf(time)).add({
      time,
      user,
      provider,
      model,
      promptTokens: usage.promptTokens,
      completionTokens: usage.completionTokens,
      totalTokens: usage.totalTokens,
      savedTokens: usage.cachedTokens ?? 0,
      more: {
        label,
        estimated: usage.estimated === true ? true : undefined,
        cache_write_tokens: usage.cacheWriteTokens || undefined,
        cost,
      },
    });
    this.#timer ??= setTimeout(() => void this.#flush(), WAIT_MS);
  }

  #batchOf(day: string): UsageBatch {
    if (this.#open?.day === day && this.#open.size < MOST_IN_BATCH) return this.#open;
    this.#close();
    this.#open = new UsageBatch(day);
    return this.#open;
  }

  #close(): void {
    if (this.#open !== undefined) this.#complete.push(this.#open);
    this.#open = undefined;
  }

  #flush(): Promise<void> {
    clearTimeout(this.#timer);
    clearTimeout(this.#again);
    this.#timer = undefined;
    this.#next ??= this.#writing.then(() => {
      this.#next = undefined;
      return this.#write();
    });
    this.#writing = this.#next;
    return this.#next;
  }

  async #write(): Promise<void> {
    this.#close();
    const batches = this.#complete;
    const [first, ...others] = batches;
    if (first === undefined) return;
    this.#complete = [];
    // Where one cannot be written, thousands need not be tried.
    const isFailing = (await this.#addAll([first])).length > 0;
    const left = isFailing ? batches : await this.#addAll(others);
    this.#complete = newest([...left, ...this.#complete], MOST);
    clearTimeout(this.#again);
    if (left.length > 0 && !this.#closed) this.#again = setTimeout(() => void this.#flush(), AGAIN_MS).unref();
  }

  /** Returns those that could not be written. */
  async #addAll(batches: readonly UsageBatch[]): Promise<readonly UsageBatch[]> {
    const results = await Promise.allSettled(batches.map((batch) => this.#store.add(batch)));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined && !this.#failing)
      this.#log.warn({ error: toSluiceError(failed.reason).message }, 'usage cannot be recorded now');
    this.#failing = failed !== undefined;
    return batches.filter((_, index) => results[index]?.status === 'rejected');
  }
}

/** The last batches that have at most so many records together. */
function newest(batches: readonly UsageBatch[], most: number): UsageBatch[] {
  let room = most;
  const first = batches.findLastIndex(({ size }) => {
    room -= size;
    return room < 0;
  });
  return batches.slice(first + 1);
}
