/** Items handed out at once at most, so that a flood does not become one endless batch. */
const LARGEST_BATCH = 256;
/** How long a stream that has said all that matters may take to end by itself. */
const DRAIN_MS = 1_000;

/**
 * Reads a stream in batches: each step hands out everything that is there without waiting for the network. Nothing is
 * read unless a step is asked for, save the one read that is under way when a batch is handed out.
 */
export class Arrivals<Item> {
  readonly #reader: ReadableStreamDefaultReader<Item>;
  #items: Item[] = [];
  #reading = false;
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #flushing = false;
  #draining = false;
  #waiting: { resolve(items: Item[] | undefined): void; reject(error: unknown): void } | undefined;

  constructor(stream: ReadableStream<Item>) {
    this.#reader = stream.getReader();
  }

  /** The next items, at least one; undefined at the end. Rejects with the stream's error after what came before it. */
  next(): Promise<Item[] | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      if (this.#items.length > 0 || this.#ended) this.#flushSoon();
      this.#read();
    });
  }

  /** Passes over the rest, so that the connection can serve again; one that goes on regardless is closed. */
  drain(): void {
    this.#draining = true;
    if (this.#ended) return;
    setTimeout(() => void this.#cancel(), DRAIN_MS).unref();
    this.#read();
  }

  /** Closes the stream at once, unless it is being drained. */
  close(): void {
    if (!this.#draining && !this.#ended) this.#cancel();
  }

  #cancel(): void {
    this.#ended = true;
    // A stream that failed meanwhile rejects here with what nobody asks for any more.
    this.#reader.cancel().catch(() => {});
  }

  #read(): void {
    if (this.#reading || this.#ended) return;
    this.#reading = true;
    this.#reader.read().then(this.#onResult, this.#onFailure);
  }

  readonly #onResult = (result: Awaited<ReturnType<ReadableStreamDefaultReader<Item>['read']>>): void => {
    this.#reading = false;
    if (result.done) this.#ended = true;
    else if (!this.#draining) this.#items.push(result.value);
    if (this.#draining) this.#read();
    if (this.#waiting === undefined) return;
    if (this.#items.length < LARGEST_BATCH) this.#read();
    this.#flushSoon();
  };

  readonly #onFailure = (error: unknown): void => {
    this.#reading = false;
    this.#ended = true;
    this.#failure = { error };
    if (this.#waiting !== undefined) this.#flushSoon();
  };

  /** A tick runs once all promises are settled that can settle by themselves: after that, only the network helps. */
  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    process.nextTick(this.#flush);
  }

  readonly #flush = (): void => {
    this.#flushing = false;
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    if (this.#items.length > 0) {
      const items = this.#items;
      this.#items = [];
      this.#waiting = undefined;
      waiting.resolve(items);
    } else if (this.#ended) {
      this.#waiting = undefined;
      if (this.#failure === undefined) waiting.resolve(undefined);
      else waiting.reject(this.#failure.error);
    }
  };
}
