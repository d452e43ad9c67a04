import type { Batch, Chunk } from '../../core/chunk.ts';
import { Arrivals } from './arrivals.ts';

/** An answer as it comes. */
export interface Answering {
  /** Whether it is complete. */
  readonly finished: boolean;
  /** What there is by now, and what failed after it; undefined where nothing follows. */
  next(): Promise<{ readonly batch: Batch; readonly failure?: unknown } | undefined>;
  close(): void;
}

/** Makes chunks of one part of an answer after the other. */
export interface PartTranslator<Item> {
  readonly finished: boolean;
  /** Adds the chunks of a part to `batch`. Throws when it tells of a failure. */
  translate(item: Item, batch: Chunk[]): void;
}

/** The answer that a stream of parts holds. */
export function answeringOf<Item>(stream: ReadableStream<Item>, translator: PartTranslator<Item>): Answering {
  const arrivals = new Arrivals(stream);
  return {
    get finished() {
      return translator.finished;
    },
    async next() {
      const items = await arrivals.next();
      if (items === undefined) return undefined;
      const batch: Chunk[] = [];
      try {
        for (const item of items) {
          translator.translate(item, batch);
          if (translator.finished) break;
        }
      } catch (failure) {
        // What came before the failure is the client's.
        return { batch, failure };
      }
      if (translator.finished) arrivals.drain();
      return { batch };
    },
    close: () => arrivals.close(),
  };
}
