import { SluiceError } from '../../core/errors.ts';
import { membersOf } from '../../core/objects.ts';
import { fromImageSdk, ratio } from './ai-sdk.ts';
import { drawing } from './describe.ts';
import type { Job, JobRequest } from './job.ts';

/** Its names for how far a request in its queue has come. */
const WAITING: ReadonlySet<unknown> = new Set(['IN_QUEUE', 'IN_PROGRESS']);

/** fal. Requests go through its queue, where they can be called off. */
export const fal = fromImageSdk('fal', {
  baseUrl: 'https://queue.fal.run',
  models: [
    'fal-ai/flux/schnell',
    'fal-ai/flux/dev',
    'fal-ai/flux-pro/v1.1',
    'fal-ai/flux-pro/v1.1-ultra',
    'fal-ai/flux-pro/kontext',
    'fal-ai/nano-banana',
    'fal-ai/qwen-image',
    'fal-ai/recraft/v3/text-to-image',
    'fal-ai/ideogram/v3',
    'fal-ai/bytedance/seedream/v4/text-to-image',
  ].map(drawing),
  modelName: /^[A-Za-z0-9][\w.-]*(\/[A-Za-z0-9][\w.-]*){1,8}$/,
  takes: 'all',
  inputs: 'any',
  masks: true,

  async open(connection) {
    const { createFal } = await import('@ai-sdk/fal');
    return createFal(connection).image;
  },

  toOptions({ size, aspectRatio, images }) {
    return {
      size: size === undefined ? undefined : `${size.width}x${size.height}`,
      aspectRatio: ratio(aspectRatio),
      options: images.length > 1 ? { useMultipleImages: true } : {},
    };
  },

  conduct: () => async (request, job) => withImages(await answerOf(request, job)),
});

/** `queue.fal.run` gives a number to wait with, `fal.run` the result at once. */
async function answerOf(request: JobRequest, job: Job): Promise<unknown> {
  const begun = await job.send(request);
  const { status_url: status, response_url: response, cancel_url: cancel } = membersOf(begun);
  if (typeof status !== 'string' || typeof response !== 'string') return begun;
  const { headers } = request;
  if (typeof cancel === 'string') job.calledOffBy({ method: 'PUT', url: cancel, headers });
  const state = membersOf(
    await job.follow({ method: 'GET', url: status, headers }, (each) => !WAITING.has(membersOf(each)['status'])),
  );
  if (state['status'] === 'CANCELED' || state['status'] === 'FAILED') {
    const { error } = state;
    throw new SluiceError('provider_failed', `fal ended the request${typeof error === 'string' ? `: ${error}` : '.'}`);
  }
  return job.send({ method: 'GET', url: response, headers });
}

/** Its models for videos answer with `video`, which the library does not look for. */
function withImages(answer: unknown): unknown {
  const { images, image, video, videos } = membersOf(answer);
  if (images !== undefined || image !== undefined) return answer;
  if (Array.isArray(videos)) return { images: videos };
  return video === undefined ? { images: [] } : { images: [video] };
}
