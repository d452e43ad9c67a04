import { membersOf } from '../../core/objects.ts';
import { fromImageSdk, ratio } from './ai-sdk.ts';
import { reported } from './ask.ts';
import { drawing } from './describe.ts';
import { ratioOf } from './fields.ts';

/** Replicate. */
export const replicate = fromImageSdk('replicate', {
  baseUrl: 'https://api.replicate.com/v1',
  models: [
    'black-forest-labs/flux-schnell',
    'black-forest-labs/flux-dev',
    'black-forest-labs/flux-1.1-pro',
    'black-forest-labs/flux-1.1-pro-ultra',
    'black-forest-labs/flux-kontext-pro',
    'google/nano-banana',
    'qwen/qwen-image',
    'ideogram-ai/ideogram-v3-turbo',
    'recraft-ai/recraft-v3',
    'stability-ai/stable-diffusion-3.5-large',
    'bytedance/seedream-4',
  ].map(drawing),
  modelName: /^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*(:[0-9a-f]{8,64})?$/,
  takes: 'all',
  inputs: 'any',
  masks: true,

  async open({ apiKey, ...connection }) {
    const { createReplicate } = await import('@ai-sdk/replicate');
    return createReplicate({ ...connection, apiToken: apiKey }).image;
  },

  toOptions({ size, aspectRatio }) {
    return {
      aspectRatio: ratio(size === undefined ? aspectRatio : ratioOf(size)),
      size: undefined,
      // How long it may take is decided elsewhere: the call is cancelled then.
      options: { maxPollAttempts: 1_000_000, pollIntervalMillis: 500, ...size },
    };
  },

  conduct: () => async (request, job) => {
    const prediction = await job.send(request);
    const { status, error, urls } = membersOf(prediction);
    if (status === 'failed' || status === 'canceled') throw reported('provider_failed', 'Replicate', error ?? status);
    const { cancel } = membersOf(urls);
    if (request.method === 'POST' && typeof cancel === 'string' && status !== 'succeeded') {
      job.calledOffBy({ method: 'POST', url: cancel, headers: request.headers });
    }
    return prediction;
  },
});
