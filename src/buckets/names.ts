import path from 'node:path';
import { decoded } from '../core/decoded.ts';

/** Bytes that a cleaned name may have. */
const LONGEST = 100;
/** Names that mean something to older servers of this dialect, or to file systems. */
const RESERVED: ReadonlySet<string> = new Set([
  'con',
  'nul',
  'aux',
  'prn',
  'files.txt',
  'chat.json',
  'package-lock.json',
]);

/**
 * The name under which an uploaded file is listed and asked for: without folders, percent-decoded, every run of characters
 * other than letters with their marks, digits and `. , _ + -` as one `_`, none of `. , _ + -` at either end, at most 100 bytes with the
 * extension kept, `file` before it where nothing else is left. Undefined when nothing is left, or the name is not to be had.
 */
export function cleanName(given: string): string | undefined {
  const cleaned = cleanPart(given);
  return cleaned === undefined || RESERVED.has(cleaned.toLowerCase()) ? undefined : cleaned;
}

/** The same for a name that is only shown, as those of files in an archive: none is reserved. */
export function cleanPart(given: string): string | undefined {
  // A letter and its mark as one: some systems write them apart.
  const base = decoded(given)
    .normalize('NFC')
    .replace(/^.*[/\\]/s, '');
  const spelled = base
    // Words of many scripts have marks of their own; what nobody can see (selectors of emoji, joiners) is none.
    .replace(/[^[[\p{L}\p{M}\p{N}]--\p{Default_Ignorable_Code_Point}]_.,+\-]+/gv, '_')
    // A mark without its letter.
    .replace(/_?(?<![\p{L}\p{M}\p{N}])\p{M}+_?/gu, '_');
  // Signs alone (and not only the dots of a hidden file) before an extension, which tells what it is and has to stay.
  const { name: stem, ext } = path.parse(spelled);
  const named = /^\.*[_,+-][._,+-]*$/.test(stem) && /^\.[\p{L}\p{N}]/u.test(ext) ? `file${ext}` : spelled;
  const trimmed = named.replace(/^[._,+-]+|(?<![._,+-])[._,+-]+$/g, '');
  return trimmed === '' ? undefined : shortened(trimmed);
}

/** The same name with `-2`, `-3`, … before its extension until nobody has it. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  const { name: stem, ext } = path.parse(name);
  for (let number = 2; ; number += 1) {
    const next = `${cut(stem, LONGEST - ext.length - 1 - String(number).length)}-${number}${ext}`;
    if (!taken.has(next)) return next;
  }
}

/** Lower-case extension with its dot; empty when there is none. */
export function extensionOf(name: string): string {
  return path.extname(name).toLowerCase();
}

function shortened(name: string): string {
  if (Buffer.byteLength(name) <= LONGEST) return name;
  const { name: stem, ext } = path.parse(name);
  // An "extension" as long as a sentence is none.
  if (Buffer.byteLength(ext) > 16) return cut(name, LONGEST);
  return cut(stem, LONGEST - Buffer.byteLength(ext)).replace(/(?<![._,+-])[._,+-]+$/, '') + ext;
}

/** At most so many bytes, without half a character at the end. */
function cut(text: string, bytes: number): string {
  const buffer = Buffer.from(text);
  if (buffer.length <= bytes) return text;
  return buffer
    .subarray(0, bytes)
    .toString('utf8')
    .replace(/\ufffd$/, '');
}
