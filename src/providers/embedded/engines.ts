import type { Embedder, EmbedderSettings } from './embedder.ts';
import type { Scheduler, SchedulerSettings } from './scheduler.ts';

/** Where the engines of the embedded models run: below this process, unless several processes share them. */
export interface Engines {
  scheduler(settings: SchedulerSettings): Answering;
  embedder(settings: EmbedderSettings): Embedding;
}

/** A scheduler, wherever it runs. */
export type Answering = Pick<Scheduler, 'contextLength' | 'ask' | 'close'>;
/** An embedder, wherever it runs. */
export type Embedding = Pick<Embedder, 'embed' | 'close'>;
