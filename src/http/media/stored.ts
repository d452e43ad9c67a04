import path from 'node:path';
import { SluiceError } from '../../core/errors.ts';
import { mediaTypeOf } from '../../core/media-types.ts';
import { mediaAddress, mediaPath, readMediaName, thumbnailPath } from '../../media/names.ts';
import type { Deps, Handler } from '../deps.ts';
import { validateQuery } from '../validate.ts';
import { serve } from './serve.ts';
import { SearchQuery } from './wire.ts';

/** Stored under its content: it never changes. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/** `GET /media/<name>`, `/images/<name>` and `/thumbnail/<name>`; the name may have slashes. A query leads nowhere else. */
export function storedMedia(deps: Deps, form: 'original' | 'thumbnail'): Handler {
  return async (request, reply) => {
    const name = (request.params as { '*': string })['*'];
    const type = mediaTypeOf(name);
    if (type === undefined) throw notFound();
    const original = mediaPath(name);
    const found =
      (form === 'thumbnail' ? await stat(deps, thumbnailPath(name)) : undefined) ?? (await stat(deps, original));
    if (found === undefined) throw notFound();
    const isSmall = found.path !== original;
    const { seconds, hash } = readMediaName(path.basename(name));
    return serve(request, reply, {
      size: found.size,
      modified: (seconds ?? found.modified / 1_000) * 1_000,
      mimeType: isSmall ? 'image/webp' : type.mimeType,
      etag: `${hash ?? `${found.size}-${Math.round(found.modified)}`}${isSmall ? '-t' : ''}`,
      cacheControl: FOR_EVER,
      open: (range) => deps.stores.files.open(found.path, range),
    });
  };
}

/** `GET /search/<terms>`: leads to a stored file whose name fits. */
export function searchMedia(deps: Deps): Handler {
  return async (request, reply) => {
    const terms = (request.params as { '*': string })['*'];
    const { min, skip, random } = validateQuery(SearchQuery, request.query, 'invalid_request');
    const name = await deps.media.search(terms, {
      skip,
      ...(min === undefined ? {} : { min }),
      ...(random === undefined ? {} : { random: /^(true|1)$/i.test(random) ? true : random }),
    });
    if (name === undefined) throw new SluiceError('not_found', 'Not found: no stored media fits.');
    return reply.redirect(mediaAddress(name), 302);
  };
}

/** Names that no stored file can have are files that do not exist. */
async function stat(deps: Deps, file: string): ReturnType<typeof deps.stores.files.stat> {
  try {
    return await deps.stores.files.stat(file);
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'invalid_request') return undefined;
    throw error;
  }
}

function notFound(): SluiceError {
  return new SluiceError('not_found', 'File not found.');
}
