import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';

const OWNER_ONLY = 0o700;
/** Windows opens no folders, and its file system journals names by itself. */
const CAN_SYNC = process.platform !== 'win32';

/** Makes a folder with what is missing above it, for its owner only, so that it is still there after a power loss. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: OWNER_ONLY });
  for (const parent of parentsOf(folder, first)) await syncFolder(parent);
}

/** The same for a thread that may block. */
export function makeFolderNow(folder: string): void {
  const first = mkdirSync(folder, { recursive: true, mode: OWNER_ONLY });
  if (!CAN_SYNC) return;
  for (const parent of parentsOf(folder, first)) {
    const handle = openSync(parent, 'r');
    try {
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
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

/** The folders that got a new entry when everything from `first` down to `folder` was made. */
function parentsOf(folder: string, first: string | undefined): readonly string[] {
  const parents: string[] = [];
  if (first === undefined) return parents;
  for (let made = path.resolve(folder); made.length >= first.length; made = path.dirname(made)) {
    parents.push(path.dirname(made));
  }
  return parents;
}
