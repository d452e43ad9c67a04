import type { Call } from '../core/call.ts';
import type { ChatRequest } from '../core/chat.ts';
import { beginning } from '../core/chat-text.ts';
import type { Batch, Chunk, MediaRef } from '../core/chunk.ts';
import { heldAsBase64, isDataUri } from '../core/data-uri.ts';
import { SluiceError, toSluiceError } from '../core/errors.ts';
import { WithFirst } from '../core/opened.ts';
import { PassedOn } from '../core/passed-on.ts';
import type { Step } from '../core/stream.ts';
import { Gate } from '../media/gate.ts';
import type { MediaStore, SaveOptions } from '../media/store.ts';

/** Media of one answer that are kept; the rest stays where it is. */
const MOST_MEDIA = 100;
/** Characters of the question that are kept with them. */
const MOST_OF_PROMPT = 200;
/** Downloads of one answer at the same time. */
const AT_ONCE = 4;

interface MediaStepDeps {
  readonly media: MediaStore;
  /** The origins of a provider's own address, which may be on a private network. */
  readonly originsOf: (provider: string) => readonly string[];
}

/**
 * Media of an answer are kept here, and the answer then points at the kept files. Inline media are replaced in their place;
 * what has to be downloaded comes when it is there, before the answer's end, while everything else flows on. What cannot be
 * had keeps its own address, and a log chunk tells why.
 */
export function mediaStep(deps: MediaStepDeps): Step {
  return {
    name: 'media',
    // Named after the user's own words: in the request there may be results of a search before them.
    enrich: (request, call, asked = request) =>
      request.downloadMedia
        ? { request, chunks: (chunks) => new MediaOnTheWay(chunks, new Keeper(aboutOf(asked), call, deps), call) }
        : { request },
  };
}

/** Most answers hold no media: until the first one, batches pass as if nobody stood here. */
class MediaOnTheWay extends PassedOn {
  readonly #keeper: Keeper;
  readonly #call: Call;
  #keeping: AsyncGenerator<Batch, void, undefined> | undefined;

  constructor(chunks: AsyncIterable<Batch>, keeper: Keeper, call: Call) {
    super(chunks[Symbol.asyncIterator]());
    this.#keeper = keeper;
    this.#call = call;
  }

  next(): Promise<IteratorResult<Batch>> {
    return this.#keeping?.next() ?? this.source.next().then(this.#take, this.#fail);
  }

  override async return(): Promise<IteratorResult<Batch>> {
    if (this.#keeping !== undefined) return this.#keeping.return();
    this.#keeper.close();
    await this.source.return?.();
    return { done: true, value: undefined };
  }

  readonly #take = (result: IteratorResult<Batch>): IteratorResult<Batch> | Promise<IteratorResult<Batch>> => {
    if (result.done === true) this.#keeper.close();
    else if (!this.#keeper.passes(result.value)) {
      this.#keeping = keepMedia(new WithFirst(result, this.source), this.#keeper, this.#call);
      return this.#keeping.next();
    }
    return result;
  };

  readonly #fail = (error: unknown): never => {
    this.#keeper.close();
    throw error;
  };
}

