import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type SluiceError, shuttingDown } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { AnswerQueue } from './answer-queue.ts';
import { type EngineProcess, STUCK_MS, startEngineProcess } from './engine-process.ts';
import { cannotLoad, crashed, toChunk, toError, tooManyWait, toUsage } from './engine-words.ts';
import type { EngineSettings, FromEngine, Outcome, Task } from './protocol.ts';

/** Of the engine, and of the queue before it. */
export interface SchedulerSettings extends Omit<EngineSettings, 'modelPath'> {
  /** Requests that may wait for a place; more are refused. */
  readonly waiting: number;
  /** How often requests that wait for a place show that they are alive. */
  readonly beatMs: number;
  /** After so long without work the engine ends, to give its memory back. */
  readonly idleMs: number;
}

/** A request in the scheduler's care. */
export interface Ticket {
  readonly answer: AnswerQueue;
  /** Gives the place back and ends the answer with `reason`. Nothing happens if the answer is complete. */
  cancel(reason: Error): void;
}

interface Job extends Ticket {
  readonly id: number;
  readonly modelPath: string;
  readonly task: Task;
  cancelled: boolean;
}

interface Engine {
  readonly modelPath: string;
  readonly settings: SchedulerSettings;
  readonly process: EngineProcess;
  readonly running: Map<number, Job>;
  readonly startedAt: number;
  loaded: boolean;
}

/**
 * Hands tasks to an engine, in the order they came, as many at a time as it has places. There is one engine with one
 * model at a time; when the next request wants another model, or other settings count by then, it waits until the running
 * ones are done.
 */
export class Scheduler {
  #settings: SchedulerSettings;
  readonly #log: Logger;
  readonly #queue: Job[] = [];
  readonly #contextLengths = new Map<string, number>();
  #engine: Engine | undefined;
  #nextId = 1;
  #closed = false;
  #beats: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #stuck: NodeJS.Timeout | undefined;

  constructor(settings: SchedulerSettings, log: Logger) {
    this.#settings = settings;
    this.#log = log;
  }

  /** These settings count from the next request on. */
  adopt(settings: SchedulerSettings): void {
    if (!isDeepStrictEqual(settings, this.#settings)) this.#settings = settings;
  }

  /** Tokens of prompt and answer, once a model was loaded. */
  contextLength(modelPath: string): number | undefined {
    return this.#contextLengths.get(modelPath);
  }

  /** Throws `overloaded` when too many wait already. */
  ask(modelPath: string, task: Task): Ticket {
    if (this.#closed) throw shuttingDown();
    if (this.#queue.length >= this.#settings.waiting) throw tooManyWait(this.#queue.length);
    const job: Job = {
      id: this.#nextId++,
      modelPath,
      task,
      answer: new AnswerQueue(),
      cancelled: false,
      cancel: (reason) => this.#cancel(job, reason),
    };
    this.#queue.push(job);
    this.#advance();
    return job;
  }

  /** Ends everything; answers on their way end with `shutting_down`. */
  close(): void {
    this.#closed = true;
    for (const job of this.#queue.splice(0)) job.answer.end(shuttingDown());
    this.#endEngine(shuttingDown());
    this.#advance();
  }

  /** Starts what can be started now, and sets the timers that fit what is left. */
  #advance(): void {
    for (let job = this.#queue[0]; job !== undefined; job = this.#queue[0]) {
      const engine = this.#engineFor(job.modelPath);
      if (engine === undefined || engine.running.size >= this.#settings.parallel) break;
      this.#queue.shift();
      engine.running.set(job.id, job);
      engine.process.hold(true);
      engine.process.send({ type: 'generate', id: job.id, task: job.task });
    }
    this.#setTimers();
  }

  /** The engine for a model; undefined while the running one is busy with another model, or under other settings. */
  #engineFor(modelPath: string): Engine | undefined {
    const engine = this.#engine;
    if (engine?.modelPath === modelPath && engine.settings === this.#settings) return engine;
    if (engine !== undefined && engine.running.size > 0) return undefined;
    this.#endEngine();
    this.#engine = this.#startEngine(modelPath);
    return this.#engine;
  }

  #startEngine(modelPath: string): Engine {
    const process = startEngineProcess({
      message: (message) => this.#receive(engine, message),
      gone: (how, output) => this.#gone(engine, how, output),
    });
    const settings = this.#settings;
    const startedAt = performance.now();
    const engine: Engine = { modelPath, settings, process, running: new Map(), startedAt, loaded: false };
    const { parallel, threads, contextLimit } = settings;
    process.send({ type: 'load', settings: { modelPath, parallel, threads, contextLimit } });
    this.#log.info({ pid: process.pid, model: basename(modelPath), threads, parallel }, 'embedded engine started');
    return engine;
  }

  #receive(engine: Engine, message: FromEngine): void {
    // What one that was given up still says is known.
    if (engine !== this.#engine) return;
    switch (message.type) {
      case 'ready':
        this.#loaded(engine, message.contextLength);
        break;
      case 'broken':
        this.#failToLoad(engine, message.reason);
        break;
      case 'pulse':
        for (const job of engine.running.values()) job.answer.beat();
        break;
      case 'piece':
        engine.running.get(message.id)?.answer.push(toChunk(message.kind, message.text));
        break;
      case 'note':
        engine.running.get(message.id)?.answer.push({ type: 'log', log: message.text });
        break;
      case 'ended':
        this.#ended(engine, message.id, message.outcome);
        break;
    }
  }

  #loaded(engine: Engine, contextLength: number): void {
    engine.loaded = true;
    this.#contextLengths.set(engine.modelPath, contextLength);
    const ms = Math.round(performance.now() - engine.startedAt);
    this.#log.info({ pid: engine.process.pid, ms, contextLength }, 'embedded model loaded');
  }

  /** Those that wait for the same model fail as well: trying again would fail again, one engine after the other. */
  #failToLoad({ modelPath }: Engine, reason: string): void {
    this.#log.error({ model: basename(modelPath), reason }, 'embedded model cannot be loaded');
    const waiting = this.#queue.filter((job) => job.modelPath === modelPath);
    for (const job of waiting) {
      this.#queue.splice(this.#queue.indexOf(job), 1);
      job.answer.end(cannotLoad(modelPath));
    }
    this.#endEngine(cannotLoad(modelPath));
    this.#advance();
  }

  #ended(engine: Engine, id: number, outcome: Outcome): void {
    const job = engine.running.get(id);
    engine.running.delete(id);
    if (job !== undefined) this.#settle(job, outcome);
    this.#advance();
  }

  #settle({ answer, modelPath }: Job, outcome: Outcome): void {
    if (outcome.type === 'finished') {
      answer.push({ type: 'usage', usage: toUsage(outcome.usage) }, { type: 'finish', finish: outcome.finish });
      answer.end();
    } else if (outcome.type === 'failed') {
      const { reason } = outcome.failure;
      if (reason !== undefined) this.#log.error({ model: basename(modelPath), reason }, 'embedded model failed');
      answer.end(toError(outcome.failure));
    }
  }

