import type { CatalogState } from '../../state/catalog.ts';

/** Who reads: a provider of the server, or the browser itself. An absent voice is the default one. */
export type Voice =
  | { readonly by: 'server'; readonly provider: string; readonly voice?: string }
  | { readonly by: 'browser'; readonly voice?: string };

/** Providers that can read aloud. */
export function speakersOf(catalog: CatalogState): readonly string[] {
  return Object.entries(catalog.models)
    .filter(([, models]) => models.some(({ type }) => type === 'speech'))
    .map(([provider]) => provider);
}

/** Who reads by a voice of the settings, and which of his voices; absent: the default one. */
export function partsOf(setting: string): { readonly by: string; readonly voice?: string } {
  const slash = setting.indexOf('/');
  return slash === -1 ? { by: setting } : { by: setting.slice(0, slash), voice: setting.slice(slash + 1) };
}

/**
 * The voice of the settings: `browser`, a provider's name, each with `/<voice>` behind it or not; empty leaves the choice
 * here. The embedded voice speaks English only, so for other languages the browser's own comes first.
 */
export function voiceOf(
  setting: string,
  speakers: readonly string[],
  hasBrowser: boolean,
  language: string,
): Voice | undefined {
  const { by, ...voice } = partsOf(setting);
  if (by === 'browser' && hasBrowser) return { by, ...voice };
  if (speakers.includes(by)) return { by: 'server', provider: by, ...voice };
  const fluent = speakers.filter((speaker) => speaker !== 'flite' || language.startsWith('en'));
  const [first] = fluent;
  if (first !== undefined) return { by: 'server', provider: first };
  if (hasBrowser) return { by: 'browser' };
  const [any] = speakers;
  return any === undefined ? undefined : { by: 'server', provider: any };
}
