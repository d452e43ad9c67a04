/** Up to this size a body is read as it comes; a larger one has to wait for its turn. */
export const SMALL_BYTES = 1024 * 1024;
/** Bytes of large bodies that are taken in at the same time. */
const BUDGET_BYTES = 12 * 1024 * 1024;
/** How often a turn is looked at, in milliseconds. */
const LOOK_MS = 50;
/** A turn lasts at most so many looks. A slow client goes on after it, beside the next ones. */
const MOST_LOOKS = 20;
/** A body of which less has come at two looks in a row stands still: its client must not keep the others from their turns. */
const LEAST_BYTES = 64 * 1024;

/**
 * Lets large bodies, forms among them, in one after the other. While it is read and parsed, a body is in memory several times over, and forty
 * that arrive at once would be so forty times. Their clients are held back meanwhile, which costs them little: the bytes
 * would only queue up here instead of there.
 */
export class Turns {
  #taken = 0;
  readonly #waiting: { readonly size: number; readonly go: () => void }[] = [];

  /** Waits for the turn of a body of so many bytes. */
  async take(size: number): Promise<Turn> {
    if (this.#waiting.length > 0 || !this.#fits(size)) {
      await new Promise<void>((go) => {
        this.#waiting.push({ size, go });
      });
    } else {
      this.#taken += size;
    }
    return new Turn(() => {
      this.#taken -= size;
      this.#admit();
    });
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

/** While it lasts, others wait. */
export class Turn {
  readonly #onEnd: () => void;
  readonly #timer: NodeJS.Timeout;
  #isOver = false;
  #looks = 0;
  #bytes = 0;
  /** Looks in a row at which it stood still. */
  #still = 0;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  /** So many more bytes of the body have come. */
  moved(bytes: number): void {
    this.#bytes += bytes;
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#onEnd();
  }

  #look(): void {
    this.#looks += 1;
    // One alone says nothing: after other work that took long, it comes before what has arrived meanwhile is read.
    this.#still = this.#bytes < LEAST_BYTES ? this.#still + 1 : 0;
    this.#bytes = 0;
    if (this.#still === 2 || this.#looks === MOST_LOOKS) this.end();
  }
}
