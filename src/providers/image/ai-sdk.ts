import type { ImageModelV4, ImageModelV4File, JSONObject } from '@ai-sdk/provider';
import type { Limits, ProviderConfig } from '../../config/config.ts';
import type { Call } from '../../core/call.ts';
import { isDataUri, readDataUri } from '../../core/data-uri.ts';
import { SluiceError } from '../../core/errors.ts';
import type { ImageInput, ImageRequest, MadeImage } from '../../core/image.ts';
import type { Model } from '../../core/model.ts';
import type { Provider } from '../../core/provider.ts';
import { keyFor } from '../about.ts';
import { thrownFailure } from '../ai-sdk/failure.ts';
import { fewAtOnce } from '../tasks/batches.ts';
import { describe } from './describe.ts';
import { furtherFields, promptFor } from './fields.ts';
import { type Conduct, type OpenedJob, openJob } from './job.ts';

/** What the file of a vendor that draws says about it. */
export interface ImageSpec {
  /** Without a trailing slash; the configuration may name another one. */
  readonly baseUrl: string;
  readonly models: readonly Model[];
  /** Names that models may have: they travel into paths. */
  readonly modelName: RegExp;
  /** Loads the library, on first use, and connects it. */
  open(connection: ImageConnection): Promise<(model: string) => ImageModelV4>;
  /** What the library is told instead of what the upstream says. */
  conduct?(model: string): Conduct;
  /** Fields of the request, in the vendor's words, that reach it as they are; `all`: it passes over what it does not know. */
  readonly takes: readonly string[] | 'all';
  /** Which form of the picture's measures it understands, and its own further options. */
  toOptions(request: ImageRequest, call: Call): Pick<ImageOptions, 'size' | 'aspectRatio'> & { options?: JSONObject };
  /** Pictures that it takes: only by address, or in any form. */
  readonly inputs: 'address' | 'any';
  /** Whether it changes only a part of a picture. */
  readonly masks: boolean;
}

type ImageOptions = Parameters<ImageModelV4['doGenerate']>[0];

interface ImageConnection {
  readonly apiKey: string;
  readonly baseURL: string;
  readonly headers: Record<string, string>;
  readonly fetch: typeof fetch;
}

interface ImageSdkDeps {
  readonly fetch: typeof fetch;
  readonly limits: () => Pick<Limits, 'answerBytes'>;
}

/** A provider that only draws, through one of the AI SDK's vendor libraries (`ImageModelV4`). */
export function fromImageSdk(name: string, spec: ImageSpec): (config: ProviderConfig, deps: ImageSdkDeps) => Provider {
  return (config, deps) => ({
    ...describe(config, spec.models),

    async image(request, call, watcher) {
      const apiKey = keyFor(config, call.credentials);
      if (!spec.modelName.test(request.model)) {
        throw new SluiceError('model_not_found', `${config.label} has no model of that name.`, { param: 'model' });
      }
      checkInputs(spec, config, request);
      const options = commonOptions(name, spec, request, call);
      const { fetch, limits } = deps;
      const speaker = { label: config.label, secrets: [apiKey] };
      const baseUrl = config.baseUrl ?? spec.baseUrl;
      const common = { fetch, answerBytes: limits().answerBytes, speaker, baseUrl, call, watcher };
      const open = async (through: typeof fetch): Promise<ImageModelV4> => {
        const connection = { apiKey, baseURL: baseUrl, headers: { ...config.headers }, fetch: through };
        return (await spec.open(connection))(request.model);
      };
      const most = (await open(fetch)).maxImagesPerCall;
      const portions = portionsOf(request, typeof most === 'number' ? most : 1);
      const answers = await fewAtOnce(portions, call, (portion, signal) => {
        const job = openJob({ ...common, signal }, spec.conduct?.(request.model));
        return drawOnce(open, job, { ...options, ...portion, abortSignal: signal }).catch((thrown: unknown) => {
          throw call.cancelled ?? thrownFailure(speaker, thrown);
        });
      });
      return { images: answers.flat() };
    },
  });
}

/** How many pictures each call asks for, and its seed: the same one would give the same pictures again. */
function portionsOf({ n, seed }: ImageRequest, most: number): Pick<ImageOptions, 'n' | 'seed'>[] {
  return Array.from({ length: Math.ceil(n / most) }, (_, index) => ({
    n: Math.min(most, n - index * most),
    seed: seed === undefined ? undefined : seed + index,
  }));
}

async function drawOnce(
  open: (fetch: typeof globalThis.fetch) => Promise<ImageModelV4>,
  job: OpenedJob,
  options: ImageOptions,
): Promise<MadeImage[]> {
  try {
    await (await open(job.fetch)).doGenerate(options);
    return job.results.map(toMade);
  } finally {
    job.done();
  }
}

function toMade(url: string): MadeImage {
  return { kind: /\.(mp4|webm|mov)(\?|$)/i.test(url) ? 'video' : 'image', url };
}

function checkInputs(spec: ImageSpec, { label }: ProviderConfig, { task, images, mask }: ImageRequest): void {
  if (mask !== undefined && !spec.masks) {
    throw new SluiceError('not_supported', `${label} changes whole pictures only.`, { param: 'mask' });
  }
  if (task !== 'generate' && images.length === 0) {
    throw new SluiceError('invalid_request', 'The request has no picture to work on.', { param: 'image' });
  }
  if (spec.inputs === 'address' && images.some(({ url }) => isDataUri(url))) {
    throw new SluiceError(
      'not_supported',
      `${label} takes pictures only by an address on the Internet, not from a file.`,
      { param: 'image' },
    );
  }
}

function commonOptions(name: string, spec: ImageSpec, request: ImageRequest, call: Call): ImageOptions {
  const { size, aspectRatio, options = {} } = spec.toOptions(request, call);
  const further = furtherFields(request, call, spec.takes) as JSONObject;
  return {
    prompt: promptFor(request),
    n: 1,
    size,
    aspectRatio,
    seed: undefined,
    files: request.images.length === 0 ? undefined : request.images.map(toFile),
    mask: request.mask === undefined ? undefined : toFile(request.mask),
    providerOptions: { [name]: { ...options, ...further } },
  };
}

function toFile({ url }: ImageInput): ImageModelV4File {
  const { mimeType: mediaType = '', isBase64 = false, data = '' } = readDataUri(url) ?? {};
  return mediaType === '' || !isBase64 ? { type: 'url', url } : { type: 'file', mediaType, data };
}

/** `16:9` in the library's own type. */
export function ratio(text: string | undefined): ImageOptions['aspectRatio'] {
  const [, x, y] = /^(\d{1,4}):(\d{1,4})$/.exec(text ?? '') ?? [];
  return x === undefined || y === undefined ? undefined : `${Number(x)}:${Number(y)}`;
}
