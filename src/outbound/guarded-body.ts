import { pipeline, type Readable } from 'node:stream';
import { SluiceError } from '../core/errors.ts';
import { inflaterOf } from './inflater.ts';

/**
 * A body as it should be: unpacked, and cut with an error as soon as it grows beyond `limit` bytes. Only what was read is
 * in memory, so neither an endless body nor a compressed bomb gets further than the limit.
 */
export function bodyOf(source: Readable, encoding: string, limit: number, name: string): AsyncIterable<Buffer> {
  return limited(unpack(source, encoding, name), limit, name);
}

/** The same bytes, cut with an error as soon as there are more than `limit`. */
export async function* limited(
  source: AsyncIterable<Buffer>,
  limit: number,
  name: string,
): AsyncGenerator<Buffer, void, undefined> {
  let size = 0;
  for await (const bytes of source) {
    size += bytes.length;
    if (size > limit) throw tooLarge(name, limit);
    yield bytes;
  }
}

/** 502. `name` is what was fetched, fit to be shown to clients. */
export function tooLarge(name: string, limit: number): SluiceError {
  return new SluiceError('upstream_invalid', `'${name}' is larger than ${limit} bytes.`);
}

function unpack(source: Readable, encoding: string, name: string): Readable {
  if (encoding === '' || encoding === 'identity') return source;
  const make = inflaterOf(encoding);
  if (make === undefined) {
    throw new SluiceError('upstream_invalid', `'${name}' is compressed in a way Sluice does not read.`);
  }
  const inflate = make();
  // Errors of either side reach the reader through `inflate`; a reader that stops early closes both.
  pipeline(source, inflate, () => {});
  return inflate;
}
