import type * as en from './en/index.ts';

export type English = typeof en;

/** A text that depends on a number, by the plural's category (https://cldr.unicode.org/index/cldr-spec/plural-rules). */
export interface Plural {
  readonly one?: string;
  readonly other: string;
}

/** The words of a language: the same keys as the English ones, in whatever words. */
export type Words<Section> = { readonly [Key in keyof Section]: Section[Key] extends string ? string : Plural };
export type Dictionary = { readonly [Section in keyof English]: Words<English[Section]> };

/** `section.key` */
export type Key = {
  [Section in keyof English]: `${Section & string}.${keyof English[Section] & string}`;
}[keyof English];
