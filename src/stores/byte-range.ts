import { SluiceError } from '../core/errors.ts';
import type { ByteRange } from '../core/stores.ts';

/** The part of a range that a file of `size` bytes has. One that begins behind its end is refused with status 416. */
export function rangeWithin(range: ByteRange, size: number): ByteRange {
  const { start, end } = range;
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start || start >= size) {
    throw new SluiceError('invalid_request', `The file has ${size} bytes; this range is not among them.`, {
      status: 416,
    });
  }
  return { start, end: Math.min(end, size - 1) };
}
