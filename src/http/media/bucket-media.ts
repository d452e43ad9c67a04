import { SluiceError } from '../../core/errors.ts';
import type { Deps, Handler } from '../deps.ts';
import { parseId } from '../edge/body.ts';
import { serve } from './serve.ts';

/** `GET /files/<bucket>/media/<name>` and `…/thumbnail/<name>`. A query cannot send anybody elsewhere. */
export function bucketMedia(deps: Deps): Handler {
  return async (request, reply) => {
    const { id, form, name } = request.params as { id: string; form: string; name: string };
    if (form !== 'media' && form !== 'thumbnail') {
      throw new SluiceError(
        'invalid_request',
        'The path must be /files/<bucket>/media/<name> or /files/<bucket>/thumbnail/<name>.',
      );
    }
    const bucket = parseId(id, 'bucket_id');
    const found = await deps.buckets.media(bucket, name, form === 'thumbnail' ? 'thumbnail' : 'original');
    const info = found === undefined ? undefined : await deps.stores.files.stat(found.path);
    if (found === undefined || info === undefined) throw new SluiceError('not_found', 'File not found.');
    const isThumbnail = found.path === found.file.thumbnail;
    return serve(request, reply, {
      size: info.size,
      modified: info.modified,
      mimeType: isThumbnail ? 'image/webp' : found.file.mimeType,
      // The path is made up anew for every upload.
      etag: found.path.slice(found.path.lastIndexOf('/') + 1),
      cacheControl: 'no-cache',
      open: (range) => deps.buckets.open(found.path, range),
    });
  };
}
