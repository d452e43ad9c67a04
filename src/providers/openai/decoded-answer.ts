import type { Limits } from '../../config/config.ts';
import type { Batch, Chunk } from '../../core/chunk.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Body } from '../../outbound/body.ts';
import { LAST_WORDS_MS } from '../../outbound/upstream.ts';
import { decodeCompletion, StreamDecoder } from './decode.ts';
import { looksLikeEvents } from './events.ts';

/** In bytes: of one event of a stream, and of a whole answer. */
export type AnswerLimits = Pick<Limits, 'sseLineBytes' | 'answerBytes'>;

/**
 * An answer in either form, as it comes. What came before a failure is handed out before it is thrown. No generator: with
 * paced streams every token is a step.
 */
export class DecodedAnswer implements AsyncIterableIterator<Batch> {
  readonly #body: Body;
  readonly #limits: AnswerLimits;
  readonly #decoder: StreamDecoder;
  /** The pieces of an answer that is no stream, or has not said yet what it is. */
  readonly #whole: Buffer[] = [];
  #size = 0;
  #isStream: boolean | undefined;
  /** Bytes in a row that said nothing. */
  #idle = 0;
  #lastWords: NodeJS.Timeout | undefined;
  #isOver = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(body: Body, limits: AnswerLimits) {
    this.#body = body;
    this.#limits = limits;
    this.#decoder = new StreamDecoder(limits.sseLineBytes);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Batch>> {
    if (this.#failure !== undefined) return this.#fail(this.#failure.error);
    if (this.#isOver) return this.return();
    return this.#body.next().then(this.#arrived, this.#broken);
  }

  async return(): Promise<IteratorResult<Batch>> {
    this.#isOver = true;
    clearTimeout(this.#lastWords);
    void this.#body.return();
    return { done: true, value: undefined };
  }

  readonly #arrived = ({ value, done }: IteratorResult<Buffer>): Step => this.#step(done === true ? undefined : value);

  /** A connection that breaks after the answer was complete has ended, too. */
  readonly #broken = (error: unknown): Step => (this.#decoder.complete ? this.#step(undefined) : this.#fail(error));

  #step(bytes: Buffer | undefined): Step {
    try {
      if (bytes !== undefined && this.#isStream === undefined) {
        this.#isStream = looksLikeEvents(bytes);
        // A byte order mark may have come in parts.
        if (this.#isStream === true) return this.#events(Buffer.concat([...this.#whole, bytes]));
      }
      return this.#isStream === true ? this.#events(bytes) : this.#json(bytes);
    } catch (error) {
      return this.#fail(error);
    }
  }

  #json(bytes: Buffer | undefined): Step {
    if (bytes === undefined) {
      const value = decodeCompletion(Buffer.concat(this.#whole));
      this.#isOver = true;
      return { done: false, value };
    }
    this.#whole.push(bytes);
    this.#size += bytes.length;
    // It says nothing yet, but is a sign of life.
    if (this.#size <= this.#limits.answerBytes) return { done: false, value: [] };
    throw new SluiceError('upstream_invalid', "The provider's answer is larger than Sluice takes in.");
  }

  #events(bytes: Buffer | undefined): Step {
    const decoder = this.#decoder;
    const batch: Chunk[] = [];
    try {
      if (bytes !== undefined) decoder.push(bytes, batch);
      if (bytes === undefined || decoder.done) decoder.end(batch);
    } catch (error) {
      if (batch.length === 0) throw error;
      this.#failure = { error };
    }
    this.#idle = batch.length > 0 ? 0 : this.#idle + (bytes?.length ?? 0);
    if (this.#idle > this.#limits.answerBytes) {
      throw new SluiceError('upstream_invalid', 'The provider sent much, but nothing that says anything.');
    }
    if (decoder.done) this.#body.release();
    if (bytes === undefined || decoder.done) this.#isOver = true;
    else if (decoder.complete || this.#lastWords !== undefined) this.#awaitLastWords(batch.length > 0);
    return { done: false, value: batch };
  }

  /** Usage and `[DONE]` follow at once or never. Some upstreams name an end in every chunk, so more text counts. */
  #awaitLastWords(saysMore: boolean): void {
    if (saysMore) {
      clearTimeout(this.#lastWords);
      this.#lastWords = undefined;
    }
    if (this.#decoder.complete) this.#lastWords ??= setTimeout(() => void this.#body.return(), LAST_WORDS_MS).unref();
  }

  async #fail(error: unknown): Promise<never> {
    await this.return();
    this.#failure = undefined;
    throw error;
  }
}

type Step = IteratorResult<Batch> | Promise<IteratorResult<Batch>>;
