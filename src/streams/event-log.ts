/** Bytes of one block. An event that is larger gets a block of its own. */
const BLOCK_BYTES = 64 * 1024;
/** The smallest blocks, where little is kept. */
const LEAST_BLOCK_BYTES = 256;
/** What a log is divided into at least, so that dropping its oldest block leaves most of it. */
const BLOCKS = 8;

interface Block {
  readonly bytes: Buffer;
  used: number;
  /** The number of its first event, and where in the whole stream its first byte stands. */
  readonly first: number;
  readonly start: number;
}

/**
 * The events of one stream, numbered 1, 2, 3 …, as the bytes that go over the wire. The newest `mostBytes` of them are kept,
 * and the newest block whatever its size. Readers hold nothing but a position, so that a slow one costs no memory.
 */
export class EventLog {
  readonly #mostBytes: number;
  readonly #blockBytes: number;
  readonly #blocks: Block[] = [];
  readonly #listeners = new Set<() => void>();
  #held = 0;
  #count = 0;
  #end = 0;
  #ended = false;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
    this.#blockBytes = Math.min(BLOCK_BYTES, Math.max(LEAST_BLOCK_BYTES, Math.ceil(mostBytes / BLOCKS)));
  }

  /** How many events there were so far; the number of the last one. */
  get count(): number {
    return this.#count;
  }

  /** The number of the last event that is no longer kept; 0 while all are. */
  get dropped(): number {
    return (this.#blocks[0]?.first ?? 1) - 1;
  }

  /** Memory that is taken, in bytes. */
  get held(): number {
    return this.#held;
  }

  /** Nothing will follow. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Adds whole events, each closed by an empty line, and gives each its `id` line. After the end this does nothing. */
  append(events: string): void {
    if (this.#ended || events === '') return;
    for (const event of events.split('\n\n').slice(0, -1)) {
      this.#count += 1;
      this.#write(`id: ${this.#count}\n${event}\n\n`);
    }
    this.#tell();
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#trim();
    this.#tell();
  }

  /** Calls back, at once, whenever there is more to read, and when the end has come. Returns what takes that back. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Where the bytes after event `number` begin, which must be one from `dropped` to `count`. */
  positionAfter(number: number): number {
    if (number === this.#count) return this.#end;
    const block = this.#blocks.findLast(({ first }) => first <= number + 1);
    if (block === undefined) throw new RangeError(`event ${number} is not kept`);
    let at = 0;
    for (let next = block.first; next <= number; next += 1) at = block.bytes.indexOf('\n\n', at) + 2;
    return block.start + at;
  }

  /** At most 64 KB from a position on: empty where nothing has come yet, undefined when those bytes are no longer kept. */
  read(position: number): Buffer | undefined {
    if (position === this.#end) return Buffer.alloc(0);
    const block = this.#blocks.findLast(({ start }) => start <= position);
    if (block === undefined) return undefined;
    const from = position - block.start;
    return block.bytes.subarray(from, Math.min(block.used, from + BLOCK_BYTES));
  }

  #write(event: string): void {
    const size = Buffer.byteLength(event);
    let block = this.#blocks.at(-1);
    if (block === undefined || block.used + size > block.bytes.length) {
      // Not of the shared pool, which a small piece would keep alive.
      const bytes = Buffer.allocUnsafeSlow(Math.max(size, this.#blockBytes));
      block = { bytes, used: 0, first: this.#count, start: this.#end };
      this.#blocks.push(block);
      this.#held += bytes.length;
    }
    block.used += block.bytes.write(event, block.used);
    this.#end += size;
    while (this.#held > this.#mostBytes && this.#blocks.length > 1) {
      this.#held -= this.#blocks.shift()?.bytes.length ?? 0;
    }
  }

  /** Gives back what the last block has left: many answers are far smaller than a block, and are kept for a while. */
  #trim(): void {
    const last = this.#blocks.pop();
    if (last === undefined) return;
    const bytes = Buffer.allocUnsafeSlow(last.used);
    last.bytes.copy(bytes, 0, 0, last.used);
    this.#held -= last.bytes.length - last.used;
    this.#blocks.push({ ...last, bytes });
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
