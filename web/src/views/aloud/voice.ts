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
  const slash = setting.indexOf('/');
  const by = slash === -1 ? setting : setting.slice(0, slash);
  const voice = slash === -1 ? {} : { voice: setting.slice(slash + 1) };
  if (by === 'browser' && hasBrowser) return { by, ...voice };
  if (speakers.includes(by)) return { by: 'server', provider: by, ...voice };
  const fluent = speakers.filter((speaker) => speaker !== 'flite' || language.startsWith('en'));
  const [first] = fluent;
  if (first !== undefined) return { by: 'server', provider: first };
  if (hasBrowser) return { by: 'browser' };
  const [any] = speakers;
  return any === undefined ? undefined : { by: 'server', provider: any };
}
