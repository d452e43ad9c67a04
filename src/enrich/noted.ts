import type { ChatRequest } from '../core/chat.ts';
import type { Batch, Chunk } from '../core/chunk.ts';
import { PassedOn } from '../core/passed-on.ts';
import type { Enriched } from '../core/stream.ts';

/** What a step has to say beside an answer. */
export type LogChunk = Extract<Chunk, { type: 'log' }>;

/** A request, and a note behind the first chunk of its answer, which introduces the provider. */
export function noted(request: ChatRequest, note: Omit<LogChunk, 'type'>): Enriched {
  return { request, chunks: (chunks) => new Noted(chunks[Symbol.asyncIterator](), { type: 'log', ...note }) };
}

/** All batches but the first pass as if nobody stood here. */
class Noted extends PassedOn {
  #note: LogChunk | undefined;

  constructor(source: AsyncIterator<Batch>, note: LogChunk) {
    super(source);
    this.#note = note;
  }

  next(): Promise<IteratorResult<Batch>> {
    const note = this.#note;
    if (note === undefined) return this.source.next();
    this.#note = undefined;
    return this.source.next().then((result) => {
      if (result.done === true) return result;
      const [first, ...rest] = result.value;
      return { done: false, value: first === undefined ? [note] : [first, note, ...rest] };
    });
  }
}
