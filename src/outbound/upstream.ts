import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import type { Limits } from '../config/config.ts';
import type { ProxyConfig } from '../config/proxy.ts';
import { SluiceError } from '../core/errors.ts';
import type { Connection, ConnectionSettings, ConnectionUser } from './connection.ts';
import { inflaterOf, type MakeInflater } from './inflater.ts';
import { Names } from './names.ts';
import { Pool } from './pool.ts';
import type { UpstreamRequest } from './request.ts';
import { transportFailure } from './transport-failure.ts';

/** How long an upstream may take for what it still wants to say once all that matters of its answer is there, in milliseconds. */
export const LAST_WORDS_MS = 3_000;

/** Told what happens to a request. After `onEnd` or `onError` nothing follows; `abort` is followed by nothing at all. */
export interface UpstreamHandler {
  onHead(status: number, headers: IncomingHttpHeaders): void;
  /** The bytes are valid until this returns: whoever needs them later makes a copy. */
  onData(bytes: Buffer): void;
  onEnd(): void;
  onError(error: SluiceError): void;
}

/** A running request. */
export interface Exchange {
  /** Nobody looks at the body of the request any more: the system has all of it, or the connection is closed. */
  readonly isSent: boolean;
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

/** The client on a pool of connections for each origin. */
export function createUpstreamClient(
  limits: () => ClientLimits,
  proxies: ProxyConfig = { direct: [] },
): UpstreamClient {
  const pools = new Map<string, Pool>();
  const names = new Names();
  const settings = (): ConnectionSettings => {
    const { connectMs, headerBytes, upstreamKeepAliveMs: idleMs } = limits();
    return { connectMs, headerBytes, idleMs };
  };
  return {
    send(request, handler) {
      const running = new RunningExchange(handler, limits().inflateBytes);
      let pool = pools.get(request.origin);
      if (pool === undefined) {
        pool = new Pool(request.origin, settings, proxies, names);
        pools.set(request.origin, pool);
      }
      running.start(pool, request);
      return running;
    },
    async close() {
      for (const pool of pools.values()) pool.close();
      pools.clear();
    },
  };
}

class RunningExchange implements Exchange, ConnectionUser {
  readonly #handler: UpstreamHandler;
  readonly #inflateBytes: number;
  /** As long as it is ours. */
  #connection: Connection | undefined;
  /** For a compressed body. */
  #makeInflater: MakeInflater | undefined;
  /** From the first byte of a compressed body on: an empty one is empty whatever its encoding is called. */
  #inflate: Transform | undefined;
  #done = false;

  constructor(handler: UpstreamHandler, inflateBytes: number) {
    this.#handler = handler;
    this.#inflateBytes = inflateBytes;
  }

  start(pool: Pool, request: UpstreamRequest): void {
    try {
      this.#connection = pool.send(request, this);
    } catch (cause) {
      this.fail(new SluiceError('internal', 'The request to the provider could not be put together.', { cause }));
    }
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    const encoding = headers['content-encoding'] ?? '';
    if (encoding !== '' && encoding.toLowerCase() !== 'identity') {
      this.#makeInflater = inflaterOf(encoding);
      if (this.#makeInflater === undefined) {
        this.fail(
          new SluiceError('upstream_invalid', 'The upstream compressed its answer in a way Sluice does not read.'),
        );
        return;
      }
    }
    this.#handler.onHead(status, headers);
  }

  onData(bytes: Buffer): void {
    if (this.#makeInflater === undefined) this.#handler.onData(bytes);
    else this.#unpack(this.#makeInflater, bytes);
  }

  onEnd(): void {
    this.#connection = undefined;
    if (this.#inflate === undefined) this.#finish();
    else this.#inflate.end();
  }

  onError(thrown: unknown): void {
    this.fail(thrown);
  }

  get isSent(): boolean {
    return this.#connection?.isSent ?? true;
  }

  pause(): void {
    (this.#inflate ?? this.#connection)?.pause();
  }

  resume(): void {
    this.#inflate?.resume();
    // Else it is not the handler for whom it is paused.
    if (!this.#inflate?.writableNeedDrain) this.#connection?.resume();
  }

  abort(): void {
    if (this.#done) return;
    this.#end();
  }

  fail(thrown: unknown): void {
    if (this.#done) return;
    this.#end();
    this.#handler.onError(transportFailure(thrown));
  }

  #end(): void {
    this.#done = true;
    this.#inflate?.destroy();
    this.#connection?.destroy();
    this.#connection = undefined;
  }

  #finish(): void {
    if (this.#done) return;
    this.#done = true;
    this.#handler.onEnd();
  }

  #unpack(make: MakeInflater, bytes: Buffer): void {
    this.#inflate ??= this.#through(make(bytes[0]));
    // It is read later.
    if (!this.#inflate.write(Buffer.from(bytes))) this.#connection?.pause();
  }

  #through(inflate: Transform): Transform {
    let written = 0;
    inflate.on('data', (bytes: Buffer) => {
      written += bytes.length;
      if (written > this.#inflateBytes) {
        this.fail(new SluiceError('upstream_invalid', 'The upstream sent more compressed data than Sluice unpacks.'));
        return;
      }
      if (!this.#done) this.#handler.onData(bytes);
    });
    inflate.on('drain', () => this.#connection?.resume());
    inflate.on('end', () => this.#finish());
    inflate.on('error', () =>
      this.fail(new SluiceError('upstream_invalid', 'The upstream sent broken compressed data.')),
    );
    return inflate;
  }
}
