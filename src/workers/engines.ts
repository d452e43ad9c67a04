import type { Call } from '../core/call.ts';
import type { Embeddings } from '../core/embedding.ts';
import { type SluiceError, shuttingDown } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { AnswerQueue } from '../providers/embedded/answer-queue.ts';
import type { Embedder, EmbedderSettings } from '../providers/embedded/embedder.ts';
import type { Answering, Embedding, Engines } from '../providers/embedded/engines.ts';
import type { Task } from '../providers/embedded/protocol.ts';
import type { Scheduler, SchedulerSettings, Ticket } from '../providers/embedded/scheduler.ts';
import type { Channel } from './channel.ts';
import { toError, toPlain } from './plain-error.ts';

/** The engines of the primary, for a worker: a model is in memory once, however many processes serve. */
export class RemoteEngines implements Engines {
  readonly #primary: Channel;
  readonly #answers = new Map<number, AnswerQueue>();
  readonly #contextLengths = new Map<string, number>();
  readonly #paths = new Map<number, string>();
  #lastId = 0;

  constructor(primary: Channel) {
    this.#primary = primary;
    primary.on('generated', ({ id, batch, isOver, failure, contextLength }) => {
      const path = this.#paths.get(id);
      if (path !== undefined && contextLength !== undefined) this.#contextLengths.set(path, contextLength);
      const answer = this.#answers.get(id);
      if (batch !== undefined && batch.length > 0) answer?.push(...batch);
      else if (batch !== undefined) answer?.beat();
      if (isOver === true) this.#end(id, failure === undefined ? undefined : toError(failure));
    });
  }

  scheduler(settings: SchedulerSettings): Answering {
    return {
      contextLength: (modelPath) => this.#contextLengths.get(modelPath),
      ask: (modelPath, task) => this.#ask(settings, modelPath, task),
      close: () => this.close(),
    };
  }

  embedder(settings: EmbedderSettings): Embedding {
    return {
      embed: (modelPath, texts, call) => this.#embed(settings, modelPath, texts, call),
      close: () => {},
    };
  }

  /** Ends all answers on their way: this worker ends, or the primary has. */
  close(): void {
    for (const id of [...this.#answers.keys()]) {
      this.#primary.tell('giveUp', id);
      this.#end(id, shuttingDown());
    }
  }

  #ask(settings: SchedulerSettings, modelPath: string, task: Task): Ticket {
    const id = this.#next();
    const answer = new AnswerQueue();
    this.#answers.set(id, answer);
    this.#paths.set(id, modelPath);
    this.#primary.tell('generate', { id, settings, modelPath, task });
    return {
      answer,
      cancel: (reason) => {
        if (!this.#answers.has(id)) return;
        answer.cancel(reason);
        this.#forget(id);
        this.#primary.tell('giveUp', id);
      },
    };
  }

  async #embed(
    settings: EmbedderSettings,
    modelPath: string,
    texts: readonly string[],
    call: Call,
  ): Promise<Embeddings> {
    // Giving up would get there first, and stop nothing.
    if (call.cancelled !== undefined) throw call.cancelled;
    const id = this.#next();
    const forget = call.onCancel(() => this.#primary.tell('giveUp', id));
    try {
      return await this.#primary.ask('embed', { id, settings, modelPath, texts });
    } catch (error) {
      throw call.cancelled ?? error;
    } finally {
      forget();
    }
  }

  #end(id: number, error: Error | undefined): void {
    this.#answers.get(id)?.end(error);
    this.#forget(id);
  }

  #forget(id: number): void {
    this.#answers.delete(id);
    this.#paths.delete(id);
  }

  #next(): number {
    this.#lastId += 1;
    return this.#lastId;
  }
}

/** The engines, on the side of the primary. Nothing of them is loaded before somebody asks. */
export class EngineHost {
  readonly #log: Logger;
  readonly #scheduler: Shared<SchedulerSettings, Scheduler>;
  readonly #embedder: Shared<EmbedderSettings, Embedder>;
  #workers = 0;

  constructor(log: Logger) {
    this.#log = log;
    this.#scheduler = new Shared(async (settings) => {
      const { Scheduler } = await import('../providers/embedded/scheduler.ts');
      return new Scheduler(settings, log);
    });
    this.#embedder = new Shared(async (settings) => {
      const { Embedder } = await import('../providers/embedded/embedder.ts');
      return new Embedder(settings, log);
    });
  }

  /** Serves a worker. The function that is returned gives up whatever it still waits for. */
  serve(worker: Channel): () => void {
    this.#workers += 1;
    const number = this.#workers;
    const running = new Map<number, (reason: SluiceError) => void>();
    worker.on('giveUp', (id) => running.get(id)?.(shuttingDown()));
    worker.on('generate', ({ id, settings, modelPath, task }) => {
      const scheduler = this.#scheduler.open(number, settings);
      void this.#generate(worker, running, scheduler, { id, modelPath, task });
    });
    worker.on('embed', async ({ id, settings, modelPath, texts }) => {
      let reason: SluiceError | undefined;
      running.set(id, (why) => {
        reason = why;
      });
      try {
        // Loaded here, since the primary needs it for nothing else.
        const { CallScope } = await import('../core/call.ts');
        if (reason !== undefined) throw reason;
        const call = new CallScope(`${id}`, this.#log);
        running.set(id, (why) => call.cancel(why));
        return await (await this.#embedder.open(number, settings)).embed(modelPath, texts, call);
      } finally {
        running.delete(id);
      }
    });
    return () => {
      for (const cancel of running.values()) cancel(shuttingDown());
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.#scheduler.close(), this.#embedder.close()]);
  }

  async #generate(
    worker: Channel,
    running: Map<number, (reason: SluiceError) => void>,
    opening: Promise<Scheduler>,
    { id, modelPath, task }: { id: number; modelPath: string; task: Task },
  ): Promise<void> {
    let reason: SluiceError | undefined;
    running.set(id, (why) => {
      reason = why;
    });
    try {
      const scheduler = await opening;
      if (reason !== undefined) throw reason;
      const ticket = scheduler.ask(modelPath, task);
      running.set(id, (why) => ticket.cancel(why));
      for await (const batch of ticket.answer.read()) {
        worker.tell('generated', { id, batch, contextLength: scheduler.contextLength(modelPath) });
      }
      worker.tell('generated', { id, isOver: true, contextLength: scheduler.contextLength(modelPath) });
    } catch (error) {
      worker.tell('generated', { id, isOver: true, failure: toPlain(error) });
    } finally {
      running.delete(id);
    }
  }
}

interface Engine<Settings> {
  adopt(settings: Settings): void;
  close(): void;
}

/** What all workers ask, under the settings of the one that began last: it has read the configuration last. */
class Shared<Settings, T extends Engine<Settings>> {
  readonly #make: (settings: Settings) => Promise<T>;
  #made: Promise<T> | undefined;
  #newest = 0;
  #closed = false;

  constructor(make: (settings: Settings) => Promise<T>) {
    this.#make = make;
  }

  /** @param worker counts them in the order in which they began */
  async open(worker: number, settings: Settings): Promise<T> {
    if (this.#closed) throw shuttingDown();
    this.#made ??= this.#make(settings);
    const made = await this.#made;
    if (worker < this.#newest) return made;
    this.#newest = worker;
    made.adopt(settings);
    return made;
  }

  async close(): Promise<void> {
    this.#closed = true;
    (await this.#made)?.close();
  }
}
