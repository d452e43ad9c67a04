import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { SluiceError } from '../core/errors.ts';

/**
 * A body as it should be: unpacked, and cut with an error as soon as it grows beyond `limit` bytes. Only what was read is
 * in memory, so neither an endless body nor a compressed bomb gets further than the limit.
 */
export function bodyOf(source: Readable, encoding: string, limit: number, name: string): AsyncIterable<Buffer> {
  const unpacked = unpack(source, encoding, name);
  return (async function* () {
    let size = 0;
    for await (const bytes of unpacked as AsyncIterable<Buffer>) {
      size += bytes.length;
      if (size > limit) throw tooLarge(name, limit);
      yield bytes;
    }
  })();
}

export function tooLarge(name: string, limit: number): SluiceError {
  return new SluiceError('upstream_invalid', `'${name}' is larger than ${limit} bytes.`);
}

function unpack(source: Readable, encoding: string, name: string): Readable {
  if (encoding === '' || encoding === 'identity') return source;
  const inflate = inflater(encoding);
  if (inflate === undefined) {
    throw new SluiceError('upstream_invalid', `'${name}' is compressed in a way Sluice does not read.`);
  }
  // Errors of either side reach the reader through `inflate`; a reader that stops early closes both.
  pipeline(source, inflate, () => {});
  return inflate;
}

/** One layer only: stacked encodings have no use but to exhaust whoever unpacks them. */
function inflater(encoding: string): Transform | undefined {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      return undefined;
  }
}
