import type { Limits } from '../../config/config.ts';
import { dataUri } from '../../core/data-uri.ts';
import { decoded } from '../../core/decoded.ts';
import { SluiceError } from '../../core/errors.ts';
import { type ImageInput, MOST_IMAGE_BYTES } from '../../core/image.ts';
import { mediaTypeOf } from '../../core/media-types.ts';
import { collectBytes } from '../../core/pieces.ts';
import type { OpenFile } from '../../core/stores.ts';
import { TakenBytes } from '../../core/taken-bytes.ts';
import { uploadIn } from '../../core/upload-address.ts';
import { kindOf } from '../../media/kind.ts';
import { mediaPath, nameOfAddress } from '../../media/names.ts';
import type { Deps } from '../deps.ts';

/** Bytes of the pictures of one request, which are held in memory until they have gone on. */
export function mostInAll(limits: Limits): number {
  return 10 * limits.chatBodyBytes;
}

const OF_BUCKET = /^\/files\/([A-Za-z0-9_-]{1,64})\/(?:media|thumbnail)\/([^/?#]+)$/;

/**
 * What makes the pictures of one request inline that are kept here, by their path or their whole address. Others stay as they are.
 * Failures name the field that a picture stands in.
 */
export function inliner(
  deps: Deps,
  origin: string,
): (input: ImageInput, param: 'image' | 'mask') => Promise<ImageInput> {
  const taken = new TakenBytes(mostInAll(deps.config().limits));
  return async (input, param) => {
    const path = pathOf(input.url, origin);
    if (path === undefined) return input;
    const file = await openStored(path, param, deps);
    const known = mediaTypeOf(file?.path ?? '');
    if (file === undefined || (known !== undefined && known.kind !== 'image')) throw noPicture(path, param);
    if (file.size > MOST_IMAGE_BYTES) {
      throw new SluiceError('too_large', `The picture has more than ${MOST_IMAGE_BYTES} bytes.`, { param });
    }
    taken.take(file.size, path, param);
    const bytes = await collectBytes(file.body);
    // The path of a file that was sent says nothing of its type.
    const type = known ?? kindOf(bytes);
    if (type?.kind !== 'image') throw noPicture(path, param);
    const { mimeType } = type;
    return { url: dataUri(mimeType, bytes), mimeType };
  };
}

function noPicture(path: string, param: string): SluiceError {
  return new SluiceError('not_found', `There is no picture '${path.slice(0, 200)}' here.`, { param });
}

/** The path of an address that leads here. */
function pathOf(url: string, origin: string): string | undefined {
  const path = url.startsWith(`${origin}/`) ? url.slice(origin.length) : url;
  return path.startsWith('/') ? path.split('?', 1)[0] : undefined;
}

async function openStored(path: string, param: string, deps: Deps): Promise<OpenFile | undefined> {
  const sent = uploadIn(path);
  if (sent !== undefined) return deps.uploads.open(await deps.uploads.get(sent, param));
  const stored = nameOfAddress(path);
  if (stored !== undefined) return deps.stores.files.open(mediaPath(stored));
  const [, bucket, name] = OF_BUCKET.exec(path) ?? [];
  if (bucket === undefined || name === undefined) return undefined;
  const found = await deps.buckets.media(bucket, decoded(name), 'original');
  return found === undefined ? undefined : deps.buckets.open(found.path);
}
