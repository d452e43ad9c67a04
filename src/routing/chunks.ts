import type { Limits } from '../config/config.ts';
import type { CallScope } from '../core/call.ts';
import { MOST_CALLS, tooManyCalls } from '../core/call-pieces.ts';
import type { ChatRequest, Message } from '../core/chat.ts';
import { type Batch, type Chunk, isVisible, type ToolCallDelta, type Usage } from '../core/chunk.ts';
import { SluiceError, toSluiceError } from '../core/errors.ts';
import { estimatePrompt, TextEstimate } from '../core/usage.ts';
import type { Deadline, Deadlines } from './deadlines.ts';
import type { Summary } from './relayed.ts';
import type { Target } from './select.ts';

/** An answer whose first visible chunk is there: another target can no longer take over. */
export interface OpenedChunks {
  readonly kind: 'chunks';
  /** What came up to the first visible chunk, and then the rest. Throws when the provider fails; ends after `finish`. */
  readonly chunks: AsyncIterable<Batch>;
  /** By which the upstream paces its clients; absent where it says nothing of the kind, or is no HTTP server. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Chunks for a client, whose request may have gone upstream as it came. */
export interface AnsweredChunks extends OpenedChunks {
  /** As in `RelayedStream`. */
  readonly isSent: boolean;
}

/** Asks a provider and waits for the first visible chunk, or for the end of an answer without any. */
export async function openChunks(
  target: Target,
  request: ChatRequest,
  scope: CallScope,
  deadlines: Deadlines,
  limits: Limits,
  onEnd: OnEnd,
): Promise<OpenedChunks> {
  const { provider, model } = target;
  if (provider.chat === undefined) {
    throw new SluiceError('not_supported', `${provider.label} does not chat.`);
  }
  const source = new TimedSource(
    provider.chat({ ...request, model }, scope)[Symbol.asyncIterator](),
    scope,
    deadlines,
    limits,
  );
  const head: Chunk[] = [];
  try {
    for (;;) {
      const { done, value } = await source.next();
      if (done === true) break;
      // One by one: there is a limit to what a call takes at once.
      for (const chunk of value) head.push(chunk);
      if (value.some(isVisible))
        return { kind: 'chunks', chunks: new WholeAnswer(head, source, target, request, onEnd, limits) };
    }
  } catch (error) {
    await source.close();
    throw error;
  }
  await source.close();
  if (!head.some((chunk) => chunk.type === 'finish')) {
    throw new SluiceError('upstream_cut', 'The provider ended its answer before it began.');
  }
  return { kind: 'chunks', chunks: new WholeAnswer(head, undefined, target, request, onEnd, limits) };
}

/** The chunk that says who answers. */
export function introduction({ provider, model }: Target): Chunk {
  const { id, label, url = null } = provider;
  return { type: 'provider', provider: { id, label, url, model } };
}

/** Where batches come from; undefined: all are there. */
type Source = { next(): Promise<IteratorResult<Batch>>; close(): Promise<void> } | undefined;

/** Told once of an answer that ended well. */
export type OnEnd = (summary: Summary) => void;

/**
 * The answer in the order that both dialects promise: provider first; one usage and one finish, last. No generator: every batch
 * of every answer passes here.
 */
export class WholeAnswer implements AsyncIterableIterator<Batch> {
  readonly #source: Source;
  readonly #target: Target;
  readonly #promptTokens: number;
  readonly #onEnd: OnEnd;
  readonly #ending: Ending;
  #head: Batch | undefined;
  #isOver = false;

  constructor(head: Batch, source: Source, target: Target, request: ChatRequest, onEnd: OnEnd, limits: EndingLimits) {
    this.#head = head;
    this.#source = source;
    this.#target = target;
    // A number, so that a long prompt can go.
    this.#promptTokens = estimatePrompt(request.messages, textBytes);
    this.#onEnd = onEnd;
    this.#ending = new Ending(limits);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Batch>> {
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined });
    if (this.#head !== undefined) return this.#begin(this.#head);
    if (this.#source === undefined) return this.#end();
    return this.#source.next().then(this.#take, this.#fail);
  }

  async return(): Promise<IteratorResult<Batch>> {
    this.#isOver = true;
    await this.#source?.close();
    return { done: true, value: undefined };
  }

  async #begin(head: Batch): Promise<IteratorResult<Batch>> {
    this.#head = undefined;
    try {
      return { done: false, value: [introduction(this.#target), ...this.#ending.body(head)] };
    } catch (error) {
      return this.#fail(error);
    }
  }

  readonly #take = (result: IteratorResult<Batch>): IteratorResult<Batch> | Promise<IteratorResult<Batch>> => {
    if (result.done === true) return this.#end();
    let body: Batch;
    try {
      body = this.#ending.body(result.value);
    } catch (error) {
      return this.#fail(error);
    }
    if (body.length === 0) return this.next();
    return body === result.value ? result : { done: false, value: body };
  };

  readonly #fail = async (error: unknown): Promise<never> => {
    this.#isOver = true;
    await this.#source?.close();
    throw toSluiceError(error).from(this.#target.provider.id, this.#target.model);
  };

  async #end(): Promise<IteratorResult<Batch>> {
    try {
      const { usage, finish } = this.#ending.last(this.#promptTokens);
      this.#onEnd({ usage, finish: finish.finish, answeredAs: finish.answeredAs });
      await this.return();
      return { done: false, value: [{ type: 'usage', usage }, finish] };
    } catch (error) {
      return this.#fail(error);
    }
  }
}

type EndingLimits = Pick<Limits, 'answerBytes'>;
type Finish = Extract<Chunk, { type: 'finish' }>;

/** Holds back what belongs to the end of an answer, and counts what a provider did not. */
class Ending {
  readonly #limits: EndingLimits;
  /** What most formats tell of calls as a whole is kept until then, also where the answer is a stream. Most answers have none. */
  #calls: Set<number> | undefined;
  #callSize = 0;
  #usage: Usage | undefined;
  #finish: Finish | undefined;
  readonly #estimate = new TextEstimate();

