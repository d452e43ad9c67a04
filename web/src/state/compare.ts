import { type CatalogState, type Choice, offersOf, settle } from './catalog.ts';
import type { Chat, Side } from './model.ts';
import { addressOf } from './route.ts';
import type { Settings } from './settings.ts';

/** In `Settings.more`: the models that were compared last. */
export const COMPARED = 'compared';

/** The two models to begin with: those of the last time, or the one of the next chat and one that is another. */
export function firstSides(catalog: CatalogState, settings: Settings): readonly Side[] {
  const kept = settings.more[COMPARED];
  const wishes = Array.isArray(kept) ? (kept as readonly Choice[]) : [];
  const first = settle(catalog, wishes[0] ?? settings.choice);
  const [other] = offersOf(catalog).filter(
    ({ provider, model, entry }) => entry.type === 'chat' && (provider !== first.provider || model !== first.model),
  );
  const second = settle(catalog, wishes[1] ?? other);
  return [first, second].map(({ provider, model }) => ({ provider, model }));
}

/** Whether all sides are the same model, which then answers twice. */
export function areAlike(sides: readonly Side[]): boolean {
  return sides.every(({ provider, model }) => provider === sides[0]?.provider && model === sides[0].model);
}

/** The sides with one of them changed. */
export function withSide(sides: readonly Side[], at: number, change: Partial<Side>): readonly Side[] {
  return sides.map((side, index) => (index === at ? { ...side, ...change } : side));
}

/** Where a chat is shown: one that is a comparison as such, until somebody goes on in it with one model alone. */
export function placeOf({ id, sides, leaf }: Chat): string {
  const isCompared = sides?.some((side) => side.leaf !== undefined && side.leaf === leaf) ?? false;
  return addressOf(isCompared ? 'compare' : 'chat', id);
}

/** Whether all sides are at the same place, so that one question serves them all. */
export function isTogether(sides: readonly Side[]): boolean {
  return sides.every(({ leaf }) => leaf === sides[0]?.leaf);
}
