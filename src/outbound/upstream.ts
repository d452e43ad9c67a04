import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher, Pool } from 'undici';
import type { Limits } from '../config/config.ts';
import { SluiceError } from '../core/errors.ts';

/** One HTTP request to an upstream. */
export interface UpstreamRequest {
  readonly origin: string;
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}

/** Told what happens to a request. After `onEnd` or `onError` nothing follows; `abort` is followed by nothing at all. */
export interface UpstreamHandler {
  onHead(status: number, headers: IncomingHttpHeaders): void;
  onData(bytes: Buffer): void;
  onEnd(): void;
  onError(error: SluiceError): void;
}

/** A running request. */
export interface Exchange {
  pause(): void;
  resume(): void;
  /** Ends the request at once and closes its connection. */
  abort(): void;
}

/** The HTTP client towards upstreams: pooled connections, no redirects, no retries, no cookies. */
export interface UpstreamClient {
  send(request: UpstreamRequest, handler: UpstreamHandler): Exchange;
  close(): Promise<void>;
}

type ClientLimits = Pick<Limits, 'connectMs' | 'upstreamKeepAliveMs' | 'inflateBytes' | 'headerBytes'>;

/** The client on undici's pools, which are opened per origin on first use. */
export function createUpstreamClient(limits: () => ClientLimits): UpstreamClient {
  const pools = new Map<string, Pool>();
  let Undici: typeof import('undici') | undefined;
  const loading = import('undici').then((module) => {
    Undici = module;
  });

  function pool(undici: typeof import('undici'), origin: string): Pool {
    let found = pools.get(origin);
    if (found === undefined) {
      const { connectMs, upstreamKeepAliveMs } = limits();
      found = new undici.Pool(origin, {
        connect: { timeout: connectMs },
        pipelining: 1,
        allowH2: false,
        keepAliveTimeout: upstreamKeepAliveMs,
        keepAliveMaxTimeout: upstreamKeepAliveMs,
        // Upstreams that name their idle limit are left well before it: a reused socket may be closing already.
        keepAliveTimeoutThreshold: 4_000,
        // Deadlines are routing's business: one clock for every provider, see `routing/deadlines.ts`.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      pools.set(origin, found);
    }
    return found;
  }

  return {
    send(request, handler) {
      const running = new RunningExchange(handler, limits().inflateBytes);
      const start = (): void => {
        if (Undici === undefined || running.aborted) return;
        try {
          pool(Undici, request.origin).dispatch(
            {
              path: request.path,
              method: request.method,
              headers: request.headers,
              ...(request.body === undefined ? {} : { body: request.body }),
            },
            running,
          );
        } catch (error) {
          running.fail(error);
        }
      };
      if (Undici === undefined) loading.then(start, (error) => running.fail(error));
      else start();
      return running;
    },
    async close() {
      await Promise.all([...pools.values()].map((each) => each.destroy()));
      pools.clear();
    },
  };
}

class RunningExchange implements Exchange, Dispatcher.DispatchHandler {
  aborted = false;
  readonly #handler: UpstreamHandler;
  readonly #inflateBytes: number;
  #controller: Dispatcher.DispatchController | undefined;
  #inflate: Transform | undefined;
  #done = false;

  constructor(handler: UpstreamHandler, inflateBytes: number) {
    this.#handler = handler;
    this.#inflateBytes = inflateBytes;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.aborted) controller.abort(new Error('aborted'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200 || this.#done) return;
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding !== '' && encoding !== 'identity') {
      const inflate = inflater(encoding);
      if (inflate === undefined) {
        this.fail(
          new SluiceError('upstream_invalid', 'The upstream compressed its answer in a way Sluice does not read.'),
        );
        return;
      }
      this.#inflateThrough(inflate);
    }
    this.#handler.onHead(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.#done) return;
    if (this.#inflate === undefined) this.#handler.onData(bytes);
    else if (!this.#inflate.write(bytes)) this.#controller?.pause();
  }

  onResponseEnd(): void {
    if (this.#done) return;
    if (this.#inflate === undefined) this.#finish();
    else this.#inflate.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  pause(): void {
    if (this.#inflate === undefined) this.#controller?.pause();
    else this.#inflate.pause();
  }

  resume(): void {
    if (this.#inflate === undefined) this.#controller?.resume();
    else this.#inflate.resume();
  }

  abort(): void {
    if (this.#done) return;
    this.#done = true;
    this.aborted = true;
    this.#inflate?.destroy();
    this.#controller?.abort(new Error('aborted'));
  }

  fail(thrown: unknown): void {
    if (this.#done) return;
    this.#done = true;
    this.aborted = true;
    this.#inflate?.destroy();
    this.#controller?.abort(new Error('failed'));
    this.#handler.onError(fromTransport(thrown));
  }

  #finish(): void {
    if (this.#done) return;
    this.#done = true;
    this.#handler.onEnd();
  }

  #inflateThrough(inflate: Transform): void {
    this.#inflate = inflate;
    let written = 0;
    inflate.on('data', (bytes: Buffer) => {
      written += bytes.length;
      if (written > this.#inflateBytes) {
        this.fail(new SluiceError('upstream_invalid', 'The upstream sent more compressed data than Sluice unpacks.'));
        return;
      }
      if (!this.#done) this.#handler.onData(bytes);
    });
    inflate.on('drain', () => this.#controller?.resume());
    inflate.on('end', () => this.#finish());
    inflate.on('error', () =>
      this.fail(new SluiceError('upstream_invalid', 'The upstream sent broken compressed data.')),
    );
  }
}

/** One layer only: stacked encodings have no use but to exhaust whoever unpacks them. */
function inflater(encoding: string): Transform | undefined {
  switch (encoding.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      return undefined;
  }
}

/** Transport errors in words for people; addresses and internals stay out of them. */
function fromTransport(thrown: unknown): SluiceError {
  if (thrown instanceof SluiceError) return thrown;
  const code = errorCode(thrown);
  switch (code) {
    case 'ECONNREFUSED':
      return new SluiceError(
        'upstream_unreachable',
        "Nothing answers at the provider's address (connection refused).",
        {
          cause: thrown,
        },
      );
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new SluiceError('upstream_unreachable', "The provider's host name could not be resolved.", {
        cause: thrown,
      });
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
      return new SluiceError('upstream_timeout', 'The provider did not accept a connection in time.', {
        cause: thrown,
      });
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return new SluiceError('upstream_cut', 'The provider closed the connection before its answer was complete.', {
        cause: thrown,
      });
    case 'UND_ERR_INVALID_ARG':
      return new SluiceError('internal', 'The request to the provider could not be put together.', { cause: thrown });
    case 'UND_ERR_CLOSED':
    case 'UND_ERR_DESTROYED':
      return new SluiceError('shutting_down', 'Sluice is shutting down.', { cause: thrown });
    case 'UND_ERR_HEADERS_OVERFLOW':
      return new SluiceError('upstream_invalid', 'The provider sent a header that is too large.', { cause: thrown });
    default:
      if (code.startsWith('HPE_') || code.startsWith('UND_ERR_') || isParserError(thrown)) {
        return new SluiceError('upstream_invalid', 'The provider sent something that is not valid HTTP.', {
          cause: thrown,
        });
      }
      return new SluiceError('upstream_unreachable', 'The provider could not be reached.', { cause: thrown });
  }
}

/** Some of undici's parser errors come without a code. */
function isParserError(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'HTTPParserError';
}

function errorCode(thrown: unknown): string {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 4; error = error.cause, depth += 1) {
    if ('code' in error && typeof error.code === 'string') return error.code;
    if (error instanceof AggregateError && error.errors.length > 0) return errorCode(error.errors[0]);
  }
  return '';
}
