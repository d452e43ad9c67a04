import type { Call } from './call.ts';
import { SluiceError } from './errors.ts';

/**
 * Counts the bytes of stored files that one request takes into memory, of each as often as the request names it, as long as the
 * client of `call` is there.
 */
export class TakenBytes {
  readonly #most: number;
  readonly #call: Pick<Call, 'cancelled'> | undefined;
  #left: number;

  constructor(most: number, call?: Pick<Call, 'cancelled'>) {
    this.#most = most;
    this.#call = call;
    this.#left = most;
  }

  /** Throws when nobody waits for it any more. */
  check(): void {
    if (this.#call?.cancelled !== undefined) throw this.#call.cancelled;
  }

  /** Files count before they are read. `param` is the field that names the file. */
  take(bytes: number, name: string, param: string): void {
    this.check();
    this.#left -= bytes;
    if (this.#left >= 0) return;
    const much = `more than ${this.#most} bytes in all with '${name.slice(0, 100)}'`;
    const message = `The stored files in '${param}', or their texts, have ${much}: send fewer or smaller ones.`;
    throw new SluiceError('too_large', message, { param });
  }
}
