import type { ChatRequest } from '../core/chat.ts';
import type { Batch, Chunk } from '../core/chunk.ts';
import type { Enriched } from '../core/stream.ts';

/** What a step has to say beside an answer. */
export type LogChunk = Extract<Chunk, { type: 'log' }>;

/** A request, and a note behind the first chunk of its answer, which introduces the provider. */
export function noted(request: ChatRequest, note: Omit<LogChunk, 'type'>): Enriched {
  return { request, chunks: (chunks) => new Noted(chunks[Symbol.asyncIterator](), { type: 'log', ...note }) };
}

/** No generator: all batches but the first pass as if nobody stood here. */
class Noted implements AsyncIterableIterator<Batch> {
  readonly #source: AsyncIterator<Batch>;
  #note: LogChunk | undefined;

  constructor(source: AsyncIterator<Batch>, note: LogChunk) {
    this.#source = source;
    this.#note = note;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Batch>> {
    const note = this.#note;
    if (note === undefined) return this.#source.next();
    this.#note = undefined;
    return this.#source.next().then((result) => {
      if (result.done === true) return result;
      const [first, ...rest] = result.value;
      return { done: false, value: first === undefined ? [note] : [first, note, ...rest] };
    });
  }

  async return(): Promise<IteratorResult<Batch>> {
    return (await this.#source.return?.()) ?? { done: true, value: undefined };
  }
}
