/** Bytes of a block. */
const SLAB_BYTES = 256 * 1024;
/** Up to here pieces are copied one by one. */
const SMALL_BYTES = 32 * 1024;
/** Blocks that are kept for later. */
const MOST_FREE = 64;
/** How long they are kept when nobody takes one, in milliseconds. */
const KEPT_MS = 5_000;

/**
 * Blocks of memory for large answers, used again and again. V8 collects its whole heap for every thirty megabytes or so that new
 * buffers hold outside of it, which cost more than all else that a large answer costs. A block that nobody gives back is
 * garbage like any other.
 */
export class Slabs {
  #free: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(SLAB_BYTES);
  }

  /** Whoever gives blocks back must not look at them any more. */
  give(slabs: readonly Buffer[]): void {
    for (const slab of slabs) if (this.#free.length < MOST_FREE) this.#free.push(slab);
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#drop(), KEPT_MS).unref();
    else this.#timer.refresh();
  }

  get free(): number {
    return this.#free.length;
  }

  #drop(): void {
    this.#free = [];
  }
}

/** Bytes that came in pieces, copied: a few as they are, many into blocks. */
export class Gathered {
  readonly #slabs: Slabs;
  readonly #pieces: Buffer[] = [];
  #taken: Buffer[] = [];
  /** Bytes of the last block that are used. */
  #used = SLAB_BYTES;
  #size = 0;

  constructor(slabs: Slabs) {
    this.#slabs = slabs;
  }

  get size(): number {
    return this.#size;
  }

  /** Valid until `release`. */
  get pieces(): readonly Buffer[] {
    const last = this.#taken.at(-1);
    return last === undefined
      ? this.#pieces
      : [...this.#pieces, ...this.#taken.slice(0, -1), last.subarray(0, this.#used)];
  }

  add(bytes: Buffer): void {
    this.#size += bytes.length;
    // Most answers are small.
    if (this.#taken.length === 0 && this.#size <= SMALL_BYTES) {
      this.#pieces.push(Buffer.from(bytes));
      return;
    }
    for (let at = 0; at < bytes.length; ) {
      if (this.#used === SLAB_BYTES) {
        this.#taken.push(this.#slabs.take());
        this.#used = 0;
      }
      const copied = bytes.copy(this.#taken.at(-1) as Buffer, this.#used, at);
      this.#used += copied;
      at += copied;
    }
  }

  /** Gives its blocks back: nobody looks at the pieces any more. */
  release(): void {
    this.#slabs.give(this.#taken);
    this.#taken = [];
    this.#used = SLAB_BYTES;
  }
}
