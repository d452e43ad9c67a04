import type { Sharp, SharpOptions } from 'sharp';
import { SluiceError } from '../core/errors.ts';

/** Pixels of a side that `/thumbnail` shows at most. */
const THUMBNAIL_PIXELS = 400;
/** A picture of a 50-megapixel camera; what has more of them is no picture for a chat. */
const MOST_PIXELS = 50_000_000;
const DECODE_SECONDS = 10;

/** The part of the library that is used. */
export type OpenPicture = (bytes: Uint8Array, options: SharpOptions) => Sharp;

/** How large a picture is to be shown. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** The size of a picture, turned as its EXIF orientation says, before anything of it is unpacked. Throws where it is damaged. */
export async function sizeOf(open: OpenPicture, bytes: Uint8Array): Promise<PictureSize> {
  const { autoOrient } = await open(bytes, { limitInputPixels: false, failOn: 'truncated' }).metadata();
  const { width, height } = autoOrient;
  return { width, height };
}

/** What makes the thumbnail of a picture: WebP, without metadata, of its first frame when it is animated. */
export function thumbnailOf(open: OpenPicture, bytes: Uint8Array, mostPixels: number): Sharp {
  // Cameras and editors write small faults that every browser passes over; a file that breaks off is none of those.
  return open(bytes, { limitInputPixels: mostPixels, failOn: 'truncated' })
    .autoOrient()
    .resize(THUMBNAIL_PIXELS, THUMBNAIL_PIXELS, { fit: 'inside', withoutEnlargement: true })
    .webp({ quality: 80 });
}

/** In pixels, as it is to be shown: turned as its metadata say. */
export interface Picture extends PictureSize {
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
    const { width, height } = await sizeOf(sharp, bytes);
    if (width * height > MOST_PIXELS) {
      throw new SluiceError('upstream_invalid', `The image has ${width} × ${height} pixels, which is too many.`);
    }
    if (width <= THUMBNAIL_PIXELS && height <= THUMBNAIL_PIXELS) return { width, height };
    const making = thumbnailOf(sharp, bytes, MOST_PIXELS).timeout({ seconds: DECODE_SECONDS });
    return { width, height, thumbnail: await making.toBuffer() };
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
