import { type FSWatcher, realpathSync, watch } from 'node:fs';
import path from 'node:path';
import type { Logger } from '../core/logger.ts';

/** Quiet time after the last event before it is told: editors write in several steps. */
const QUIET_MS = 100;
/** A folder in which something happens all the time must not put it off for ever. */
const LONGEST_QUIET_MS = 1_000;

interface FileEvents {
  /** Counts as an event. */
  nudge(): void;
  /** To be called when the file may have become a link that leads elsewhere. */
  follow(): void;
  close(): void;
}

/** Tells `onQuiet` when a file may have changed, and it is quiet again. Never throws, also where files cannot be watched. */
export function fileEvents(file: string, onQuiet: () => void, log: Logger): FileEvents {
  let quiet: NodeJS.Timeout | undefined;
  let firstEvent = 0;

  function nudge(): void {
    const now = performance.now();
    if (quiet === undefined) firstEvent = now;
    else clearTimeout(quiet);
    const wait = Math.max(0, Math.min(QUIET_MS, firstEvent + LONGEST_QUIET_MS - now));
    quiet = setTimeout(() => {
      quiet = undefined;
      onQuiet();
    }, wait);
    quiet.unref();
  }

  /** Where the file is a link, what it leads to is changed in another folder. */
  function follow(): void {
    const folder = realFolder(file);
    if (folder === target.folder) return;
    target.watcher?.close();
    target = { folder, watcher: folder === undefined || folder === own ? undefined : open(folder, nudge, log) };
  }

  // The folder and not the file: editors put a new file in its place, and a mounted one is a link that moves elsewhere.
  const own = path.dirname(file);
  const watcher = open(own, nudge, log);
  let target: { readonly folder?: string | undefined; readonly watcher?: FSWatcher | undefined } = {};
  follow();
  return {
    nudge,
    follow,
    close() {
      clearTimeout(quiet);
      watcher?.close();
      target.watcher?.close();
    },
  };
}

function realFolder(file: string): string | undefined {
  try {
    return path.dirname(realpathSync(file));
  } catch {
    return undefined;
  }
}

function open(folder: string, onEvent: () => void, log: Logger): FSWatcher | undefined {
  const failed = (error: unknown) =>
    log.warn({ folder, err: error }, 'changes of the configuration file are not noticed');
  try {
    const watcher = watch(folder, { persistent: false }, onEvent);
    watcher.on('error', failed);
    return watcher;
  } catch (error) {
    failed(error);
    return undefined;
  }
}
