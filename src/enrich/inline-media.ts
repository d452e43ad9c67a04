import type { MediaPart } from '../core/chat.ts';
import { dataUri } from '../core/data-uri.ts';
import { SluiceError } from '../core/errors.ts';
import { mediaKind } from '../core/media-types.ts';
import { collectBytes } from '../core/pieces.ts';
import type { OpenFile } from '../core/stores.ts';
import type { TakenBytes } from '../core/taken-bytes.ts';

/** Bytes of one media file that is sent to a provider inline. */
const MEDIA_BYTES = 20 * 1024 * 1024;

/** Bytes of what is stored here of which the messages of one request may speak: all of it is in memory until it is on its way. */
export const MOST_BYTES = 64 * 1024 * 1024;

/** What an address of ours looks like: a path, or one at this machine's own names. */
export const OWN_ORIGIN = /^(?:https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?)?/.source;

/** A stored file as a part that every provider can read, in the place of one that led to it. */
export async function inlineMedia(
  opened: OpenFile,
  name: string,
  mimeType: string,
  like: Pick<MediaPart, 'detail' | 'vendor'>,
  taken: TakenBytes,
): Promise<MediaPart> {
  if (opened.size > MEDIA_BYTES) {
    throw new SluiceError(
      'too_large',
      `'${name.slice(0, 100)}' is too large to be sent to a model (${opened.size} bytes).`,
      { param: 'messages' },
    );
  }
  taken.take(opened.size, name, 'messages');
  const bytes = await collectBytes(opened.body);
  return {
    type: 'media',
    kind: mediaKind(mimeType),
    url: dataUri(mimeType, bytes),
    mimeType,
    name,
    ...(like.detail === undefined ? {} : { detail: like.detail }),
    ...(like.vendor === undefined ? {} : { vendor: like.vendor }),
  };
}
