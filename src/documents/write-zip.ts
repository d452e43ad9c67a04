import { crc32 } from 'node:zlib';

/** A zip of files that are stored as they are: for a reader that wants one, not for keeping. */
export function writeZip(files: Iterable<readonly [path: string, bytes: Uint8Array]>): Buffer {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const [path, bytes] of files) {
    const name = Buffer.from(path, 'utf8');
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0); // version that can read it: 2.0
    shared.writeUInt16LE(0x0800, 2); // the name is UTF-8
    shared.writeUInt32LE(crc32(bytes), 10);
    shared.writeUInt32LE(bytes.length, 14);
    shared.writeUInt32LE(bytes.length, 18);
    shared.writeUInt16LE(name.length, 22);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(20, 4);
    shared.copy(entry, 6);
    entry.writeUInt32LE(offset, 42);
    directory.push(entry, name);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), shared, name]);
    parts.push(local, bytes);
    offset += local.length + bytes.length;
  }
  const end = Buffer.alloc(22);
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(directory.length / 2, 8);
  end.writeUInt16LE(directory.length / 2, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...directory, end]);
}
