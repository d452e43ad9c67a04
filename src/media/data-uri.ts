import { SluiceError } from '../core/errors.ts';

/** The bytes of a `data:` URI (RFC 2397). What type it claims to be does not matter here. */
export function decodeDataUri(uri: string, mostBytes: number): Buffer {
  const comma = uri.indexOf(',');
  const head = uri.slice(0, comma);
  if (comma === -1 || !/^data:/i.test(head)) throw new SluiceError('upstream_invalid', 'The data: URI is incomplete.');
  const isBase64 = /;\s*base64\s*$/i.test(head);
  const length = uri.length - comma - 1;
  if ((isBase64 ? (length * 3) / 4 : length / 3) > mostBytes) throw tooLarge(mostBytes);
  const text = uri.slice(comma + 1);
  const bytes = isBase64 ? Buffer.from(text.includes('%') ? unescaped(text) : text, 'base64') : percentDecoded(text);
  if (bytes.length > mostBytes) throw tooLarge(mostBytes);
  return bytes;
}

function percentDecoded(text: string): Buffer {
  const parts = text.split(/((?:%[\da-f]{2})+)/i);
  return Buffer.concat(
    parts.map((part, at) => (at % 2 === 0 ? Buffer.from(part) : Buffer.from(part.replaceAll('%', ''), 'hex'))),
  );
}

function unescaped(text: string): string {
  return percentDecoded(text).toString('latin1');
}

function tooLarge(mostBytes: number): SluiceError {
  return new SluiceError('upstream_invalid', `The data: URI holds more than ${mostBytes} bytes.`);
}
