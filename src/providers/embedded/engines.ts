import type { Embedder, EmbedderSettings } from './embedder.ts';
import type { Scheduler, SchedulerSettings } from './scheduler.ts';

/** Where the engines of the embedded models run: below this process, unless several processes share them. */
export interface Engines {
  scheduler(settings: SchedulerSettings): Answering;
  embedder(settings: EmbedderSettings): Embedding;
}

export type Answering = Pick<Scheduler, 'contextLength' | 'ask' | 'close'>;
export type Embedding = Pick<Embedder, 'embed' | 'close'>;
