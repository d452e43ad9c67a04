/** Bytes of large bodies that are taken in at the same time. */
const BUDGET_BYTES = 16 * 1024 * 1024;
/** How long a turn lasts at most, in milliseconds. A slow client goes on after it, beside the next ones. */
const LONGEST_MS = 1_000;

/**
 * Lets large bodies in one after the other. While it is read and parsed, a body is in memory several times over, and forty
 * that arrive at once would be so forty times. Their clients are held back meanwhile, which costs them little: the bytes
 * would only queue up here instead of there.
 */
export class Turns {
  #taken = 0;
  readonly #waiting: { readonly size: number; readonly go: () => void }[] = [];

  /** Waits for the turn of a body of so many bytes. Returns the function that ends it. */
  async take(size: number): Promise<() => void> {
    if (this.#waiting.length > 0 || !this.#fits(size)) {
      await new Promise<void>((go) => {
        this.#waiting.push({ size, go });
      });
    } else {
      this.#taken += size;
    }
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      this.#taken -= size;
      this.#admit();
    };
    const timer = setTimeout(end, LONGEST_MS).unref();
    return end;
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#fits(next.size); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#taken += next.size;
      next.go();
    }
  }

  #fits(size: number): boolean {
    return this.#taken === 0 || this.#taken + size <= BUDGET_BYTES;
  }
}
