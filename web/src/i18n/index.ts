import { app } from '../state/app.ts';
import { type Dictionary, type English, formFor, type Key, type Plural } from './dictionary.ts';
import { typeset } from './typography.ts';

/** The languages of the page, each under its own name for itself. */
export const LANGUAGES = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
  zh: '中文',
} as const;

/** The tag of one of them, as it stands in `<html lang>`. */
export type Language = keyof typeof LANGUAGES;

/** What stands in a text in place of its `{name}`s, numbers as the language writes them. `count` picks the plural, too. */
export type Values = Readonly<Record<string, string | number>>;

const loaders: Readonly<Record<Language, () => Promise<Dictionary>>> = {
  en: () => import('./en/index.ts'),
  de: () => import('./de/index.ts'),
  es: () => import('./es/index.ts'),
  fr: () => import('./fr/index.ts'),
  zh: () => import('./zh/index.ts'),
};

let dictionary: Dictionary | undefined;
let language: Language = 'en';
let plurals = new Intl.PluralRules('en');

function isLanguage(name: string): name is Language {
  return Object.hasOwn(LANGUAGES, name);
}

/** The wish where it is a language of ours, else the first of the browser's that is. */
export function pickLanguage(wish: string, offered: readonly string[]): Language {
  if (isLanguage(wish)) return wish;
  return offered.map((tag) => tag.split('-')[0] ?? '').find(isLanguage) ?? 'en';
}

let asked: Language | undefined;

/** Loads the words of a language, after which `t` speaks it, unless another one has been asked for meanwhile. */
export async function speak(next: Language): Promise<void> {
  asked = next;
  const words = await loaders[next]();
  if (asked !== next) return;
  dictionary = words;
  language = next;
  plurals = new Intl.PluralRules(next);
  document.documentElement.lang = next;
}

/** The language that is spoken, for `Intl`, and for what keeps words from one drawing to the next. */
export function spoken(): Language {
  return language;
}

/** The way dates and numbers are written: the browser's own kind of the language, if it names one (`en-GB`). */
export function region(): string {
  return navigator.languages.find((tag) => tag.split('-')[0] === language) ?? language;
}

/** The words for `key`, with `{name}` replaced by the value of that name. `count` picks the plural. */
export function t(key: Key, values: Values = {}): string {
  return fill(dictionary, key, values, plurals);
}

function fill(words: Dictionary | undefined, key: Key, values: Values, rules: Intl.PluralRules): string {
  const at = key.indexOf('.');
  const section = words?.[key.slice(0, at) as keyof English] as Readonly<Record<string, string | Plural>> | undefined;
  const entry = section?.[key.slice(at + 1)];
  if (entry === undefined) return key;
  const text = typeof entry === 'string' ? entry : formFor(Number(values['count'] ?? 0), entry, rules);
  // Only these words: what comes into them is somebody's own.
  return typeset(language, text).replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === 'number' ? value.toLocaleString(language) : value;
  });
}

/** The language that the settings ask for. */
export function wantedLanguage(): Language {
  return pickLanguage(app.get().settings.language, navigator.languages);
}
