import type { Choice } from '../config/kinds.ts';
import { boundedCache } from '../core/bounded-cache.ts';
import type { Health } from './health.ts';
import { nameOf, type Target } from './select.ts';

/** Sessions that are remembered; the oldest is forgotten first. */
const MOST_SESSIONS = 50_000;

/** Targets that can do the same, in the order in which they shall be tried. */
export function balance(
  targets: readonly Target[],
  choice: Choice,
  health: Health,
  random: () => number = Math.random,
): readonly Target[] {
  if (choice === 'order' || targets.length < 2) return targets;
  return choice === 'weighted' ? weighted(targets, random) : soonest(targets, health);
}

/**
 * A random order in which each target comes first as often as its share of the weights says
 * (Efraimidis and Spirakis, 2006). Weight 0: only when nothing else is left.
 */
function weighted(targets: readonly Target[], random: () => number): readonly Target[] {
  const drawn = targets.map((target) => ({ target, at: -Math.log(1 - random()) / (target.weight ?? 1) }));
  return drawn.sort((one, other) => one.at - other.at).map(({ target }) => target);
}

/** Whoever has not answered yet is tried first, so that it is known. */
function soonest(targets: readonly Target[], health: Health): readonly Target[] {
  const known = targets.map((target) => ({ target, latency: health.latency(target) ?? 0 }));
  return known.sort((one, other) => one.latency - other.latency).map(({ target }) => target);
}

/** Which target a session had last: its cache of the conversation so far is worth more than a fair share. */
export class Sessions {
  readonly #targets = boundedCache<string, string>(MOST_SESSIONS);

  /** The same targets, that of the session first. */
  prefer(session: string, targets: readonly Target[]): readonly Target[] {
    const known = this.#targets.get(session);
    const own = known === undefined ? undefined : targets.find((target) => nameOf(target) === known);
    return own === undefined ? targets : [own, ...targets.filter((target) => target !== own)];
  }

  remember(session: string, target: Target): void {
    this.#targets.set(session, nameOf(target));
  }
}

/** Takes turns among the configured keys of a provider: for each target one with every key, beginning with the next. */
export class KeyTurns {
  readonly #turns = new Map<string, number>();

  /** `hasOwn`: whether the client brought a key for that target. */
  expand(targets: readonly Target[], hasOwn: (target: Target) => boolean): readonly Target[] {
    if (targets.every(({ provider }) => provider.keys === undefined)) return targets;
    return targets.flatMap((target) => {
      const count = target.provider.keys?.().length ?? 0;
      if (count < 2 || target.key !== undefined || hasOwn(target)) return [target];
      const turn = this.#turns.get(target.provider.id) ?? 0;
      this.#turns.set(target.provider.id, (turn + 1) % count);
      return Array.from({ length: count }, (_, index) => ({ ...target, key: (turn + index) % count }));
    });
  }
}
