import type { ProviderConfig } from '../../config/config.ts';
import type { Call, Credentials } from '../../core/call.ts';
import { base64Of, dataUri } from '../../core/data-uri.ts';
import { SluiceError } from '../../core/errors.ts';
import type { ImageRequest } from '../../core/image.ts';
import type { Model } from '../../core/model.ts';
import { defined, membersOf, parseJson, wordsOf } from '../../core/objects.ts';
import type { Provider } from '../../core/provider.ts';
import { headersFor } from '../about.ts';
import { askJson } from './ask.ts';
import type { ImageProviderDeps } from './deps.ts';
import { describe } from './describe.ts';
import { promptFor, sizeFor } from './fields.ts';
import { readInput } from './inputs.ts';

const BASE_URL = 'http://127.0.0.1:7860';
/** How long an interruption may take, which nobody waits for. */
const INTERRUPT_MS = 5_000;
/** How far a picture may get away from the one it is made of, where nobody said so. */
const STRENGTH = 0.7;
/** Pixels where nobody named a size: what the first models were made for. */
const PIXELS = 512 * 512;
/** Fields of our own words that stand in another place. */
const TRANSLATED: ReadonlySet<string> = new Set([
  ...[
    'prompt',
    'model',
    'n',
    'size',
    'image',
    'images',
    'mask',
    'aspect_ratio',
    'resolution',
    'user',
    'quality',
    'style',
  ],
  ...['response_format', 'stream', 'partial_images', 'num_inference_steps', 'guidance_scale', 'strength', 'background'],
  ...['output_format', 'output_compression', 'moderation', 'input_fidelity'],
]);
/** What would write files on its machine or run code there. */
const NOT_PASSED_ON =
  /^(save_images|do_not_save_\w+|script_\w+|alwayson_scripts|override_settings\w*|send_images|styles)$/;

/** AUTOMATIC1111's Stable Diffusion web UI and those that speak its API (Forge, SD.Next, stable-diffusion.cpp). */
export function automatic1111(config: ProviderConfig, deps: ImageProviderDeps): Provider {
  const baseUrl = config.baseUrl ?? BASE_URL;
  /** Ours that run there now. */
  let running = 0;

  const headersOf = (credentials: Credentials) => ({
    ...headersFor(config, credentials),
    'content-type': 'application/json',
  });

  async function models(credentials: Credentials, signal: AbortSignal): Promise<readonly Model[]> {
    const url = `${baseUrl}/sdapi/v1/sd-models`;
    const listing = await askJson(deps, { url, method: 'GET', headers: headersOf(credentials) }, signal);
    return (Array.isArray(listing) ? listing : []).flatMap((entry) => {
      const { model_name: name, title } = membersOf(entry);
      if (typeof name !== 'string' || name === '') return [];
      return [
        { id: name, ...(typeof title === 'string' ? { label: title } : {}), type: 'image', image: true } as const,
      ];
    });
  }

  /** What it draws now has no number, so this is for when no other request of ours can have asked. */
  function interrupt(call: Call): void {
    const headers = headersOf(call.credentials);
    const question = { url: `${baseUrl}/sdapi/v1/interrupt`, method: 'POST', headers } as const;
    askJson(deps, question, AbortSignal.timeout(INTERRUPT_MS)).catch((error: unknown) =>
      call.log.warn({ id: call.id, error: String(error) }, 'a job upstream was not called off'),
    );
  }

  return {
    ...describe(config, models),
    async image(request, call) {
      const body = JSON.stringify(await toBody(request, call, deps));
      const url = `${baseUrl}/sdapi/v1/${request.images.length === 0 ? 'txt2img' : 'img2img'}`;
      const unlisten = call.onCancel(() => deps.isAlone && running === 1 && interrupt(call));
      running += 1;
      try {
        const headers = headersOf(call.credentials);
        const json = membersOf(await askJson(deps, { url, method: 'POST', headers, body }, call.signal));
        const images = Array.isArray(json['images']) ? json['images'] : [];
        // A grid of all comes first where the operator wants one; ControlNet's maps come last.
        const first = images.length > request.n && request.n > 1 ? Number(gridIndex(json['info'])) : 0;
        return {
          images: images.slice(first, first + request.n).flatMap((image) => {
            if (typeof image !== 'string') return [];
            const data = base64Of(image) ?? image;
            return [{ kind: 'image', url: dataUri('image/png', data), mimeType: 'image/png' } as const];
          }),
        };
      } finally {
        running -= 1;
        unlisten();
      }
    },
  };
}

async function toBody(request: ImageRequest, call: Call, deps: ImageProviderDeps): Promise<Record<string, unknown>> {
  const { fields, images, mask, model, n, seed, negativePrompt, steps, guidance } = request;
  const further = Object.entries(fields).filter(([name, value]) => {
    if (value === null || TRANSLATED.has(name)) return false;
    if (NOT_PASSED_ON.test(name)) call.drop(name);
    return !NOT_PASSED_ON.test(name);
  });
  const pictures = await Promise.all(images.map((each) => readInput(each, deps.guardedFetch, call.signal)));
  if (mask !== undefined && pictures.length === 0) {
    throw new SluiceError('invalid_request', 'A mask needs a picture to work on.', { param: 'image' });
  }
  const { width, height } = sizeFor(request, PIXELS);
  const strength = fields['strength'];
  return {
    ...Object.fromEntries(further),
    prompt: promptFor(request),
    width,
    height,
    batch_size: n,
    ...defined({ negative_prompt: negativePrompt, seed, steps, cfg_scale: guidance }),
    ...(model === '' ? {} : { override_settings: { sd_model_checkpoint: model } }),
    ...(pictures.length === 0
      ? {}
      : {
          init_images: pictures.map(({ bytes }) => bytes.toString('base64')),
          denoising_strength: fields['denoising_strength'] ?? (typeof strength === 'number' ? strength : STRENGTH),
        }),
    ...(mask === undefined
      ? {}
      : { mask: (await readInput(mask, deps.guardedFetch, call.signal, 'mask')).bytes.toString('base64') }),
  };
}

function gridIndex(info: unknown): number {
  const { index_of_first_image: index } = membersOf(parseJson(wordsOf(info)));
  return typeof index === 'number' && index >= 0 ? index : 0;
}
