import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EmbeddedConfig } from '../../config/config.ts';
import type { Batch } from '../../core/chunk.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { Model } from '../../core/model.ts';
import type { Provider } from '../../core/provider.ts';
import { capabilitiesOf } from '../openai/capabilities.ts';
import { textsOf } from '../tasks/tokens.ts';
import { BUNDLED, ensureBundledModel, type PackedWeights, type ResolvePart } from './bundled.ts';
import { Embedder } from './embedder.ts';
import type { Engines } from './engines.ts';
import { type EmbeddedModel, findModels, type ModelSources } from './models.ts';
import { Scheduler } from './scheduler.ts';
import { lost, type SamplingDefaults, toTask } from './task.ts';

/** What tests change. */
export interface EmbeddedOptions {
  readonly weights?: PackedWeights;
  readonly resolve?: ResolvePart;
  /** Tokens of prompt and answer together, at most. */
  readonly contextLimit?: number;
  readonly idleMs?: number;
  readonly beatMs?: number;
  readonly waiting?: number;
  /** Where the engines are, when they are not this process's own. */
  readonly engines?: Engines | undefined;
}

/** The bundled model was trained with 2048; for others, 4096 keep the memory of the context below that of the weights. */
const CONTEXT_LIMIT = 4_096;
const BUNDLED_CONTEXT = 2_048;
const IDLE_MS = 15 * 60 * 1_000;
const WAITING = 64;
const BEAT_MS = 3_000;

/** A small model gets lost soon when it is left to chance. */
const DEMO_SAMPLING: SamplingDefaults = { temperature: 0.3, topP: 0.9, topK: 40, repeatPenalty: 1.1 };
const USUAL_SAMPLING: SamplingDefaults = { temperature: 0.7, topP: 0.9, topK: 40, repeatPenalty: 1.1 };

/**
 * Chat models that run on this machine: the bundled demo model and every `*.gguf` of the models folder. Nothing is
 * loaded before the first question; after `idleMs` without one the memory is given back.
 */
export function createEmbeddedProvider(
  config: EmbeddedConfig,
  dataDir: string,
  log: Logger,
  options: EmbeddedOptions = {},
): Provider {
  const { weights = BUNDLED, resolve, beatMs = BEAT_MS } = options;
  const { contextLimit = CONTEXT_LIMIT, idleMs = IDLE_MS, waiting = WAITING } = options;
  const sources: ModelSources = { config, dataDir, weights, ...(resolve === undefined ? {} : { resolve }) };
  const threads = config.threads ?? Math.max(1, availableParallelism() - 1);
  const settings = { threads, parallel: config.parallel, contextLimit, idleMs, beatMs, waiting };
  const { engines } = options;
  const scheduler = engines?.scheduler(settings) ?? new Scheduler(settings, log);
  const embedder = engines?.embedder(settings) ?? new Embedder(settings, log);

  async function choose(id: string): Promise<EmbeddedModel> {
    const models = await findModels(sources);
    const model = id === '' ? models.find(chats) : models.find((one) => one.id === id);
    if (model === undefined) throw new SluiceError('model_not_found', `There is no embedded model '${id}'.`);
    return model;
  }

  /** Known of the bundled model beforehand, of others once they were loaded. */
  function contextLength({ path }: EmbeddedModel): number | undefined {
    return path === undefined ? Math.min(BUNDLED_CONTEXT, contextLimit) : scheduler.contextLength(path);
  }

  return {
    id: 'embedded',
    label: 'Embedded (on this machine)',
    origin: 'embedded',
    continues: true,
    auth: { kind: 'none' },

    async models() {
      return (await findModels(sources)).map((model) => toModel(model, contextLength(model)));
    },

    async *chat(request, call) {
      const model = await choose(request.model);
      for (const field of lost(request, capabilitiesOf(model.id).reasoning === true)) call.drop(field);
      const task = toTask(request, model.path === undefined ? DEMO_SAMPLING : USUAL_SAMPLING);
      const path = model.path ?? (yield* alive(ensureBundledModel(dataDir, call.signal, weights, resolve), beatMs));
      if (call.cancelled !== undefined) throw call.cancelled;
      const ticket = scheduler.ask(path, task);
      const takeBack = call.onCancel(ticket.cancel);
      try {
        yield* ticket.answer.read();
      } finally {
        takeBack();
        ticket.cancel(new SluiceError('cancelled', 'Nobody reads this answer any more.'));
      }
    },

    async embed(request, call) {
      const model = await choose(needModel(request.model));
      const path = model.path ?? (await ensureBundledModel(dataDir, call.signal, weights, resolve));
      for (const field of Object.keys(request.extra)) call.drop(field);
      if (request.dimensions !== undefined) call.drop('dimensions');
      if (request.user !== undefined) call.drop('user');
      return embedder.embed(path, await textsOf(request.inputs), call);
    },

    async close() {
      scheduler.close();
      embedder.close();
    },
  } satisfies Provider;
}

/** By its name: the file has to be opened to know it. */
function chats({ id }: EmbeddedModel): boolean {
  return capabilitiesOf(id).type !== 'embedding';
}

function needModel(model: string): string {
  if (model !== '') return model;
  throw new SluiceError('model_not_found', 'The models folder has no embedding model; name a model in the request.', {
    param: 'model',
  });
}

function toModel(model: EmbeddedModel, contextLength: number | undefined): Model {
  const { id, label, path } = model;
  if (!chats(model)) return { id, label, type: 'embedding', tags: ['local'] };
  return {
    id,
    label,
    type: 'chat',
    tools: false,
    ...(contextLength === undefined ? {} : { contextLength }),
    tags: path === undefined ? ['local', 'demo'] : ['local'],
  };
}

/** Waits for something slow with a sign of life every few seconds. */
async function* alive<T>(work: Promise<T>, beatMs: number): AsyncGenerator<Batch, T> {
  const settled = work.then(
    () => true,
    () => true,
  );
  for (;;) {
    const timer = new AbortController();
    const pause = sleep(beatMs, false, { signal: timer.signal }).catch(() => false);
    const done = await Promise.race([settled, pause]);
    timer.abort();
    if (done) return work;
    yield [];
  }
}
