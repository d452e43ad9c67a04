import type { Batch, Chunk } from '../../core/chunk.ts';
import { parseObject } from '../../core/objects.ts';
import { dataAsSent, EventReader } from '../openai/events.ts';
import { Unreadable } from '../openai/unreadable.ts';
import { Arrivals } from './arrivals.ts';

/** OpenAI's last word: with it some end what is not OpenAI's format. */
export const DONE = '[DONE]';

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
  /** Adds what the end of all parts tells, where nothing has broken. Absent: nothing. */
  end?(batch: Chunk[]): void;
}

/** Makes chunks of the events in a body, however its bytes are split. */
export class EventTranslator implements PartTranslator<Uint8Array> {
  readonly #events: EventReader;
  readonly #unreadable = new Unreadable();
  readonly #translator: PartTranslator<Record<string, unknown>>;

  /**
   * @param translator takes one event after the other
   * @param limit bytes that one event may have
   */
  constructor(translator: PartTranslator<Record<string, unknown>>, limit: number) {
    this.#translator = translator;
    this.#events = new EventReader(limit, dataAsSent);
  }

  get finished(): boolean {
    return this.#translator.finished;
  }

  translate(bytes: Uint8Array, batch: Chunk[]): void {
    for (const data of this.#events.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))) {
      const event = parseObject(data);
      if (event === undefined) this.#passOver(data);
      else {
        this.#unreadable.makeUp();
        this.#translator.translate(event, batch);
      }
      if (this.#translator.finished) return;
    }
  }

  end(batch: Chunk[]): void {
    for (const data of this.#events.end()) {
      // Of an answer that was cut within an event, the rest of this event is no news.
      const event = parseObject(data);
      if (event !== undefined) this.#translator.translate(event, batch);
      if (this.#translator.finished) return;
    }
    this.#translator.end?.(batch);
  }

  #passOver(data: string): void {
    const failure = data === DONE ? undefined : this.#unreadable.add();
    if (failure !== undefined) throw failure;
  }
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
      const batch: Chunk[] = [];
      try {
        if (items === undefined) translator.end?.(batch);
        for (const item of items ?? []) {
          translator.translate(item, batch);
          if (translator.finished) break;
        }
      } catch (failure) {
        // What came before the failure is the client's.
        return { batch, failure };
      }
      if (translator.finished) arrivals.drain();
      return items === undefined && batch.length === 0 ? undefined : { batch };
    },
    close: () => arrivals.close(),
  };
}
