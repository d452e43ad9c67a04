import { SluiceError } from '../core/errors.ts';

/** The client log is a ring: this many entries, the newest. */
export const MOST_ENTRIES = 10_000;
/** Bytes of one entry as JSON. */
const MOST_BYTES = 64 * 1024;

/** The JSON of an entry's body, if it is small enough to be kept. */
export function logBody(body: Readonly<Record<string, unknown>>): string {
  const json = JSON.stringify(body);
  if (Buffer.byteLength(json) > MOST_BYTES) {
    throw new SluiceError('too_large', `A log entry has at most ${MOST_BYTES} bytes.`);
  }
  return json;
}
