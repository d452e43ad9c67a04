import type { IncomingHttpHeaders } from 'node:http';
import type { Limits } from '../config/config.ts';
import type { CallScope } from '../core/call.ts';
import type { Batch, Usage } from '../core/chunk.ts';
import { SluiceError } from '../core/errors.ts';
import type { Exchange, UpstreamClient, UpstreamHandler } from '../outbound/upstream.ts';
import { decodeCompletion, decodeEvents } from '../providers/openai/decode.ts';
import { looksLikeEvents } from '../providers/openai/events.ts';
import { failureOfStatus } from '../providers/openai/failure.ts';
import { completionBytes } from './completion.ts';
import type { Deadline, Deadlines } from './deadlines.ts';
import { StreamRewriter } from './rewrite.ts';
import type { Target } from './select.ts';

/** Bytes of an error answer that are read. */
const ERROR_BYTES = 64 * 1024;
/** How long an upstream may go on after `[DONE]` before its connection is closed, in milliseconds. */
const TAIL_MS = 1_000;

/** A request whose bytes are passed through. */
export interface RelayRequest {
  readonly endpoint: string;
  /** What the upstream gets, with its own name for the model. */
  readonly body: Buffer;
  readonly stream: boolean;
  readonly wantsUsage: boolean;
}

/** Who takes the bytes of a relayed stream. */
export interface RelaySink {
  /** Returns false when the client is slower than the upstream; `resume` of the stream is called once it has caught up. */
  write(latin1: string): boolean;
  end(): void;
  fail(error: SluiceError): void;
}

/** A stream of which something visible is there; the rest flows once a sink is attached. */
export interface RelayedStream {
  readonly kind: 'stream';
  readonly headers: IncomingHttpHeaders;
  attach(sink: RelaySink): void;
  resume(): void;
  /** Known after the end. */
  summary(): { readonly usage: Usage | undefined; readonly finish: string | undefined };
}

/** A whole answer. */
export interface RelayedBody {
  readonly kind: 'body';
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly usage: Usage | undefined;
}

/** The upstream answered in the other form (a stream where none was asked for, or the reverse), so it had to be decoded. */
export interface RelayedChunks {
  readonly kind: 'decoded';
  readonly batch: Batch;
}

export type Relayed = RelayedStream | RelayedBody | RelayedChunks;

export interface RelayDeps {
  readonly client: UpstreamClient;
  readonly deadlines: Deadlines;
  readonly limits: Limits;
}

/** Sends a request and waits for the first visible chunk of a stream, or for the whole of any other answer. */
export function openRelay(target: Target, request: RelayRequest, call: CallScope, deps: RelayDeps): Promise<Relayed> {
  const { relay } = target.provider;
  if (relay === undefined) throw new Error(`${target.provider.id} has no relay`);
  const to = relay.target(request.endpoint, call.credentials);
  return new Promise((resolve, reject) => {
    const running = new Relaying(target, request, call, deps, resolve, reject);
    running.start(deps.client.send({ ...to, method: 'POST', body: request.body }, running));
  });
}

type State = 'head' | 'error' | 'sniff' | 'stream' | 'whole' | 'done';

class Relaying implements UpstreamHandler, RelayedStream {
  readonly kind = 'stream';
  headers: IncomingHttpHeaders = {};
  readonly #target: Target;
  readonly #request: RelayRequest;
  readonly #deps: RelayDeps;
  readonly #resolve: (relayed: Relayed) => void;
  readonly #reject: (error: Error) => void;
  readonly #rewriter: StreamRewriter;
  readonly #deadline: Deadline;
  readonly #unlisten: () => void;
  #exchange: Exchange | undefined;
  #state: State = 'head';
  #status = 0;
  #begun = false;
  #pieces: Buffer[] = [];
  #size = 0;
  /** Bytes for the client that arrived before it was ready for them. */
  #early = '';
  #committed = false;
  #sink: RelaySink | undefined;
  #failure: SluiceError | undefined;

