import { addressPart } from '../../core/address-part.ts';
import { membersOf } from '../../core/objects.ts';
import { fromImageSdk, ratio } from './ai-sdk.ts';
import { reported } from './ask.ts';
import { drawing } from './describe.ts';
import { aspectRatioOf } from './fields.ts';
import type { JobRequest } from './job.ts';

const RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9', '9:21', '21:9'];
/** Its models for videos; the others make pictures. */
const VIDEO = /^ray-/;

/** Luma's Dream Machine. */
export const luma = fromImageSdk('luma', {
  baseUrl: 'https://api.lumalabs.ai',
  models: [...['photon-1', 'photon-flash-1'].map(drawing), ...['ray-2', 'ray-flash-2'].map(video)],
  modelName: /^[A-Za-z0-9][\w.-]{0,63}$/,
  takes: ['resolution', 'duration', 'loop', 'referenceType'],
  inputs: 'address',
  masks: false,

  async open(connection) {
    const { createLuma } = await import('@ai-sdk/luma');
    return createLuma(connection).image;
  },

  toOptions(request, call) {
    if (request.seed !== undefined) call.drop('seed');
    return {
      size: undefined,
      aspectRatio: ratio(aspectRatioOf(request, call, RATIOS)),
      // How long it may take is decided elsewhere: the call is cancelled then.
      options: { maxPollAttempts: 1_000_000 },
    };
  },

  conduct: (model) => async (asked, job) => {
    const request = VIDEO.test(model) ? forVideo(asked) : asked;
    const generation = await job.send(request);
    const { id, state, failure_reason: reason, assets } = membersOf(generation);
    if (state === 'failed') throw reported('provider_failed', 'Luma', reason);
    if (request.method === 'POST' && typeof id === 'string') {
      const url = `${request.url.replace(/\/image$/, '')}/${addressPart(id)}`;
      job.calledOffBy({ method: 'DELETE', url, headers: request.headers });
    }
    const { image, video: film } = membersOf(assets);
    // The library knows pictures only.
    return { ...membersOf(generation), assets: typeof (image ?? film) === 'string' ? { image: image ?? film } : null };
  },
});

/** The library asks for pictures; videos are asked for one step above. */
function forVideo(request: JobRequest): JobRequest {
  return { ...request, url: request.url.replace(/\/generations\/image$/, '/generations') };
}

function video(id: string) {
  return { id, type: 'video', video: true } as const;
}
