import type { Batch } from './chunk.ts';
import { PassedOn } from './passed-on.ts';

/** The batches of an answer that is asked for with the first step. */
export class Opened implements AsyncIterableIterator<Batch> {
  /** Until it is done: it knows the request, which may be large. */
  #open: (() => Promise<AsyncIterator<Batch>>) | undefined;
  #answer: AsyncIterator<Batch> | undefined;
  #isOver = false;

  constructor(open: () => Promise<AsyncIterator<Batch>>) {
    this.#open = open;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Batch>> {
    return this.#answer?.next() ?? this.#begin();
  }

  async return(): Promise<IteratorResult<Batch>> {
    this.#isOver = true;
    await this.#answer?.return?.();
    return { done: true, value: undefined };
  }

  async #begin(): Promise<IteratorResult<Batch>> {
    const open = this.#open;
    this.#open = undefined;
    if (this.#isOver || open === undefined) return { done: true, value: undefined };
    this.#answer = await open();
    // Nobody waits for it any more.
    if (this.#isOver) return this.return();
    return this.#answer.next();
  }
}

/** Batches of which the first step was taken already. */
export class WithFirst extends PassedOn {
  #first: IteratorResult<Batch> | undefined;

  constructor(first: IteratorResult<Batch>, source: AsyncIterator<Batch>) {
    super(source);
    this.#first = first;
  }

  next(): Promise<IteratorResult<Batch>> {
    const first = this.#first;
    if (first === undefined) return this.source.next();
    this.#first = undefined;
    return Promise.resolve(first);
  }
}
