import type { ProviderConfig } from '../../config/config.ts';
import type { Call } from '../../core/call.ts';
import { dataUri } from '../../core/data-uri.ts';
import { SluiceError } from '../../core/errors.ts';
import type { ImageAnswer, ImageRequest, ImageWatcher, MadeImage } from '../../core/image.ts';
import { membersOf, wordsOf } from '../../core/objects.ts';
import type { Provider } from '../../core/provider.ts';
import { kindOf } from '../../media/kind.ts';
import { headersFor } from '../about.ts';
import { askBytes, askJson, reported } from './ask.ts';
import type { ImageProviderDeps } from './deps.ts';
import { aspectRatioOf, furtherFields, promptFor } from './fields.ts';
import { readInput } from './inputs.ts';
import { poll } from './poll.ts';

const BASE_URL = 'https://generativelanguage.googleapis.com/v1beta';
const RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9'];
/** Between two looks at a video that is being made. */
const PAUSES = { first: 500, longest: 10_000 };

/**
 * The same provider, which now also draws with models that do nothing else: Imagen, and Veo for videos. The library speaks of
 * Gemini's pictures only, which come by chats (`routing/drawing.ts`).
 */
export function withGoogleImages(provider: Provider, config: ProviderConfig, deps: ImageProviderDeps): Provider {
  const baseUrl = config.baseUrl ?? BASE_URL;

  async function image(request: ImageRequest, call: Call, watcher: ImageWatcher): Promise<ImageAnswer> {
    const model = request.model.replace(/^models\//, '');
    if (!/^[A-Za-z0-9][\w.-]{0,127}$/.test(model)) {
      throw new SluiceError('model_not_found', `${config.label} has no model of that name.`, { param: 'model' });
    }
    const isVideo = model.startsWith('veo-');
    const headers = { ...headersFor(config, call.credentials), 'content-type': 'application/json' };
    const [picture] = await Promise.all(request.images.map((each) => readInput(each, deps.guardedFetch, call.signal)));
    if ((picture !== undefined && !isVideo) || request.mask !== undefined) {
      throw new SluiceError('not_supported', `This model of ${config.label} draws from words alone.`, {
        param: 'image',
      });
    }
    const start =
      picture === undefined
        ? {}
        : { image: { bytesBase64Encoded: picture.bytes.toString('base64'), mimeType: picture.mimeType } };
    const body = JSON.stringify({
      instances: [{ prompt: promptFor(request), ...start }],
      parameters: parametersOf(request, call, isVideo),
    });
    const url = `${baseUrl}/models/${model}:${isVideo ? 'predictLongRunning' : 'predict'}`;
    const json = membersOf(await askJson(deps, { url, method: 'POST', headers, body }, call.signal));
    if (!isVideo) return { images: predictions(json['predictions'], config.label) };
    const { name } = json;
    if (typeof name !== 'string' || !/^[\w./-]+$/.test(name)) {
      throw new SluiceError('upstream_invalid', `${config.label} did not begin the video.`);
    }
    const look = async (): Promise<Record<string, unknown>> => {
      const state = await askJson(deps, { url: `${baseUrl}/${name}`, method: 'GET', headers }, call.signal);
      watcher.alive();
      return membersOf(state);
    };
    const isOver = ({ done, error: failed }: Record<string, unknown>): boolean => done === true || failed !== undefined;
    const { error, response } = await poll(look, isOver, PAUSES, call.signal);
    if (error !== undefined) throw reported('provider_failed', config.label, membersOf(error)['message']);
    return { images: await videos(response, call) };
  }

  async function videos(response: unknown, call: Call): Promise<MadeImage[]> {
    const { generatedSamples: samples, raiMediaFilteredReasons: reasons } = membersOf(
      membersOf(response)['generateVideoResponse'],
    );
    if (!Array.isArray(samples) || samples.length === 0) {
      throw reported('invalid_request', config.label, Array.isArray(reasons) ? reasons.join(' ') : undefined);
    }
    return Promise.all(samples.map((sample) => video(wordsOf(membersOf(membersOf(sample)['video'])['uri']), call)));
  }

  /** Videos of Google's are shown to the holder of the key only, so they are fetched here. */
  async function video(uri: string, call: Call): Promise<MadeImage> {
    if (!URL.canParse(uri) || new URL(uri).origin !== new URL(baseUrl).origin) return { kind: 'video', url: uri };
    const headers = headersFor(config, call.credentials);
    const { bytes } = await askBytes(deps, { url: uri, method: 'GET', headers }, call.signal);
    const { mimeType = 'video/mp4' } = kindOf(bytes) ?? {};
    return { kind: 'video', url: dataUri(mimeType, bytes), mimeType };
  }

  return Object.assign(provider, { image } satisfies Pick<Provider, 'image'>);
}

function parametersOf(request: ImageRequest, call: Call, isVideo: boolean): Record<string, unknown> {
  const further = furtherFields(
    request,
    call,
    isVideo ? ['negative_prompt', 'resolution', 'duration'] : ['resolution'],
  );
  const { resolution, duration } = further;
  const ratio = aspectRatioOf(request, call, isVideo ? ['16:9', '9:16'] : RATIOS);
  if (request.seed !== undefined && !isVideo) call.drop('seed');
  return {
    ...(isVideo ? {} : { sampleCount: request.n }),
    ...(ratio === undefined ? {} : { aspectRatio: ratio }),
    ...(isVideo && request.seed !== undefined ? { seed: request.seed } : {}),
    ...(isVideo && request.negativePrompt !== undefined ? { negativePrompt: request.negativePrompt } : {}),
    ...(resolution === undefined ? {} : isVideo ? { resolution } : { sampleImageSize: resolution }),
    ...(duration === undefined ? {} : { durationSeconds: duration }),
  };
}

function predictions(list: unknown, label: string): MadeImage[] {
  const found = (Array.isArray(list) ? list : []).map(membersOf);
  const images = found.flatMap(({ bytesBase64Encoded: data, mimeType = 'image/png', prompt }): MadeImage[] => {
    if (typeof data !== 'string' || typeof mimeType !== 'string') return [];
    const said = typeof prompt === 'string' ? { revisedPrompt: prompt } : {};
    return [{ kind: 'image', url: dataUri(mimeType, data), mimeType, ...said }];
  });
  const filtered = found.find(({ raiFilteredReason: reason }) => typeof reason === 'string');
  if (images.length === 0 && filtered !== undefined) {
    throw reported('invalid_request', label, filtered['raiFilteredReason']);
  }
  return images;
}
