import { SluiceError } from '../core/errors.ts';

/** Pixels of a side that `/thumbnail` shows at most. */
const THUMBNAIL_PIXELS = 400;
/** A picture of a 50-megapixel camera; what has more of them is no picture for a chat. */
const MOST_PIXELS = 50_000_000;
const DECODE_SECONDS = 10;

/** A picture as it is to be shown: turned as its EXIF orientation says. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  /** WebP, without metadata; absent when the picture itself is no larger. */
  readonly thumbnail?: Buffer;
}

/**
 * Size and thumbnail of a picture, of its first frame when it is animated. Pixels are counted before anything is unpacked.
 * Undefined where the library for pictures is missing.
 */
export async function readPicture(bytes: Uint8Array): Promise<Picture | undefined> {
  const sharp = await loadSharp();
  if (sharp === undefined) return undefined;
  try {
    const metadata = await sharp(bytes, { limitInputPixels: false }).metadata();
    const { width, height } = metadata.autoOrient;
    if (width * height > MOST_PIXELS) {
      throw new SluiceError('upstream_invalid', `The image has ${width} × ${height} pixels, which is too many.`);
    }
    if (width <= THUMBNAIL_PIXELS && height <= THUMBNAIL_PIXELS) return { width, height };
    const thumbnail = await sharp(bytes, { limitInputPixels: MOST_PIXELS, failOn: 'truncated' })
      .timeout({ seconds: DECODE_SECONDS })
      .autoOrient()
      .resize(THUMBNAIL_PIXELS, THUMBNAIL_PIXELS, { fit: 'inside' })
      .webp({ quality: 80 })
      .toBuffer();
    return { width, height, thumbnail };
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    throw new SluiceError('upstream_invalid', 'The image is damaged.', { cause: error });
  }
}

async function loadSharp(): Promise<typeof import('sharp')['default'] | undefined> {
  try {
    return (await import('sharp')).default;
  } catch {
    return undefined;
  }
}
