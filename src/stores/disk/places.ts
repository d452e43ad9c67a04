import type { Stats } from 'node:fs';
import { lstat, mkdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { SluiceError } from '../../core/errors.ts';
import { syncFolder } from '../../core/folder.ts';
import { systemCode } from '../../core/system-failures.ts';
import { storageFailed } from '../failure.ts';

/** The usual file systems there take `Cat` and `cat` for one name, but two ids never share a file. */
const IGNORES_CASE = process.platform === 'darwin' || process.platform === 'win32';

/** Finds and makes places below one folder, without ever following a symbolic link. */
export class Places {
  readonly #root: string;
  /** Folders that are being made: whoever needs one waits until it is on the disk. */
  readonly #making = new Map<string, Promise<void>>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Where the segments lead and what is there; undefined: nothing, or something that is not ours. */
  async find(segments: readonly string[]): Promise<{ readonly file: string; readonly stats: Stats } | undefined> {
    let file = this.#root;
    let stats: Stats | undefined;
    for (const segment of segments) {
      if (stats !== undefined && !stats.isDirectory()) return undefined;
      file = path.join(file, segment);
      stats = await statOf(file);
      if (stats === undefined || !(await isExact(file))) return undefined;
    }
    return stats?.isFile() || stats?.isDirectory() ? { file, stats } : undefined;
  }

  /** Makes the folders of these names, one in the other, and returns the last. */
  async make(segments: readonly string[]): Promise<string> {
    let folder = this.#root;
    for (const segment of segments) {
      folder = path.join(folder, segment);
      const making = this.#making.get(folder) ?? this.#makeOne(folder);
      this.#making.set(folder, making);
      try {
        await making;
      } finally {
        this.#making.delete(folder);
      }
    }
    return folder;
  }

  async #makeOne(folder: string): Promise<void> {
    const stats = await statOf(folder);
    if (stats?.isSymbolicLink()) throw storageFailed('The data folder holds a symbolic link.');
    if (stats !== undefined) {
      if (!stats.isDirectory()) throw new SluiceError('conflict', 'A stored file has the name of this folder.');
      await refuseOtherCase(folder);
      return;
    }
    try {
      await mkdir(folder, { mode: 0o700 });
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
    }
    await syncFolder(path.dirname(folder));
  }
}

/** What is there itself, not what a link points to. */
export async function statOf(file: string): Promise<Stats | undefined> {
  try {
    return await lstat(file);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** Nothing is there: no such file (ENOENT), or a file stands where the path needs a folder (ENOTDIR). */
export function isAbsence(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Throws when the name is taken by one that differs in case only, on a file system that takes them for one. */
export async function refuseOtherCase(file: string): Promise<void> {
  if (!(await isExact(file))) {
    throw new SluiceError('conflict', 'A stored file has this name already, in other letters.');
  }
}

async function isExact(file: string): Promise<boolean> {
  if (!IGNORES_CASE) return true;
  try {
    return path.basename(await realpath(file)) === path.basename(file);
  } catch (error) {
    // Nothing is there, so nothing is there under another name.
    if (isAbsence(error)) return true;
    throw error;
  }
}
