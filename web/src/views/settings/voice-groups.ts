import { spoken, t } from '../../i18n/index.ts';
import type { CatalogState } from '../../state/catalog.ts';
import { speakersOf } from '../aloud/voice.ts';

/** A voice to choose. */
export interface VoiceOption {
  /** As in the settings: `browser` or a provider's name, and `/<voice>` behind it. */
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
}

/** The voices of one provider, or those of the browser. */
export interface VoiceGroup {
  readonly id: string;
  readonly title: string;
  readonly options: readonly VoiceOption[];
  /** The provider has voices that nobody here knows. */
  readonly takesName?: string;
}

/** Voices of the providers that read aloud. */
export function serverGroups(catalog: CatalogState): readonly VoiceGroup[] {
  const speakers = speakersOf(catalog);
  return catalog.providers
    .filter(({ name }) => speakers.includes(name))
    .map(({ name, label, voices }) => {
      const title = t('voices.server', { provider: label });
      const known = voices.map((voice) => ({ value: `${name}/${voice.id}`, label: voice.label, hint: voice.language }));
      if (known.length > 0) return { id: name, title, options: known };
      return { id: name, title, options: [{ value: name, label: t('voices.standard') }], takesName: label };
    });
}

/** Voices of the browser, those of the page's language first. */
export function browserGroup(voices: readonly SpeechSynthesisVoice[]): readonly VoiceGroup[] {
  if (voices.length === 0) return [];
  const own = (voice: SpeechSynthesisVoice): boolean => voice.lang.toLowerCase().startsWith(spoken());
  const sorted = [...voices].sort((a, b) => Number(own(b)) - Number(own(a)) || a.name.localeCompare(b.name));
  const options = sorted.map(({ voiceURI, name, lang, localService }) => ({
    value: `browser/${voiceURI}`,
    label: name,
    hint: `${lang} · ${t(localService ? 'voices.local' : 'voices.remote')}`,
  }));
  const standard = { value: 'browser', label: t('voices.standard') };
  return [{ id: 'browser', title: t('voices.browser'), options: [standard, ...options] }];
}
