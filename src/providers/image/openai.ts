import type { Call } from '../../core/call.ts';
import { SluiceError } from '../../core/errors.ts';
import type { ImageAnswer, ImageRequest, ImageWatcher } from '../../core/image.ts';
import { fieldText } from '../../core/objects.ts';
import type { Provider, RelayTarget } from '../../core/provider.ts';
import { open, type UpstreamResponse } from '../../outbound/body.ts';
import type { GuardedFetch } from '../../outbound/guarded-fetch.ts';
import { noteRateLimits } from '../../outbound/rate-limits.ts';
import { errorBody } from '../error-body.ts';
import { type FormPart, toForm } from '../form.ts';
import { beginningOf } from '../openai/beginning.ts';
import { looksLikeEvents } from '../openai/events.ts';
import { failureOfStatus } from '../openai/failure.ts';
import type { AskDeps } from './ask.ts';
import { readInput } from './inputs.ts';
import { readAnswer, readEvents } from './openai-answer.ts';
import { toBody, toFields } from './openai-body.ts';

/** Fields that are served here as well, which upstreams may refuse: what came with them is asked for once more without. */
const OPTIONAL = ['response_format', 'stream', 'partial_images'] as const;

interface OpenAiImageDeps extends AskDeps {
  readonly limits: () => { readonly answerBytes: number; readonly sseLineBytes: number };
  readonly guardedFetch: GuardedFetch;
}

/** The same provider, which now also draws through the images API of its upstream: `/images/generations`, `edits`, `variations`. */
export function withOpenAiImages(provider: Provider, deps: OpenAiImageDeps): Provider {
  const { relay, label } = provider;
  if (relay === undefined) return provider;

  async function send(
    request: ImageRequest,
    call: Call,
    pictures: readonly FormPart[],
    without: ReadonlySet<string>,
  ): Promise<UpstreamResponse> {
    const edits = toFields(request, without);
    if (request.task === 'generate') {
      const target = relayTarget('/images/generations', call);
      return post(target, target.headers, toBody(request, edits), call);
    }
    const target = relayTarget(request.task === 'edit' ? '/images/edits' : '/images/variations', call);
    const { contentType, body } = toForm([...textParts(edits), ...pictures]);
    return post(target, { ...target.headers, 'content-type': contentType }, body, call);
  }

  function relayTarget(endpoint: string, call: Call): RelayTarget {
    if (relay === undefined) throw new Error('no relay');
    return relay.target(endpoint, call.credentials);
  }

  function post(
    { origin, path }: RelayTarget,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
    call: Call,
  ): Promise<UpstreamResponse> {
    return open(deps.client, { origin, path, headers, method: 'POST', body }, call.signal);
  }

  async function image(request: ImageRequest, call: Call, watcher: ImageWatcher): Promise<ImageAnswer> {
    for (const field of lost(request)) call.drop(field);
    const pictures = request.task === 'generate' ? [] : await pictureParts(request, deps.guardedFetch, call.signal);
    const without = new Set<string>();
    for (;;) {
      const response = await send(request, call, pictures, without);
      noteRateLimits(call, response.headers);
      if (response.status === 200) return read(response, call, watcher, deps, relayTarget('', call).origin);
      const body = await errorBody(response.body);
      const refused = without.size > 0 ? [] : refusedFields(response.status, body, request);
      if (refused.length === 0) throw failure(response, body, `${label} ${LACKS[request.task]}`);
      for (const field of refused) without.add(field);
    }
  }

  return Object.assign(provider, { image } satisfies Pick<Provider, 'image'>);
}

async function read(
  response: UpstreamResponse,
  call: Call,
  watcher: ImageWatcher,
  { limits }: OpenAiImageDeps,
  origin: string,
): Promise<ImageAnswer> {
  const { answerBytes, sseLineBytes } = limits();
  const start = await beginningOf(response.body, answerBytes, () => watcher.alive());
  if (looksLikeEvents(start) !== true) {
    const rest = await response.body.collect(answerBytes);
    return readAnswer(Buffer.concat([start, rest]), origin);
  }
  return readEvents(start, response.body, sseLineBytes, watcher, call);
}

/** Fields that OpenAI's own models do not know: they refuse a request for one of them. */
function lost(request: ImageRequest): string[] {
  const known = toFields(request, new Set());
  const isServed = (name: string): boolean => ['response_format', 'image', 'images', 'mask'].includes(name);
  const isTold = (name: string): boolean => ['width', 'height', 'aspect_ratio'].includes(name) && known.has('size');
  return Object.entries(request.fields)
    .filter(([name, value]) => value !== null && !known.has(name) && !isServed(name) && !isTold(name))
    .map(([name]) => name);
}

function textParts(fields: ReadonlyMap<string, unknown>): FormPart[] {
  return [...fields].flatMap(([name, value]): FormPart[] => {
    if (value === null || value === undefined) return [];
    return [{ name, text: fieldText(value) }];
  });
}

async function pictureParts(request: ImageRequest, fetch: GuardedFetch, signal: AbortSignal): Promise<FormPart[]> {
  const { images, mask } = request;
  if (images.length === 0) {
    throw new SluiceError('invalid_request', 'The request has no picture to work on.', { param: 'image' });
  }
  const read = await Promise.all(images.map((each) => readInput(each, fetch, signal)));
  const name = read.length === 1 ? 'image' : 'image[]';
  return [
    ...read.map((each) => ({ name, ...each })),
    ...(mask === undefined ? [] : [{ name: 'mask', ...(await readInput(mask, fetch, signal, 'mask')) }]),
  ];
}

/** Which of the optional fields a refusal complains about. */
function refusedFields(status: number, body: Buffer, { fields }: ImageRequest): string[] {
  if (status !== 400 && status !== 422) return [];
  const text = body.toString('utf8');
  const refused = OPTIONAL.filter((name) => text.includes(name) && Object.hasOwn(fields, name));
  return refused.includes('stream') ? [...refused, 'partial_images'] : refused;
}

/** What an upstream lacks that has no path for a task. */
const LACKS: Readonly<Record<ImageRequest['task'], string>> = {
  generate: 'has no images API.',
  edit: 'has no API to edit images.',
  variation: 'has no API for variations of images.',
};

function failure({ status, headers }: UpstreamResponse, body: Buffer, unable: string): SluiceError {
  // Most upstreams that chat have no such path, and say so in many ways.
  const isMissing = status === 404 || status === 405;
  if (isMissing && !/model/i.test(body.toString('utf8'))) {
    return new SluiceError('not_supported', unable);
  }
  return failureOfStatus(status, headers, body, 'same');
}
