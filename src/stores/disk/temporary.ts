import { createHash, randomBytes } from 'node:crypto';
import { lstat, readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { fileAge } from '../../core/file-age.ts';
import { isAlive } from '../../core/is-alive.ts';

/** Begins with a dot, which no path of the port does, so nothing in it can be asked for or listed. */
export const TEMPORARY = '.tmp';
/** A foreign process that has our predecessor's number must not protect its files for ever. */
const LEFTOVER_MS = 24 * 3_600_000;
/** Tells this process from an earlier one with the same number, which is the rule in containers. */
const OWN = `${process.pid}-${Math.round(performance.timeOrigin).toString(36)}-`;

/** Machines, or containers, that share a folder know nothing of each other's processes. */
const MACHINE = createHash('sha256').update(hostname()).digest('hex').slice(0, 12);

/** A new name for something that is being written or removed: `<process>-<start of the process>-<random>@<machine>`. */
export function temporaryName(): string {
  return `${OWN}${randomBytes(12).toString('hex')}@${MACHINE}`;
}

/** Removes what processes left behind that are gone. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (await isLeftover(path.join(folder, name), name)) {
      await rm(path.join(folder, name), { recursive: true, force: true });
    }
  }
}

async function isLeftover(file: string, name: string): Promise<boolean> {
  if (name.startsWith(OWN)) return false;
  const [written = '', machine = MACHINE] = name.split('@');
  if (machine === MACHINE && !mayLive(written)) return true;
  try {
    return fileAge((await lstat(file)).mtimeMs) > LEFTOVER_MS;
  } catch {
    // Its process has just finished it.
    return false;
  }
}

/** Whether a name begins with the number of a process of this machine that is there and not ours. */
function mayLive(name: string): boolean {
  const pid = Number(name.split('-', 1)[0]);
  return pid > 0 && pid !== process.pid && isAlive(pid);
}
