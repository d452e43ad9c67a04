import { mkdtempSync, rmdirSync } from 'node:fs';
import { lstat, readdir, rmdir, unlink } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Failure } from '../cli/failure.ts';
import { isAlive } from '../core/is-alive.ts';

/** Bytes that the address of a socket may have everywhere; macOS has room for the fewest. */
const LONGEST_ADDRESS = 103;

/** Names of folders for sockets, with the number of the process that made them, and of the sockets there. */
const FOLDER = /^sluice-(\d+)-\w{6}$/;
const SOCKET = /^[0-9a-f]{4}\.sock$/;

/** Makes a folder for the private sockets that only this user may enter. Throws what says how to mend it. */
export function makeSocketFolder(): string {
  let folder: string;
  try {
    folder = mkdtempSync(path.join(tmpdir(), `sluice-${process.pid}-`));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Failure(
      `no folder for the sockets of the workers in ${tmpdir()} (${code ?? message}); set TMPDIR to another one`,
    );
  }
  if (process.platform === 'win32' || Buffer.byteLength(socketOf(folder, '0000')) <= LONGEST_ADDRESS) return folder;
  rmdirSync(folder);
  throw new Failure(`${tmpdir()} is too long for the sockets of the workers; set TMPDIR to a shorter one`);
}

/** The private socket of a worker. Windows has named pipes instead. */
export function socketOf(folder: string, tag: string): string {
  const name = `${tag}.sock`;
  return process.platform === 'win32' ? `\\\\.\\pipe\\${path.basename(folder)}-${name}` : path.join(folder, name);
}

/** Removes what primaries left behind that were killed together with their workers: folders like `own`, beside it. */
export async function removeDeadFolders(own: string): Promise<void> {
  const place = path.dirname(own);
  for (const name of await readdir(place).catch(() => [])) {
    const folder = path.join(place, name);
    // What somebody else removes meanwhile is gone as well.
    if (folder !== own && mayBeDead(name)) await removeIfDead(folder).catch(() => {});
  }
}

/** In a container a start often has the number of the one before. */
function mayBeDead(name: string): boolean {
  const [, pid] = FOLDER.exec(name) ?? [];
  return pid !== undefined && (Number(pid) === process.pid || !isAlive(Number(pid)));
}

/** Removes nothing but sockets where nobody listens, and a folder of this user that is empty then. */
async function removeIfDead(folder: string): Promise<void> {
  const about = await lstat(folder);
  if (!about.isDirectory() || about.uid !== process.getuid?.()) return;
  const names = await readdir(folder);
  const sockets = names.map((name) => path.join(folder, name));
  // In another container the number of a process means another one, but its sockets answer.
  for (const [at, socket] of sockets.entries()) {
    if (!SOCKET.test(names[at] ?? '') || (await answers(socket))) return;
  }
  for (const socket of sockets) await unlink(socket);
  await rmdir(folder);
}

/** Whether somebody listens there, or it is no socket. */
async function answers(file: string): Promise<boolean> {
  if (!(await lstat(file)).isSocket()) return true;
  return new Promise((resolve) => {
    const connection = createConnection(file, () => {
      connection.destroy();
      resolve(true);
    });
    connection.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'));
  });
}
