import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Characters that wait for a slow reader; lines beyond them are dropped, and the gateway goes on. */
const LONGEST_QUEUE = 8 * 1024 * 1024;
/** Until a reader without room is tried again, and how often at the end of the process, in milliseconds. */
const AGAIN_MS = 20;
const LAST_TRIES = 50;

/**
 * Lines to a descriptor, for which nobody waits. What it does not take is lost, and nothing else: the terminal may have ended,
 * the disk may be full. (pino's own tries for ever to get rid of them.)
 */
export class LogOutput {
  readonly #given: number;
  #opened: number | undefined;
  #waiting = '';
  /** What is left of the lines that are being written. */
  #rest: Buffer | undefined;
  /** The system is at it. */
  #isUnderWay = false;

  constructor(descriptor: number) {
    this.#given = descriptor;
  }

  get #descriptor(): number {
    this.#opened ??= withoutWaiting(this.#given);
    return this.#opened;
  }

  write(line: string): void {
    if (this.#waiting.length + line.length > LONGEST_QUEUE) return;
    this.#waiting += line;
    if (this.#rest === undefined) this.#next();
  }

  /** Writes at once what waits, as far as that is possible: before the process ends. */
  flush(): void {
    const rest = this.#isUnderWay || this.#rest === undefined ? [] : [this.#rest];
    const bytes = Buffer.concat([...rest, Buffer.from(this.#waiting)]);
    this.#waiting = '';
    this.#rest = this.#isUnderWay ? this.#rest : undefined;
    let tries = 0;
    for (let at = 0; at < bytes.length && tries < LAST_TRIES; ) {
      try {
        at += writeSync(this.#descriptor, bytes, at);
      } catch (error) {
        if (!isBusy(error)) return;
        tries += 1;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, AGAIN_MS);
      }
    }
  }

  #next(): void {
    this.#rest = this.#waiting === '' ? undefined : Buffer.from(this.#waiting);
    this.#waiting = '';
    this.#send();
  }

  #send(): void {
    if (this.#rest === undefined) return;
    this.#isUnderWay = true;
    write(this.#descriptor, this.#rest, (error, written, bytes) => {
      this.#isUnderWay = false;
      if (isBusy(error)) {
        setTimeout(() => this.#send(), AGAIN_MS).unref();
        return;
      }
      this.#rest = bytes.subarray(written);
      if (error !== null || this.#rest.length === 0) this.#next();
      else this.#send();
    });
  }
}

/** Where lines of the log go. */
export type ServingOutput = Pick<LogOutput, 'write'>;

/** stdout of a process that serves: no terminal that stands still may hold it up. (Elsewhere Node's own knows how a console writes.) */
export function servingOutput(): ServingOutput {
  return process.platform === 'linux' ? new LogOutput(1) : process.stdout;
}

/**
 * A pipe or a terminal, opened once more: whoever shares ours decides whether writing waits for its reader, and each start of a child
 * sets that it does. Where nothing is read any more (Ctrl-S, a connection that is gone), the thread that writes would then never come
 * back, and the process never end.
 */
function withoutWaiting(descriptor: number): number {
  try {
    if (process.platform !== 'linux' || !(isatty(descriptor) || fstatSync(descriptor).isFIFO())) return descriptor;
    return openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    // It has no reader, or is not ours to open.
    return descriptor;
  }
}

function isBusy(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'EAGAIN';
}
