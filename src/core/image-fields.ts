import { type ImageRequest, type ImageSize, MOST_IMAGES } from './image.ts';

/** What a request says about its pictures, in the words that all dialects share. */
export function imageNumbers(
  fields: Readonly<Record<string, unknown>>,
): Pick<ImageRequest, 'n' | 'seed' | 'negativePrompt' | 'steps' | 'guidance' | 'partialImages'> {
  const number = (name: string): number | undefined => {
    const value = fields[name];
    return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
  };
  const all = {
    seed: number('seed'),
    negativePrompt: typeof fields['negative_prompt'] === 'string' ? fields['negative_prompt'] : undefined,
    steps: number('num_inference_steps') ?? number('steps'),
    guidance: number('guidance_scale'),
    partialImages: number('partial_images'),
  };
  const known = Object.entries(all).filter(([, value]) => value !== undefined && value !== '');
  return { n: Math.min(MOST_IMAGES, Math.max(1, Math.round(number('n') ?? 1))), ...Object.fromEntries(known) };
}

/** `width` and `height`, or `size` as `WxH`; what is no size is passed over. */
export function sizeOf(fields: Readonly<Record<string, unknown>>): ImageSize | undefined {
  const { width, height, size } = fields;
  if (isPixels(width) && isPixels(height)) return { width, height };
  const [, x, y] = /^(\d{1,5})x(\d{1,5})$/i.exec(typeof size === 'string' ? size.trim() : '') ?? [];
  const found = { width: Number(x), height: Number(y) };
  return isPixels(found.width) && isPixels(found.height) ? found : undefined;
}

/** A whole number from 1 to 16384. */
export function isPixels(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 16_384;
}
