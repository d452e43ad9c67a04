import type { Target } from './select.ts';

/** Longest time that a failing provider comes after the others, in milliseconds. */
const LONGEST_MS = 30_000;

/**
 * Passive health: who failed lately comes last, but is never left out, so that nothing stays dead after it has come back.
 */
export class Health {
  readonly #now: () => number;
  readonly #failures = new Map<string, { count: number; until: number }>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  succeeded(target: Target): void {
    if (this.#failures.size > 0) this.#failures.delete(target.provider.id);
  }

  failed(target: Target): void {
    const count = (this.#failures.get(target.provider.id)?.count ?? 0) + 1;
    const until = this.#now() + Math.min(LONGEST_MS, 1_000 * 2 ** (count - 1));
    this.#failures.set(target.provider.id, { count, until });
  }

  /** The same targets, those that cool down last. */
  order(targets: readonly Target[]): readonly Target[] {
    if (this.#failures.size === 0 || targets.length < 2) return targets;
    const now = this.#now();
    const isCooling = (target: Target): boolean => (this.#failures.get(target.provider.id)?.until ?? 0) > now;
    return [...targets.filter((target) => !isCooling(target)), ...targets.filter(isCooling)];
  }
}
