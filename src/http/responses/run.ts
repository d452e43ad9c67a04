import type { CallScope } from '../../core/call.ts';
import type { Batch, Chunk } from '../../core/chunk.ts';
import type { KeptItem } from './items.ts';
import type { ResponseHead } from './response.ts';
import { type Ending, ResponsesStream, type StreamOptions } from './stream.ts';

/** An answer and what it was asked: all that its items and events are made of. Plain JSON. */
export interface Kept {
  readonly head: ResponseHead;
  /** What this request brought; what went before it is found by `previous`. */
  readonly input: readonly KeptItem[];
  readonly previous: string | null;
  /** The conversation that it is part of, and the place before which those items stand that the model got of it. */
  readonly conversation?: { readonly id: string; readonly below: number };
  /** What was said, in the pieces in which it was streamed. */
  readonly chunks: readonly Chunk[];
  /** How it ended; absent: it has not, or the server stopped in the middle of it. */
  readonly over?: { readonly ending: Ending; readonly last: readonly Chunk[] };
}

/** All chunks of an answer that has ended. */
export function chunksOf({ chunks, over }: Kept): Batch {
  return [...chunks, ...(over?.last ?? [STOPPED])];
}

/** A stream that has seen a whole answer. */
export function replayOf(kept: Kept, options: Omit<StreamOptions, 'ending'>): ResponsesStream {
  return new ResponsesStream(kept.head, { ...options, ending: kept.over?.ending ?? {} });
}

/** What an answer in the background says that was cut by the end of the server. */
const STOPPED: Chunk = {
  type: 'error',
  error: { code: 'internal', name: 'InternalError', message: 'The server stopped before the answer was complete.' },
};

/** An answer that is being made. Others can read along, and stop it. */
export class Run {
  readonly owner: string | null;
  readonly call: CallScope;
  readonly ending: Ending = {};
  /** Deleted while it is made: from then on it is not stored any more. */
  isDeleted = false;
  readonly #kept: Omit<Kept, 'chunks' | 'over'>;
  readonly #chunks: Chunk[] = [];
  #last: readonly Chunk[] | undefined;
  #waiting: (() => void)[] = [];

  constructor(kept: Omit<Kept, 'chunks' | 'over'>, owner: string | null, call: CallScope) {
    this.#kept = kept;
    this.owner = owner;
    this.call = call;
  }

  get id(): string {
    return this.#kept.head.id;
  }

  get kept(): Kept {
    const over = this.#last === undefined ? {} : { over: { ending: this.ending, last: this.#last } };
    return { ...this.#kept, chunks: this.#chunks, ...over };
  }

  push(batch: Batch): void {
    if (batch.length === 0) return;
    for (const chunk of batch) this.#chunks.push(chunk);
    this.#wake();
  }

  /** The record of the answer as it ends, while readers still wait for the end. */
  endingWith(last: readonly Chunk[]): Kept {
    return { ...this.kept, over: { ending: this.ending, last } };
  }

  end(last: readonly Chunk[]): void {
    this.#last = last;
    this.#wake();
  }

  /** As far as it has come, and then the rest as it comes. */
  async *follow(reader: CallScope): AsyncIterable<Batch> {
    // The beginning is told before anything is said.
    yield [];
    for (let at = 0; reader.cancelled === undefined; ) {
      if (at < this.#chunks.length) {
        const batch = this.#chunks.slice(at);
        at += batch.length;
        yield batch;
      } else if (this.#last !== undefined) {
        yield this.#last;
        return;
      } else await this.#change(reader);
    }
  }

  /** Waits for the end, but not longer than the reader does. */
  async finished(reader: CallScope): Promise<void> {
    while (this.#last === undefined && reader.cancelled === undefined) await this.#change(reader);
  }

  /** The next news, or the reader's leaving. */
  async #change(reader: CallScope): Promise<void> {
    let unlisten = (): void => {};
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      unlisten = reader.onCancel(() => resolve());
    });
    unlisten();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** The answers that are being made now, by id. */
export type Runs = Map<string, Run>;
