import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const SLUICE = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url));
const SETTINGS = ['embedded: { enabled: false }', 'detectLocal: false', 'logLevel: error'];
/** Processes of a killed group are gone soon; longer than this means that one left the group. */
const GONE_TRIES = 500;

/** The `sluice` command as users start it, in a process group of its own. */
export interface GatewayProcess {
  /** For example `http://127.0.0.1:41234`. */
  readonly origin: string;
  /** SIGKILL to the whole group; resolves when all of its processes are gone. */
  kill(): Promise<void>;
}

/** Starts it with everything below `folder`: settings, home, temporary files, and the data in `folder/data`. */
export async function startGatewayProcess(folder: string): Promise<GatewayProcess> {
  const temporary = path.join(folder, 'tmp');
  mkdirSync(temporary, { recursive: true });
  writeFileSync(path.join(folder, 'sluice.yaml'), SETTINGS.join('\n'));
  const child = spawn(process.execPath, [SLUICE, '--bind', '127.0.0.1:0'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: temporary, SLUICE_DATA_DIR: path.join(folder, 'data') },
    // Its own group, so that the processes that convert documents are killed together with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('sluice could not be started');
  const forget = endWithUs(pid);
  let output = '';
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const kill = async (): Promise<void> => {
    signal(pid, 'SIGKILL');
    await gone;
    for (let tries = 1; isAlive(pid); tries += 1) {
      if (tries === GONE_TRIES) throw new Error(`processes of the group ${pid} outlive SIGKILL`);
      await sleep(10);
    }
    forget();
  };
  const origin = await new Promise<string | undefined>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        const address = /Page +(http:\/\/\S+)\//.exec(output)?.[1];
        if (address !== undefined) resolve(address);
      });
    }
    void gone.then(() => resolve(undefined));
  });
  if (origin === undefined) {
    forget();
    throw new Error(`sluice ended before it listened: ${output}`);
  }
  return { origin, kill };
}

/** Whether there was anybody in the group. */
function signal(pid: number, name: 'SIGKILL' | 0): boolean {
  try {
    return process.kill(-pid, name);
  } catch {
    return false;
  }
}

/** Whether anybody of a group still runs. Of the dead some are only waiting for init to take note, which may take long. */
function isAlive(group: number): boolean {
  if (!existsSync('/proc/self/stat')) return signal(group, 0);
  return readdirSync('/proc').some((name) => {
    const [state, , itsGroup] = /^\d+$/.test(name) ? statOf(name) : [];
    return Number(itsGroup) === group && state !== 'Z' && state !== 'X';
  });
}

/** State, parent and group of a process (proc_pid_stat(5)); nothing when it is gone. */
function statOf(pid: string): readonly string[] {
  try {
    // The name before them may hold anything, also blanks and brackets.
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ', 3);
  } catch {
    return [];
  }
}

/** A group of its own gets no Ctrl-C of ours, and must not outlive us. Returns what takes that back. */
function endWithUs(pid: number): () => void {
  const end = (): void => void signal(pid, 'SIGKILL');
  const endBoth = (name: NodeJS.Signals): void => {
    end();
    forget();
    process.kill(process.pid, name);
  };
  const forget = (): void => {
    process.off('exit', end).off('SIGINT', endBoth).off('SIGTERM', endBoth);
  };
  process.on('exit', end).on('SIGINT', endBoth).on('SIGTERM', endBoth);
  return forget;
}
