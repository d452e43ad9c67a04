import type { Choice } from './catalog.ts';
import { type Setup, toSetup } from './setup.ts';

/** A model with instructions and parameters, under a name. */
export interface Preset extends Setup {
  readonly id: string;
  readonly name: string;
  /** Absent: whichever model the chat has. */
  readonly choice?: Choice;
  readonly updated: number;
}

/** The kind of its records. */
export const PRESETS = 'presets';

/** For sorting as people count: `v2` before `v10`. */
export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name.localeCompare(b.name, undefined, { numeric: true });
}

/** What was exported once; of anything else nothing. Each gets an id of `newId`. */
export function readPresets(file: unknown, newId: () => string): readonly Preset[] {
  const list = (file as { presets?: unknown } | null)?.presets;
  if (!Array.isArray(list)) return [];
  return list.flatMap((each: unknown): Preset[] => {
    const { name, choice } = (each ?? {}) as { name?: unknown; choice?: Partial<Choice> };
    if (typeof name !== 'string' || name.trim() === '') return [];
    const { provider = '', model } = choice ?? {};
    const known = typeof model === 'string' && typeof provider === 'string' ? { choice: { provider, model } } : {};
    return [{ id: newId(), name: name.trim().slice(0, 80), updated: Date.now(), ...toSetup(each), ...known }];
  });
}

/** As a file to take along. */
export function writePresets(presets: readonly Preset[]): string {
  const list = presets.map(({ id: _, updated: __, ...rest }) => rest);
  return `${JSON.stringify({ sluice: 'presets', presets: list }, null, 2)}\n`;
}
