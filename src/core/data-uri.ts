import { SluiceError } from './errors.ts';

/**
 * Addresses that hold what they name (RFC 2397). They come from clients and models and may be millions of characters long, so
 * they are taken apart by position: a pattern with two ways to read one character takes the square of that.
 */
export interface DataUri {
  /** As the address has it, in lower case and without parameters; empty when it names none. */
  readonly mimeType: string;
  readonly isBase64: boolean;
  /** What stands behind the comma, as written. */
  readonly data: string;
}

/** The parts of a `data:` URI; undefined when it is none, or has no comma. */
export function readDataUri(url: string): DataUri | undefined {
  if (!isDataUri(url)) return undefined;
  const comma = url.indexOf(',');
  if (comma === -1) return undefined;
  const head = url.slice('data:'.length, comma);
  const semicolon = head.indexOf(';');
  const mimeType = (semicolon === -1 ? head : head.slice(0, semicolon)).trim().toLowerCase();
  const last = head.slice(head.lastIndexOf(';') + 1);
  return { mimeType, isBase64: semicolon !== -1 && /^base64$/i.test(last.trim()), data: url.slice(comma + 1) };
}

/** An address that holds `content`: bytes, or their base64. */
export function dataUri(mimeType: string, content: Buffer | string): string {
  return `data:${mimeType};base64,${typeof content === 'string' ? content : content.toString('base64')}`;
}

/** The same of what a client sent in the place of base64, which may be such an address already. */
export function asDataUri(mimeType: string, data: string): string {
  return isDataUri(data) ? data : dataUri(mimeType, data);
}

/** By the scheme alone, in capitals too: whether anything can be read of it, only `readDataUri` tells. */
export function isDataUri(url: string): boolean {
  return /^data:/i.test(url);
}

/**
 * Schemes of what only the machine or the browser that reads an address has, and of servers that no upstream asks for media.
 * Vendors name what was uploaded to them by schemes of their own (`gs:`, `s3:`, `ms:`, `mm_file:`): no list could hold them all.
 */
const NO_MEDIA =
  /^\s*(?:file|filesystem|blob|about|javascript|vbscript|view-source|ftps?|sftp|tftp|ssh|telnet|smb|cifs|nfs|jar|netdoc|gopher|dict|ldaps?|wss?|mailto):/i;

/** Whether an address cannot be one of media that an upstream reads. */
export function isNoMedia(url: string): boolean {
  return NO_MEDIA.test(url);
}

/** The base64 in a `data:` URI; undefined for every other address, and where the content is written otherwise. */
export function base64Of(url: string): string | undefined {
  const uri = readDataUri(url);
  return uri?.isBase64 === true ? uri.data : undefined;
}

/** What a `data:` URI holds as base64, in whatever way it is written there; undefined for every other address. */
export function heldAsBase64(url: string): string | undefined {
  const uri = readDataUri(url);
  if (uri === undefined) return undefined;
  return uri.isBase64 ? uri.data : percentDecoded(uri.data).toString('base64');
}

/** Base64 in either alphabet, with white space and percent signs, as such addresses may have it. */
const NO_BASE64 = /[^A-Za-z0-9+/=_%\s-]/;

/** Whether an address holds nothing, or something that is no base64 though it says so: decoders pass over that without a word. */
export function isBrokenDataUri(url: string): boolean {
  const data = base64Of(url);
  return data !== undefined && isBrokenBase64(data);
}

/** The same of base64 alone. */
export function isBrokenBase64(data: string): boolean {
  return data === '' || NO_BASE64.test(data);
}

/** The type that a `data:` URI names. */
export function mimeTypeOf(url: string): { mimeType?: string } {
  const { mimeType = '' } = readDataUri(url) ?? {};
  return mimeType === '' ? {} : { mimeType };
}

/** The bytes of a `data:` URI. What type it claims to be does not matter here. */
export function decodeDataUri(url: string, mostBytes: number): Buffer {
  const uri = readDataUri(url);
  if (uri === undefined) throw new SluiceError('upstream_invalid', 'The data: URI is incomplete.');
  const { isBase64, data } = uri;
  if ((isBase64 ? (data.length * 3) / 4 : data.length / 3) > mostBytes) throw tooLarge(mostBytes);
  const bytes = isBase64
    ? Buffer.from(data.includes('%') ? percentDecoded(data).toString('latin1') : data, 'base64')
    : percentDecoded(data);
  if (bytes.length > mostBytes) throw tooLarge(mostBytes);
  return bytes;
}

/** In one buffer, whose bytes move together: there may be millions of escapes. What is no escape stays. */
function percentDecoded(text: string): Buffer {
  const bytes = Buffer.from(text);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const high = bytes[at] === PERCENT ? digit(bytes[at + 1]) : -1;
    const low = high === -1 ? -1 : digit(bytes[at + 2]);
    if (low === -1) {
      bytes[length] = bytes[at] ?? 0;
    } else {
      bytes[length] = 16 * high + low;
      at += 2;
    }
    length += 1;
  }
  return bytes.subarray(0, length);
}

const PERCENT = 0x25;

/** The value of a hexadecimal digit; -1 for every other character. */
function digit(code: number | undefined): number {
  if (code === undefined) return -1;
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function tooLarge(mostBytes: number): SluiceError {
  return new SluiceError('upstream_invalid', `The data: URI holds more than ${mostBytes} bytes.`);
}
