import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

/** Makes what unpacks a body. `first` is its first byte. */
export type MakeInflater = (first?: number) => Transform;

/** How a content encoding is unpacked. One layer only: stacked ones have no use but to exhaust whoever unpacks them. */
export function inflaterOf(encoding: string): MakeInflater | undefined {
  switch (encoding.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return () => createGunzip();
    case 'deflate':
      // Some send it without zlib's header, which ends in an 8 (RFC 9110 §8.4.1.2).
      return (first = ZLIB) => ((first & 0x0f) === ZLIB ? createInflate() : createInflateRaw());
    case 'br':
      return () => createBrotliDecompress();
    default:
      return undefined;
  }
}

const ZLIB = 8;
