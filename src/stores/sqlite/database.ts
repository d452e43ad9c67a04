import { Worker } from 'node:worker_threads';
import type { Logger } from '../../core/logger.ts';
import { threadEnvironment } from '../../core/threads.ts';
import { errorOf, storageFailed } from '../failure.ts';
import { Problem } from '../problem.ts';
import type { DatabaseHandle, Result } from '../sql/handle.ts';
import type { Statement } from '../sql/sql.ts';
import type { Answer, FromWorker, Request, ToWorker } from './protocol.ts';

/** Longer than waiting for another program's lock and a slow disk take; then the request fails, whatever became of it. */
const ANSWER_MS = 20_000;
/** A thread that ended by itself is started again at most this often, in milliseconds. */
const RESTART_MS = 1_000;
/** The start belongs to whoever asks first; looking for damage can wait. */
const CHECK_AFTER_MS = 2_000;
/** A file of so many bytes is looked through in some 50 ms; for a larger one a thread of its own is worth its memory. */
const CHECKED_ALONG = 16 * 1024 * 1024;

interface Waiting {
  readonly resolve: (results: readonly Result[]) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

interface DatabaseOptions {
  /** Runs one of the threads in this folder. */
  readonly start?: (entry: 'worker' | 'check', file: string) => Worker;
  readonly checkAfterMs?: number;
  readonly checkedAlong?: number;
  readonly answerMs?: number;
}

/** The gateway's handle on the database's thread. Opens the file in the background; the first requests wait for that. */
export class Database implements DatabaseHandle {
  readonly #file: string;
  readonly #log: Logger;
  readonly #problem: Problem;
  /** It was waited for in vain, which the thread itself knows nothing of. */
  readonly #silence: Problem;
  readonly #damage: Problem;
  readonly #start: (entry: 'worker' | 'check', file: string) => Worker;
  readonly #checkAfterMs: number;
  readonly #checkedAlong: number;
  readonly #answerMs: number;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #check: Worker | undefined;
  #checkTimer: NodeJS.Timeout | undefined;
  #startedAt = Number.NEGATIVE_INFINITY;
  #lastId = 0;
  #closed = false;

  constructor(file: string, log: Logger, options: DatabaseOptions = {}) {
    this.#file = file;
    this.#log = log;
    this.#problem = new Problem(log);
    this.#silence = new Problem(log);
    this.#damage = new Problem(log);
    this.#start = options.start ?? startThread;
    this.#checkAfterMs = options.checkAfterMs ?? CHECK_AFTER_MS;
    this.#checkedAlong = options.checkedAlong ?? CHECKED_ALONG;
    this.#answerMs = options.answerMs ?? ANSWER_MS;
    this.#startWorker();
  }

  get problem(): string | undefined {
    return this.#problem.sentence ?? this.#silence.sentence ?? this.#damage.sentence;
  }

  read(...statements: readonly Statement[]): Promise<readonly Result[]> {
    return this.#ask(statements, false);
  }

  write(...statements: readonly Statement[]): Promise<readonly Result[]> {
    return this.#ask(statements, true);
  }

  recover(): void {
    if (this.#problem.sentence !== undefined && this.#worker !== undefined)
      this.#send(this.#worker, { type: 'recover' });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#checkTimer);
    await this.#check?.terminate();
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    this.#send(worker, { type: 'close' });
    // A disk that hangs must not hold up the end; what is not acknowledged by then was not promised.
    const timer = setTimeout(() => void worker.terminate(), this.#answerMs);
    await ended;
    clearTimeout(timer);
  }

  #ask(statements: readonly Statement[], writes: boolean): Promise<readonly Result[]> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw storageFailed('It was closed.');
      const worker = this.#worker ?? this.#startWorker();
      if (worker === undefined) throw storageFailed(this.#problem.sentence ?? STOPPED);
      this.#lastId += 1;
      const id = this.#lastId;
      const timer = setTimeout(() => {
        this.#silence.began(SILENT, `a request waited for ${this.#answerMs} ms`);
        this.#settle(id, ({ reject }) => reject(storageFailed(SILENT)));
      }, this.#answerMs);
      this.#waiting.set(id, { resolve, reject, timer });
      const request: Request = { id, writes, statements: statements.map(({ text, values }) => ({ text, values })) };
      this.#send(worker, { type: 'request', request });
    });
  }

  #send(worker: Worker, message: ToWorker): void {
    worker.postMessage(message);
  }

  #startWorker(): Worker | undefined {
    const now = performance.now();
    if (now - this.#startedAt < RESTART_MS) return undefined;
    this.#startedAt = now;
    const worker = this.#start('worker', this.#file);
    this.#worker = worker;
    worker.on('message', (message: FromWorker) => this.#receive(message));
    worker.on('error', (error) => this.#problem.began(STOPPED, String(error)));
    worker.on('exit', (code) => {
      if (this.#worker === worker) this.#worker = undefined;
      if (!this.#closed) this.#problem.began(STOPPED, `exit code ${code}`);
      for (const id of [...this.#waiting.keys()]) this.#settle(id, ({ reject }) => reject(storageFailed(STOPPED)));
    });
    // An idle database keeps no process alive; one that owes an answer does, by its timer. Listening comes first: it undoes this.
    worker.unref();
    return worker;
  }

  #receive(message: FromWorker): void {
    switch (message.type) {
      case 'opened':
        this.#problem.ended();
        this.#log.debug({ milliseconds: Math.round(message.milliseconds) }, 'database opened');
        this.#checkTimer ??= setTimeout(() => this.#lookForDamage(message.bytes), this.#checkAfterMs).unref();
        break;
      case 'problem':
        this.#problem.began(message.failure.sentence, message.failure.detail);
        break;
      case 'shared':
        this.#log.warn({ file: this.#file }, SHARED);
        break;
      case 'recovered':
        this.#problem.ended();
        break;
      case 'checked':
        if (message.damage.length > 0) this.#damage.began('The database file is damaged.', message.damage.join('; '));
        break;
      case 'answers':
        for (const answer of message.answers) this.#take(answer);
        break;
    }
  }

  #take(answer: Answer): void {
    // Also where nobody waits for it any more.
    if ('results' in answer) this.#silence.ended();
    this.#settle(answer.id, ({ resolve, reject }) => {
      if ('results' in answer) resolve(answer.results);
      else reject(errorOf(answer.failure));
    });
  }

  #settle(id: number, how: (waiting: Waiting) => void): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    how(waiting);
  }

  #lookForDamage(bytes: number): void {
    if (bytes <= this.#checkedAlong) {
      if (this.#worker !== undefined) this.#send(this.#worker, { type: 'check' });
      return;
    }
    const check = this.#start('check', this.#file);
    this.#check = check;
    check.on('message', (message: FromWorker) => this.#receive(message));
    check.on('error', (error) => this.#log.warn({ error: String(error) }, 'the database could not be checked'));
    check.on('exit', () => {
      this.#check = undefined;
    });
    check.unref();
  }
}

const STOPPED = 'The database stopped unexpectedly.';
const SILENT = 'The disk does not answer.';
const SHARED =
  'another Sluice uses this data folder, too: neither hears what the other one changes, and each counts its limits for itself. ' +
  'Give each a folder of its own, or start one with --workers';

const THREADS = {
  worker: new URL('./worker.ts', import.meta.url),
  check: new URL('./check.ts', import.meta.url),
};

/** No environment, no flags. */
function startThread(entry: 'worker' | 'check', file: string): Worker {
  return new Worker(THREADS[entry], {
    workerData: file,
    env: threadEnvironment(),
    execArgv: [],
    name: `sluice-database-${entry}`,
  });
}
