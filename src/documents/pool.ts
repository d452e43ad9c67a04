import { SluiceError, shuttingDown } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { Progress } from './archive.ts';
import type { Conversion } from './conversion.ts';
import type { FromWorker, Job } from './protocol.ts';
import { missingWorker, startWorker, type WorkerProcess } from './worker-process.ts';

interface PoolOptions {
  readonly workers: number;
  readonly idleMs: number;
  readonly log?: Logger;
}

/** A job that somebody waits for. */
interface Task {
  readonly job: Job;
  readonly onProgress: (progress: Progress) => void;
  readonly resolve: (conversion: Conversion) => void;
  readonly reject: (reason: unknown) => void;
}

/** A place in which one worker after the other does one task after the other. */
interface Place {
  worker: WorkerProcess | undefined;
  isReady: boolean;
  /** Tasks that the present worker was given. */
  count: number;
  task: Task | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** What a worker may take to start, on a machine that has other things to do. */
const START_MS = 30_000;
/** After so many files, or with more than this share of its limit in use, a worker is replaced: memory is not given back. */
const MOST_TASKS = 100;
const MEMORY_SHARE = 0.5;

/** Workers, started when they are needed, ended when they are not, replaced when they fail. */
export class Pool {
  readonly #options: PoolOptions;
  readonly #places: Place[];
  #waiting: Task[] = [];
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#places = Array.from({ length: options.workers }, () => ({
      worker: undefined,
      isReady: false,
      count: 0,
      task: undefined,
      timer: undefined,
    }));
  }

  /** Throws the signal's reason when that aborts, `shutting_down` when the pool is closed. */
  async run(job: Job, signal: AbortSignal | undefined, onProgress: (progress: Progress) => void): Promise<Conversion> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw shuttingDown();
    const { promise, resolve, reject } = Promise.withResolvers<Conversion>();
    const task: Task = { job, onProgress, resolve, reject };
    const leave = (): void => this.#drop(task, signal?.reason);
    signal?.addEventListener('abort', leave, { once: true });
    this.#waiting.push(task);
    this.#next();
    return await promise.finally(() => signal?.removeEventListener('abort', leave));
  }

  /** Ends the workers and whatever they do; resolves when they are gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const task of this.#waiting.splice(0)) task.reject(shuttingDown());
    const ends = this.#places.map(async (place) => {
      place.task?.reject(shuttingDown());
      const { worker } = place;
      this.#end(place);
      // The process may have nothing else to stay for, and is not to leave while somebody waits here.
      worker?.hold(true);
      await worker?.gone;
    });
    await Promise.all(ends);
  }

  /** Gives waiting tasks to free places, those with a running worker first. */
  #next(): void {
    while (this.#waiting.length > 0) {
      const free = this.#places.filter((place) => place.task === undefined);
      const place = free.find((each) => each.worker !== undefined) ?? free[0];
      if (place === undefined) return;
      this.#give(place, this.#waiting.shift() as Task);
    }
  }

  #give(place: Place, task: Task): void {
    clearTimeout(place.timer);
    place.task = task;
    place.count += 1;
    try {
      place.worker ??= this.#start(place);
    } catch (error) {
      // No process to be had at all.
      this.#gone(place, String(error), '');
      return;
    }
    place.worker.hold(true);
    this.#limit(place, task.job.limits.timeMs + (place.isReady ? 0 : START_MS));
    place.worker.send(task.job);
  }

  #start(place: Place): WorkerProcess {
    place.isReady = false;
    const worker = startWorker({
      // Of a worker that was replaced nothing counts any more.
      message: (message) => {
        if (place.worker === worker) this.#receive(place, message);
      },
      gone: (how, output) => {
        if (place.worker === worker) this.#gone(place, how, output);
      },
    });
    return worker;
  }

  #receive(place: Place, message: FromWorker): void {
    const { task } = place;
    switch (message.type) {
      case 'ready':
        place.isReady = true;
        if (task !== undefined) this.#limit(place, task.job.limits.timeMs);
        break;
      case 'fault':
        this.#options.log?.debug({ file: task?.job.name, error: message.error }, 'a file could not be converted');
        break;
      case 'progress':
        task?.onProgress(message.progress);
        break;
      case 'done': {
        const isWorn =
          place.count >= MOST_TASKS || message.resident > (task?.job.limits.memoryBytes ?? 0) * MEMORY_SHARE;
        this.#finish(place, message.conversion, isWorn);
      }
    }
  }

  #gone(place: Place, how: string, output: string): void {
    const fields = { how, output, file: place.task?.job.name };
    if (place.isReady) {
      this.#options.log?.warn(fields, 'a file crashed the converter');
      this.#finish(place, { kind: 'rejected', reason: 'could not be read: the converter failed on it' }, true);
    } else {
      this.#options.log?.error(fields, 'the converter did not start');
      this.#finish(place, notStarted(), true);
    }
  }

  #limit(place: Place, milliseconds: number): void {
    clearTimeout(place.timer);
    const late: Conversion | SluiceError = place.isReady
      ? { kind: 'rejected', reason: 'took too long to read', isOverLimit: true }
      : notStarted();
    place.timer = setTimeout(() => this.#finish(place, late, true), milliseconds);
  }

  #finish(place: Place, result: Conversion | SluiceError, isLast: boolean): void {
    const { task } = place;
    if (isLast) this.#end(place);
    else this.#rest(place);
    if (result instanceof SluiceError) task?.reject(result);
    else task?.resolve(result);
    this.#next();
  }

  /** Nobody waits for it any more: a task that runs is ended with its worker. */
  #drop(task: Task, reason: unknown): void {
    this.#waiting = this.#waiting.filter((each) => each !== task);
    const place = this.#places.find((each) => each.task === task);
    if (place !== undefined) this.#end(place);
    task.reject(reason);
    this.#next();
  }

  #rest(place: Place): void {
    clearTimeout(place.timer);
    place.task = undefined;
    place.worker?.hold(false);
    place.timer = setTimeout(() => this.#end(place), this.#options.idleMs).unref();
  }

  #end(place: Place): void {
    clearTimeout(place.timer);
    const { worker } = place;
    place.worker = undefined;
    place.task = undefined;
    place.isReady = false;
    place.count = 0;
    worker?.hold(false);
    worker?.kill();
  }
}

/** No file is at fault: the same one may be converted shortly. */
function notStarted(): SluiceError {
  const message = 'Documents cannot be converted now: the converter did not start.';
  return missingWorker() ?? new SluiceError('overloaded', message, { retryAfter: 5 });
}
