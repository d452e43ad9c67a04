import { type ForkOptions, fork } from 'node:child_process';

/** A child process that takes messages of one kind. */
export interface Child<To> {
  readonly pid: number | undefined;
  send(message: To): void;
  /** Ends it at once; `gone` follows. */
  kill(): void;
  readonly gone: Promise<void>;
  /** Whether it keeps the gateway's process from exiting by itself. */
  hold(on: boolean): void;
}

/** Told of what a child says, and of its end. */
export interface ChildEvents<From> {
  message(message: From): void;
  /** It ended, by itself or not; called once. `output` is the end of what it wrote to stderr. */
  gone(how: string, output: string): void;
}

/** Characters of its stderr that are kept: enough for the message of a failed assertion. */
const OUTPUT_TAIL = 4_000;

/** What native code may need. Keys and settings stay here: a child has no use for them, and its core dumps none either. */
const ENVIRONMENT = ['PATH', 'HOME', 'USERPROFILE', 'SYSTEMROOT', 'TEMP', 'TMP', 'TMPDIR', 'LANG', 'LD_LIBRARY_PATH'];

/** Starts a child. Node's own flags are not handed on: a test runner's or debugger's make no sense there. */
export function startChild<From, To extends object>(
  file: URL,
  events: ChildEvents<From>,
  options: Pick<ForkOptions, 'execArgv' | 'serialization'> = {},
): Child<To> {
  const child = fork(file, [], {
    execArgv: [],
    ...options,
    execPath: process.execPath,
    env: Object.fromEntries(ENVIRONMENT.map((name) => [name, process.env[name]])),
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
    if (!isGone) events.message(message as From);
  });
  child.on('error', (error) => end(error.message));
  child.on('close', (code, signal) => end(signal === null ? `exit code ${code}` : signal));
  return {
    pid: child.pid,
    // A channel that closed is reported by `close`; a process that could not be started has none, which `error` reports.
    send: (message) => void child.send?.(message, () => {}),
    kill: () => void child.kill('SIGKILL'),
    gone: gone.promise,
    hold(on) {
      const pipe = child.stderr as { ref?(): void; unref?(): void } | null;
      for (const handle of [child, child.channel, pipe]) on ? handle?.ref?.() : handle?.unref?.();
    },
  };
}
