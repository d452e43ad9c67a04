import { mediaTypeOf } from '../core/media-types.ts';

/** Bytes of a name's middle part. */
const SLUG_BYTES = 100;

/** What a name says about its file. */
export interface MediaAbout {
  /** Model, aspect ratio, resolution, in this order; empty ones are left out. */
  readonly tags?: readonly string[];
  /** The alternative text, or the prompt. */
  readonly alt?: string;
}

/** `<unix seconds>_<slug>_<16 hex digits of the content's SHA-256>.<extension>`: `/search` finds files by these words. */
export function mediaName(seconds: number, about: MediaAbout, sha256: string, extension: string): string {
  const words = [...(about.tags ?? []), about.alt ?? ''].filter((text) => text !== '').join('+');
  const slug = slugOf(words) || (mediaTypeOf(`x.${extension}`)?.kind ?? 'media');
  return `${seconds}_${slug}_${sha256.slice(0, 16)}.${extension}`;
}

/** When a file was made, in seconds, and the digits of its content, as far as its name tells. */
export function readMediaName(name: string): { readonly seconds?: number; readonly hash?: string } {
  const seconds = /^(\d{1,12})_/.exec(name)?.[1];
  const hash = /_([\da-f]{16})\.[a-z\d]+$/.exec(name)?.[1];
  return {
    ...(seconds === undefined ? {} : { seconds: Number(seconds) }),
    ...(hash === undefined ? {} : { hash }),
  };
}

/**
 * Any text as a part of a file name: letters lose their accents, everything but ASCII letters, digits and `.,_+-` becomes
 * one `_`, and none of these marks stays at either end.
 */
export function slugOf(text: string): string {
  return (
    decoded(text.slice(0, 2_000))
      .normalize('NFKD')
      .replace(/\p{M}+/gu, '')
      .replace(/[^\w.,+-]+/g, '_')
      // A dot would let a slug end like another type of file.
      .replace(/\.{2,}/g, '.')
      .replace(/^[.,_+-]+/, '')
      .slice(0, SLUG_BYTES)
      .replace(/(?<![.,_+-])[.,_+-]+$/, '')
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