  #cancel(job: Job, reason: Error): void {
    job.answer.cancel(reason);
    const place = this.#queue.indexOf(job);
    if (place !== -1) this.#queue.splice(place, 1);
    else if (this.#engine?.running.has(job.id) && !job.cancelled) {
      this.#engine.process.send({ type: 'cancel', id: job.id });
    }
    job.cancelled = true;
    this.#advance();
  }

  /** An engine ended that should not have. */
  #gone(engine: Engine, how: string, output: string): void {
    if (engine !== this.#engine) return;
    if (!engine.loaded) {
      this.#failToLoad(engine, `${how}: ${output}`);
      return;
    }
    this.#log.error({ pid: engine.process.pid, how, output }, 'embedded engine crashed');
    this.#endEngine(crashed());
    this.#advance();
  }

  /** Forgets the engine, so that the next request starts another one. */
  #endEngine(error?: SluiceError): void {
    const engine = this.#engine;
    this.#engine = undefined;
    for (const job of engine?.running.values() ?? []) job.answer.end(error);
    engine?.process.hold(false);
    engine?.process.kill();
  }

  #setTimers(): void {
    const running = [...(this.#engine?.running.values() ?? [])];
    if (running.length === 0) this.#engine?.process.hold(false);

    if (this.#queue.length === 0) this.#beats = void clearInterval(this.#beats);
    else this.#beats ??= setInterval(() => this.#beat(), this.#settings.beatMs);

    this.#idle = void clearTimeout(this.#idle);
    if (this.#engine !== undefined && running.length === 0) {
      this.#idle = setTimeout(() => this.#endIdle(), this.#settings.idleMs).unref();
    }

    const stuck = running.length > 0 && running.every((job) => job.cancelled);
    if (!stuck) this.#stuck = void clearTimeout(this.#stuck);
    else this.#stuck ??= setTimeout(() => this.#endStuck(), STUCK_MS).unref();
  }

  #beat(): void {
    for (const job of this.#queue) job.answer.beat();
  }

  #endIdle(): void {
    this.#log.info({ pid: this.#engine?.process.pid }, 'embedded engine ended: idle');
    this.#endEngine();
  }

  #endStuck(): void {
    this.#log.error({ pid: this.#engine?.process.pid }, 'embedded engine ended: stuck');
    this.#endEngine(crashed());
    this.#advance();
  }
}