async function* keepMedia(
  chunks: AsyncIterable<Batch>,
  keeper: Keeper,
  call: Call,
): AsyncGenerator<Batch, void, undefined> {
  const iterator = chunks[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<Batch>> | undefined;
  try {
    for (;;) {
      next ??= iterator.next();
      if (keeper.first !== undefined) {
        const arrived = await Promise.race([keeper.first, next.then(() => undefined)]);
        if (arrived !== undefined) {
          keeper.shift();
          yield arrived;
          continue;
        }
      }
      const { done, value } = await next;
      next = undefined;
      if (done === true) break;
      yield* keeper.through(value);
    }
    yield* keeper.rest();
  } catch (error) {
    // The answer failed in its middle. What was on its way is shown from where it is.
    keeper.close();
    if (call.cancelled === undefined) yield* keeper.rest();
    throw error;
  } finally {
    keeper.close();
    // While a step is under way, `return` would wait for it, and nobody waits for that any more.
    if (next === undefined) await iterator.return?.();
    else Promise.all([next, iterator.return?.()]).catch(() => {});
  }
}

/** What is kept of a question together with the media of its answer. */
interface About {
  readonly tags: readonly string[];
  /** By these words `/search` finds a picture that says nothing about itself. */
  readonly prompt: string;
}

function aboutOf({ aspectRatio, extra, messages }: ChatRequest): About {
  const parts = messages.findLast(({ role }) => role === 'user')?.content ?? [];
  const prompt = parts.find((part) => part.type === 'text')?.text ?? '';
  const tags = [aspectRatio, extra['resolution']].filter((tag) => typeof tag === 'string');
  return { tags, prompt: beginning(prompt, MOST_OF_PROMPT) };
}

class Keeper {
  readonly #about: About;
  readonly #call: Call;
  readonly #deps: MediaStepDeps;
  readonly #gate = new Gate(AT_ONCE);
  readonly #controller = new AbortController();
  readonly #unlisten: () => void;
  /** Downloads in the order of the answer; each gives the chunks that take the place of its media. */
  readonly #running: Promise<Batch>[] = [];
  #provider = '';
  #model = '';
  #count = 0;

  constructor(about: About, call: Call, deps: MediaStepDeps) {
    this.#about = about;
    this.#call = call;
    this.#deps = deps;
    this.#unlisten = call.onCancel((reason) => this.#controller.abort(reason));
  }

  /** The download whose turn it is, if any is running. */
  get first(): Promise<Batch> | undefined {
    return this.#running[0];
  }

  /** Its chunks were taken. */
  shift(): void {
    this.#running.shift();
  }

  /** Whether a batch has nothing to keep, and nothing to wait for. */
  passes(batch: Batch): boolean {
    if (this.#running.length > 0) return false;
    for (const chunk of batch) {
      if (chunk.type === 'media') return false;
      if (chunk.type === 'provider') this.#answers(chunk.provider);
    }
    return true;
  }

  /** A batch on its way: media are taken out or replaced, the end waits until everything is there. */
  async *through(batch: Batch): AsyncGenerator<Batch, void, undefined> {
    let ready: Chunk[] = [];
    for (const chunk of batch) {
      switch (chunk.type) {
        case 'provider':
          this.#answers(chunk.provider);
          ready.push(chunk);
          break;
        case 'media':
          if (isOwn(chunk.media.url)) ready.push(chunk);
          else if (isDataUri(chunk.media.url)) {
            // What came before is shown first: a picture takes a moment.
            if (ready.length > 0) yield ready;
            ready = [...(await this.#keep(chunk.media))];
          } else this.#download(chunk.media);
          break;
        case 'usage':
        case 'finish':
          if (ready.length > 0 && this.#running.length > 0) {
            yield ready;
            ready = [];
          }
          yield* this.rest();
          ready.push(chunk);
          break;
        default:
          ready.push(chunk);
      }
    }
    if (ready.length > 0) yield ready;
  }

  async *rest(): AsyncGenerator<Batch, void, undefined> {
    for (let first = this.first; first !== undefined; first = this.first) {
      const arrived = await first;
      this.shift();
      yield arrived;
    }
  }

  /** Calls off what is still running. */
  close(): void {
    this.#unlisten();
    // Most answers hold no media, and an error costs something.
    if (this.#count === 0 && this.#running.length === 0) return;
    this.#controller.abort(new SluiceError('cancelled', 'the answer ended before it was there.'));
  }

  #answers({ id, model }: { readonly id: string; readonly model: string }): void {
    this.#provider = id;
    this.#model = model;
  }

  #download(media: MediaRef): void {
    this.#running.push(this.#gate.run(() => this.#keep(media)));
  }

  /** The chunks that take the place of one media chunk. Never rejects. */
  async #keep(media: MediaRef): Promise<Batch> {
    this.#count += 1;
    try {
      if (this.#count > MOST_MEDIA) return failed(media, `only ${MOST_MEDIA} of an answer are kept.`);
      const saved = await this.#deps.media.save(media.url, this.#options(media));
      const { width, height } = saved;
      const stored: MediaRef = {
        ...media,
        kind: saved.kind,
        url: saved.path,
        mimeType: saved.mimeType,
        ...(width === undefined || height === undefined ? {} : { width, height }),
        ...(isDataUri(media.url) ? inlineSound(media) : { source: media.url }),
      };
      return [{ type: 'media', media: stored }];
    } catch (thrown) {
      const { message } = toSluiceError(thrown);
      const error = thrown instanceof Error ? thrown.message : message;
      this.#call.log.warn({ id: this.#call.id, error }, 'media of an answer were not kept');
      return failed(media, message);
    }
  }

  #options(media: MediaRef): SaveOptions {
    const { tags, prompt } = this.#about;
    return {
      tags: [this.#model, ...tags],
      alt: media.alt ?? prompt,
      signal: this.#controller.signal,
      allowedOrigins: this.#deps.originsOf(this.#provider),
    };
  }
}

function inlineSound({ kind, url }: MediaRef): Pick<MediaRef, 'inline'> {
  const inline = kind === 'audio' ? heldAsBase64(url) : undefined;
  return inline === undefined ? {} : { inline };
}

function failed(media: MediaRef, why: string): Batch {
  return [
    { type: 'media', media },
    { type: 'log', log: `The ${media.kind} was not kept: ${why}` },
  ];
}

/** A path of ours: it is kept already. */
function isOwn(url: string): boolean {
  return /^\/(?!\/)/.test(url);
}
