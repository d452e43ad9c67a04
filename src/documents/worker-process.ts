import { fork } from 'node:child_process';
import type { FromWorker, Job } from './protocol.ts';

/** The gateway's handle on a worker. */
export interface WorkerProcess {
  send(job: Job): void;
  /** Ends it at once; `gone` follows. */
  kill(): void;
  readonly gone: Promise<void>;
  /** Whether it keeps the gateway's process from exiting by itself. */
  hold(on: boolean): void;
}

export interface WorkerEvents {
  message(message: FromWorker): void;
  /** It ended, by itself or not; called once. `output` is the end of what it wrote to stderr. */
  gone(how: string, output: string): void;
}

/** Characters of its stderr that are kept. */
const OUTPUT_TAIL = 4_000;

/** What native code may need. Keys and settings stay here. */
const ENVIRONMENT = ['PATH', 'HOME', 'USERPROFILE', 'SYSTEMROOT', 'TEMP', 'TMP', 'TMPDIR', 'LANG', 'LD_LIBRARY_PATH'];

/**
 * A worker reads code and computes; whoever takes it over from inside a document can write no file, start no program and
 * reach no network. (Node 24 does not know the last of these and leaves the network open.)
 */
export const WORKER_FLAGS: readonly string[] = [
  '--permission',
  '--allow-fs-read=*',
  '--allow-addons',
  '--allow-worker',
  // Warns that add-ons can do more than the permissions say.
  '--disable-warning=SecurityWarning',
];

/** Starts a worker. Node's own flags are not handed on: a test runner's or debugger's make no sense there. */
export function startWorker(events: WorkerEvents): WorkerProcess {
  const child = fork(new URL('./worker.ts', import.meta.url), [], {
    execPath: process.execPath,
    execArgv: [...WORKER_FLAGS],
    env: Object.fromEntries(ENVIRONMENT.map((name) => [name, process.env[name]])),
    // Copies bytes as bytes; the usual one would write them as JSON.
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let output = '';
  let isGone = false;
  const gone = Promise.withResolvers<void>();
  const end = (how: string): void => {
    if (isGone) return;
    isGone = true;
    events.gone(how, output);
    gone.resolve();
  };
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-OUTPUT_TAIL);
  });
  child.on('message', (message) => {
    if (!isGone) events.message(message as FromWorker);
  });
  child.on('error', (error) => end(error.message));
  child.on('close', (code, signal) => end(signal === null ? `exit code ${code}` : signal));
  return {
    // A channel that closed is reported by `close`; a process that could not be started has none, which `error` reports.
    send: (job) => void child.send?.(job, () => {}),
    kill: () => void child.kill('SIGKILL'),
    gone: gone.promise,
    hold(on) {
      const pipe = child.stderr as { ref?(): void; unref?(): void } | null;
      for (const handle of [child, child.channel, pipe]) on ? handle?.ref?.() : handle?.unref?.();
    },
  };
}
