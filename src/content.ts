import { Buckets } from './buckets/buckets.ts';
import type { Config } from './config/config.ts';
import type { Logger } from './core/logger.ts';
import type { Stores } from './core/stores.ts';
import { conversionLimits } from './documents/conversion.ts';
import { type Converter, createConverter } from './documents/converter.ts';
import { ownerNow } from './http/keys.ts';
import { createMediaStore, type MediaNews, type MediaStore } from './media/store.ts';
import {
  createGuardedFetch,
  type GuardedFetch,
  type GuardedSettings,
  guardedLimits,
} from './outbound/guarded-fetch.ts';
import { createPages, type Pages } from './outbound/pages.ts';
import { version } from './package.ts';
import { createWebSearch, type WebSearch } from './search/search.ts';
import { ResumableUploads } from './uploads/resumable.ts';
import { Uploads } from './uploads/uploads.ts';

/** What a conversation brings along or gets beside its words: files, pages of the web, media. */
export interface Content {
  /** For addresses that come with a request. */
  readonly fetch: GuardedFetch;
  readonly pages: Pages;
  readonly converter: Converter;
  readonly buckets: Buckets;
  readonly uploads: Uploads;
  readonly resumable: ResumableUploads;
  readonly media: MediaStore;
  readonly search: WebSearch;
}

interface ContentOptions {
  readonly config: () => Config;
  readonly stores: Stores;
  readonly log: Logger;
  /** What counts as the public Internet; default: what is. */
  readonly internet?: Pick<GuardedSettings, 'resolve' | 'isPublic'> | undefined;
  /** Told when files of a bucket begin and end to come. */
  readonly onUpload?: ((bucket: string, isRunning: boolean) => void) | undefined;
  /** Told that a bucket is about to be deleted. */
  readonly onBucketDelete?: ((bucket: string) => Promise<void>) | undefined;
  /** Told when a kept file comes, with its time of change, or goes. */
  readonly onMedia?: MediaNews | undefined;
}

/** Begins nothing by itself: converters and readers of pages start with the first file or page. */
export function createContent(options: ContentOptions): Content {
  const { config, stores, log, internet, onUpload, onBucketDelete: onDelete, onMedia } = options;
  const { files } = stores;
  const limits = (): Config['limits'] => config().limits;
  const owner = (): string | null => ownerNow(config());
  const converter = createConverter({ limits: () => conversionLimits(limits()), log });
  const fetch = createGuardedFetch({
    ...internet,
    limits: () => guardedLimits(limits()),
    userAgent: `Sluice/${version}`,
  });
  const pages = createPages(fetch);
  const uploads = new Uploads({ records: stores.uploads, files, converter, owner });
  return {
    fetch,
    pages,
    converter,
    buckets: new Buckets({ records: stores.buckets, files, converter, pages, limits, onActivity: onUpload, onDelete }),
    uploads,
    resumable: new ResumableUploads({ files, uploads, owner, mostBytes: () => limits().uploadFileBytes }),
    media: createMediaStore(files, fetch, Date.now, onMedia),
    search: createWebSearch({ fetch, pages, config: () => config().search }),
  };
}
