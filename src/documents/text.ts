import { setImmediate } from 'node:timers/promises';
import { Refusal } from './conversion.ts';
import { isGarbledAsWestern } from './garbled.ts';

/** Control characters that text files really hold: tab, line ends, form feed, and backspace and escape of terminal logs. */
const HARMLESS_CONTROLS = new Set([0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1b]);

/** Bytes without a meaning in windows-1252 (WHATWG encoding standard); 0x80 to 0x9f are its quotes, dashes and €. */
const UNUSED = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

/** One character in so many may be an odd one: a stray byte of a terminal's log is no reason to refuse it. */
const ODD_SHARE = 200;

/** Where ISO-2022-JP, which is of seven bits and so is valid UTF-8, goes over to Japanese characters. */
const TO_JAPANESE = ['\x1b$B', '\x1b$@'];

/** Bytes that are looked at in one go. */
const STEP_BYTES = 512 * 1024;

/** Where HTML and XML say in which encoding they are, and how far into them that is looked for (as browsers do). */
const DECLARED =
  /<meta\b[^<>]*?\bcharset\s*=\s*(?:["']\s*)?([\w.:-]+)|^\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']([\w.:-]+)/i;
const DECLARED_WITHIN = 1024;

/**
 * Bytes as text: UTF-8, UTF-16 and ISO-2022-JP by their marks, else UTF-8, else what HTML or XML says of itself, else windows-1252,
 * the superset of latin-1. Throws a `Refusal` when they are no text, or surely in none of these.
 */
export function decodeText(bytes: Uint8Array): string {
  const steps = decode(bytes);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same, letting others have a turn every now and then. */
export async function decodeTextInTurns(bytes: Uint8Array): Promise<string> {
  const steps = decode(bytes);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await setImmediate();
  }
}

/** UTF-8, the byte order mark removed; undefined when it is something else. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function* decode(bytes: Uint8Array): Generator<undefined, string> {
  for (const encoding of encodingsFor(bytes)) {
    const text = yield* decodeAs(encoding, bytes);
    if (text === undefined) continue;
    // What nobody declared is a guess, and a wrong one would be asked about as if it were what the file says.
    if (encoding === 'windows-1252' && !declaredIn(bytes).includes(encoding) && isGarbledAsWestern(bytes))
      throw new Refusal('is neither in UTF-8 nor in Windows-1252, and names no other encoding: save it as UTF-8');
    return text;
  }
  throw new Refusal('is not text, or not in UTF-8, UTF-16 or Windows-1252');
}

function encodingsFor(bytes: Uint8Array): string[] {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return ['utf-16le'];
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return ['utf-16be'];
  const { buffer, byteOffset, length } = bytes;
  const all = Buffer.from(buffer, byteOffset, length);
  const japanese = TO_JAPANESE.some((mark) => all.includes(mark)) ? ['iso-2022-jp'] : [];
  return [...japanese, 'utf-8', ...declaredIn(bytes), 'windows-1252'];
}

function declaredIn(bytes: Uint8Array): string[] {
  const [, html, xml] = DECLARED.exec(Buffer.from(bytes.subarray(0, DECLARED_WITHIN)).toString('latin1')) ?? [];
  try {
    const { encoding } = new TextDecoder(html ?? xml);
    // Whoever can read the word has no UTF-16 before them.
    return encoding.startsWith('utf-') ? [] : [encoding];
  } catch {
    return [];
  }
}

/** The text, one yield a step; undefined when the bytes are not in this encoding, or nothing that anybody would write. */
function* decodeAs(encoding: string, bytes: Uint8Array): Generator<undefined, string | undefined> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const allowed = Math.floor(bytes.length / ODD_SHARE);
  const pieces: string[] = [];
  let odd = 0;
  for (let start = 0; start < bytes.length; start += STEP_BYTES) {
    if (start > 0) yield undefined;
    const step = bytes.subarray(start, start + STEP_BYTES);
    odd += encoding.startsWith('utf-16') ? 0 : oddBytes(step, encoding);
    if (odd > allowed) return undefined;
    try {
      pieces.push(decoder.decode(step, { stream: start + STEP_BYTES < bytes.length }));
    } catch {
      return undefined;
    }
    if (pieces.at(-1)?.includes('\0')) return undefined;
  }
  return pieces.join('');
}

/** How many bytes are characters that text does not have. */
function oddBytes(bytes: Uint8Array, encoding: string): number {
  const single = encoding === 'windows-1252';
  let odd = 0;
  for (const byte of bytes) {
    if (byte < 0x20 ? !HARMLESS_CONTROLS.has(byte) : byte === 0x7f || (single && UNUSED.has(byte))) odd += 1;
  }
  return odd;
}