  constructor(limits: EndingLimits) {
    this.#limits = limits;
  }

  /** The batch without usage and finish; the very same array when it has neither. Throws when its calls are too many or too large. */
  body(batch: Batch): Batch {
    let isPlain = true;
    for (const chunk of batch) {
      switch (chunk.type) {
        case 'content':
          this.#estimate.add(chunk.content);
          break;
        case 'reasoning':
          this.#estimate.add(chunk.reasoning);
          break;
        case 'refusal':
          this.#estimate.add(chunk.refusal);
          break;
        case 'media':
          this.#estimate.add(chunk.media.transcript ?? '');
          break;
        case 'tool_call':
          this.#estimate.add(chunk.tool_call.arguments);
          this.#weigh(chunk.tool_call);
          break;
        case 'usage':
          this.#usage = chunk.usage;
          isPlain = false;
          break;
        case 'finish':
          this.#finish = chunk;
          isPlain = false;
          break;
      }
    }
    return isPlain ? batch : batch.filter((chunk) => chunk.type !== 'usage' && chunk.type !== 'finish');
  }

  #weigh({ index, arguments: fragment }: ToolCallDelta): void {
    this.#calls ??= new Set();
    this.#calls.add(index);
    if (this.#calls.size > MOST_CALLS) throw tooManyCalls();
    this.#callSize += fragment.length;
    if (this.#callSize > this.#limits.answerBytes)
      throw new SluiceError('upstream_invalid', "The provider's answer is larger than Sluice takes in.");
  }

  /** @param promptTokens as estimated */
  last(promptTokens: number): { readonly usage: Usage; readonly finish: Finish } {
    if (this.#finish === undefined)
      throw new SluiceError('upstream_cut', 'The provider ended its answer in the middle.');
    const completionTokens = this.#estimate.tokens;
    const totalTokens = promptTokens + completionTokens;
    const usage = this.#usage ?? { promptTokens, completionTokens, totalTokens, estimated: true };
    return { usage, finish: this.#finish };
  }
}

function textBytes({ content }: Message): number {
  let bytes = 0;
  for (const part of content) if (part.type === 'text') bytes += Buffer.byteLength(part.text);
  return bytes;
}

/**
 * A provider's batches under the first-byte and idle deadlines. Time runs only while somebody waits for a batch, so a slow
 * client is never held against the upstream. An overdue provider is cancelled, and not waited for.
 */
class TimedSource {
  readonly #iterator: AsyncIterator<Batch>;
  readonly #scope: CallScope;
  readonly #limits: Limits;
  readonly #deadline: Deadline;
  readonly #unlisten: () => void;
  #resolve: ((result: IteratorResult<Batch>) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;
  #begun = false;
  #closed = false;

  constructor(iterator: AsyncIterator<Batch>, scope: CallScope, deadlines: Deadlines, limits: Limits) {
    this.#iterator = iterator;
    this.#scope = scope;
    this.#limits = limits;
    this.#deadline = deadlines.start(limits.firstByteMs, () => this.#expire());
    this.#unlisten = scope.onCancel((reason) => this.#reject?.(reason));
  }

  next(): Promise<IteratorResult<Batch>> {
    if (this.#begun) this.#deadline.set(this.#limits.idleMs);
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#iterator.next().then(this.#arrived, this.#failed);
    });
  }

  readonly #arrived = (result: IteratorResult<Batch>): void => {
    this.#reject = undefined;
    this.#begun = true;
    this.#deadline.set(Number.POSITIVE_INFINITY);
    this.#resolve?.(result);
  };

  readonly #failed = (error: Error): void => this.#reject?.(this.#scope.cancelled ?? error);

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#deadline.clear();
    this.#unlisten();
    this.#scope.release();
    // A generator that hangs in an await would never return, so nobody waits for it.
    void this.#iterator.return?.().catch(() => {});
    await Promise.resolve();
  }

  #expire(): void {
    const limit = this.#begun ? this.#limits.idleMs : this.#limits.firstByteMs;
    this.#scope.cancel(
      new SluiceError(
        'upstream_timeout',
        this.#begun
          ? `The provider has sent nothing for ${limit} ms.`
          : `The provider has not begun to answer within ${limit} ms.`,
      ),
    );
  }
}
