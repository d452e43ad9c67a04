/** Tasks of one name run one after the other, in the order in which they came; those of different names do not wait. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Names of which a task runs or waits. */
  get size(): number {
    return this.#last.size;
  }

  async run<T>(name: string, task: () => Promise<T>): Promise<T> {
    // One that fails holds nobody up.
    const mine = (this.#last.get(name) ?? Promise.resolve()).then(task, task);
    this.#last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(name) === mine) this.#last.delete(name);
    }
  }
}
