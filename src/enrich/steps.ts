import type { Buckets } from '../buckets/buckets.ts';
import type { Stores } from '../core/stores.ts';
import type { Step } from '../core/stream.ts';
import type { MediaStore } from '../media/store.ts';
import type { WebSearch } from '../search/search.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { bucketStep } from './buckets.ts';
import { keptMediaStep } from './kept-media.ts';
import { mediaStep } from './media.ts';
import { memoryStep } from './memory.ts';
import { thinkTags } from './think-tags.ts';
import { uploadStep } from './uploads.ts';
import { webSearchStep } from './web-search.ts';

interface StepsOptions {
  readonly stores: Pick<Stores, 'memory' | 'files'>;
  readonly search: WebSearch;
  readonly media: MediaStore;
  readonly buckets: Buckets;
  readonly uploads: Uploads;
  /** Sees each answer as it was given, where requests are written down. */
  readonly observing: Step | undefined;
  /** From which origins a provider's media come. */
  readonly originsOf: (provider: string) => readonly string[];
}

/** What happens to every request and its answer, in this order, with what an endpoint adds in the middle. */
export function createSteps(options: StepsOptions): (own: readonly Step[]) => Step[] {
  const { stores, observing } = options;
  // The first has the last word on the answer: sources of a search stand behind everything else.
  // Memory is asked with the user's own words, before results of a search and documents stand among them.
  const before = [
    ...(observing === undefined ? [] : [observing]),
    memoryStep(stores.memory),
    webSearchStep(options.search),
  ];
  // What is kept of an answer is named after the question, so before the text of files becomes a part of it.
  const after = [
    mediaStep(options),
    bucketStep(options.buckets),
    keptMediaStep(stores.files),
    uploadStep(options.uploads),
    thinkTags,
  ];
  return (own) => [...before, ...own, ...after];
}
