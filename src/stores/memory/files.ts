import type { ByteRange, FileInfo, Files, OpenFile } from '../../core/stores.ts';
import { rangeWithin } from '../byte-range.ts';
import { segmentsOf } from '../file-path.ts';

interface Stored {
  readonly bytes: Buffer;
  readonly modified: number;
}

/** Files in this process's memory. */
export class MemoryFiles implements Files {
  readonly #files = new Map<string, Stored>();

  async write(path: string, body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<FileInfo> {
    segmentsOf(path);
    const pieces: Uint8Array[] = [];
    for await (const piece of body) pieces.push(Buffer.from(piece));
    const stored = { bytes: Buffer.concat(pieces), modified: Date.now() };
    this.#files.set(path, stored);
    return infoOf(path, stored);
  }

  async stat(path: string): Promise<FileInfo | undefined> {
    segmentsOf(path);
    const stored = this.#files.get(path);
    return stored === undefined ? undefined : infoOf(path, stored);
  }

  async open(path: string, range?: ByteRange): Promise<OpenFile | undefined> {
    segmentsOf(path);
    const stored = this.#files.get(path);
    if (stored === undefined) return undefined;
    const { start, end } =
      range === undefined ? { start: 0, end: stored.bytes.length - 1 } : rangeWithin(range, stored.bytes.length);
    return { ...infoOf(path, stored), body: pieceOf(stored.bytes.subarray(start, end + 1)) };
  }

  async *list(folder: string): AsyncIterable<FileInfo> {
    segmentsOf(folder);
    for (const [path, stored] of [...this.#files]) if (path.startsWith(`${folder}/`)) yield infoOf(path, stored);
  }

  async delete(path: string): Promise<number> {
    segmentsOf(path);
    const paths = [...this.#files.keys()].filter((each) => each === path || each.startsWith(`${path}/`));
    for (const each of paths) this.#files.delete(each);
    return paths.length;
  }
}

async function* pieceOf(bytes: Buffer): AsyncIterable<Uint8Array> {
  if (bytes.length > 0) yield Buffer.from(bytes);
}

function infoOf(path: string, { bytes, modified }: Stored): FileInfo {
  return { path, size: bytes.length, modified };
}
