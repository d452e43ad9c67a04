import type { Usage } from '../core/chunk.ts';
import { toSluiceError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { recordId } from '../core/record-id.ts';
import type { UsageRecord, UsageStore } from '../core/stores.ts';

/**
 * How long records wait for others to be written with them, in milliseconds. Short: what waits for long outlives the
 * collector's young generation, and costs more there than writing it does.
 */
const WAIT_MS = 50;
/** Records that wait at most while the store is out of order; the oldest go first. */
const MOST = 10_000;

/** One answer, as it is recorded. */
export interface Answered {
  readonly user: string;
  readonly provider: string;
  readonly label: string;
  readonly model: string;
  readonly usage: Usage;
}

/** Records the usage of every answer once, in batches, behind the answer: nobody waits for it. */
export class UsageRecorder {
  readonly #store: UsageStore;
  readonly #log: Logger;
  #waiting: UsageRecord[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #failing = false;

  constructor(store: UsageStore, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  note({ user, provider, label, model, usage }: Answered): void {
    this.#waiting.push({
      id: recordId(),
      time: Date.now(),
      user,
      provider,
      model,
      promptTokens: usage.promptTokens,
      completionTokens: usage.completionTokens,
      totalTokens: usage.totalTokens,
      savedTokens: usage.cachedTokens ?? 0,
      more: {
        label,
        ...(usage.estimated === true ? { estimated: true } : {}),
        ...(usage.cacheWriteTokens ? { cache_write_tokens: usage.cacheWriteTokens } : {}),
      },
    });
    if (this.#waiting.length > MOST) this.#waiting.shift();
    this.#timer ??= setTimeout(() => void this.flush(), WAIT_MS);
  }

  /** Writes what waits now. Never throws: usage that cannot be written is tried again with the next. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    const records = this.#waiting;
    if (records.length === 0) return;
    this.#waiting = [];
    try {
      await this.#store.add(records);
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) this.#log.warn({ error: toSluiceError(error).message }, 'usage cannot be recorded now');
      this.#failing = true;
      this.#waiting = [...records, ...this.#waiting].slice(-MOST);
    }
  }
}
