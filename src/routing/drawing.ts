import type { Limits } from '../config/config.ts';
import type { Call, CallScope } from '../core/call.ts';
import type { ChatRequest, MediaPart } from '../core/chat.ts';
import { lastUserText } from '../core/chat-text.ts';
import type { Batch, MediaRef } from '../core/chunk.ts';
import { type Collected, collect, within } from '../core/collect.ts';
import { SluiceError } from '../core/errors.ts';
import { type ImageAnswer, type ImageRequest, type ImageWatcher, MOST_IMAGES } from '../core/image.ts';
import { imageNumbers, sizeOf } from '../core/image-fields.ts';
import type { Model } from '../core/model.ts';
import type { Provider } from '../core/provider.ts';
import { sumUsages } from '../core/usage.ts';
import { aspectRatioOf, furtherFields } from '../providers/image/fields.ts';
import type { Deadlines } from './deadlines.ts';
import type { Target } from './select.ts';

/** Pictures asked of models that only chat, where one answer has one picture. */
const CHATS_AT_ONCE = 4;
/** Milliseconds between signs of life towards whoever waits for chunks. */
const BEAT_MS = 1_000;

/** What drawing needs of the router. */
export interface DrawingDeps {
  readonly deadlines: Deadlines;
  readonly limits: Pick<Limits, 'imageMs' | 'answerBytes'>;
  /** What is known of a model. */
  readonly look: (provider: Provider, model: string) => Model;
}

/** Whether a chat is to be answered with a picture. */
export function answersWithImages({ provider, model }: Target, look: DrawingDeps['look']): boolean {
  if (provider.image === undefined) return false;
  if (provider.chat === undefined) return true;
  const { type } = look(provider, model);
  return type === 'image' || type === 'video';
}

/**
 * Draws, within the time that the operator grants: by the provider's own way to draw, or by a chat where its model draws as it
 * talks. Throws when no picture came of it.
 */
export async function draw(
  target: Target,
  request: Omit<ImageRequest, 'model'>,
  scope: CallScope,
  deps: DrawingDeps,
  onPartial: ImageWatcher['partial'] = () => {},
): Promise<ImageAnswer> {
  const { provider, model } = target;
  const { promise: cancelled, reject } = Promise.withResolvers<never>();
  cancelled.catch(() => {});
  const unlisten = scope.onCancel(reject);
  const { imageMs } = deps.limits;
  const deadline = deps.deadlines.start(imageMs, () =>
    scope.cancel(new SluiceError('upstream_timeout', `The provider has not drawn anything within ${imageMs} ms.`)),
  );
  const watcher: ImageWatcher = {
    alive: () => deadline.touch(),
    partial(image, index) {
      deadline.touch();
      onPartial(image, index);
    },
  };
  try {
    const work = isByChat(target, deps.look)
      ? drawByChat(target, request, scope, deps.limits)
      : (provider.image?.({ ...request, model }, scope, watcher) ?? Promise.reject(drawsNot(provider)));
    // A provider that does not heed its signal is not waited for.
    const answer = await Promise.race([work, cancelled]);
    // Some upstreams make more than they were asked for; each of them costs a download.
    if (answer.images.length > 0) return { ...answer, images: answer.images.slice(0, MOST_IMAGES) };
    throw new SluiceError('upstream_invalid', `${provider.label} answered without an image.`);
  } catch (error) {
    const failure = scope.cancelled ?? error;
    // Whatever else runs for it, further pictures of the same request, ends for the same reason.
    scope.cancel(failure instanceof Error ? failure : undefined);
    throw failure;
  } finally {
    deadline.clear();
    unlisten();
    scope.release();
  }
}

function isByChat({ provider, model }: Target, look: DrawingDeps['look']): boolean {
  if (provider.chat === undefined) return false;
  const { type = 'chat', image = false } = look(provider, model);
  return type === 'chat' && image;
}

function drawsNot({ label }: Provider): SluiceError {
  return new SluiceError('not_supported', `${label} does not draw.`, { param: 'provider' });
}

/** A model that draws as it talks is asked in a chat, once for every picture. */
async function drawByChat(
  { provider, model }: Target,
  request: Omit<ImageRequest, 'model'>,
  scope: CallScope,
  { answerBytes }: DrawingDeps['limits'],
): Promise<ImageAnswer> {
  const { chat } = provider;
  if (chat === undefined) throw drawsNot(provider);
  if (request.mask !== undefined) scope.drop('mask');
  const { aspectRatio: _, ...drawn } = request;
  const asking = { ...request, model };
  // Nothing else has a place in a chat.
  furtherFields(asking, scope, []);
  const aspectRatio = aspectRatioOf(asking, scope);
  const shaped = { ...drawn, ...(aspectRatio === undefined ? {} : { aspectRatio }) };
  const asked = toChat(shaped, model, provider.relay !== undefined);
  const answers: Collected[] = [];
  for (let left = request.n; left > 0; left -= CHATS_AT_ONCE) {
    const some = Array.from({ length: Math.min(left, CHATS_AT_ONCE) }, () =>
      collect(within(chat.call(provider, asked, scope), answerBytes)),
    );
    answers.push(...(await Promise.all(some)));
  }
  const images = answers.flatMap(({ media, content }) => media.flatMap((each) => toMade(each, content)));
  if (images.length === 0) throw withoutImage(provider, answers[0]);
  const usages = answers.flatMap((each) => each.usage ?? []);
  return { images, ...(usages.length === 0 ? {} : { usage: sumUsages(usages) }) };
}

