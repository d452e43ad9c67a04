import type { TestContext } from 'node:test';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type ImageUpstream, startImageUpstream } from '../support/image-upstream.ts';
import {
  automatic1111Vendor,
  comfyVendor,
  falVendor,
  googleVendor,
  lumaVendor,
  pollinationsVendor,
  replicateVendor,
  stabilityVendor,
  type Vendor,
  type VendorPlay,
} from '../support/image-vendors.ts';
import { picture } from '../support/pictures.ts';

/** Pictures of vendors with wire formats of their own: what was asked arrives, what was drawn comes back. */

export interface World {
  readonly gateway: Gateway;
  readonly upstream: ImageUpstream;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  ask(body: object, path?: string): Promise<{ status: number; json: any; headers: Headers }>;
}

export async function openWorld(
  context: TestContext,
  { id, vendor, suffix = '' }: { readonly id: string; readonly vendor: Vendor; readonly suffix?: string },
  play: VendorPlay,
  { entry = 'apiKey: key-of-the-operator', yaml = '' } = {},
): Promise<World> {
  const upstream = await startImageUpstream(context, vendor(play));
  const gateway = await startGateway(
    `providers:\n  ${id}: { baseUrl: '${upstream.origin}${suffix}'${entry === '' ? '' : `, ${entry}`} }\n${yaml}`,
  );
  context.after(() => void gateway.close());
  return {
    gateway,
    upstream,
    async ask(body, path = '/v1/images/generations') {
      const response = await fetch(gateway.origin + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ provider: id, ...body }),
      });
      return { status: response.status, json: await response.json(), headers: response.headers };
    },
  };
}

export const red = await picture('#ff0000');
export const blue = await picture('#0000ff');
export const base64 = (bytes: Buffer): { b64_json: string } => ({ b64_json: bytes.toString('base64') });

export interface Row {
  readonly id: string;
  readonly vendor: Vendor;
  readonly suffix?: string;
  readonly entry?: string;
  readonly model: string;
  /** The header that carries the key. */
  readonly header?: readonly [name: string, value: string];
  /** Where the request goes, and what it says of `BODY`. */
  readonly path: string;
  readonly sent: object;
  readonly dropped?: readonly string[];
  /** How a refusal looks. */
  readonly refusal: object;
  /** Its jobs take time, and are called off so. */
  readonly calledOff?: readonly [method: string, path: string];
  /** How a failed job looks to the client. */
  readonly failure?: readonly [said: string, status: number];
}

export const BODY = {
  prompt: 'A red boat',
  aspect_ratio: '16:9',
  seed: 7,
  negative_prompt: 'rain',
  response_format: 'b64_json',
};
export const SAID = 'The picture of a boat is not allowed.';

export const ROWS: readonly Row[] = [
  {
    id: 'fal',
    vendor: falVendor,
    model: 'fal-ai/flux/dev',
    header: ['authorization', 'Key key-of-the-operator'],
    path: '/fal-ai/flux/dev',
    sent: { prompt: 'A red boat', seed: 7, image_size: 'landscape_16_9', num_images: 1, negative_prompt: 'rain' },
    refusal: { detail: [{ loc: ['body', 'prompt'], msg: SAID, type: 'value_error' }] },
    calledOff: ['PUT', '/fal-ai/flux/requests/job-1/cancel'],
    failure: [SAID, 422],
  },
  {
    id: 'replicate',
    vendor: replicateVendor,
    suffix: '/v1',
    model: 'black-forest-labs/flux-schnell',
    header: ['authorization', 'Bearer key-of-the-operator'],
    path: '/v1/models/black-forest-labs/flux-schnell/predictions',
    sent: { input: { prompt: 'A red boat', aspect_ratio: '16:9', seed: 7, num_outputs: 1, negative_prompt: 'rain' } },
    refusal: { title: 'Input validation failed', detail: SAID, status: 422 },
    calledOff: ['POST', '/v1/predictions/job-1/cancel'],
    failure: [SAID, 500],
  },
  {
    id: 'luma',
    vendor: lumaVendor,
    model: 'photon-1',
    header: ['authorization', 'Bearer key-of-the-operator'],
    path: '/dream-machine/v1/generations/image',
    sent: { prompt: 'A red boat', aspect_ratio: '16:9', model: 'photon-1' },
    dropped: ['negative_prompt', 'seed'],
    refusal: { detail: SAID },
    calledOff: ['DELETE', '/dream-machine/v1/generations/job-1'],
    failure: [SAID, 500],
  },
  {
    id: 'stability',
    vendor: stabilityVendor,
    model: 'sd3.5-large',
    header: ['authorization', 'Bearer key-of-the-operator'],
    path: '/v2beta/stable-image/generate/sd3',
    sent: {
      prompt: 'A red boat',
      aspect_ratio: '16:9',
      seed: '7',
      negative_prompt: 'rain',
      model: 'sd3.5-large',
      output_format: 'png',
    },
    refusal: { id: '1', name: 'bad_request', errors: [SAID] },
    failure: ['CONTENT_FILTERED', 400],
  },
  {
    id: 'automatic1111',
    vendor: automatic1111Vendor,
    entry: '',
    model: 'sd_xl_base_1.0',
    path: '/sdapi/v1/txt2img',
    sent: {
      prompt: 'A red boat',
      seed: 7,
      negative_prompt: 'rain',
      width: 704,
      height: 384,
      batch_size: 1,
      override_settings: { sd_model_checkpoint: 'sd_xl_base_1.0' },
    },
    refusal: { error: 'ValueError', detail: SAID, body: '', errors: '' },
    calledOff: ['POST', '/sdapi/v1/interrupt'],
  },
  {
    id: 'comfyui',
    vendor: comfyVendor,
    entry: '',
    model: 'sd_xl_base_1.0.safetensors',
    path: '/prompt',
    sent: {},
    refusal: {
      error: {
        type: 'prompt_outputs_failed_validation',
        message: 'Prompt outputs failed validation',
        details: '',
        extra_info: {},
      },
      node_errors: {
        checkpoint: {
          errors: [{ type: 'x', message: SAID, details: 'ckpt_name' }],
          class_type: 'CheckpointLoaderSimple',
        },
      },
    },
    calledOff: ['POST', '/interrupt'],
    failure: [SAID, 500],
  },
  {
    id: 'pollinations',
    vendor: pollinationsVendor,
    suffix: '/v1',
    model: 'flux',
    header: ['authorization', 'Bearer key-of-the-operator'],
    path: '/image/A%20red%20boat',
    sent: {},
    refusal: { success: false, error: { message: SAID, code: 'BAD_REQUEST' } },
  },
  {
    id: 'gemini',
    vendor: googleVendor,
    suffix: '/v1beta',
    model: 'imagen-4.0-generate-001',
    header: ['x-goog-api-key', 'key-of-the-operator'],
    path: '/v1beta/models/imagen-4.0-generate-001:predict',
    sent: { instances: [{ prompt: 'A red boat' }], parameters: { sampleCount: 1, aspectRatio: '16:9' } },
    dropped: ['negative_prompt', 'seed'],
    refusal: { error: { code: 400, message: SAID, status: 'INVALID_ARGUMENT' } },
    failure: [SAID, 400],
  },
];
