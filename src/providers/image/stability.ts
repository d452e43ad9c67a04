import type { ProviderConfig } from '../../config/config.ts';
import type { Call } from '../../core/call.ts';
import { dataUri } from '../../core/data-uri.ts';
import { SluiceError } from '../../core/errors.ts';
import type { ImageRequest, MadeImage } from '../../core/image.ts';
import { fieldText, membersOf } from '../../core/objects.ts';
import type { Provider } from '../../core/provider.ts';
import { headersFor } from '../about.ts';
import { type FormPart, toForm } from '../form.ts';
import { fewAtOnce } from '../tasks/batches.ts';
import { type AskDeps, askJson } from './ask.ts';
import type { ImageProviderDeps } from './deps.ts';
import { describe, drawing } from './describe.ts';
import { aspectRatioOf, furtherFields, promptFor } from './fields.ts';
import { readInput } from './inputs.ts';

const BASE_URL = 'https://api.stability.ai';
const RATIOS = ['16:9', '1:1', '21:9', '2:3', '3:2', '4:5', '5:4', '9:16', '9:21'];
/** How far a picture may get away from the one it is made of, where nobody said so: 0 not at all, 1 entirely. */
const STRENGTH = '0.7';
/** Models with an endpoint of their own; all others are names within that of Stable Diffusion 3. */
const ENDPOINTS: Readonly<Record<string, string>> = { 'stable-image-core': 'core', 'stable-image-ultra': 'ultra' };

/** Stability AI's `v2beta` API: forms, each with one picture in answer. */
export function stability(config: ProviderConfig, deps: ImageProviderDeps): Provider {
  const models = ['stable-image-core', 'stable-image-ultra', 'sd3.5-large', 'sd3.5-large-turbo', 'sd3.5-medium'];
  return {
    ...describe(config, models.map(drawing)),
    async image(request, call, watcher) {
      const { path, parts } = await toParts(request, call, deps);
      const headers = { ...headersFor(config, call.credentials), accept: 'application/json' };
      const url = `${config.baseUrl ?? BASE_URL}/v2beta/stable-image/${path}`;
      const seeds = Array.from({ length: request.n }, (_, index): FormPart[] =>
        request.seed === undefined ? [] : [{ name: 'seed', text: String(request.seed + index) }],
      );
      // The vendor makes one a request.
      const images = await fewAtOnce(seeds, call, async (seed, signal) => {
        const { contentType, body } = toForm([...parts, ...seed]);
        const question = { url, method: 'POST', headers: { ...headers, 'content-type': contentType }, body } as const;
        const image = toImage(await askJson(deps satisfies AskDeps, question, signal), config.label);
        watcher.alive();
        return image;
      });
      return { images };
    },
  };
}

/** Where a request goes and what it says, but for the seed. */
async function toParts(
  request: ImageRequest,
  call: Call,
  deps: ImageProviderDeps,
): Promise<{ readonly path: string; readonly parts: readonly FormPart[] }> {
  const { model, images, mask, negativePrompt } = request;
  const endpoint = (Object.hasOwn(ENDPOINTS, model) ? ENDPOINTS[model] : undefined) ?? 'sd3';
  const [first, ...others] = await Promise.all(images.map((each) => readInput(each, deps.guardedFetch, call.signal)));
  if (others.length > 0) call.drop('image');
  const isInpaint = mask !== undefined && first !== undefined;
  if (first !== undefined && !isInpaint && endpoint === 'core') {
    throw new SluiceError('not_supported', 'This model draws from words alone; take another one for pictures.', {
      param: 'model',
    });
  }
  const further = furtherFields(request, call, [
    ...['output_format', 'style_preset', 'cfg_scale', 'strength', 'grow_mask', 'negative_prompt'],
  ]);
  const texts: Record<string, unknown> = { prompt: promptFor(request), output_format: 'png', ...further };
  if (negativePrompt !== undefined) texts['negative_prompt'] = negativePrompt;
  if (first === undefined) {
    const ratio = aspectRatioOf(request, call, RATIOS);
    if (ratio !== undefined) texts['aspect_ratio'] = ratio;
  } else if (!isInpaint) {
    texts['strength'] ??= STRENGTH;
    if (endpoint === 'sd3') texts['mode'] = 'image-to-image';
  }
  if (endpoint === 'sd3' && !isInpaint && model !== '') texts['model'] = model;
  const parts: FormPart[] = Object.entries(texts).map(([name, value]) => ({ name, text: fieldText(value) }));
  if (first !== undefined) parts.push({ name: 'image', ...first });
  if (isInpaint) parts.push({ name: 'mask', ...(await readInput(mask, deps.guardedFetch, call.signal, 'mask')) });
  return { path: isInpaint ? 'edit/inpaint' : `generate/${endpoint}`, parts };
}

function toImage(json: unknown, label: string): MadeImage {
  const { image, finish_reason: reason } = membersOf(json);
  if (reason === 'CONTENT_FILTERED') {
    throw new SluiceError('invalid_request', `${label} does not show the picture, since its content was filtered.`);
  }
  if (typeof image !== 'string' || image === '') {
    throw new SluiceError('upstream_invalid', `${label} answered without an image.`);
  }
  return { kind: 'image', url: dataUri('image/png', image), mimeType: 'image/png' };
}
