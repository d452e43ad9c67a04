import { Worker } from 'node:worker_threads';
import { SluiceError } from '../core/errors.ts';
import { threadEnvironment } from '../core/threads.ts';
import type { PageText } from './pages-text.ts';
import type { ReadTask } from './pages-worker.ts';

/** A page that takes longer is not worth it. */
const READ_MS = 10_000;
/** How long the thread stays without work; starting it again takes a fraction of a second. */
const IDLE_MS = 60_000;
const HEAP_MB = 256;
/** Pages waiting their turn; further ones are refused. */
const MOST_WAITING = 100;

interface Job {
  readonly task: ReadTask;
  resolve(page: PageText): void;
  reject(error: Error): void;
}

/**
 * Reads pages one after another in a thread of its own. A page that takes too long or too much memory ends the thread,
 * and with it only its own reading; the next page gets a new one.
 */
export class PageReader {
  readonly #readMs: number;
  readonly #waiting: Job[] = [];
  #current: Job | undefined;
  #worker: Worker | undefined;
  #isReady = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(readMs: number = READ_MS) {
    this.#readMs = readMs;
  }

  read(task: ReadTask, signal?: AbortSignal): Promise<PageText> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    if (this.#waiting.length >= MOST_WAITING) {
      return Promise.reject(new SluiceError('overloaded', 'Too many pages are waiting to be read.'));
    }
    const { promise, resolve, reject } = Promise.withResolvers<PageText>();
    const job = { task, resolve, reject };
    const giveUp = (): void => this.#giveUp(job, signal?.reason);
    this.#waiting.push(job);
    signal?.addEventListener('abort', giveUp);
    this.#next();
    return promise.finally(() => signal?.removeEventListener('abort', giveUp));
  }

  async close(): Promise<void> {
    const closing = new SluiceError('shutting_down', 'Sluice is stopping.');
    for (const job of this.#waiting.splice(0)) job.reject(closing);
    this.#end(closing);
  }

  #next(): void {
    if (this.#current !== undefined) return;
    clearTimeout(this.#timer);
    this.#current = this.#waiting.shift();
    if (this.#current === undefined) {
      this.#worker?.unref();
      this.#timer = setTimeout(() => this.#end(undefined), IDLE_MS).unref();
      return;
    }
    this.#worker ??= this.#start();
    this.#worker.ref();
    this.#worker.postMessage(this.#current.task);
    if (this.#isReady) this.#startClock();
  }

  #startClock(): void {
    this.#timer = setTimeout(() => this.#end(unreadable(`took longer than ${this.#readMs} ms`)), this.#readMs);
  }

  #start(): Worker {
    const worker = new Worker(new URL('./pages-worker.ts', import.meta.url), {
      // A test runner's or debugger's flags make no sense there, and a page has no use for keys.
      execArgv: [],
      env: threadEnvironment(),
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    this.#isReady = false;
    worker.on('message', (answer: 'ready' | { page: PageText } | { error: string }) => {
      if (worker !== this.#worker) return;
      if (answer === 'ready') {
        this.#isReady = true;
        if (this.#current !== undefined) this.#startClock();
        return;
      }
      const job = this.#current;
      this.#current = undefined;
      if ('page' in answer) job?.resolve(answer.page);
      else job?.reject(unreadable('is not a page that can be read', answer.error));
      this.#next();
    });
    worker.on('error', (error) => {
      if (worker === this.#worker) this.#end(unreadable('is too much to read', error));
    });
    return worker;
  }

  /** Ends the thread, fails what it was reading, and goes on with the next. */
  #end(error: Error | undefined): void {
    clearTimeout(this.#timer);
    const worker = this.#worker;
    this.#worker = undefined;
    worker?.terminate().catch(() => {});
    const job = this.#current;
    this.#current = undefined;
    if (error === undefined) return;
    job?.reject(error);
    if (this.#waiting.length > 0) this.#next();
  }

  #giveUp(job: Job, reason: Error): void {
    const at = this.#waiting.indexOf(job);
    if (at !== -1) this.#waiting.splice(at, 1);
    job.reject(reason);
  }
}

function unreadable(why: string, cause?: unknown): SluiceError {
  return new SluiceError('upstream_invalid', `The page ${why}.`, { cause });
}
