import { randomInt } from 'node:crypto';
import type { Call } from '../../core/call.ts';
import { SluiceError } from '../../core/errors.ts';
import type { ImageRequest } from '../../core/image.ts';
import { furtherFields, promptFor, sizeFor } from './fields.ts';

/** Pixels where nobody named a size. */
const PIXELS = 1024 * 1024;
/** Seeds of its samplers are larger, but numbers of JSON are not. */
const LARGEST_SEED = 2 ** 47;

/** What stands beside the request. */
export interface GraphParts {
  /** Names in its folder of inputs. */
  readonly image: string | undefined;
  readonly mask: string | undefined;
  /** The operator's own graph: JSON as its "Export (API)" writes it, with placeholders such as `%prompt%`. */
  readonly workflow: string | undefined;
  readonly label: string;
}

type Graph = Readonly<Record<string, unknown>>;

/** The graph for a request: the operator's own with its placeholders filled in, or the smallest that draws. */
export function toGraph(request: ImageRequest, call: Call, parts: GraphParts): Graph {
  const { n, seed, negativePrompt = '', steps = 20, guidance = 7, model, fields } = request;
  furtherFields(request, call, [
    ...['negative_prompt', 'num_inference_steps', 'steps', 'guidance_scale', 'strength', 'sampler_name', 'scheduler'],
  ]);
  const { width, height } = sizeFor(request, PIXELS);
  const strength = fields['strength'];
  const values = {
    prompt: promptFor(request),
    negative_prompt: negativePrompt,
    model,
    width,
    height,
    n,
    seed: seed ?? randomInt(LARGEST_SEED),
    steps,
    cfg: guidance,
    strength: typeof strength === 'number' ? strength : parts.image === undefined ? 1 : 0.7,
    sampler: typeof fields['sampler_name'] === 'string' ? fields['sampler_name'] : 'euler',
    scheduler: typeof fields['scheduler'] === 'string' ? fields['scheduler'] : 'normal',
    image: parts.image ?? '',
    mask: parts.mask ?? '',
  };
  if (parts.workflow === undefined) return smallest(values);
  const graph = filled(parsed(parts.workflow, parts.label), values) as Graph;
  // Its results would silently have nothing to do with what was asked.
  if (parts.image !== undefined && !parts.workflow.includes('%image%')) {
    throw new SluiceError('not_supported', `The workflow of ${parts.label} takes no picture: it has no %image%.`, {
      param: 'image',
    });
  }
  return graph;
}

type Values = Readonly<Record<string, string | number>>;

function parsed(workflow: string, label: string): unknown {
  try {
    return JSON.parse(workflow);
  } catch (error) {
    throw new SluiceError(
      'internal',
      `settings.workflow of ${label} in sluice.yaml is no JSON: export it from ComfyUI with "Export (API)".`,
      { cause: error },
    );
  }
}

/** The same graph with values in the place of `%name%`: alone they keep their type, within a text they become text. */
function filled(value: unknown, values: Values): unknown {
  if (typeof value === 'string') {
    const whole = /^%(\w+)%$/.exec(value)?.[1];
    if (whole !== undefined && Object.hasOwn(values, whole)) return values[whole];
    return value.replace(/%(\w+)%/g, (text, name: string) =>
      Object.hasOwn(values, name) ? String(values[name]) : text,
    );
  }
  if (Array.isArray(value)) return value.map((each) => filled(each, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filled(each, values)]));
}

/** One checkpoint, two texts, a sampler: from noise, from a picture, or within a mask of it. */
function smallest(values: Values): Graph {
  const { image, mask, width, height, n } = values;
  const text = (words: string | number | undefined) => node('CLIPTextEncode', { text: words, clip: ['checkpoint', 1] });
  const latent: Graph =
    image === ''
      ? { latent: node('EmptyLatentImage', { width, height, batch_size: n }) }
      : {
          picture: node('LoadImage', { image }),
          ...(mask === ''
            ? { encoded: node('VAEEncode', { pixels: ['picture', 0], vae: ['checkpoint', 2] }) }
            : {
                // OpenAI's masks are transparent where the picture shall change, which LoadImageMask turns into 1.
                region: node('LoadImageMask', { image: mask, channel: 'alpha' }),
                encoded: node('VAEEncodeForInpaint', {
                  pixels: ['picture', 0],
                  vae: ['checkpoint', 2],
                  mask: ['region', 0],
                  grow_mask_by: 6,
                }),
              }),
          latent: node('RepeatLatentBatch', { samples: ['encoded', 0], amount: n }),
        };
  return {
    checkpoint: node('CheckpointLoaderSimple', { ckpt_name: values['model'] }),
    positive: text(values['prompt']),
    negative: text(values['negative_prompt']),
    ...latent,
    sampler: node('KSampler', {
      model: ['checkpoint', 0],
      positive: ['positive', 0],
      negative: ['negative', 0],
      latent_image: ['latent', 0],
      seed: values['seed'],
      steps: values['steps'],
      cfg: values['cfg'],
      sampler_name: values['sampler'],
      scheduler: values['scheduler'],
      denoise: mask === '' ? values['strength'] : 1,
    }),
    decoded: node('VAEDecode', { samples: ['sampler', 0], vae: ['checkpoint', 2] }),
    saved: node('SaveImage', { images: ['decoded', 0], filename_prefix: 'sluice' }),
  };
}

function node(type: string, inputs: Readonly<Record<string, unknown>>): Graph {
  return { class_type: type, inputs };
}
