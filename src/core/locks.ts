/** One task of a name at a time, in the order in which they came; tasks of different names do not wait for each other. */
export class Locks {
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
