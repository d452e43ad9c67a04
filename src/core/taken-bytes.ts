import { SluiceError } from './errors.ts';

/** Counts the bytes of stored files that one request takes into memory, of each as often as the request names it. */
export class TakenBytes {
  readonly #most: number;
  #left: number;

  constructor(most: number) {
    this.#most = most;
    this.#left = most;
  }

  /** Files count before they are read. `param` is the field that names the file. */
  take(bytes: number, name: string, param: string): void {
    this.#left -= bytes;
    if (this.#left >= 0) return;
    const text = `The stored files that a request names, or the texts in them, have more than ${this.#most} bytes in all with '${name.slice(0, 100)}', be it of one several times.`;
    throw new SluiceError('too_large', text, { param });
  }
}
