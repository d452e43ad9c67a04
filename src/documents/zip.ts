import { crc32, inflateRawSync } from 'node:zlib';
import { type Budget, inWords, OverLimit, Refusal } from './conversion.ts';
import { decodeUtf8 } from './text.ts';

/** A file inside a zip. Its path is what the archive says: anything at all. */
export interface ZipEntry {
  readonly path: string;
  /** Unpacked, as declared; unpacking holds it to that. */
  readonly size: number;
}

/** An archive whose directory was read, and nothing else of it yet. */
export interface Zip {
  /** In the order of the archive's directory, folders left out. */
  readonly entries: readonly ZipEntry[];
  /** The bytes of one entry. Throws a `Refusal` when they are not what the directory declares. */
  read(entry: ZipEntry): Uint8Array;
}

interface Located extends ZipEntry {
  readonly method: number;
  readonly packed: number;
  readonly checksum: number;
  readonly offset: number;
}

// Signatures and field offsets: PKWARE APPNOTE 6.3.10, sections 4.3.7 (local), 4.3.12 (directory), 4.3.14 to 4.3.16 (end).
const LOCAL = 0x04034b50;
const DIRECTORY = 0x02014b50;
const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const LONGEST_COMMENT = 0xffff;
const IN_EXTRA_16 = 0xffff;
const IN_EXTRA_32 = 0xffffffff;

/** Below this size nothing is a bomb, however well it is packed. */
const HARMLESS_BYTES = 1024 * 1024;

/**
 * Reads the directory of a zip and holds it against the limits before anything is unpacked. Whatever is declared is taken
 * off the budget at once, so that zips inside zips share it. Throws a `Refusal`.
 */
export function openZip(bytes: Uint8Array, budget: Budget): Zip {
  const zip = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const entries = [...readDirectory(zip, budget.limits.entries)];
    spend(entries, zip.length, budget);
    return {
      entries: entries.filter((entry) => !entry.path.endsWith('/')),
      read: (entry) => unpack(zip, entry as Located),
    };
  } catch (error) {
    // A field that points outside the file.
    throw error instanceof RangeError ? damaged() : error;
  }
}

function* readDirectory(zip: Buffer, limit: number): Generator<Located> {
  const { count, start } = findDirectory(zip);
  if (count > limit) throw new OverLimit(`holds ${count} files; at most ${limit} are unpacked`);
  let at = start;
  for (let index = 0; index < count; index += 1) {
    if (zip.readUInt32LE(at) !== DIRECTORY) throw damaged();
    const flags = zip.readUInt16LE(at + 8);
    if ((flags & 1) !== 0) throw new Refusal('is protected by a password');
    const nameEnd = at + 46 + zip.readUInt16LE(at + 28);
    const extraEnd = nameEnd + zip.readUInt16LE(at + 30);
    if (extraEnd > zip.length) throw damaged();
    const [size, packed, offset] = wide(
      [zip.readUInt32LE(at + 24), zip.readUInt32LE(at + 20), zip.readUInt32LE(at + 42)],
      zip.subarray(nameEnd, extraEnd),
    );
    yield {
      path: decodeName(zip.subarray(at + 46, nameEnd)),
      method: zip.readUInt16LE(at + 10),
      checksum: zip.readUInt32LE(at + 16),
      size,
      packed,
      offset,
    };
    at = extraEnd + zip.readUInt16LE(at + 32);
  }
}

function findDirectory(zip: Buffer): { count: number; start: number } {
  const first = Math.max(0, zip.length - LONGEST_COMMENT - 22);
  for (let at = zip.length - 22; at >= first; at -= 1) {
    if (zip.readUInt32LE(at) !== END) continue;
    const count = zip.readUInt16LE(at + 10);
    const start = zip.readUInt32LE(at + 16);
    const isWide = at >= 20 && zip.readUInt32LE(at - 20) === LOCATOR_64;
    if (!isWide || (count !== IN_EXTRA_16 && start !== IN_EXTRA_32)) return { count, start };
    const end = Number(zip.readBigUInt64LE(at - 12));
    if (zip.readUInt32LE(end) !== END_64) throw damaged();
    return { count: Number(zip.readBigUInt64LE(end + 32)), start: Number(zip.readBigUInt64LE(end + 48)) };
  }
  throw new Refusal('is damaged: it ends in the middle');
}

/** Replaces values that did not fit by those of the ZIP64 extra field (4.5.3), where they stand in this order. */
function wide(values: [number, number, number], extra: Buffer): [number, number, number] {
  let at = 0;
  while (at + 4 <= extra.length && extra.readUInt16LE(at) !== 1) at += 4 + extra.readUInt16LE(at + 2);
  let next = at + 4;
  return values.map((value) => {
    if (value !== IN_EXTRA_32) return value;
    next += 8;
    return Number(extra.readBigUInt64LE(next - 8));
  }) as [number, number, number];
}

/** UTF-8 whatever the flag says, since many write it without the flag; else one character a byte. */
function decodeName(bytes: Buffer): string {
  return decodeUtf8(bytes) ?? bytes.toString('latin1');
}

function spend(entries: readonly Located[], bytes: number, budget: Budget): void {
  let packed = 0;
  let unpacked = 0;
  for (const entry of entries) {
    packed += entry.packed;
    unpacked += entry.size;
  }
  if (unpacked > budget.unpackedBytes) {
    throw new OverLimit(`unpacks to more than ${inWords(budget.limits.unpackedBytes)}`);
  }
  if (unpacked > HARMLESS_BYTES && unpacked > bytes * budget.limits.ratio) {
    throw new OverLimit(`unpacks to more than ${budget.limits.ratio} times its size`);
  }
  // Several entries over the same bytes: a bomb that each entry by itself does not show.
  if (packed > bytes) throw damaged();
  budget.unpackedBytes -= unpacked;
}

function unpack(zip: Buffer, entry: Located): Uint8Array {
  try {
    if (zip.readUInt32LE(entry.offset) !== LOCAL) throw damaged();
    const start = entry.offset + 30 + zip.readUInt16LE(entry.offset + 26) + zip.readUInt16LE(entry.offset + 28);
    const data = zip.subarray(start, start + entry.packed);
    const bytes = decompress(data, entry);
    if (bytes.length !== entry.size || crc32(bytes) !== entry.checksum) throw damaged();
    return bytes;
  } catch (error) {
    if (error instanceof Refusal) throw error;
    // A field outside the file, data that are no deflate stream, or more of them than declared.
    throw damaged();
  }
}

function decompress(data: Buffer, entry: Located): Uint8Array {
  if (entry.method === 0) return data;
  if (entry.method !== 8) throw new Refusal('is packed by a method that is not supported');
  return inflateRawSync(data, { maxOutputLength: Math.max(1, entry.size) });
}

function damaged(): Refusal {
  return new Refusal('is damaged');
}
