import type { Deps, Route } from '../deps.ts';
import { bucketMedia } from './bucket-media.ts';
import { SERVED } from './serve.ts';
import { searchMedia, storedMedia } from './stored.ts';
import { SearchQuery } from './wire.ts';

const TAG = 'Stored media';

/** The unprefixed paths of dialect A. */
export function mediaRoutes(deps: Deps): readonly Route[] {
  const bytes = {
    method: 'GET',
    tag: TAG,
    produces: ['image/*', 'audio/*', 'video/*', 'application/octet-stream'],
    ...SERVED,
  } as const;
  return [
    { ...bytes, url: '/media/*', summary: 'A stored file', handler: storedMedia(deps, 'original') },
    { ...bytes, url: '/images/*', summary: 'The same', handler: storedMedia(deps, 'original') },
    {
      ...bytes,
      url: '/thumbnail/*',
      summary: 'A small form of a stored picture',
      handler: storedMedia(deps, 'thumbnail'),
    },
    {
      method: 'GET',
      tag: TAG,
      statuses: [302],
      url: '/search/*',
      summary: 'A stored file whose name fits the terms, which are joined by +',
      query: SearchQuery,
      handler: searchMedia(deps),
    },
    {
      ...bytes,
      url: '/files/:id/:form/:name',
      summary: 'A media file of a bucket (form: media), or its thumbnail (form: thumbnail)',
      handler: bucketMedia(deps),
    },
  ];
}
