import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Limits } from '../../config/config.ts';
import { SluiceError } from '../../core/errors.ts';
import type { ImageRequest } from '../../core/image.ts';
import { imageNumbers, sizeOf } from '../../core/image-fields.ts';
import { answerHeaders, withCall } from '../answer.ts';
import type { Deps, Handler, Route } from '../deps.ts';
import { originOf } from '../origin.ts';
import { askedOf } from '../task-fields.ts';
import { validate, withoutEmptyFormat } from '../validate.ts';
import { DROPPED_FIELDS } from '../wire.ts';
import { aboutOf, type ImageForm, toItem } from './images-answer.ts';
import { inliner } from './images-own.ts';
import { picturesOf, type ReadImages, readImages } from './images-read.ts';
import { beginDrawing, sendDrawing } from './images-stream.ts';
import {
  EditBody,
  EditForm,
  ImageAnswerBody,
  ImageBody,
  SCHEMAS,
  VariationBody,
  VariationForm,
} from './images-wire.ts';

const TAG = 'Compatible interface';

/** Everything that draws, under all names that it has. */
export function imageRoutes(deps: Deps): readonly Route[] {
  const common = {
    method: 'POST',
    tag: TAG,
    bodyLimit: (limits: Limits) => limits.chatBodyBytes,
    answer: ImageAnswerBody,
    produces: ['application/json', 'text/event-stream'],
  } as const;
  const generate = { ...common, body: ImageBody, handler: images(deps, 'generate') };
  const edit = { ...common, body: EditBody, form: EditForm, handler: images(deps, 'edit') };
  const variation = { ...common, body: VariationBody, form: VariationForm, handler: images(deps, 'variation') };
  return [
    { ...generate, url: '/v1/images/generations', summary: 'Draw, or make a video, by words' },
    { ...generate, url: '/v1/images/generate', summary: 'The same' },
    { ...generate, url: '/v1/media/generate', summary: 'The same' },
    { ...generate, url: '/api/:provider/images/generations', summary: 'The same, by one provider' },
    { ...generate, url: '/api/:provider/images/generate', summary: 'The same, by one provider' },
    { ...edit, url: '/v1/images/edits', summary: 'Draw by words and pictures' },
    { ...edit, url: '/api/:provider/images/edits', summary: 'The same, by one provider' },
    { ...variation, url: '/v1/images/variations', summary: 'Draw something like a picture' },
    { ...variation, url: '/api/:provider/images/variations', summary: 'The same, by one provider' },
  ];
}

/** `POST images/…`: pictures as links or base64, in one answer or as events. */
function images(deps: Deps, task: ImageRequest['task']): Handler {
  return async (request, reply) => {
    const given = await readImages(request, deps);
    const read = { ...given, value: withoutEmptyFormat(given.value) };
    const body = validate(SCHEMAS[task], read.value, 'invalid_field');
    const inputs = inputsOf(body, read, task);
    const asked = askedOf(request, body);
    const { user, timeout, strict } = body;
    const stream = body.stream === true;
    return withCall(request, reply, deps, { user, timeout, strict }, async (call) => {
      const origin = originOf(request);
      const inline = inliner(deps, origin);
      const [mask, ...pictures] = await Promise.all([
        inputs.mask && inline(inputs.mask, 'mask'),
        ...inputs.images.map((each) => inline(each, 'image')),
      ]);
      const wanted: Omit<ImageRequest, 'model'> = {
        ...toRequest(body, read, task),
        images: pictures,
        ...(mask === undefined ? {} : { mask }),
        ...(stream ? { partialImages: body.partial_images ?? 0 } : {}),
      };
      const wish = { ...asked.wish, ability: 'image' } as const;
      const performed = await deps.router.perform({ ...asked, wish }, call, (target, scope) =>
        beginDrawing(target, wanted, scope, deps, stream),
      );
      const form: ImageForm = {
        format: body.response_format ?? usualFormat(request),
        keeps: body.download_media !== false,
        origin,
        prompt: wanted.prompt,
        tags: [body.aspect_ratio, body.resolution].filter((tag) => typeof tag === 'string'),
      };
      const headers = answerHeaders(performed);
      if (stream) return sendDrawing(reply, performed, { task, form, body, headers }, deps, call);
      const { target } = performed;
      const answer = await performed.value.answer;
      const data = await Promise.all(answer.images.map((each) => toItem(each, target, form, deps, call)));
      if (answer.usage !== undefined) deps.router.spent(target, answer.usage, call);
      const { created, ...about } = aboutOf(answer);
      send(reply, headers, {
        created: typeof created === 'number' ? Math.floor(created) : Math.floor(Date.now() / 1_000),
        data,
        ...about,
        model: target.model === '' ? null : target.model,
        provider: target.provider.id,
      });
    });
  };
}

/**
 * What the contract says where the client does not: a link. Vercel's AI SDK, which never says it of pictures by GPT Image, of edits, and
 * of what is only compatible with OpenAI, reads base64 alone; it is known by its name (`ai-sdk/…`, `ai-sdk-provider-utils/…`).
 */
function usualFormat({ headers }: FastifyRequest): ImageForm['format'] {
  return /(?:^| )ai-sdk[/-]/.test(headers['user-agent'] ?? '') ? 'b64_json' : 'url';
}

function send(reply: FastifyReply, headers: Readonly<Record<string, string>>, answer: object): void {
  reply.headers(headers).header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(answer));
}

/** What is ours or stands in another place; all else is the provider's. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  ...['provider', 'ignored', 'models', 'api_key', 'strict', 'timeout', 'download_media', 'web_search', 'extra_body'],
  ...DROPPED_FIELDS,
]);

function toRequest(
  body: { readonly prompt?: string | null | undefined; readonly aspect_ratio?: string | null | undefined },
  { value, sent }: ReadImages,
  task: ImageRequest['task'],
): Omit<ImageRequest, 'model' | 'images'> {
  const fields = Object.fromEntries(Object.entries(value).filter(([name]) => !OWN_FIELDS.has(name)));
  const size = sizeOf(fields);
  const isRatio = /^\d{1,4}:\d{1,4}$/.test(body.aspect_ratio ?? '');
  return {
    task,
    prompt: body.prompt ?? '',
    ...imageNumbers(fields),
    ...(size === undefined ? {} : { size }),
    ...(isRatio && size === undefined && typeof body.aspect_ratio === 'string'
      ? { aspectRatio: body.aspect_ratio }
      : {}),
    fields,
    ...(sent === undefined ? {} : { sent }),
  };
}

function inputsOf(body: Readonly<Record<string, unknown>>, read: ReadImages, task: ImageRequest['task']) {
  if (task === 'generate') return { images: [], mask: undefined };
  const { image, images: several, mask } = body as Readonly<Record<string, Parameters<typeof picturesOf>[0]>>;
  const found = [...read.images, ...picturesOf(image, 'image'), ...picturesOf(several, 'images')];
  if (found.length === 0) {
    throw new SluiceError('invalid_field', "'image' is required: a file of the form, or an address in JSON.", {
      param: 'image',
    });
  }
  return { images: found, mask: read.mask ?? picturesOf(mask, 'mask')[0] };
}
