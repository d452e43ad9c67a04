import type * as en from './en/index.ts';

/** The English words, which say what keys there are. */
export type English = typeof en;

/** A text that depends on a number, by the plural's category (https://cldr.unicode.org/index/cldr-spec/plural-rules). */
export interface Plural extends Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> {
  readonly other: string;
}

/** The form of a text for a number, by the rules of its language. */
export function formFor(count: number, text: Plural, rules: Intl.PluralRules): string {
  return text[rules.select(count)] ?? text.other;
}

/** The words of a language: the same keys as the English ones, in whatever words. */
export type Words<Section> = { readonly [Key in keyof Section]: Section[Key] extends string ? string : Plural };
/** All words of a language, by section. */
export type Dictionary = { readonly [Section in keyof English]: Words<English[Section]> };

/** `section.key` */
export type Key = {
  [Section in keyof English]: `${Section & string}.${keyof English[Section] & string}`;
}[keyof English];
