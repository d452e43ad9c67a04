import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

export const SLUICE = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url));

/** How a process ended, and all that it said. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** The working directory; also where its data goes. */
  readonly folder: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Default: `bin/sluice.js` of this repository. */
  readonly command?: string;
  /** Where what it says there leads, which is then not heard here. */
  readonly stdout?: number | Socket;
  readonly stderr?: number | Socket;
}

export interface Running {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Waits until stdout or stderr holds what is looked for, and returns the match. Rejects when the process ends first. */
  said(pattern: RegExp): Promise<RegExpExecArray>;
}

/**
 * Starts the `sluice` command with nothing in its environment but what is given, and where others have left compiled code. Killed
 * after the test.
 */
export function startSluice(
  context: { after(done: () => void): void },
  words: readonly string[],
  { folder, environment = {}, command = SLUICE, stdout, stderr }: RunOptions,
): Running {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, HOME: folder, SLUICE_DATA_DIR: folder, ...environment };
  const child = spawn(process.execPath, [command, ...words], {
    cwd: folder,
    env,
    stdio: ['ignore', stdout ?? 'pipe', stderr ?? 'pipe'],
  });
  context.after(() => child.kill('SIGKILL'));
  const output = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      for (const listener of listeners) listener();
    });
  }
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, ...output }));
  });
  function said(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(output.stdout) ?? pattern.exec(output.stderr);
        if (match === null) return;
        listeners.delete(look);
        resolve(match);
      };
      listeners.add(look);
      look();
      void ended.then(({ code, stdout, stderr }) => {
        reject(new Error(`sluice ended with ${code} before it said ${pattern}: ${stdout}${stderr}`));
      });
    });
  }
  return { process: child, ended, said };
}

/** Runs the `sluice` command to its end. */
export async function runSluice(
  context: { after(done: () => void): void },
  words: readonly string[],
  options: RunOptions,
): Promise<Ended> {
  return await startSluice(context, words, options).ended;
}
