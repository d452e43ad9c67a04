/** Bytes that came in several buffers and stay there: joined, they would be in memory twice. */
export type Pieces = readonly Buffer[];

/** Bytes of all pieces. */
export function sizeOf(pieces: Pieces): number {
  let size = 0;
  for (const { length } of pieces) size += length;
  return size;
}

/** All in one buffer; a single one as it is. */
export function join(pieces: Pieces): Buffer {
  const [first] = pieces;
  return pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
}

/** Below this many bytes a piece is not worth the call. */
export const DETACHED_BYTES = 8 * 1024;

/**
 * Gives the memory of large pieces back now (ECMA-262, `ArrayBuffer.prototype.transfer`). V8 would do so once it collects its whole
 * heap, and collects its whole heap for every few dozen megabytes that wait for that. Pieces that share their memory with others
 * are left alone. Whoever looks at one of the others afterwards sees an empty one, and nobody may be about to send it: the system
 * reads from where it was.
 */
export function detach(pieces: Pieces): void {
  for (const { buffer, length } of pieces) {
    if (length >= DETACHED_BYTES && buffer.byteLength === length && buffer instanceof ArrayBuffer) buffer.transfer(0);
  }
}

/** `join` of pieces that nobody else has and nobody needs any more. */
export function joinOwn(pieces: Pieces): Buffer {
  const whole = join(pieces);
  if (pieces.length > 1) detach(pieces);
  return whole;
}

/** All that comes, in one buffer. How much that may be is its source's business. */
export async function collectBytes(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of source) pieces.push(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
  return join(pieces);
}

/** The first `count` bytes, or all. No more than these are copied: pieces may be large. */
export function headOf(pieces: Pieces, count: number): Buffer {
  const wanted: Buffer[] = [];
  let left = count;
  for (const piece of pieces) {
    if (left <= 0) break;
    wanted.push(piece.subarray(0, left));
    left -= piece.length;
  }
  return join(wanted);
}

/** The last `count` bytes, or all. */
export function tailOf(pieces: Pieces, count: number): Buffer {
  const wanted: Buffer[] = [];
  let left = count;
  for (const piece of pieces.toReversed()) {
    if (left <= 0) break;
    wanted.push(piece.subarray(-left));
    left -= piece.length;
  }
  return join(wanted.reverse());
}

/** The bytes from `start` to `end`; nothing is copied. */
export function between(pieces: Pieces, start: number, end: number): Pieces {
  const wanted: Buffer[] = [];
  let at = 0;
  for (const piece of pieces) {
    if (at >= end) break;
    if (at + piece.length > start) wanted.push(piece.subarray(Math.max(0, start - at), end - at));
    at += piece.length;
  }
  return wanted;
}

/** All but the last `count` bytes; nothing is copied. */
export function withoutTail(pieces: Pieces, count: number): Pieces {
  const kept: Buffer[] = [];
  let left = sizeOf(pieces) - count;
  for (const piece of pieces) {
    if (left <= 0) break;
    kept.push(piece.subarray(0, left));
    left -= piece.length;
  }
  return kept;
}

/** Whether ASCII text of at least two characters stands in the bytes, however they are split. */
export function holds(pieces: Pieces, text: string): boolean {
  const overlap = text.length - 1;
  let before = '';
  for (const piece of pieces) {
    if (piece.includes(text, 0, 'latin1')) return true;
    if (before !== '' && (before + piece.toString('latin1', 0, overlap)).includes(text)) return true;
    before = (before + piece.toString('latin1', Math.max(0, piece.length - overlap))).slice(-overlap);
  }
  return false;
}
