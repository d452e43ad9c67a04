import type { Limits } from '../config/config.ts';
import { defaultLimits } from '../config/defaults.ts';

/** What a file turned out to be, and what became of it. A file that cannot be used is no error: it is `rejected`. */
export type Conversion =
  /** A document, as GitHub-flavoured markdown with `\n` line ends. */
  | ({ readonly kind: 'markdown' } & Markdown)
  /** Plain text and source code, as they are: decoded, without a byte order mark. */
  | { readonly kind: 'text'; readonly text: string }
  /** A zip: what its members became. Paths are relative, with `/`, without `..`, as the archive names them. */
  | { readonly kind: 'archive'; readonly entries: readonly ArchiveEntry[]; readonly rejected: readonly Rejection[] }
  /**
   * An image. Type and size come from its bytes, the size is the one after its EXIF orientation. Size and thumbnail are
   * missing only where the library that reads images is not installed.
   */
  | {
      readonly kind: 'image';
      readonly mimeType: string;
      readonly width?: number;
      readonly height?: number;
      readonly thumbnail?: Thumbnail;
    }
  | { readonly kind: 'audio' | 'video'; readonly mimeType: string }
  | Rejected;

/** A file that cannot be used. */
export interface Rejected {
  readonly kind: 'rejected';
  readonly reason: string;
  /** It is too much, whatever is in it: a limit ended the work. */
  readonly isOverLimit?: true;
}

/** A member of an archive that became text. */
export interface ArchiveEntry {
  readonly path: string;
  /** Whether the text is markdown made from a document, or the member's own. */
  readonly kind: 'markdown' | 'text';
  readonly text: string;
}

/** A document as markdown. */
export interface Markdown {
  readonly text: string;
  /** Of the document, where it has one. */
  readonly title?: string;
}

/** `title` is what the document has in its place. */
export function titled(text: string, title = ''): Markdown {
  return title.trim() === '' ? { text } : { text, title: title.trim() };
}

/** A member of an archive that was left out. The name is as the archive has it: show it, never use it as a path. */
export interface Rejection {
  readonly name: string;
  readonly reason: string;
}

/** At most 400 × 400, upright, without any of the original's metadata. */
export interface Thumbnail {
  readonly mimeType: 'image/webp';
  readonly bytes: Uint8Array;
}

const MB = 1024 * 1024;

/** What one file may cost. */
export interface ConversionLimits {
  /** Milliseconds of work, waiting for a free worker not counted. */
  readonly timeMs: number;
  /** Memory of the process that works, all in all. */
  readonly memoryBytes: number;
  /** Bytes that an archive or a zipped document unpacks to, zips inside included; also the longest text that is made. */
  readonly unpackedBytes: number;
  /** Members of an archive or a zipped document. */
  readonly entries: number;
  /** How many times its own size something zipped may unpack to. What stays below a megabyte may always. */
  readonly ratio: number;
  /** Width × height of an image. */
  readonly pixels: number;
}

/** As the operator sets them; the rest is fixed. */
export function conversionLimits({ unpackedBytes, unpackedEntries, unpackedRatio }: Limits): ConversionLimits {
  return {
    timeMs: 30_000,
    memoryBytes: 512 * MB,
    unpackedBytes,
    entries: unpackedEntries,
    ratio: unpackedRatio,
    pixels: 50_000_000,
  };
}

/** Where the operator sets nothing. */
export const DEFAULT_LIMITS: ConversionLimits = conversionLimits(defaultLimits);

/** Why a file is not taken in, in words for whoever sent it: "This file " + reason makes a sentence. */
export class Refusal extends Error {
  override readonly name: string = 'Refusal';
}

/** A file that is beyond one of the limits. */
export class OverLimit extends Refusal {
  override readonly name = 'OverLimit';
}

/** What becomes of a file that is refused. */
export function rejected(refusal: Refusal): Rejected {
  const { message: reason } = refusal;
  return { kind: 'rejected', reason, ...(refusal instanceof OverLimit ? { isOverLimit: true } : {}) };
}

/** The members of an archive share what may be unpacked, and what text may come of it. */
export interface Budget {
  readonly limits: ConversionLimits;
  /** Bytes that may still be unpacked. */
  unpackedBytes: number;
  /** Characters of text that may still be made. */
  textLength: number;
}

/** All that the limits allow: as many characters of text may be made as bytes may be unpacked. */
export function openBudget(limits: ConversionLimits): Budget {
  return { limits, unpackedBytes: limits.unpackedBytes, textLength: limits.unpackedBytes };
}

/** A number of bytes for people: `100 MB`, or `2000 bytes`. */
export function inWords(bytes: number): string {
  return bytes % MB === 0 ? `${bytes / MB} MB` : `${bytes} bytes`;
}

/** What the members of an archive say, each below its path. */
export function archiveText(entries: readonly ArchiveEntry[]): string {
  return entries.map(({ path, text }) => `## ${path}\n\n${text}`).join('\n\n');
}
