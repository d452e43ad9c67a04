/** Where the members of a JSON object stand in its bytes, so that a few can be replaced and the rest stays as sent. */

import { between, join, type Pieces } from './pieces.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
/** From this length on a string's end is searched by native code, which starts slower and runs faster. */
const LONG_STRING = 32;

/** One member: `start` and `end` enclose its value. */
export interface Member {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** Where the members of an object stand among its bytes. */
export interface Scan {
  /** Members of the outermost object in their order; the same name may come twice. */
  readonly members: readonly Member[];
  /** How deep arrays and objects nest. */
  readonly depth: number;
}

/**
 * Reads bytes that are known to be valid JSON (`JSON.parse` accepted them).
 *
 * @param names how the members are called, as far as that is known: a name that is at its place is not read again
 */
export function scanObject(bytes: Buffer, names: readonly string[] = []): Scan {
  const members: Member[] = [];
  let depth = 0;
  let deepest = 0;
  let name: string | undefined;
  let start = -1;
  const close = (end: number): void => {
    if (name !== undefined && start !== -1) members.push({ name, start, end: trimEnd(bytes, end) });
    name = undefined;
    start = -1;
  };
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case QUOTE: {
        const end = endOfString(bytes, at);
        if (depth === 1 && name === undefined) name = nameIn(bytes, at, end, names[members.length]);
        at = end - 1;
        break;
      }
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        if (depth > deepest) deepest = depth;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (depth === 1) close(at);
        depth -= 1;
        break;
      case COLON:
        if (depth === 1 && start === -1) {
          start = at + 1;
          while (isSpace(bytes[start])) start += 1;
        }
        break;
      case COMMA:
        if (depth === 1) close(at);
        break;
    }
  }
  return { members, depth: deepest };
}

/**
 * The same object with some members replaced by other JSON text, added (when absent) or, for undefined, removed.
 * Returns the very same pieces when nothing changes; what stays is not copied.
 */
export function editPieces(
  pieces: Pieces,
  members: readonly Member[],
  edits: ReadonlyMap<string, string | undefined>,
): Pieces {
  if (edits.size === 0) return pieces;
  const present = new Set(members.map((member) => member.name));
  const added = [...edits].filter(([name, value]) => value !== undefined && !present.has(name));
  if (added.length === 0 && !members.some((member) => edits.has(member.name))) return pieces;
  const edited: Buffer[] = [];
  let text = '{';
  let separator = '';
  for (const member of members) {
    const edit = edits.get(member.name);
    if (edits.has(member.name) && edit === undefined) continue;
    text += `${separator}${JSON.stringify(member.name)}:`;
    separator = ',';
    if (edit !== undefined) text += edit;
    else {
      edited.push(Buffer.from(text), ...between(pieces, member.start, member.end));
      text = '';
    }
  }
  for (const [name, value] of added) {
    text += `${separator}${JSON.stringify(name)}:${value}`;
    separator = ',';
  }
  edited.push(Buffer.from(`${text}}`));
  return edited;
}

/** `editPieces` for an object in one piece. */
export function editObject(
  bytes: Buffer,
  members: readonly Member[],
  edits: ReadonlyMap<string, string | undefined>,
): Buffer {
  return join(editPieces([bytes], members, edits));
}

/** The name whose quotes stand at both ends. */
function nameIn(bytes: Buffer, start: number, end: number, likely: string | undefined): string {
  if (likely !== undefined && stands(likely, bytes, start + 1, end - 1)) return likely;
  const written = bytes.toString('utf8', start + 1, end - 1);
  return written.includes('\\') ? String(JSON.parse(`"${written}"`)) : written;
}

/** Whether a text stands there as it is, in ASCII and without escapes. */
function stands(text: string, bytes: Buffer, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code !== bytes[start + at] || code > 0x7f || code === BACKSLASH) return false;
  }
  return true;
}

/** The index behind the closing quote of the string that begins at `at`; the end of all where nothing closes it. */
export function endOfString(bytes: Buffer, at: number): number {
  let next = at + 1;
  for (;;) {
    const near = Math.min(bytes.length, next + LONG_STRING);
    while (next < near && bytes[next] !== QUOTE) next += 1;
    if (next === near) next = bytes.indexOf(QUOTE, next);
    if (next === -1) return bytes.length;
    let backslashes = 0;
    while (bytes[next - 1 - backslashes] === BACKSLASH) backslashes += 1;
    next += 1;
    if (backslashes % 2 === 0) return next;
  }
}

function trimEnd(bytes: Buffer, end: number): number {
  let last = end;
  while (isSpace(bytes[last - 1])) last -= 1;
  return last;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
