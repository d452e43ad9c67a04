import type { Batch, Chunk } from '../../core/chunk.ts';

/**
 * One answer on its way from the engine to its reader. What comes while nobody reads waits here and leaves as one
 * batch. It needs no limit of its own: an answer is never longer than a model's context, and an engine that waited
 * for a slow reader would keep others waiting for its place.
 */
export class AnswerQueue {
  #chunks: Chunk[] = [];
  #alive = false;
  #over = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;

  push(...chunks: Chunk[]): void {
    if (this.#over) return;
    this.#chunks.push(...chunks);
    this.#wake?.();
  }

  /** The answer is still being worked on: gives a reader that waits an empty batch. */
  beat(): void {
    this.#alive = true;
    this.#wake?.();
  }

  /** Nothing more will come. With an error, the reader gets that after what was there already. */
  end(error?: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#error = error;
    this.#wake?.();
  }

  /** The reader does not want it any more: it gets the reason and nothing else. */
  cancel(reason: Error): void {
    if (this.#over) return;
    this.#chunks = [];
    this.end(reason);
  }

  async *read(): AsyncGenerator<Batch, void> {
    for (;;) {
      const batch = this.#chunks;
      if (batch.length > 0) {
        this.#chunks = [];
        yield batch;
      } else if (this.#error !== undefined) {
        throw this.#error;
      } else if (this.#over) {
        return;
      } else if (this.#alive) {
        yield [];
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      this.#alive = false;
    }
  }
}
