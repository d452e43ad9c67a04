import { SluiceError } from '../../core/errors.ts';

/** How much more an upstream may send that nobody can read than events that somebody can. */
const MOST = 1_000;

/**
 * What of an answer is no event and no JSON. A little of it is passed over, as browsers do. Each piece costs an exception, though,
 * so that an upstream which sends nothing else as fast as it can would leave no time for anybody.
 */
export class Unreadable {
  #count = 0;

  /** Returns a failure once it is too much. */
  add(): SluiceError | undefined {
    this.#count += 1;
    if (this.#count <= MOST) return undefined;
    return new SluiceError('upstream_invalid', 'The provider sent much that is no event of an answer.');
  }

  /** An event that can be read makes up for one. */
  makeUp(): void {
    if (this.#count > 0) this.#count -= 1;
  }
}
