import { fork } from 'node:child_process';
import type { FromEngine, ToEngine } from './protocol.ts';

/** The gateway's handle on an engine. */
export interface EngineProcess {
  readonly pid: number | undefined;
  send(message: ToEngine): void;
  /** Ends it at once; `gone` follows. */
  kill(): void;
  /** Whether it keeps the gateway's process from exiting by itself. */
  hold(on: boolean): void;
}

export interface EngineEvents {
  message(message: FromEngine): void;
  /** It ended, by itself or not; called once. `output` is the end of what it wrote to stderr. */
  gone(how: string, output: string): void;
}

/** An engine with nothing but cancelled tasks that ends none of them for so long is stuck, in milliseconds. */
export const STUCK_MS = 30_000;

/** Characters of its stderr that are kept: enough for the message of a failed assertion. */
const OUTPUT_TAIL = 4_000;

/** What native code may need. Everything else stays here: an engine has no use for keys, and its core dumps none either. */
const ENVIRONMENT = ['PATH', 'HOME', 'USERPROFILE', 'SYSTEMROOT', 'TEMP', 'TMP', 'TMPDIR', 'LANG', 'LD_LIBRARY_PATH'];

/** Starts an engine. Node's own flags are not handed on: a test runner's or debugger's make no sense there. */
export function startEngineProcess(events: EngineEvents): EngineProcess {
  const child = fork(new URL('./engine.ts', import.meta.url), [], {
    execPath: process.execPath,
    execArgv: [],
    env: environment(),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let output = '';
  let gone = false;
  const end = (how: string): void => {
    if (gone) return;
    gone = true;
    events.gone(how, output);
  };
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-OUTPUT_TAIL);
  });
  child.on('message', (message) => {
    if (!gone) events.message(message as FromEngine);
  });
  child.on('error', (error) => end(error.message));
  child.on('close', (code, signal) => end(signal === null ? `exit code ${code}` : signal));
  return {
    pid: child.pid,
    // A channel that closed is reported by `close`.
    send: (message) => void child.send(message, () => {}),
    kill: () => void child.kill('SIGKILL'),
    hold(on) {
      const pipe = child.stderr as { ref?(): void; unref?(): void } | null;
      for (const handle of [child, child.channel, pipe]) on ? handle?.ref?.() : handle?.unref?.();
    },
  };
}

function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    ENVIRONMENT.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}
