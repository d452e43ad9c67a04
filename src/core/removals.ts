/**
 * Counts what is removed. What fails keeps nothing else from going, and is told at the end: one file that cannot be removed would
 * otherwise stand before all behind it, each time anew.
 */
export class Removals {
  #count = 0;
  #failure: unknown;

  async add(removing: () => Promise<number>): Promise<void> {
    try {
      this.#count += await removing();
    } catch (error) {
      this.#failure ??= error;
    }
  }

  /** How many there were. Throws the first failure. */
  end(): number {
    if (this.#failure !== undefined) throw this.#failure;
    return this.#count;
  }
}
