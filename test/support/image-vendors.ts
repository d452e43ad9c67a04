import type { ImageCall, ImageReply, ImageScript } from './image-upstream.ts';

/** Upstreams that draw, each in the wire form of its vendor, as far as a scripted answer needs it. */

export interface VendorPlay {
  /** What is drawn, one after the other; the last one again when there are no more. */
  readonly pictures: readonly Buffer[];
  /** How often a job is still under way when it is asked for. */
  readonly rounds?: number;
  /** The job ends with these words instead of a picture. */
  readonly failure?: string;
  /** The first request is answered with this instead. */
  readonly refusal?: ImageReply;
  /** The job never ends. */
  readonly endless?: boolean;
  /** The job is taken, and then nobody knows it any more. */
  readonly isDeleted?: boolean;
}

/** A way to play a vendor at an address. */
export type Vendor = (play: VendorPlay) => (origin: string) => ImageScript;

class Jobs {
  readonly #play: VendorPlay;
  readonly #asked = new Map<string, number>();
  #count = 0;

  constructor(play: VendorPlay) {
    this.#play = play;
  }

  begin(): string {
    this.#count += 1;
    return `job-${this.#count}`;
  }

  get begun(): readonly string[] {
    return Array.from({ length: this.#count }, (_, before) => `job-${before + 1}`);
  }

  /** Whether a job is over, which it is after some rounds. */
  isOver(id: string): boolean {
    const asked = this.#asked.get(id) ?? 0;
    this.#asked.set(id, asked + 1);
    return this.#play.endless !== true && asked >= (this.#play.rounds ?? 1);
  }

  get failure(): string | undefined {
    return this.#play.failure;
  }

  picture(id: string): Buffer {
    const { pictures } = this.#play;
    const at = Number(id.replace(/\D+/g, '')) - 1;
    return pictures[Math.min(at, pictures.length - 1)] ?? Buffer.alloc(0);
  }
}

function result(jobs: Jobs, call: ImageCall): ImageReply | undefined {
  const id = /^\/results\/(job-\d+)\.png$/.exec(call.path)?.[1];
  return id === undefined ? undefined : { bytes: jobs.picture(id), type: 'image/png' };
}

/** fal's queue: https://docs.fal.ai/model-endpoints/queue */
export const falVendor: Vendor = (play) => (origin) => {
  const jobs = new Jobs(play);
  return (call) => {
    const [, app, id, what] = /^\/(.+?)\/requests\/(job-\d+)(\/\w+)?$/.exec(call.path) ?? [];
    if (call.method === 'POST' && id === undefined) {
      if (play.refusal !== undefined) return play.refusal;
      const begun = jobs.begin();
      const [owner, name] = call.path.slice(1).split('/');
      const base = `${origin}/${owner}/${name}/requests/${begun}`;
      const urls = { response_url: base, status_url: `${base}/status`, cancel_url: `${base}/cancel` };
      return { json: { status: 'IN_QUEUE', request_id: begun, ...urls, logs: null, metrics: {}, queue_position: 0 } };
    }
    if (app === undefined || id === undefined) return result(jobs, call);
    if (what === '/cancel') return { status: 202, json: { status: 'CANCELLATION_REQUESTED' } };
    if (what === '/status') {
      const status = jobs.isOver(id) ? 'COMPLETED' : 'IN_PROGRESS';
      return { status: status === 'COMPLETED' ? 200 : 202, json: { status, request_id: id, logs: null } };
    }
    if (jobs.failure !== undefined) {
      const detail = [{ loc: ['body', 'prompt'], msg: jobs.failure, type: 'content_policy_violation', ctx: {} }];
      return { status: 422, json: { detail } };
    }
    const url = `${origin}/results/${id}.png`;
    const image = { url, width: 512, height: 512, content_type: 'image/png' };
    const video = { url: url.replace('.png', '.mp4'), content_type: 'video/mp4', file_name: 'output.mp4' };
    if (app.includes('video')) return { json: { video } };
    return {
      json: { images: [image], timings: { inference: 0.3 }, seed: 7, has_nsfw_concepts: [false], prompt: 'as sent' },
    };
  };
};

/** https://replicate.com/docs/reference/http#predictions.create */
export const replicateVendor: Vendor = (play) => (origin) => {
  const jobs = new Jobs(play);
  const prediction = (id: string, status: string, output: unknown = null, error: unknown = null): ImageReply => ({
    status: status === 'starting' ? 201 : 200,
    json: {
      id,
      model: 'black-forest-labs/flux-schnell',
      version: 'hidden',
      input: {},
      logs: '',
      output,
      data_removed: false,
      error,
      source: 'api',
      status,
      created_at: '2026-10-01T10:00:00.000Z',
      urls: { get: `${origin}/v1/predictions/${id}`, cancel: `${origin}/v1/predictions/${id}/cancel` },
    },
  });
  return (call) => {
    if (call.method === 'POST' && /\/predictions$/.test(call.path)) {
      return play.refusal ?? prediction(jobs.begin(), 'starting');
    }
    const [, id, what] = /^\/v1\/predictions\/(job-\d+)(\/cancel)?$/.exec(call.path) ?? [];
    if (id === undefined) return result(jobs, call);
    if (what !== undefined) return prediction(id, 'canceled');
    if (!jobs.isOver(id)) return prediction(id, 'processing');
    if (jobs.failure !== undefined) return prediction(id, 'failed', null, jobs.failure);
    return prediction(id, 'succeeded', [`${origin}/results/${id}.png`]);
  };
};

/** https://docs.lumalabs.ai/docs/image-generation */
export const lumaVendor: Vendor = (play) => (origin) => {
  const jobs = new Jobs(play);
  const base = '/dream-machine/v1/generations';
  const generation = (id: string, state: string, type: string, assets: unknown = null, reason: unknown = null) => ({
    id,
    generation_type: type,
    state,
    failure_reason: reason,
    created_at: '2026-10-01T10:00:00.000Z',
    assets,
    model: 'photon-1',
    request: {},
  });
  return (call) => {
    if (call.method === 'POST' && [base, `${base}/image`].includes(call.path)) {
      if (play.refusal !== undefined) return play.refusal;
      const type = call.path === base ? 'video' : 'image';
      return { status: 201, json: generation(jobs.begin(), 'queued', type) };
    }
    const id = new RegExp(`^${base}/(job-\\d+)$`).exec(call.path)?.[1];
    if (id === undefined) return result(jobs, call);
    if (call.method === 'DELETE') return { json: {} };
    if (!jobs.isOver(id)) return { json: generation(id, 'dreaming', 'image') };
    if (jobs.failure !== undefined) return { json: generation(id, 'failed', 'image', null, jobs.failure) };
    const image = `${origin}/results/${id}.png`;
    return { json: generation(id, 'completed', 'image', { image, video: null, progress_video: null }) };
  };
};

/** https://platform.stability.ai/docs/api-reference */
export const stabilityVendor: Vendor = (play) => () => {
  const jobs = new Jobs(play);
  return (call) => {
    if (!call.path.startsWith('/v2beta/stable-image/')) return undefined;
    if (play.refusal !== undefined) return play.refusal;
    if (jobs.failure !== undefined) return { json: { finish_reason: jobs.failure, seed: 7, image: '' } };
    return { json: { image: jobs.picture(jobs.begin()).toString('base64'), finish_reason: 'SUCCESS', seed: 7 } };
  };
};

/** https://github.com/AUTOMATIC1111/stable-diffusion-webui/wiki/API */
export const automatic1111Vendor: Vendor = (play) => () => {
  const jobs = new Jobs(play);
  return (call) => {
    switch (call.path) {
      case '/sdapi/v1/sd-models': {
        const row = {
          model_name: 'sd_xl_base_1.0',
          title: 'sd_xl_base_1.0.safetensors [31e35c80fc]',
          hash: '31e35c80fc',
        };
        return { json: [{ ...row, sha256: null, filename: '/models/sd_xl_base_1.0.safetensors', config: null }] };
      }
      case '/sdapi/v1/interrupt':
        return { json: {} };
      case '/sdapi/v1/txt2img':
      case '/sdapi/v1/img2img': {
        if (play.refusal !== undefined) return play.refusal;
        if (play.endless === true) return { silent: true };
        const count = Number(call.json.batch_size ?? 1);
        const images = Array.from({ length: count }, () => jobs.picture(jobs.begin()).toString('base64'));
        const info = JSON.stringify({ prompt: call.json.prompt, seed: 7, index_of_first_image: count > 1 ? 1 : 0 });
        // A grid of several comes first.
        return { json: { images: count > 1 ? [images[0], ...images] : images, parameters: call.json, info } };
      }
      default:
        return undefined;
    }
  };
};

/** What an uploaded picture is called. */
export function fileName({ form }: ImageCall): string {
  const file = form?.get('image');
  return file instanceof File ? file.name : '';
}

/** https://docs.comfy.org/development/comfyui-server/comms_routes */
export const comfyVendor: Vendor = (play) => () => {
  const jobs = new Jobs(play);
  return (call) => {
    const id = /^\/history\/(job-\d+)$/.exec(call.path)?.[1];
    if (id !== undefined) {
      if (play.isDeleted === true || !jobs.isOver(id)) return { json: {} };
      const failed = jobs.failure === undefined ? [] : [['execution_error', { exception_message: jobs.failure }]];
      const status = {
        status_str: jobs.failure === undefined ? 'success' : 'error',
        completed: jobs.failure === undefined,
        messages: [['execution_start', { prompt_id: id }], ...failed],
      };
      const images = [
        { filename: 'preview.png', subfolder: '', type: 'temp' },
        { filename: `${id}.png`, subfolder: 'own', type: 'output' },
      ];
      return {
        json: {
          [id]: { prompt: [], outputs: jobs.failure === undefined ? { '9': { images } } : {}, status, meta: {} },
        },
      };
    }
    switch (call.path) {
      case '/models/checkpoints':
        return { json: ['sd_xl_base_1.0.safetensors'] };
      case '/prompt':
        return play.refusal ?? { json: { prompt_id: jobs.begin(), number: 3, node_errors: {} } };
      case '/upload/image':
        return { json: { name: fileName(call), subfolder: '', type: 'input' } };
      case '/view': {
        const name = call.query.get('filename') ?? '';
        const isOwn = call.query.get('subfolder') === 'own' && call.query.get('type') === 'output';
        return isOwn ? { bytes: jobs.picture(name.replace('.png', '')), type: 'image/png' } : undefined;
      }
      case '/queue':
        if (call.method === 'GET') {
          const waiting = play.isDeleted === true ? [] : jobs.begun.map((id) => [3, id, {}, {}, ['9']]);
          return { json: { queue_running: [[2, 'job-of-others', {}, {}, []]], queue_pending: waiting } };
        }
        return { write: (response) => void response.writeHead(200).end() };
      case '/interrupt':
        return { write: (response) => void response.writeHead(200).end() };
      default:
        return undefined;
    }
  };
};

/** https://gen.pollinations.ai */
export const pollinationsVendor: Vendor = (play) => () => {
  const jobs = new Jobs(play);
  return (call) => {
    if (call.path === '/v1/models') return { json: { object: 'list', data: [{ id: 'openai', object: 'model' }] } };
    if (call.path === '/image/models') {
      return { json: [{ name: 'flux', aliases: [], pricing: {}, input_modalities: ['text'] }, { name: 'turbo' }] };
    }
    if (!call.path.startsWith('/image/')) return undefined;
    return play.refusal ?? { bytes: jobs.picture(jobs.begin()), type: 'image/jpeg' };
  };
};

/** https://ai.google.dev/gemini-api/docs/imagen and /video */
export const googleVendor: Vendor = (play) => (origin) => {
  const jobs = new Jobs(play);
  return (call) => {
    if (call.path === '/v1beta/models') {
      const row = (name: string, ...methods: string[]) => ({
        name: `models/${name}`,
        supportedGenerationMethods: methods,
      });
      const models = [
        row('gemini-2.5-flash', 'generateContent'),
        row('imagen-4.0-generate-001', 'predict'),
        row('veo-3.1-generate-preview', 'predictLongRunning'),
        row('aqa', 'generateAnswer'),
      ];
      return { json: { models } };
    }
    if (call.path.endsWith(':predict')) {
      if (play.refusal !== undefined) return play.refusal;
      if (jobs.failure !== undefined) return { json: { predictions: [{ raiFilteredReason: jobs.failure }] } };
      const count = Number(call.json.parameters.sampleCount);
      const predictions = Array.from({ length: count }, () => ({
        mimeType: 'image/png',
        bytesBase64Encoded: jobs.picture(jobs.begin()).toString('base64'),
      }));
      return { json: { predictions } };
    }
    if (call.path.endsWith(':predictLongRunning')) {
      return play.refusal ?? { json: { name: `models/veo-3.1-generate-preview/operations/${jobs.begin()}` } };
    }
    const id = /\/operations\/(job-\d+)$/.exec(call.path)?.[1];
    if (id !== undefined) {
      if (!jobs.isOver(id)) return { json: { name: call.path } };
      if (jobs.failure !== undefined) return { json: { done: true, error: { code: 13, message: jobs.failure } } };
      const uri = `${origin}/v1beta/files/${id}:download?alt=media`;
      return { json: { done: true, response: { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } } } };
    }
    const file = /^\/v1beta\/files\/(job-\d+):download$/.exec(call.path)?.[1];
    if (file === undefined) return undefined;
    if (call.headers['x-goog-api-key'] !== 'key-of-the-operator')
      return { status: 403, json: { error: { message: 'no' } } };
    return { bytes: jobs.picture(file), type: 'video/mp4' };
  };
};
