import type { Sharp, SharpOptions } from 'sharp';
import { type ConversionLimits, OverLimit, Refusal, type Thumbnail } from './conversion.ts';

const THUMBNAIL_PIXELS = 400;

/** The part of the library that is used. */
export type OpenImage = (bytes: Uint8Array, options: SharpOptions) => Sharp;

/**
 * Size (as it is to be shown: turned as EXIF says) and thumbnail of an image, of its first frame when it is animated. Throws a
 * `Refusal` when it cannot be decoded or has too many pixels; those are counted before anything is unpacked.
 */
export async function readImage(
  bytes: Uint8Array,
  limits: ConversionLimits,
  open: OpenImage,
): Promise<{ width: number; height: number; thumbnail: Thumbnail }> {
  // Cameras and editors write small faults that every browser passes over; a file that breaks off is none of those.
  const options: SharpOptions = { limitInputPixels: limits.pixels, failOn: 'truncated' };
  try {
    const { autoOrient: size } = await open(bytes, { ...options, limitInputPixels: false }).metadata();
    if (size.width * size.height > limits.pixels) {
      throw new OverLimit(
        `has ${size.width} × ${size.height} pixels; at most ${Math.round(limits.pixels / 1e6)} million are read`,
      );
    }
    const thumbnail = await open(bytes, options)
      .autoOrient()
      .resize(THUMBNAIL_PIXELS, THUMBNAIL_PIXELS, { fit: 'inside', withoutEnlargement: true })
      .webp({ quality: 80 })
      .toBuffer();
    return { width: size.width, height: size.height, thumbnail: { mimeType: 'image/webp', bytes: thumbnail } };
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal('is a damaged image', { cause: error });
  }
}
