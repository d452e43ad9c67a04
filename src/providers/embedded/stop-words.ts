/**
 * Cuts a stream of text before the stop word that is complete first, however the text is split into pieces. Text that might be the
 * beginning of a stop word is held back until more is known. (The library's own stop triggers drop what they hold
 * back when the length limit comes first.)
 */
export class StopWords {
  readonly #words: readonly string[];
  #held = '';
  #found = false;

  constructor(words: readonly string[]) {
    this.#words = words.filter((word) => word !== '');
  }

  /** Whether a stop word has come; nothing is let through any more. */
  get found(): boolean {
    return this.#found;
  }

  /** Takes the next piece; returns the text that can be shown now. */
  push(piece: string): string {
    if (this.#found) return '';
    const text = this.#held + piece;
    const place = this.#firstWord(text);
    this.#found = place !== undefined;
    const shown = place ?? text.length - this.#uncertain(text);
    this.#held = this.#found ? '' : text.slice(shown);
    return text.slice(0, shown);
  }

  /** The answer is over: what was held back was no stop word. */
  flush(): string {
    const rest = this.#held;
    this.#held = '';
    return rest;
  }

  /** Where the word begins that is complete first, as a reader of single characters would find it. */
  #firstWord(text: string): number | undefined {
    let first: { start: number; end: number } | undefined;
    for (const word of this.#words) {
      const start = text.indexOf(word);
      const end = start + word.length;
      if (start === -1 || (first !== undefined && end > first.end)) continue;
      if (first === undefined || end < first.end || start < first.start) first = { start, end };
    }
    return first?.start;
  }

  /** Length of the longest end of `text` with which a stop word begins. */
  #uncertain(text: string): number {
    let longest = 0;
    for (const word of this.#words) {
      for (let length = Math.min(word.length - 1, text.length); length > longest; length--) {
        if (text.endsWith(word.slice(0, length))) longest = length;
      }
    }
    return longest;
  }
}
