import { boundedCache } from '../core/bounded-cache.ts';
import type { SluiceError } from '../core/errors.ts';
import { nameOf, type Target } from './select.ts';

/** The first cool-down, which doubles with every failure in a row, and the longest one, in milliseconds. */
const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;
/** An upstream that asks for more patience gets it, up to this long. */
const LONGEST_ASKED_MS = 10 * 60_000;
/** How long one request may try whether a target has come back, before another one may. */
const PROBE_MS = 1_000;
/** Names of models come from clients, so there may be any number of them. */
const MOST_TARGETS = 10_000;
/** How much the latest answer counts in the mean time to the first visible chunk. */
const NEWEST_SHARE = 0.2;

interface Circuit {
  failures: number;
  /** Until then the target comes last. */
  until: number;
  /** When a request last tried whether the target has come back. */
  probedAt: number;
}

/**
 * Passive health, by target and key: a circuit that opens with a failure, lets a single request through when it has cooled
 * down, and closes with a success. Targets behind an open circuit come last, but are never left out, so that nothing stays
 * dead after it has come back, and a gateway with one provider never refuses by itself.
 */
export class Health {
  readonly #now: () => number;
  readonly #answers = new Map<string, number>();
  readonly #circuits = boundedCache<string, Circuit>(MOST_TARGETS);
  readonly #latencies = boundedCache<string, number>(MOST_TARGETS);

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** How often each provider has answered since the start. */
  get answers(): ReadonlyMap<string, number> {
    return this.#answers;
  }

  succeeded(target: Target): void {
    const { id } = target.provider;
    this.#answers.set(id, (this.#answers.get(id) ?? 0) + 1);
    if (this.#circuits.size === 0) return;
    for (const name of circuitsOf(target)) this.#circuits.delete(name);
  }

  failed(target: Target, error?: SluiceError): void {
    // Whoever cannot be reached at all cannot be reached for any model.
    const names = error?.code === 'upstream_unreachable' ? circuitsOf(target) : [nameOf(target)];
    const asked = Math.min(LONGEST_ASKED_MS, (error?.options.retryAfter ?? 0) * 1_000);
    for (const name of names) {
      const failures = (this.#circuits.get(name)?.failures ?? 0) + 1;
      const coolDown = Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1));
      const until = this.#now() + Math.max(coolDown, asked);
      this.#circuits.set(name, { failures, until, probedAt: Number.NEGATIVE_INFINITY });
    }
  }

  /** How long an answer took to begin, in milliseconds. */
  answered(target: Target, milliseconds: number): void {
    const name = nameOf(target);
    const known = this.#latencies.get(name) ?? milliseconds;
    this.#latencies.set(name, known + (milliseconds - known) * NEWEST_SHARE);
  }

  /** Mean time to the first visible chunk; undefined before the first answer. */
  latency(target: Target): number | undefined {
    return this.#latencies.get(nameOf(target));
  }

  /** The same targets, those behind an open circuit last. */
  order(targets: readonly Target[]): readonly Target[] {
    if (this.#circuits.size === 0 || targets.length < 2) return targets;
    const now = this.#now();
    const closed = targets.filter((target) => !this.#isOpen(target, now));
    const [first] = closed;
    if (first !== undefined) this.#probe(first, now);
    return [...closed, ...targets.filter((target) => !closed.includes(target))];
  }

  #isOpen(target: Target, now: number): boolean {
    return circuitsOf(target).some((name) => {
      const circuit = this.#circuits.get(name);
      return circuit !== undefined && (circuit.until > now || now - circuit.probedAt < PROBE_MS);
    });
  }

  /** This request tries the target; others wait for what comes of it. */
  #probe(target: Target, now: number): void {
    for (const name of circuitsOf(target)) {
      const circuit = this.#circuits.get(name);
      if (circuit !== undefined) circuit.probedAt = now;
    }
  }
}

/** The target's own circuit, and that of its provider. */
function circuitsOf(target: Target): readonly string[] {
  return [nameOf(target), target.provider.id];
}
