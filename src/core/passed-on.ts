import type { Batch } from './chunk.ts';

/** Batches of a source with something done to them. No generator: its `return` would wait for the step under way. */
export abstract class PassedOn implements AsyncIterableIterator<Batch> {
  protected readonly source: AsyncIterator<Batch>;

  constructor(source: AsyncIterator<Batch>) {
    this.source = source;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  abstract next(): Promise<IteratorResult<Batch>>;

  async return(): Promise<IteratorResult<Batch>> {
    return (await this.source.return?.()) ?? { done: true, value: undefined };
  }
}
