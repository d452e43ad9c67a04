import { type OpenPicture, type PictureSize, sizeOf, thumbnailOf } from '../media/picture.ts';
import { type ConversionLimits, OverLimit, Refusal, type Thumbnail } from './conversion.ts';

/** Size and thumbnail of an image. Throws a `Refusal` when it cannot be decoded or has too many pixels. */
export async function readImage(
  bytes: Uint8Array,
  limits: ConversionLimits,
  open: OpenPicture,
): Promise<PictureSize & { readonly thumbnail: Thumbnail }> {
  try {
    const { width, height } = await sizeOf(open, bytes);
    if (width * height > limits.pixels) {
      const most = Math.round(limits.pixels / 1e6);
      throw new OverLimit(`has ${width} × ${height} pixels; at most ${most} million are read`);
    }
    const thumbnail = await thumbnailOf(open, bytes, limits.pixels).toBuffer();
    return { width, height, thumbnail: { mimeType: 'image/webp', bytes: thumbnail } };
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal('is a damaged image', { cause: error });
  }
}
