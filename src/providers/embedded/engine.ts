import { SluiceError } from '../../core/errors.ts';
import { type EngineEmbedder, loadEngineEmbedder } from './engine-embedder.ts';
import { type EngineModel, loadEngineModel } from './engine-model.ts';
import type { EngineSettings, Failure, FromEngine, Outcome, Task, ToEngine } from './protocol.ts';

/**
 * The engine's process: loads one model and generates answers until its parent goes away. It is apart from the
 * gateway so that a crash in native code ends these answers only, and so that memory comes back when it is idle.
 */

const PULSE_MS = 2_000;

const running = new Map<number, AbortController>();
let model: Promise<EngineModel> | undefined;
let embedder: Promise<EngineEmbedder> | undefined;
let loading = false;

// A terminal and a service manager signal the whole group, but a draining gateway still needs its engine.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
// Not exit(): that runs native destructors while threads still compute. There is nothing to save.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.on('message', (message) => receive(message as ToEngine));
setInterval(() => {
  if (loading || running.size > 0) send({ type: 'pulse' });
}, PULSE_MS);

function receive(message: ToEngine): void {
  switch (message.type) {
    case 'load':
      void load(message.settings);
      break;
    case 'generate':
      void generate(message.id, message.task);
      break;
    case 'embed':
      void embed(message.id, message.texts);
      break;
    case 'cancel':
      running.get(message.id)?.abort();
      break;
  }
}

function begin(settings: EngineSettings): Promise<{ readonly contextLength: number }> {
  if (settings.purpose !== 'embed') {
    model = loadEngineModel(settings);
    return model;
  }
  embedder = loadEngineEmbedder(settings);
  return embedder;
}

async function load(settings: EngineSettings): Promise<void> {
  loading = true;
  const loaded = begin(settings);
  try {
    const { contextLength } = await loaded;
    send({ type: 'ready', contextLength });
  } catch (error) {
    send({ type: 'broken', reason: reasonOf(error) });
  } finally {
    loading = false;
  }
}

async function generate(id: number, task: Task): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  const outcome = await run(id, task, controller.signal);
  running.delete(id);
  send({ type: 'ended', id, outcome });
}

async function embed(id: number, texts: readonly string[]): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  const outcome = await embedAll(id, texts, controller.signal);
  running.delete(id);
  send({ type: 'ended', id, outcome });
}

async function embedAll(id: number, texts: readonly string[], signal: AbortSignal): Promise<Outcome> {
  try {
    const loaded = await embedder;
    if (loaded === undefined) throw new Error('a task came before the model');
    send({ type: 'embedded', id, ...(await loaded.embed(texts, signal)) });
    return { type: 'embedded' };
  } catch (error) {
    return signal.aborted ? { type: 'cancelled' } : { type: 'failed', failure: toFailure(error) };
  }
}

async function run(id: number, task: Task, signal: AbortSignal): Promise<Outcome> {
  try {
    const loaded = await model;
    if (loaded === undefined) throw new Error('a task came before the model');
    if (signal.aborted) return { type: 'cancelled' };
    return await loaded.run(task, signal, {
      piece: (kind, text) => send({ type: 'piece', id, kind, text }),
      note: (text) => send({ type: 'note', id, text }),
    });
  } catch (error) {
    return { type: 'failed', failure: toFailure(error) };
  }
}

function toFailure(error: unknown): Failure {
  if (error instanceof SluiceError) {
    const { param } = error.options;
    return { code: error.code, message: error.message, ...(param === undefined ? {} : { param }) };
  }
  const message = 'The embedded model failed to answer; the log has the details.';
  return { code: 'provider_failed', message, reason: reasonOf(error) };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function send(message: FromEngine): void {
  // A channel that closed means that the parent is gone; `disconnect` ends this process.
  process.send?.(message, undefined, undefined, () => {});
}
