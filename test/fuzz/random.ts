/** Random values from a seed: the same seed gives the same values on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to but not including 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number below `count`. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  /** A whole number between two, both included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(likelihood: number): boolean {
    return this.next() < likelihood;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }

  /** So many values, made one by one. */
  many<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make);
  }

  /** Cuts bytes, a text or a list into pieces anywhere; now and then a piece is empty. */
  split<T extends { readonly length: number; slice(from: number, to: number): T }>(whole: T): T[] {
    const longest = this.pick([1, 2, 7, 64, 1_000]);
    const pieces: T[] = [];
    for (let at = 0; at < whole.length; ) {
      const end = at + this.between(this.chance(0.05) ? 0 : 1, longest);
      pieces.push(whole.slice(at, end));
      at = end;
    }
    return pieces;
  }

  /** Text of the kinds that have broken parsers before. */
  text(longest = 12): string {
    return this.many(this.below(longest + 1), () => this.pick(TEXTS)).join('');
  }

  bytes(longest = 64): Buffer {
    return Buffer.from(this.many(this.below(longest + 1), () => this.below(256)));
  }
}

const TEXTS: readonly string[] = [
  ...'abcxyzABC0123 ',
  ...['é', 'ß', '日本', '😀', 'e\u0301', '\u202e', '\u200b', '\ufeff', '\u2028', '\u0000', '\ud800', '\udc00'],
  ...['"', "'", '\\', '/', '.', '..', '%', '%2e', '&', '=', '?', '#', ':', ';', ',', '<', '>', '`', '{', '}', '[', ']'],
  ...['\n', '\r', '\r\n', '\t', '\n\n', '$', '*', '|', '~', '@', '!', '(', ')', '^', '+', '-', '_'],
  ...['__proto__', 'null', 'true', '1e9', 'data:', 'http://', '<think>', '</think>', '${', '![', ']('],
];
