import { randomBytes } from 'node:crypto';

/** Bytes of randomness that are fetched at a time: asking for each id alone costs more than the id. */
const POOL = Buffer.alloc(4_096);
let used = POOL.length;
/** The time of the last id, in both forms: many ids have the same. */
let last = Number.NaN;
let lastText = '';

/**
 * An id for a record of which there will be many: the time first, so that an index grows at its end, then 128 random bits.
 */
export function recordId(): string {
  const now = Date.now();
  if (used + 16 > POOL.length) {
    randomBytes(POOL.length).copy(POOL);
    used = 0;
  }
  const random = POOL.toString('hex', used, used + 16);
  used += 16;
  if (now !== last) {
    last = now;
    lastText = now.toString(16).padStart(12, '0');
  }
  return `${lastText}-${random}`;
}
