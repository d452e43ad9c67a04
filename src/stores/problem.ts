import type { Logger } from '../core/logger.ts';

/** What is wrong with a store at present; logged when it begins and when it ends, not with every request. */
export class Problem {
  readonly #log: Logger;
  #sentence: string | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  get sentence(): string | undefined {
    return this.#sentence;
  }

  /** @param detail for the log only: paths, codes, the system's own words */
  began(sentence: string, detail: string): void {
    if (this.#sentence === sentence) return;
    this.#sentence = sentence;
    this.#log.error({ detail }, `storage is out of order: ${sentence}`);
  }

  ended(): void {
    if (this.#sentence === undefined) return;
    this.#log.info({ was: this.#sentence }, 'storage is in order again');
    this.#sentence = undefined;
  }
}
