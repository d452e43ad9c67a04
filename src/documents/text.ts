import { Refusal } from './conversion.ts';

/** Control characters that text files really hold: tab, line ends, form feed, and backspace and escape of terminal logs. */
const HARMLESS_CONTROLS = new Set([0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1b]);

/** Bytes without a meaning in windows-1252 (WHATWG encoding standard); 0x80 to 0x9f are its quotes, dashes and €. */
const UNUSED = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

/** One character in so many may be an odd one: a stray byte of a terminal's log is no reason to refuse it. */
const ODD_SHARE = 200;

/**
 * Bytes as text: UTF-8 and UTF-16 by their byte order mark, else UTF-8, else windows-1252, the superset of latin-1. Throws a
 * `Refusal` when they are no text.
 */
export function decodeText(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return decodeAs('utf-16le', bytes) ?? refuse();
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return decodeAs('utf-16be', bytes) ?? refuse();
  if (looksBinary(bytes, false)) return refuse();
  return decodeAs('utf-8', bytes) ?? (looksBinary(bytes, true) ? refuse() : decodeSingleBytes(bytes));
}

/** UTF-8, the byte order mark removed; undefined when it is something else. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  return decodeAs('utf-8', bytes);
}

function decodeAs(encoding: string, bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

function decodeSingleBytes(bytes: Uint8Array): string {
  return new TextDecoder('windows-1252').decode(bytes);
}

/** `single`: whether each byte is a character of its own, so that those without a meaning count too. */
function looksBinary(bytes: Uint8Array, single: boolean): boolean {
  const allowed = Math.floor(bytes.length / ODD_SHARE);
  let odd = 0;
  for (const byte of bytes) {
    if (byte === 0) return true;
    const isOdd =
      byte < 0x20 ? !HARMLESS_CONTROLS.has(byte) : byte === 0x7f || (single && byte >= 0x80 && UNUSED.has(byte));
    if (isOdd) {
      odd += 1;
      if (odd > allowed) return true;
    }
  }
  return false;
}

function refuse(): never {
  throw new Refusal('is not text, though its name says so');
}
