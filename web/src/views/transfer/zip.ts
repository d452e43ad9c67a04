/** ZIP archives, as much of them as exports need: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT */

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const UTF8_NAMES = 0x0800;
/** Bytes of a member that are unpacked at most: no export of chats is longer, and a bomb is. */
const LONGEST = 1_000_000_000;

interface ZipMember {
  readonly name: string;
  readonly text: string;
}

/** An archive of texts, without compression. `time` goes to all members. */
export function zip(members: readonly ZipMember[], time: Date): Blob {
  const encoder = new TextEncoder();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let offset = 0;
  for (const { name, text } of members) {
    const nameBytes = encoder.encode(name);
    const content = encoder.encode(text);
    const common = new DataView(new ArrayBuffer(26));
    common.setUint16(0, 20, true);
    common.setUint16(2, UTF8_NAMES, true);
    common.setUint32(6, dosTime(time), true);
    common.setUint32(10, crc32(content), true);
    common.setUint32(14, content.length, true);
    common.setUint32(18, content.length, true);
    common.setUint16(22, nameBytes.length, true);
    const header = joinBytes([uint32(LOCAL), bytesOf(common), nameBytes]);
    const placed = new DataView(new ArrayBuffer(14));
    placed.setUint32(10, offset, true);
    const made = new Uint8Array([20, 0]);
    directory.push(joinBytes([uint32(CENTRAL), made, bytesOf(common), bytesOf(placed), nameBytes]));
    pieces.push(header, content);
    offset += header.length + content.length;
  }
  const list = joinBytes(directory);
  const end = new DataView(new ArrayBuffer(18));
  end.setUint16(4, members.length, true);
  end.setUint16(6, members.length, true);
  end.setUint32(8, list.length, true);
  end.setUint32(12, offset, true);
  return new Blob([...pieces, list, uint32(END), bytesOf(end)], { type: 'application/zip' });
}

/** A member as it was found; without its text where that is damaged, protected, too long or packed in an unknown way. */
export type FoundMember = Pick<ZipMember, 'name'> & Partial<ZipMember>;

/** The members of an archive whose names `wanted` likes, as texts. Throws for what is no archive, or has no readable list of them. */
export async function unzip(file: Blob, wanted: (name: string) => boolean): Promise<readonly FoundMember[]> {
  const members: FoundMember[] = [];
  for (const entry of await readDirectory(file)) {
    const { name } = entry;
    if (!wanted(name)) continue;
    try {
      members.push({ name, text: await textOf(file, entry) });
    } catch {
      members.push({ name });
    }
  }
  return members;
}

async function textOf(file: Blob, { name, isProtected, method, packed, size, crc, at }: Entry): Promise<string> {
  if (isProtected) throw new Error(`${name} is protected by a password.`);
  if (size > LONGEST) throw new Error(`${name} is too long.`);
  const local = view(await file.slice(at, at + 30).arrayBuffer());
  const start = at + 30 + local.getUint16(26, true) + local.getUint16(28, true);
  const content = file.slice(start, start + packed);
  if (method === 0) return checked(content.stream(), name, crc);
  if (method === 8) return checked(content.stream().pipeThrough(new DecompressionStream('deflate-raw')), name, crc);
  throw new Error(`${name} is packed in a way that is not known here.`);
}

interface Entry {
  readonly name: string;
  readonly isProtected: boolean;
  readonly method: number;
  readonly packed: number;
  readonly size: number;
  readonly crc: number;
  readonly at: number;
}

async function readDirectory(file: Blob): Promise<readonly Entry[]> {
  // The end of the directory is the end of the file, but for a comment of at most 64 kB.
  const tail = view(await file.slice(Math.max(0, file.size - 65_557)).arrayBuffer());
  let end = tail.byteLength - 22;
  while (end >= 0 && tail.getUint32(end, true) !== END) end -= 1;
  if (end < 0) throw new Error('This is no ZIP archive.');
  const count = tail.getUint16(end + 10, true);
  const length = tail.getUint32(end + 12, true);
  const start = tail.getUint32(end + 16, true);
  const list = view(await file.slice(start, start + length).arrayBuffer());
  const entries: Entry[] = [];
  let at = 0;
  for (let index = 0; index < count && at + 46 <= list.byteLength; index += 1) {
    if (list.getUint32(at, true) !== CENTRAL) throw new Error('The ZIP archive is damaged.');
    const nameLength = list.getUint16(at + 28, true);
    const name = new TextDecoder().decode(new Uint8Array(list.buffer, at + 46, nameLength));
    entries.push({
      name,
      isProtected: (list.getUint16(at + 8, true) & 1) === 1,
      method: list.getUint16(at + 10, true),
      packed: list.getUint32(at + 20, true),
      size: list.getUint32(at + 24, true),
      crc: list.getUint32(at + 16, true),
      at: list.getUint32(at + 42, true),
    });
    at += 46 + nameLength + list.getUint16(at + 30, true) + list.getUint16(at + 32, true);
  }
  return entries;
}

/** The text of a member, if it is the one that the archive was made of. */
async function checked(content: ReadableStream<Uint8Array>, name: string, crc: number): Promise<string> {
  const reader = content.getReader();
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  let length = 0;
  let sum = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    // What the directory says of its size may be a lie.
    if (length > LONGEST) throw new Error(`${name} is too long.`);
    sum = crc32(value, sum);
    pieces.push(decoder.decode(value, { stream: true }));
  }
  if (sum !== crc) throw new Error(`${name} is damaged.`);
  return pieces.join('') + decoder.decode();
}

function view(buffer: ArrayBuffer): DataView<ArrayBuffer> {
  return new DataView(buffer);
}

function bytesOf(data: DataView<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return new Uint8Array(data.buffer);
}

function uint32(value: number): Uint8Array<ArrayBuffer> {
  const data = new DataView(new ArrayBuffer(4));
  data.setUint32(0, value, true);
  return bytesOf(data);
}

function joinBytes(pieces: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** Date and time of MS-DOS: the date in the upper half, steps of two seconds. */
function dosTime(time: Date): number {
  const date = ((time.getFullYear() - 1980) << 9) | ((time.getMonth() + 1) << 5) | time.getDate();
  const clock = (time.getHours() << 11) | (time.getMinutes() << 5) | (time.getSeconds() >> 1);
  return ((date << 16) | clock) >>> 0;
}

let table: Uint32Array | undefined;

/** Of `bytes`, or of what has the sum `before` and them. */
function crc32(bytes: Uint8Array, before = 0): number {
  table ??= Uint32Array.from({ length: 256 }, (_, index) => {
    let value = index;
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    return value;
  });
  let crc = ~before;
  for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
}
