import type { IncomingHttpHeaders } from 'node:http';
import { SluiceError } from '../core/errors.ts';
import type { UpstreamRequest } from './request.ts';
import type { Exchange, UpstreamClient, UpstreamHandler } from './upstream.ts';

/** Bytes read ahead of the consumer before the upstream is paused. */
const HIGH_WATER = 256 * 1024;

/** How long a released body may take to end by itself. */
const RELEASE_MS = 1_000;

/** The head of an upstream's answer, and its body to be pulled. */
export interface UpstreamResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
}

/** Sends a request and waits for the head of the answer. */
export function open(client: UpstreamClient, request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamResponse> {
  if (signal.aborted) return Promise.reject(signal.reason);
  const { promise, resolve, reject } = Promise.withResolvers<UpstreamResponse>();
  new Body(signal, resolve, reject).start(client, request);
  return promise;
}

/**
 * A response body as an async iterator. Each step hands out everything that has arrived since the last one, so a burst
 * is one step. The upstream is paused while too much waits, and closed when the consumer stops early.
 */
export class Body implements AsyncIterableIterator<Buffer>, UpstreamHandler {
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => {
    this.#exchange?.abort();
    this.#settle(
      this.#signal.reason instanceof Error ? this.#signal.reason : new SluiceError('cancelled', 'Cancelled.'),
    );
  };
  #exchange: Exchange | undefined;
  #queue: Buffer[] = [];
  #queued = 0;
  #paused = false;
  #ended = false;
  #released = false;
  #tail: NodeJS.Timeout | undefined;
  #error: Error | undefined;
  #waiting: { resolve(result: IteratorResult<Buffer>): void; reject(error: Error): void } | undefined;
  readonly #resolve: (response: UpstreamResponse) => void;
  readonly #reject: (error: Error) => void;

  /** @param resolve told of the head, and `reject` of a failure before it */
  constructor(signal: AbortSignal, resolve: (response: UpstreamResponse) => void, reject: (error: Error) => void) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** No closure of this may know the request: its body would be kept for as long as the answer takes. */
  start(client: UpstreamClient, request: UpstreamRequest): void {
    this.#signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#exchange = client.send(request, this);
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.#resolve({ status, headers, body: this });
  }

  onData(bytes: Buffer): void {
    this.#push(Buffer.from(bytes));
  }

  onEnd(): void {
    this.#settle(undefined);
  }

  onError(error: SluiceError): void {
    this.#settle(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Buffer>> {
    if (this.#queue.length > 0) return Promise.resolve({ value: this.#take(), done: false });
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#ended) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  return(): Promise<IteratorResult<Buffer>> {
    if (this.#released) return Promise.resolve({ value: undefined, done: true });
    this.#exchange?.abort();
    this.#queue = [];
    this.#settle(undefined);
    return Promise.resolve({ value: undefined, done: true });
  }

  /**
   * Stops listening to a body that has said all that matters. The rest is passed over, so that the connection can serve
   * again; one that goes on regardless is closed.
   */
  release(): void {
    if (this.#ended) return;
    this.#released = true;
    this.#queue = [];
    if (this.#paused) this.#exchange?.resume();
    this.#tail = setTimeout(() => this.#exchange?.abort(), RELEASE_MS).unref();
  }

  /** The whole body, at most `limit` bytes. */
  async collect(limit: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    let size = 0;
    for await (const piece of this) {
      size += piece.length;
      if (size > limit)
        throw new SluiceError('upstream_invalid', `The provider's answer is larger than ${limit} bytes.`);
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }

  #push(bytes: Buffer): void {
    if (this.#released) return;
    if (this.#waiting !== undefined) {
      const { resolve } = this.#waiting;
      this.#waiting = undefined;
      resolve({ value: bytes, done: false });
      return;
    }
    this.#queue.push(bytes);
    this.#queued += bytes.length;
    if (this.#queued > HIGH_WATER && !this.#paused) {
      this.#paused = true;
      this.#exchange?.pause();
    }
  }

  #take(): Buffer {
    const [first] = this.#queue;
    const all = this.#queue.length === 1 && first !== undefined ? first : Buffer.concat(this.#queue);
    this.#queue = [];
    this.#queued = 0;
    if (this.#paused) {
      this.#paused = false;
      this.#exchange?.resume();
    }
    return all;
  }

  #settle(error: Error | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#signal.removeEventListener('abort', this.#onAbort);
    // The timer would keep all this in memory.
    clearTimeout(this.#tail);
    // Once the head is there, this says nothing to anybody any more.
    if (error !== undefined) this.#reject(error);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) return;
    if (error === undefined) waiting.resolve({ value: undefined, done: true });
    else waiting.reject(error);
  }
}
