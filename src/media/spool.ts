import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SluiceError } from '../core/errors.ts';
import { HEAD_BYTES } from './kind.ts';

/** Beyond this, bytes wait on disk: a few large videos at once must not fill the memory. */
const IN_MEMORY = 4 * 1024 * 1024;
const PIECE = 256 * 1024;

/** Bytes that are all there, though nobody knows yet what becomes of them. Their own name depends on their hash. */
export interface Spooled {
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  readonly head: Buffer;
  /** All of them, as often as wanted. */
  pieces(): AsyncIterable<Uint8Array>;
  discard(): Promise<void>;
}

/** Takes in all of a body, beyond 4 MB on disk. Where the body throws, nothing is left; else the result is to be discarded. */
export async function spool(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Spooled> {
  const hash = createHash('sha256');
  const held: Uint8Array[] = [];
  let head = Buffer.alloc(0);
  let size = 0;
  let file: Overflow | undefined;
  try {
    for await (const piece of body) {
      hash.update(piece);
      if (head.length < HEAD_BYTES) head = Buffer.concat([head, piece.subarray(0, HEAD_BYTES - head.length)]);
      size += piece.length;
      if (file === undefined && size <= IN_MEMORY) held.push(piece);
      else {
        file ??= await openOverflow();
        for (const each of [...held.splice(0), piece]) await file.append(each);
      }
    }
  } catch (error) {
    await file?.discard();
    throw error;
  }
  return {
    size,
    sha256: hash.digest('hex'),
    head,
    pieces: () => (file === undefined ? inMemory(held) : onDisk(file.handle)),
    discard: async () => file?.discard(),
  };
}

interface Overflow {
  readonly handle: FileHandle;
  append(bytes: Uint8Array): Promise<void>;
  discard(): Promise<void>;
}

async function openOverflow(): Promise<Overflow> {
  const name = path.join(tmpdir(), `sluice-${randomUUID()}`);
  try {
    const handle = await open(name, 'wx+', 0o600);
    // Where the system allows it, the file has no name from now on, and is gone with the process whatever happens.
    await rm(name, { force: true }).catch(() => {});
    return {
      handle,
      async append(bytes) {
        await handle.appendFile(bytes).catch(fail);
      },
      async discard() {
        await handle.close().catch(() => {});
        await rm(name, { force: true }).catch(() => {});
      },
    };
  } catch (error) {
    return fail(error);
  }
}

function fail(cause: unknown): never {
  throw new SluiceError('storage_failed', 'There is no place for temporary files.', { cause });
}

async function* inMemory(pieces: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* pieces;
}

async function* onDisk(handle: FileHandle): AsyncIterable<Uint8Array> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await handle.read({ buffer: Buffer.alloc(PIECE), position });
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
