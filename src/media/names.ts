import { decoded } from '../core/decoded.ts';
import { mediaTypeOf } from '../core/media-types.ts';

/** Where media are among the stored files. */
export const MEDIA_FOLDER = 'media';
/** Where their thumbnails are, each with the name of its picture and `.webp` behind that. */
export const THUMBNAILS_FOLDER = 'thumbnails';
/** The words with which kept content came again: `words/<hash>/<words>`, files without content. */
export const WORDS_FOLDER = 'words';

/** Bytes of a name's middle part. */
const SLUG_BYTES = 100;
/** The same as it is stored, in characters: a file system takes 255 of them for all of a name. */
const STORED_SLUG = 180;

/** What a name says about its file. */
export interface MediaAbout {
  /** Model, aspect ratio, resolution, in this order; empty ones are left out. */
  readonly tags?: readonly string[];
  /** The alternative text, or the prompt. */
  readonly alt?: string;
}

/** `<unix seconds>_<slug>_<16 hex digits of the content's SHA-256>.<extension>`: `/search` finds files by these words. */
export function mediaName(seconds: number, about: MediaAbout, sha256: string, extension: string): string {
  const slug = wordsAbout(about) || (mediaTypeOf(`x.${extension}`)?.kind ?? 'media');
  return `${seconds}_${slug}_${sha256.slice(0, 16)}.${extension}`;
}

/** The words of a name; empty where nothing is known. */
export function wordsAbout({ tags = [], alt = '' }: MediaAbout): string {
  return slugOf([...tags, alt].filter((text) => text !== '').join('+'));
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
 * Any text as a part of a file name: Latin letters lose their accents, everything but letters and digits (of any script) and
 * `.,_+-` becomes one `_`, and none of these marks stays at either end.
 */
export function slugOf(text: string): string {
  const spelled = decoded(text.slice(0, 2_000))
    .normalize('NFKD')
    .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
    .normalize('NFC')
    // What nobody can see (selectors of emoji, joiners) is no letter.
    .replace(/[^[[\p{L}\p{M}\p{N}]--\p{Default_Ignorable_Code_Point}]_.,+\-]+/gv, '_')
    // A dot would let a slug end like another type of file.
    .replace(/\.{2,}/g, '.')
    .replace(/^[.,_+-]+/, '');
  return shortened(spelled).replace(/(?<![.,_+-])[.,_+-]+$/, '');
}

function shortened(slug: string): string {
  let bytes = 0;
  let stored = 0;
  let end = 0;
  for (const character of slug) {
    const size = Buffer.byteLength(character);
    bytes += size;
    stored += size === 1 ? 1 : 3 * size;
    if (bytes > SLUG_BYTES || stored > STORED_SLUG) break;
    end += character.length;
  }
  return slug.slice(0, end);
}

/** Whether kept media can be called so. */
export function isMediaName(name: string): boolean {
  const isSpelled = /^[A-Za-z0-9][\p{L}\p{M}\p{N}_.,+=@-]*$/u.test(name);
  return isSpelled && storedName(name).length <= 250 && mediaTypeOf(name) !== undefined;
}

/** Where a kept file is served: one spelling, for whoever compares addresses. */
export function mediaAddress(name: string, form: 'media' | 'thumbnail' = 'media'): string {
  return `/${form}/${encodeURI(name)}`;
}

/** The name of the file that `/media/<name>` or `/images/<name>` leads to, as far as media can be called so. */
export function nameOfAddress(path: string): string | undefined {
  const name = decoded(/^\/(?:media|images)\/([^/]+)$/.exec(path)?.[1] ?? '');
  return isMediaName(name) ? name : undefined;
}

/** A name as it is on the disk, where names are ASCII: bytes beyond it as `=E7`. */
export function storedName(name: string): string {
  return name.replace(/[^\0-\x7f]+/g, (text) => Buffer.from(text).toString('hex').toUpperCase().replace(/../g, '=$&'));
}

/** The name of a file on the disk. */
export function nameOfStored(stored: string): string {
  const name = stored.replace(/(?:=[89A-F][0-9A-F])+/g, (text) =>
    Buffer.from(text.replaceAll('=', ''), 'hex').toString('utf8'),
  );
  // Somebody else's file may look as if it were spelled so.
  return storedName(name) === stored ? name : stored;
}

/** Where a stored file is among the files. */
export function mediaPath(name: string): string {
  return `${MEDIA_FOLDER}/${storedName(name)}`;
}

/** Where the thumbnail of a stored file is among the files; there is none when the file itself is small. */
export function thumbnailPath(name: string): string {
  return `${THUMBNAILS_FOLDER}/${storedName(name)}.webp`;
}

/** Where it is written down that content is found by these words, too; without words: where all of them are. */
export function wordsPath(hash: string, words?: string): string {
  if (words === undefined) return `${WORDS_FOLDER}/${hash}`;
  // No words have this sign, and a search finds them behind it.
  return `${WORDS_FOLDER}/${hash}/${DEVICE.test(words) ? '=' : ''}${storedName(words)}`;
}

/** What Windows takes for a device, whatever the folder and the extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Where the file is whose thumbnail is there. */
export function pathOfPicture(thumbnail: string): string {
  return `${MEDIA_FOLDER}/${thumbnail.slice(THUMBNAILS_FOLDER.length + 1).replace(/\.webp$/, '')}`;
}
