import { decodeDataUri, isDataUri } from '../../core/data-uri.ts';
import { SluiceError } from '../../core/errors.ts';
import { type ImageInput, MOST_IMAGE_BYTES } from '../../core/image.ts';
import { kindOf } from '../../media/kind.ts';
import { type GuardedFetch, readAll } from '../../outbound/guarded-fetch.ts';

/** A picture of a request as bytes, whatever it is called. */
export interface InputBytes {
  readonly bytes: Buffer;
  readonly mimeType: string;
  /** For forms, with the extension of its content. */
  readonly filename: string;
}

/** Reads a picture of a request, which stands in the field `param`. An address is fetched as hostile input; what the bytes are counts, not what they are called. */
export async function readInput(
  input: ImageInput,
  fetch: GuardedFetch,
  signal: AbortSignal,
  param: 'image' | 'mask' = 'image',
): Promise<InputBytes> {
  const bytes = await bytesOf(input, fetch, signal, param);
  const kind = kindOf(bytes);
  if (kind?.kind !== 'image') {
    throw new SluiceError('invalid_request', 'A picture of the request is no PNG, JPEG, WebP or GIF.', {
      param,
    });
  }
  return { bytes, mimeType: kind.mimeType, filename: `image.${kind.extension}` };
}

async function bytesOf({ url }: ImageInput, fetch: GuardedFetch, signal: AbortSignal, param: string): Promise<Buffer> {
  const accept = 'image/png,image/jpeg,image/webp,image/gif';
  try {
    if (isDataUri(url)) return decodeDataUri(url, MOST_IMAGE_BYTES);
    return await readAll(await fetch(url, { signal, bytes: MOST_IMAGE_BYTES, accept }));
  } catch (error) {
    // The client chose the address. That nothing comes from there is no failure of the provider, which would then rest.
    if (signal.aborted || !(error instanceof SluiceError) || !error.code.startsWith('upstream_')) throw error;
    throw new SluiceError('invalid_request', error.message, { param, cause: error });
  }
}
