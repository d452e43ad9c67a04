/** How much wider each class of durations is than the one before: percentiles are right within some 10 %. */
const GROWTH = Math.log(1.2);

/** Durations in milliseconds, as counts by class: small enough to be kept for every day and model. */
export class Durations {
  readonly #counts: Map<number, number>;

  constructor(counts: Iterable<readonly [number, number]> = []) {
    this.#counts = new Map(counts);
  }

  add(milliseconds: number): void {
    const name = milliseconds <= 1 ? 0 : Math.round(Math.log(milliseconds) / GROWTH);
    this.#count(name, 1);
  }

  merge(other: Durations): void {
    for (const [name, count] of other.#counts) this.#count(name, count);
  }

  get count(): number {
    let count = 0;
    for (const each of this.#counts.values()) count += each;
    return count;
  }

  /** The duration that this share (0 to 1) of all stays below; undefined without any. */
  percentile(share: number): number | undefined {
    let left = Math.max(1, Math.ceil(this.count * share));
    for (const [name, count] of [...this.#counts].sort(([one], [other]) => one - other)) {
      left -= count;
      if (left <= 0) return Math.round(Math.exp(name * GROWTH) * 10) / 10;
    }
    return undefined;
  }

  toJSON(): readonly (readonly [number, number])[] {
    return [...this.#counts];
  }

  #count(name: number, times: number): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + times);
  }
}