  constructor(
    target: Target,
    request: RelayRequest,
    call: CallScope,
    deps: RelayDeps,
    resolve: (relayed: Relayed) => void,
    reject: (error: Error) => void,
  ) {
    this.#target = target;
    this.#request = request;
    this.#deps = deps;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#rewriter = new StreamRewriter({
      provider: target.provider.id,
      wantsUsage: request.wantsUsage,
      promptBytes: request.body.length,
      sseLineBytes: deps.limits.sseLineBytes,
    });
    this.#deadline = deps.deadlines.start(deps.limits.firstByteMs, () => this.#expire());
    this.#unlisten = call.onCancel((reason) => {
      this.#exchange?.abort();
      this.#fail(reason instanceof SluiceError ? reason : new SluiceError('cancelled', 'Cancelled.'));
    });
  }

  start(exchange: Exchange): void {
    this.#exchange = exchange;
    if (this.#state === 'done') exchange.abort();
  }

  // What the upstream does

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.headers = headers;
    this.#state = status === 200 ? 'sniff' : 'error';
  }

  onData(bytes: Buffer): void {
    if (this.#begun) this.#deadline.touch();
    else {
      this.#begun = true;
      this.#deadline.set(this.#deps.limits.idleMs);
    }
    try {
      this.#take(bytes);
    } catch (error) {
      this.#exchange?.abort();
      this.#fail(error);
    }
  }

  onEnd(): void {
    try {
      switch (this.#state) {
        case 'error':
          throw failureOfStatus(this.#status, this.headers, Buffer.concat(this.#pieces));
        case 'stream':
          this.#endStream();
          break;
        case 'sniff':
        case 'whole':
          this.#endWhole(Buffer.concat(this.#pieces));
          break;
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  onError(error: SluiceError): void {
    // Cut while it explained an error: what has arrived of the explanation still counts.
    if (this.#state === 'error') this.#fail(failureOfStatus(this.#status, this.headers, Buffer.concat(this.#pieces)));
    else this.#fail(error);
  }

  // What the client does

  attach(sink: RelaySink): void {
    this.#sink = sink;
    if (this.#early !== '' && !sink.write(this.#early)) this.#pause();
    this.#early = '';
    if (this.#failure !== undefined) sink.fail(this.#failure);
    else if (this.#state === 'done') sink.end();
  }

  resume(): void {
    if (this.#state === 'done') return;
    this.#deadline.set(this.#deps.limits.idleMs);
    this.#exchange?.resume();
  }

  summary(): { usage: Usage | undefined; finish: string | undefined } {
    return { usage: this.#rewriter.usage, finish: this.#rewriter.finish };
  }

  #take(bytes: Buffer): void {
    switch (this.#state) {
      case 'stream':
        this.#write(this.#rewriter.push(bytes));
        if (this.#rewriter.done) this.#endStream();
        return;
      case 'sniff': {
        const isEvents = looksLikeEvents(bytes);
        if (isEvents === undefined) return;
        this.#state = isEvents && this.#request.stream ? 'stream' : 'whole';
        this.#take(bytes);
        return;
      }
      case 'error':
        if (this.#size < ERROR_BYTES) this.#collect(bytes);
        return;
      case 'whole':
        this.#collect(bytes);
        if (this.#size > this.#deps.limits.answerBytes) {
          throw new SluiceError('upstream_invalid', "The provider's answer is larger than Sluice takes in.");
        }
    }
  }

  #collect(bytes: Buffer): void {
    this.#pieces.push(bytes);
    this.#size += bytes.length;
  }

  #write(text: string): void {
    if (this.#sink !== undefined) {
      if (text !== '' && !this.#sink.write(text)) this.#pause();
      return;
    }
    this.#early += text;
    if (this.#rewriter.visible) this.#commit();
    // A client that is not there yet must not make the upstream run ahead.
    if (this.#early.length > this.#deps.limits.sseLineBytes) this.#pause();
  }

  #pause(): void {
    this.#deadline.set(Number.POSITIVE_INFINITY);
    this.#exchange?.pause();
  }

  #commit(): void {
    if (this.#committed) return;
    this.#committed = true;
    this.#resolve(this);
  }

  #endStream(): void {
    const rest = this.#rewriter.end();
    this.#finish();
    // Only now: a client that hears the end may send its next request at once.
    if (this.#sink === undefined) {
      this.#early += rest;
      this.#commit();
    } else {
      this.#sink.write(rest);
      this.#sink.end();
    }
    const exchange = this.#exchange;
    if (exchange !== undefined) setTimeout(() => exchange.abort(), TAIL_MS).unref();
  }

  #endWhole(body: Buffer): void {
    if (looksLikeEvents(body) === true) {
      this.#decoded(decodeEvents(body, this.#deps.limits.sseLineBytes));
    } else if (this.#request.stream) {
      this.#decoded(decodeCompletion(body));
    } else {
      const { bytes, usage } = completionBytes(body, this.#target.provider.id);
      this.#finish();
      this.#resolve({ kind: 'body', headers: this.headers, bytes, usage });
    }
  }

  #decoded(batch: Batch): void {
    this.#finish();
    this.#resolve({ kind: 'decoded', batch });
  }

  #expire(): void {
    this.#exchange?.abort();
    this.#fail(
      new SluiceError(
        'upstream_timeout',
        this.#begun
          ? `The provider has sent nothing for ${this.#deps.limits.idleMs} ms.`
          : `The provider has not begun to answer within ${this.#deps.limits.firstByteMs} ms.`,
      ),
    );
  }

  #finish(): void {
    this.#state = 'done';
    this.#deadline.clear();
    this.#unlisten();
    this.#pieces = [];
  }

  #fail(thrown: unknown): void {
    if (this.#state === 'done') return;
    this.#finish();
    const error =
      thrown instanceof SluiceError ? thrown : new SluiceError('internal', 'The relay failed.', { cause: thrown });
    const named = error.from(this.#target.provider.id, this.#target.model);
    if (!this.#committed) this.#reject(named);
    else if (this.#sink === undefined) this.#failure = named;
    else this.#sink.fail(named);
  }
}
