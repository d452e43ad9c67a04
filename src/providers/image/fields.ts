import type { Call } from '../../core/call.ts';
import type { ImageRequest, ImageSize } from '../../core/image.ts';

/** Fields that every provider gets in their own place of a request, and those that are served here. */
const COMMON: ReadonlySet<string> = new Set([
  ...[
    'prompt',
    'model',
    'n',
    'image',
    'image[]',
    'images',
    'mask',
    'user',
    'response_format',
    'stream',
    'partial_images',
  ],
  ...['size', 'width', 'height', 'aspect_ratio', 'seed'],
]);

/**
 * What a request says beyond what every provider knows, as far as the provider takes it: `all`, or these names. What has no
 * place there is reported.
 */
export function furtherFields(
  { fields }: ImageRequest,
  call: Call,
  takes: readonly string[] | 'all',
): Readonly<Record<string, unknown>> {
  const further = Object.entries(fields).filter(([name, value]) => !COMMON.has(name) && value !== null);
  return Object.fromEntries(
    further.filter(([name]) => {
      if (takes === 'all' || takes.includes(name)) return true;
      call.drop(name);
      return false;
    }),
  );
}

/** Ratios that vendors have names for. */
const RATIOS = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '4:5', '5:4', '21:9', '9:21'] as const;

/** The ratio of a size, when it is one that vendors know (within one percent, since sizes are multiples of 8). */
export function ratioOf({ width, height }: ImageSize, known: readonly string[] = RATIOS): string | undefined {
  return known.find((ratio) => {
    const [x = 1, y = 1] = ratio.split(':').map(Number);
    return Math.abs(width / height / (x / y) - 1) < 0.01;
  });
}

/** The ratio that a request asks for, in a vendor's own words; reports a size or ratio that it does not know. */
export function aspectRatioOf(request: ImageRequest, call: Call, known?: readonly string[]): string | undefined {
  const { size, aspectRatio } = request;
  if (size !== undefined) {
    const ratio = ratioOf(size, known);
    if (ratio === undefined) call.drop('size');
    return ratio;
  }
  if (aspectRatio === undefined || known === undefined || known.includes(aspectRatio)) return aspectRatio;
  call.drop('aspect_ratio');
  return undefined;
}

/** A size in pixels for upstreams that know nothing else: that of the request, or one of its ratio with about `pixels` in it. */
export function sizeFor(request: ImageRequest, pixels: number, multiple = 64): ImageSize {
  const [x = 1, y = 1] = (request.aspectRatio ?? '1:1').split(':').map(Number);
  const ratio = x > 0 && y > 0 ? x / y : 1;
  const width = Math.sqrt(pixels * ratio);
  const fitting = (length: number): number => Math.max(multiple, Math.round(length / multiple) * multiple);
  return request.size ?? { width: fitting(width), height: fitting(width / ratio) };
}

/** What to draw where nobody said so. */
export function promptFor({ task, prompt }: ImageRequest): string {
  return prompt === '' && task === 'variation' ? 'A variation of the picture.' : prompt;
}
