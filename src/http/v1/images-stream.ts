import type { FastifyReply } from 'fastify';
import type { CallScope } from '../../core/call.ts';
import { toSluiceError } from '../../core/errors.ts';
import type { ImageAnswer, ImageRequest, MadeImage } from '../../core/image.ts';
import { onlyStorage } from '../../core/storage-failure.ts';
import { withoutKey } from '../../routing/credentials.ts';
import { draw } from '../../routing/drawing.ts';
import type { Performed } from '../../routing/router.ts';
import type { Target } from '../../routing/select.ts';
import { openStream } from '../answer.ts';
import type { Deps } from '../deps.ts';
import { lateFailure } from '../late-failure.ts';
import { aboutOf, type ImageForm, type ImageItem, toBase64, toItem } from './images-answer.ts';

/** A picture in the making: of a stream the first unfinished form, else all of it, is there. */
export interface Drawing {
  readonly answer: Promise<ImageAnswer>;
  /** Unfinished pictures, until there is an answer or a failure. */
  readonly partials: AsyncIterable<Partial>;
}

interface Partial {
  readonly image: MadeImage;
  readonly index: number;
}

/** Begins to draw. Up to what it resolves with, another target may take over. */
export async function beginDrawing(
  target: Target,
  request: Omit<ImageRequest, 'model'>,
  scope: CallScope,
  deps: Deps,
  stream: boolean,
): Promise<Drawing> {
  const { catalog } = deps.router;
  const { limits } = deps.config();
  const queue = new Queue<Partial>();
  const drawingDeps = { deadlines: deps.deadlines, limits, look: catalog.look.bind(catalog) };
  const answer = draw(target, request, scope, drawingDeps, (image, index) => queue.push({ image, index }))
    .catch((error: unknown) => {
      throw withoutKey(error, scope.credentials);
    })
    .finally(() => queue.end());
  answer.catch(() => {});
  if (stream) await queue.begun;
  // Without any, or for a client that waits for the whole, a failure is still a status.
  if (!stream || !queue.hasItems) await answer;
  return { answer, partials: queue };
}

interface DrawingOptions {
  readonly task: ImageRequest['task'];
  readonly form: ImageForm;
  /** What was asked for stands in every event. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends `image_generation.partial_image` (or `image_edit.…`) as they come, and `….completed` for every picture. */
export async function sendDrawing(
  reply: FastifyReply,
  { target, value }: Performed<Drawing>,
  { task, form, body, headers }: DrawingOptions,
  deps: Deps,
  call: CallScope,
): Promise<void> {
  const stream = openStream(reply, 'text/event-stream; charset=utf-8', headers, deps);
  const kind = task === 'generate' ? 'image_generation' : 'image_edit';
  const common = {
    created_at: Math.floor(Date.now() / 1_000),
    size: wordOf(body['size']),
    quality: wordOf(body['quality']),
    background: wordOf(body['background']),
    output_format: wordOf(body['output_format'], 'png'),
  };
  const write = async (type: string, fields: object): Promise<void> => {
    if (!stream.closed && !stream.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`)) {
      await stream.drained();
    }
  };
  try {
    for await (const { image, index } of value.partials) {
      const b64_json = await toBase64(image, target, deps, call);
      await write(`${kind}.partial_image`, { ...common, b64_json, partial_image_index: index });
    }
    const answer = await value.answer;
    const about = aboutOf(answer);
    if (answer.usage !== undefined) deps.router.spent(target, answer.usage, call);
    for (const [at, image] of answer.images.entries()) {
      const b64_json = await toBase64(image, target, deps, call);
      // Clients of this API read base64; a link comes beside it for those who asked for one.
      const item = body['response_format'] === 'url' ? await linkOf(image, target, form, deps, call) : {};
      const { usage, created: _, ...rest } = about;
      const isLast = at === answer.images.length - 1;
      await write(`${kind}.completed`, {
        ...common,
        ...rest,
        ...item,
        ...(image.revisedPrompt === undefined ? {} : { revised_prompt: image.revisedPrompt }),
        b64_json,
        ...(isLast && usage !== undefined ? { usage } : {}),
        model: target.model,
        provider: target.provider.id,
      });
    }
  } catch (thrown) {
    if (!stream.closed) {
      const { code, message, type, name } = lateFailure(thrown, call, deps);
      await write('error', { error: { message, type, code, name } });
    }
    call.cancel();
  }
  stream.end();
}

/** Without a link where the picture cannot be kept: it is there all the same. */
async function linkOf(...[image, target, form, deps, call]: Parameters<typeof toItem>): Promise<ImageItem | object> {
  try {
    return await toItem(image, target, form, deps, call);
  } catch (error) {
    onlyStorage(error);
    deps.log.warn({ id: call.id, error: toSluiceError(error).message }, 'a picture was not kept');
    return {};
  }
}

function wordOf(value: unknown, otherwise = 'auto'): string {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}

/** What one side puts in and the other takes out, until its end. */
class Queue<T> implements AsyncIterable<T> {
  readonly #items: T[] = [];
  #ended = false;
  #wake = (): void => {};
  readonly #begun = Promise.withResolvers<void>();

  /** Settles with the first item, or the end. */
  get begun(): Promise<void> {
    return this.#begun.promise;
  }

  get hasItems(): boolean {
    return this.#items.length > 0;
  }

  push(item: T): void {
    this.#items.push(item);
    this.#begun.resolve();
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#begun.resolve();
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const item = this.#items.shift();
      if (item !== undefined) yield item;
      else if (this.#ended) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
