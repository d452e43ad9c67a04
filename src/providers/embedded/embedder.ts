import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Call } from '../../core/call.ts';
import type { Embeddings } from '../../core/embedding.ts';
import { SluiceError, shuttingDown } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { unlessAborted } from '../../core/unless-aborted.ts';
import type { Embedded } from './engine-embedder.ts';
import { type EngineProcess, STUCK_MS, startEngineProcess } from './engine-process.ts';
import { cannotLoad, crashed, toError, tooManyWait } from './engine-words.ts';
import type { FromEngine } from './protocol.ts';

/** Of the engine, and of the queue before it. */
export interface EmbedderSettings {
  readonly threads: number;
  /** Tokens of one text, at most; a model trained with less reads less. */
  readonly contextLimit: number;
  /** Requests that may wait; more are refused. */
  readonly waiting: number;
  /** After so long without work the engine ends, to give its memory back. */
  readonly idleMs: number;
}

interface Engine {
  readonly modelPath: string;
  readonly settings: EmbedderSettings;
  readonly process: EngineProcess;
  readonly running: Map<number, PromiseWithResolvers<Embedded>>;
  loaded: boolean;
}

/**
 * Texts → vectors, by an engine of its own beside the one that chats: who searches and asks in turns would else make two models
 * push each other out of memory. One request at a time; another model, or other settings, wait until the running request is done.
 */
export class Embedder {
  #settings: EmbedderSettings;
  readonly #log: Logger;
  #engine: Engine | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #nextId = 1;
  #closed = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(settings: EmbedderSettings, log: Logger) {
    this.#settings = settings;
    this.#log = log;
  }

  /** These settings count from the next request on. */
  adopt(settings: EmbedderSettings): void {
    if (!isDeepStrictEqual(settings, this.#settings)) this.#settings = settings;
  }

  /** Throws `overloaded` when too many wait already. */
  async embed(modelPath: string, texts: readonly string[], call: Call): Promise<Embeddings> {
    if (this.#closed) throw shuttingDown();
    if (this.#waiting >= this.#settings.waiting) throw tooManyWait(this.#waiting);
    this.#waiting += 1;
    const before = this.#last;
    const own = before.then(() => this.#run(modelPath, texts, call));
    this.#last = own.catch(() => {});
    try {
      // Whoever leaves before it is his turn waits for nobody's.
      const { vectors, tokens } = await unlessAborted(own, call.signal);
      return { vectors, usage: { promptTokens: tokens, totalTokens: tokens } };
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Ends everything; what is under way ends with `shutting_down`. */
  close(): void {
    this.#closed = true;
    this.#end(shuttingDown());
  }

  async #run(modelPath: string, texts: readonly string[], call: Call): Promise<Embedded> {
    if (call.cancelled !== undefined) throw call.cancelled;
    if (this.#closed) throw shuttingDown();
    clearTimeout(this.#idle);
    const engine = this.#engineFor(modelPath);
    const id = this.#nextId++;
    const answer = Promise.withResolvers<Embedded>();
    engine.running.set(id, answer);
    engine.process.hold(true);
    engine.process.send({ type: 'embed', id, texts });
    let stuck: NodeJS.Timeout | undefined;
    const forget = call.onCancel(() => {
      engine.process.send({ type: 'cancel', id });
      stuck = setTimeout(() => this.#endStuck(engine), STUCK_MS).unref();
    });
    try {
      return await answer.promise;
    } catch (error) {
      throw call.cancelled ?? error;
    } finally {
      forget();
      clearTimeout(stuck);
      engine.running.delete(id);
      engine.process.hold(false);
      if (engine === this.#engine) {
        this.#idle = setTimeout(() => this.#endIdle(engine), this.#settings.idleMs).unref();
      }
    }
  }

  #engineFor(modelPath: string): Engine {
    const settings = this.#settings;
    if (this.#engine?.modelPath === modelPath && this.#engine.settings === settings) return this.#engine;
    this.#end();
    const process = startEngineProcess({
      message: (message) => this.#receive(engine, message),
      gone: (how, output) => this.#gone(engine, how, output),
    });
    const engine: Engine = { modelPath, settings, process, running: new Map(), loaded: false };
    const { threads, contextLimit } = settings;
    process.send({ type: 'load', settings: { modelPath, purpose: 'embed', parallel: 1, threads, contextLimit } });
    this.#log.info({ pid: process.pid, model: basename(modelPath), threads }, 'embedded engine for vectors started');
    this.#engine = engine;
    return engine;
  }

  #receive(engine: Engine, message: FromEngine): void {
    // What one that was given up still says is known.
    if (engine !== this.#engine) return;
    switch (message.type) {
      case 'ready':
        engine.loaded = true;
        break;
      case 'broken':
        this.#log.error(
          { model: basename(engine.modelPath), reason: message.reason },
          'embedded model cannot be loaded',
        );
        this.#end(cannotLoad(engine.modelPath));
        break;
      case 'embedded':
        engine.running.get(message.id)?.resolve(message);
        break;
      case 'ended': {
        const { outcome } = message;
        const running = engine.running.get(message.id);
        if (outcome.type === 'cancelled')
          running?.reject(new SluiceError('cancelled', 'Nobody waits for it any more.'));
        if (outcome.type !== 'failed') break;
        const { reason } = outcome.failure;
        if (reason !== undefined)
          this.#log.error({ model: basename(engine.modelPath), reason }, 'embedded model failed');
        running?.reject(toError(outcome.failure));
        break;
      }
    }
  }

  /** An engine ended that should not have. */
  #gone(engine: Engine, how: string, output: string): void {
    if (engine !== this.#engine) return;
    this.#log.error({ pid: engine.process.pid, how, output }, 'embedded engine for vectors crashed');
    this.#end(engine.loaded ? crashed() : cannotLoad(engine.modelPath));
  }

  #end(error: SluiceError = crashed()): void {
    const engine = this.#engine;
    this.#engine = undefined;
    clearTimeout(this.#idle);
    for (const running of engine?.running.values() ?? []) running.reject(error);
    engine?.process.hold(false);
    engine?.process.kill();
  }

  #endIdle({ process: { pid } }: Engine): void {
    this.#log.info({ pid }, 'embedded engine for vectors ended: idle');
    this.#end();
  }

  #endStuck({ process: { pid } }: Engine): void {
    this.#log.error({ pid }, 'embedded engine for vectors ended: stuck');
    this.#end();
  }
}
