import { z } from 'zod';
import { MOST_IMAGES } from '../../core/image.ts';
import { TaskFields } from '../task-fields.ts';

const Whole = z.int().nullish();
const Pixels = z.int().min(1).max(16_384).nullish();

/** What every request for pictures may say; further fields go to the provider. */
const ImageFields = {
  ...TaskFields,
  n: z.int().min(1).max(MOST_IMAGES).nullish(),
  size: z.string().max(32).nullish().describe('`WxH`, or a word of the model’s own; what is neither is passed over'),
  response_format: z
    .enum(['url', 'b64_json'])
    .nullish()
    .describe('url (the default, but for the AI SDK): a link to this server; b64_json: the picture itself'),
  download_media: z
    .boolean()
    .nullish()
    .describe('false: with `url`, the provider’s own address where it has one; the picture is not kept here'),
  width: Pixels,
  height: Pixels,
  aspect_ratio: z.string().max(64).nullish().describe('For example `16:9`'),
  resolution: z.string().max(64).nullish(),
  seed: z.number().nullish(),
  negative_prompt: z.string().nullish(),
  guidance_scale: z.number().nullish(),
  num_inference_steps: z.int().min(1).max(1_000).nullish(),
  audio: z.unknown().optional().describe('For videos, where the model can'),
  stream: z
    .boolean()
    .nullish()
    .describe('Send events: unfinished pictures where the upstream has them, then the finished'),
  partial_images: z.int().min(0).max(3).nullish(),
  quality: z.string().max(64).nullish(),
  style: z.string().max(256).nullish(),
  background: z.string().max(64).nullish(),
  output_format: z.string().max(64).nullish(),
  output_compression: Whole,
  user: z.string().max(1_000).nullish(),
};

const FURTHER =
  'fields that are not listed are passed on where the upstream may know them, and named in `x-sluice-dropped` elsewhere, as for ' +
  'OpenAI’s own models';

/** `POST images/generations` and its other names. */
export const ImageBody = z
  .looseObject({ ...ImageFields, prompt: z.string().min(1).max(100_000).describe('What to draw') })
  .describe(`A request for pictures or videos; ${FURTHER}`);

/** A picture in JSON: an address (http, https or data), as it is or in an object as OpenAI writes it. */
const Address = z.union([z.string().min(1), z.looseObject({ url: z.string().min(1) })]);
const Picture = z.union([
  z.string().min(1),
  z.looseObject({ image_url: Address.optional(), url: z.string().optional(), file_id: z.string().optional() }),
]);
/** A picture to draw from: its address, or where to find one; `file_id` names a file that was sent before. */
export type Picture = z.infer<typeof Picture>;
const Pictures = z.union([Picture, z.array(Picture).max(16)]).nullish();

/** `POST images/edits`, in JSON. */
export const EditBody = z
  .looseObject({
    ...ImageFields,
    prompt: z.string().min(1).max(100_000).describe('What to change'),
    image: Pictures.describe('The picture, or several: addresses (http, https, data) or paths of this server'),
    images: Pictures.describe('The same, as newer clients write it: `[{"image_url": "…"}]`, or `[{"file_id": "…"}]`'),
    mask: Picture.nullish().describe('Where to change the first picture: transparent there'),
  })
  .describe(`A request to change pictures; ${FURTHER}`);

/** `POST images/variations`, in JSON. */
export const VariationBody = z
  .looseObject({ ...ImageFields, image: Pictures, images: Pictures, prompt: z.string().max(100_000).nullish() })
  .describe(`A request for something like a picture; ${FURTHER}`);

/** Any of the three. */
export type ImageBody = z.infer<typeof ImageBody> | z.infer<typeof EditBody> | z.infer<typeof VariationBody>;

/** By what is to be done, as `ImageRequest` calls it. */
export const SCHEMAS = { generate: ImageBody, edit: EditBody, variation: VariationBody } as const;

/** Fields that a form can only write as text. */
export const NUMBERS: readonly string[] = [
  ...['n', 'width', 'height', 'seed', 'guidance_scale', 'num_inference_steps', 'partial_images', 'output_compression'],
  'timeout',
];
/** The same of `true` and `false`, which a form may write in letters of either case. */
export const FLAGS: readonly string[] = ['stream', 'download_media', 'strict'];

/** `created`: seconds since 1970. A picture has an address or its bytes. `model` is null where the provider chose it. */
export const ImageAnswerBody = z.looseObject({
  created: z.int(),
  data: z.array(
    z.object({ url: z.string().optional(), b64_json: z.string().optional(), revised_prompt: z.string().optional() }),
  ),
  model: z.string().nullable(),
  provider: z.string(),
});

const file = { type: 'string', contentMediaType: 'application/octet-stream' } as const;

/** The same as forms, for the documents. */
export const EditForm = {
  type: 'object',
  required: ['image', 'prompt'],
  properties: {
    image: { ...file, description: 'PNG, JPEG, WebP or GIF; several as `image[]`' },
    mask: { ...file, description: 'A PNG that is transparent where the first picture shall change' },
    prompt: { type: 'string' },
  },
} as const;
/** `POST images/variations`, whose form has no prompt. */
export const VariationForm = { type: 'object', required: ['image'], properties: { image: file } } as const;