function toChat(request: Omit<ImageRequest, 'model'>, model: string, isOpenAi: boolean): ChatRequest {
  const { prompt, aspectRatio, seed, images } = request;
  const text = prompt === '' ? 'Draw a variation of this picture.' : prompt;
  const parts = images.map((image): MediaPart => ({ type: 'media', kind: 'image', ...image }));
  return {
    model,
    providers: [],
    ignored: [],
    messages: [{ role: 'user', content: [...parts, { type: 'text', text }] }],
    sampling: seed === undefined ? {} : { seed },
    downloadMedia: false,
    ...(aspectRatio === undefined ? {} : { aspectRatio }),
    // The words of OpenRouter; other upstreams pass over them.
    extra: isOpenAi
      ? {
          modalities: ['image', 'text'],
          ...(aspectRatio === undefined ? {} : { image_config: { aspect_ratio: aspectRatio } }),
        }
      : {},
  };
}

function toMade({ kind, url, mimeType }: MediaRef, said: string): ImageAnswer['images'] {
  if (kind === 'audio') return [];
  const revisedPrompt = said.trim();
  return [
    { kind, url, ...(mimeType === undefined ? {} : { mimeType }), ...(revisedPrompt === '' ? {} : { revisedPrompt }) },
  ];
}

function withoutImage({ label }: Provider, answer: Collected | undefined): SluiceError {
  const said = `${answer?.refusal || answer?.content || ''}`.trim().slice(0, 500);
  return new SluiceError(
    'upstream_invalid',
    said === '' ? `${label} answered without an image.` : `${label} answered without an image: ${said}`,
  );
}

/**
 * A provider whose chats are pictures: the last message, or the request's own prompt for them, is what shall be drawn.
 *
 * @param alt what is said of them
 */
export function imageAsChat(provider: Provider, deps: DrawingDeps, alt: string): Provider {
  // What a provider is made of may be getters and methods of a class.
  return Object.create(provider, {
    chat: { value: (request: ChatRequest, call: Call) => drawn(provider, request, call as CallScope, deps, alt) },
  }) as Provider;
}

async function* drawn(
  provider: Provider,
  request: ChatRequest,
  scope: CallScope,
  deps: DrawingDeps,
  alt: string,
): AsyncGenerator<Batch, void, undefined> {
  const asked = toImageRequest(request, scope);
  const target = { provider, model: request.model };
  let previews: Batch[number][] = [];
  let over = false;
  const work = draw(target, asked, scope, deps, (image) => {
    previews.push({ type: 'preview', preview: '', urls: [image.url], alt });
  }).finally(() => {
    over = true;
  });
  work.catch(() => {});
  while (!over) {
    const beat = Promise.withResolvers<void>();
    const timer = setTimeout(beat.resolve, BEAT_MS);
    await Promise.race([work, beat.promise]).finally(() => clearTimeout(timer));
    // Without any it is a sign of life: how long drawing may take is decided there.
    const shown = previews;
    // Before: others may come until somebody asks for more.
    previews = [];
    yield shown;
  }
  const { images, usage } = await work;
  yield images.map(({ kind, url, mimeType, revisedPrompt }, index) => ({
    type: 'media',
    media: {
      kind,
      url,
      ...(mimeType === undefined ? {} : { mimeType }),
      alt: alt || onOneLine(revisedPrompt ?? ''),
      ...(images.length === 1 ? {} : { number: index + 1 }),
    },
  }));
  yield [...(usage === undefined ? [] : ([{ type: 'usage', usage }] as const)), { type: 'finish', finish: 'stop' }];
}

/** What is said of a picture: the user's own words, without what files or a search have added to them. */
export function altOf({ prompt, messages }: ChatRequest): string {
  return onOneLine(prompt ?? lastUserText(messages));
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 200);
}

function toImageRequest(request: ChatRequest, call: Call): Omit<ImageRequest, 'model'> {
  const { messages, extra, sampling, aspectRatio } = request;
  const last = messages.findLast(({ role }) => role === 'user');
  const images = (last?.content ?? []).flatMap((part) =>
    part.type === 'media' && part.kind === 'image'
      ? [{ url: part.url, ...(part.mimeType === undefined ? {} : { mimeType: part.mimeType }) }]
      : [],
  );
  const prompt = request.prompt ?? lastUserText(messages);
  if (prompt === '' && images.length === 0) {
    throw new SluiceError('invalid_request', 'The last message does not say what to draw.', { param: 'messages' });
  }
  if (request.tools !== undefined) call.drop('tools');
  const size = sizeOf(extra);
  const fields = { ...(sampling.seed === undefined ? {} : { seed: sampling.seed }), ...extra };
  return {
    task: images.length === 0 ? 'generate' : prompt === '' ? 'variation' : 'edit',
    prompt,
    images,
    ...imageNumbers(fields),
    ...(size === undefined ? {} : { size }),
    // Front ends name one with every request; a size in pixels is what somebody chose.
    ...(aspectRatio === undefined || size !== undefined ? {} : { aspectRatio }),
    fields: aspectRatio === undefined ? fields : { aspect_ratio: aspectRatio, ...fields },
  };
}
