import { constants, type Stats } from 'node:fs';
import { type FileHandle, link, open, rename, rm, rmdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import { SluiceError } from '../../core/errors.ts';
import { makeFolder, syncFolder } from '../../core/folder.ts';
import type { Logger } from '../../core/logger.ts';
import type { ByteRange, FileInfo, Files, OpenFile, WriteOptions } from '../../core/stores.ts';
import { systemCode, systemSentence } from '../../core/system-failures.ts';
import { rangeWithin } from '../byte-range.ts';
import { storageFailed } from '../failure.ts';
import { MOST_SEGMENTS, segmentsOf } from '../file-path.ts';
import { Problem } from '../problem.ts';
import { isAbsence, Places, refuseOtherCase, statOf } from './places.ts';
import { removeLeftovers, TEMPORARY, temporaryName } from './temporary.ts';
import { walk } from './walk.ts';

/** Somebody may delete the folder while we put a file into it. */
const PLACING_TRIES = 10;
const READ_BYTES = 256 * 1024;
/** Written where it is tried out whether there is room again. */
const PROBE_BYTES = 64 * 1024;

/**
 * Files in a folder. One is written under a temporary name in the same file system, brought to the disk, and renamed to
 * its place: there as a whole or not at all, and acknowledged only when its name too is on the disk.
 */
export class DiskFiles implements Files {
  readonly #root: string;
  readonly #temporary: string;
  readonly #places: Places;
  readonly #problem: Problem;
  #ready: Promise<void> | undefined;

  constructor(root: string, log: Logger) {
    this.#root = root;
    this.#temporary = path.join(root, TEMPORARY);
    this.#places = new Places(root);
    this.#problem = new Problem(log);
    this.#guard(() => this.#prepare()).catch(() => {
      // `problem` tells; whoever writes tries again.
    });
  }

  get problem(): string | undefined {
    return this.#problem.sentence;
  }

  async write(
    name: string,
    body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    { onlyNew = false }: WriteOptions = {},
  ): Promise<FileInfo> {
    const segments = segmentsOf(name);
    const info = await this.#guard(async () => {
      await this.#prepare();
      const temporary = path.join(this.#temporary, temporaryName());
      try {
        const stats = await fill(await this.#create(temporary), body);
        await this.#place(temporary, segments, onlyNew ? moveToFree : rename);
        return infoOf(name, stats);
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => {
          // What made the write fail may make this fail; the next start removes it.
        });
        throw error;
      }
    });
    this.#problem.ended();
    return info;
  }

  async stat(name: string): Promise<FileInfo | undefined> {
    const found = await this.#find(name);
    return found?.stats.isFile() ? infoOf(name, found.stats) : undefined;
  }

  async open(name: string, range?: ByteRange): Promise<OpenFile | undefined> {
    const found = await this.#find(name);
    if (!found?.stats.isFile()) return undefined;
    const { file, stats } = found;
    const part = range === undefined ? { start: 0, end: stats.size - 1 } : rangeWithin(range, stats.size);
    return { ...infoOf(name, stats), body: this.#read(file, stats, part) };
  }

  async *list(folder: string): AsyncIterable<FileInfo> {
    const found = await this.#find(folder);
    if (!found?.stats.isDirectory()) return;
    const levels = MOST_SEGMENTS - segmentsOf(folder).length;
    const all = this.#guardEach(walk(found.file, levels));
    for await (const { path: inner, stats } of all) yield infoOf(`${folder}/${inner}`, stats);
  }

  async delete(name: string): Promise<number> {
    const segments = segmentsOf(name);
    const levels = MOST_SEGMENTS - segments.length;
    return await this.#guard(async () => {
      await this.#prepare();
      const found = await this.#find(name);
      if (found === undefined) return 0;
      const { file, stats } = found;
      // A folder goes as a whole: nobody sees half of it, also not after a crash.
      const removed = path.join(this.#temporary, temporaryName());
      try {
        await (stats.isFile() ? unlink(file) : this.#inTemporary(() => rename(file, removed)));
      } catch (error) {
        if (isAbsence(error)) return 0;
        throw error;
      }
      const folder = path.dirname(file);
      // Empty ones would stay for ever, with names that say something; those at the top are few, and needed again.
      if (segments.length > 2) await rmdir(folder).catch(() => {});
      await syncNames(folder);
      if (stats.isFile()) return 1;
      const count = await countOf(walk(removed, levels));
      await rm(removed, { recursive: true, force: true }).catch(() => {
        // It is deleted for everyone; the next start frees the space.
      });
      return count;
    });
  }

  /** Tries to write, where writing failed: whoever waits until all is in order again sends nothing that would. Never throws. */
  async recover(): Promise<void> {
    if (this.#problem.sentence === undefined) return;
    try {
      await this.#guard(async () => {
        await this.#prepare();
        const temporary = path.join(this.#temporary, temporaryName());
        try {
          await fill(await this.#create(temporary), [Buffer.alloc(PROBE_BYTES)]);
        } finally {
          await rm(temporary, { force: true });
        }
      });
      this.#problem.ended();
    } catch {
      // `problem` tells.
    }
  }

  /** Waits until nothing is cleaned up any more. */
  async close(): Promise<void> {
    await this.#ready?.catch(() => {});
  }

  async #find(name: string): ReturnType<Places['find']> {
    const segments = segmentsOf(name);
    return await this.#guard(() => this.#places.find(segments));
  }

  /** Once, and again after it failed or the folder disappeared. */
  #prepare(): Promise<void> {
    this.#ready ??= makeFolder(this.#temporary)
      .then(() => removeLeftovers(this.#temporary))
      .catch((error: unknown) => {
        this.#ready = undefined;
        throw error;
      });
    return this.#ready;
  }

  #create(temporary: string): Promise<FileHandle> {
    return this.#inTemporary(() => open(temporary, 'wx', 0o600));
  }

  /** Puts something into the temporary folder; once more where somebody has removed that while we ran. */
  async #inTemporary<T>(put: () => Promise<T>): Promise<T> {
    try {
      return await put();
    } catch (error) {
      if (!isAbsence(error)) throw error;
      this.#ready = undefined;
      await this.#prepare();
      return await put();
    }
  }

  async #place(temporary: string, segments: readonly string[], move: Move): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        const folder = await this.#places.make(segments.slice(0, -1));
        const file = path.join(folder, segments.at(-1) ?? '');
        await refuseOtherCase(file);
        await move(temporary, file);
        return await syncNames(folder);
      } catch (error) {
        if (systemCode(error) === 'EISDIR') throw new SluiceError('conflict', 'A stored folder has this name.');
        if (systemCode(error) !== 'ENOENT' || tries === PLACING_TRIES) throw error;
      }
    }
  }

  /** Opened by whoever reads, so that an answer that is never read holds nothing open. */
  async *#read(file: string, expected: Stats, { start, end }: ByteRange): AsyncIterable<Uint8Array> {
    if (end < start) return;
    const handle = await this.#guard(() => openToRead(file));
    if (handle === undefined) throw replaced();
    try {
      const { ino, mtimeMs } = await handle.stat();
      if (ino !== expected.ino || mtimeMs !== expected.mtimeMs) throw replaced();
      yield* this.#guardEach(handle.createReadStream({ start, end, highWaterMark: READ_BYTES, autoClose: false }));
    } finally {
      await handle.close();
    }
  }

  /** Does something with the disk, whose failures leave as ours. */
  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** The same for what comes one by one. */
  async *#guardEach<T>(things: AsyncIterable<T>): AsyncIterable<T> {
    try {
      yield* things;
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** What a failure leaves as; one of the disk is remembered until something could be written. */
  #failure(error: unknown): unknown {
    if (error instanceof BodyFailure) return error.cause;
    const sentence = systemSentence(error);
    if (sentence === undefined) return error;
    // Whoever comes next looks again whether everything is in its place.
    this.#ready = undefined;
    this.#problem.began(sentence, `${error} in ${this.#root}`);
    return storageFailed(sentence, error);
  }
}

