import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import path from 'node:path';

const OWNER_ONLY = 0o700;
/** Others make and remove folders meanwhile. */
const MOST_TRIES = 4;
/** Windows opens no folders, and its file system journals names by itself. */
const CAN_SYNC = process.platform !== 'win32';

/**
 * Makes a folder with what is missing above it, for its owner only, so that it is still there after a power loss. One by one: Node's
 * own way never returns where the system says of a folder in one that is there that it is missing, as it does below `/proc`.
 */
export async function makeFolder(folder: string, tries = MOST_TRIES): Promise<void> {
  try {
    await mkdir(folder, OWNER_ONLY);
  } catch (error) {
    if (await isFolder(folder)) return;
    const parent = path.dirname(folder);
    if (!isMissing(error) || parent === folder || tries === 1) throw error;
    await makeFolder(parent);
    return await makeFolder(folder, tries - 1);
  }
  await syncFolder(path.dirname(folder));
}

/** The same for a thread that may block. */
export function makeFolderNow(folder: string, tries = MOST_TRIES): void {
  try {
    mkdirSync(folder, OWNER_ONLY);
  } catch (error) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
    const parent = path.dirname(folder);
    if (!isMissing(error) || parent === folder || tries === 1) throw error;
    makeFolderNow(parent);
    makeFolderNow(folder, tries - 1);
    return;
  }
  if (!CAN_SYNC) return;
  const handle = openSync(path.dirname(folder), 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Brings a folder's entries to the disk: a new or renamed file is only as durable as its name. */
export async function syncFolder(folder: string): Promise<void> {
  if (!CAN_SYNC) return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function isFolder(name: string): Promise<boolean> {
  return await stat(name).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** There is nothing to make it in, or there was not a moment ago. */
function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