/** The body could not be read to its end: not the disk's fault. */
class BodyFailure extends Error {}

async function fill(handle: FileHandle, body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Stats> {
  try {
    for await (const piece of piecesOf(body)) await handle.writeFile(piece);
    await handle.sync();
    return await handle.stat();
  } finally {
    await handle.close();
  }
}

async function* piecesOf(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } catch (cause) {
    throw new BodyFailure('the body ended early', { cause });
  }
}

type Move = (temporary: string, file: string) => Promise<void>;

/** What file systems say that know no second name for a file, as those of memory cards; on Windows they say the last. */
const WITHOUT_LINKS: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EISDIR']);

/** Moves a file to where nothing is; of several that try it at once one succeeds. Throws `conflict` where something is there. */
async function moveToFree(temporary: string, file: string): Promise<void> {
  try {
    await link(temporary, file);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST') throw taken();
    if (!WITHOUT_LINKS.has(code)) throw error;
    // The next best: whoever comes in between is replaced.
    if ((await statOf(file)) !== undefined) throw taken();
    return await rename(temporary, file);
  }
  // It is in its place. A second name that stays goes with the next start.
  await unlink(temporary).catch(() => {});
}

function taken(): SluiceError {
  return new SluiceError('conflict', 'A stored file has this name already.');
}

/** Brings the names in a folder to the disk; or, where somebody has deleted it with all of them meanwhile, that it is gone. */
async function syncNames(folder: string): Promise<void> {
  try {
    await syncFolder(folder);
  } catch (error) {
    if (!isAbsence(error)) throw error;
    await syncNames(path.dirname(folder));
  }
}

async function openToRead(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

function replaced(): SluiceError {
  return new SluiceError('conflict', 'The file was replaced or deleted in the meantime.');
}

async function countOf(things: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of things) count += 1;
  return count;
}

function infoOf(name: string, stats: Stats): FileInfo {
  return { path: name, size: stats.size, modified: Math.trunc(stats.mtimeMs) };
}
