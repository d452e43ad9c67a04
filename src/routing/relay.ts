import type { IncomingHttpHeaders } from 'node:http';
import type { Limits } from '../config/config.ts';
import type { CallScope } from '../core/call.ts';
import type { Chunk } from '../core/chunk.ts';
import { SluiceError } from '../core/errors.ts';
import { join } from '../core/pieces.ts';
import { type Exchange, LAST_WORDS_MS, type UpstreamClient, type UpstreamHandler } from '../outbound/upstream.ts';
import { decodeCompletion, StreamDecoder } from '../providers/openai/decode.ts';
import { looksLikeEvents, withoutRestOfMark } from '../providers/openai/events.ts';
import { failureOfStatus } from '../providers/openai/failure.ts';
import { completionBytes } from './completion.ts';
import type { Deadline, Deadlines } from './deadlines.ts';
import type { Relayed, RelayedStream, RelayRequest, RelaySink, Summary } from './relayed.ts';
import { StreamRewriter } from './rewrite.ts';
import type { Target } from './select.ts';
import { Gathered, Slabs } from './slabs.ts';

/** Bytes of an error answer that are read. */
const ERROR_BYTES = 64 * 1024;
/** How long an upstream may go on after `[DONE]` before its connection is closed, in milliseconds. */
const TAIL_MS = 1_000;

/** What all relays share. */
export interface RelayDeps {
  readonly client: UpstreamClient;
  readonly deadlines: Deadlines;
  readonly limits: Limits;
}

/** Memory for all whole answers. */
const slabs = new Slabs();

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

/** `stream`: events are passed on; `events`: they are gathered for a client that wants one answer; `whole`: it is JSON. */
type State = 'head' | 'error' | 'sniff' | 'stream' | 'events' | 'whole' | 'done';

class Relaying implements UpstreamHandler, RelayedStream {
  readonly kind = 'stream';
  headers: IncomingHttpHeaders = {};
  readonly #target: Target;
  /** What of the request has to be known later. Its body is not kept: the answer may take minutes. */
  readonly #streams: boolean;
  readonly #wantsUsage: boolean;
  readonly #choices: number;
  readonly #wantsJson: boolean;
  readonly #promptTokens: number;
  readonly #deps: RelayDeps;
  readonly #resolve: (relayed: Relayed) => void;
  readonly #reject: (error: Error) => void;
  /** There from the first bytes of a stream on. */
  #rewriter: StreamRewriter | undefined;
  readonly #deadline: Deadline;
  /** Replaced at once, unless the call was over before. */
  #unlisten = (): void => {};
  #exchange: Exchange | undefined;
  #state: State = 'head';
  #status = 0;
  #begun = false;
  #awaitsLastWords = false;
  #paused = false;
  #gathered: Gathered | undefined;
  /** Bytes of a stream that is gathered, or of which nothing visible is there. */
  #size = 0;
  #events: StreamDecoder | undefined;
  readonly #batch: Chunk[] = [];
  /** Bytes for the client that arrived before it was ready for them. */
  #early = '';
  #committed = false;
  #sink: RelaySink | undefined;
  #tail: NodeJS.Timeout | undefined;
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
    this.#streams = request.stream;
    this.#wantsUsage = request.wantsUsage;
    this.#choices = request.choices;
    this.#wantsJson = request.wantsJson;
    this.#promptTokens = request.promptTokens;
    this.#deps = deps;
    this.#resolve = resolve;
    this.#reject = reject;
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
    if (this.#awaitsLastWords) {
      // No sign of life prolongs the wait for what may never come.
    } else if (this.#begun) this.#deadline.touch();
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
    // The timer would keep the request and its body in memory.
    clearTimeout(this.#tail);
    try {
      switch (this.#state) {
        case 'error':
          throw this.#explained();
        case 'stream':
          if (this.#rewriter !== undefined) this.#endStream(this.#rewriter);
          break;
        case 'events':
          this.#endEvents();
          break;
        case 'sniff':
        case 'whole':
          this.#endWhole(this.#gathered);
          break;
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  onError(error: SluiceError): void {
    clearTimeout(this.#tail);
    // Cut while it explained an error: what has arrived of the explanation still counts.
    if (this.#state === 'error') this.#fail(this.#explained());
    // Cut after all was said: nothing is missing.
    else if (this.#isComplete) this.onEnd();
    else this.#fail(error);
  }

  /** Whether the answer is whole, even if the upstream says no more. */
  get #isComplete(): boolean {
    if (this.#state === 'stream') return this.#rewriter?.complete === true;
    return this.#state === 'events' && this.#events?.complete === true;
  }

  /** `anew`: there was more to say than it seemed; some upstreams name an end in every chunk. */
  #awaitLastWords(anew: boolean): void {
    if ((this.#awaitsLastWords && !anew) || this.#paused) return;
    this.#awaitsLastWords = true;
    this.#deadline.set(Math.min(LAST_WORDS_MS, this.#deps.limits.idleMs));
  }

  // What the client does

  get isSent(): boolean {
    return this.#exchange?.isSent ?? false;
  }

  attach(sink: RelaySink): void {
    this.#sink = sink;
    const early = this.#early;
    this.#early = '';
    const isReady = early === '' || sink.write(early);
    if (isReady && this.#paused) this.resume();
    else if (!isReady) this.#pause();
    if (this.#failure !== undefined) sink.fail(this.#failure);
    else if (this.#state === 'done') sink.end();
  }

  resume(): void {
    this.#paused = false;
    if (this.#isComplete) this.#awaitLastWords(true);
    else if (this.#state !== 'done') this.#deadline.set(this.#deps.limits.idleMs);
    this.#exchange?.resume();
  }

  summary(): Summary {
    const { usage, finish, answeredAs } = this.#rewriter ?? {};
    return { usage, finish, answeredAs };
  }

  #take(bytes: Buffer): void {
    switch (this.#state) {
      case 'stream': {
        this.#rewriter ??= this.#rewrite();
        const text = this.#rewriter.push(bytes);
        this.#write(text, this.#rewriter);
        const { failure, done, complete } = this.#rewriter;
        if (failure !== undefined) throw failure;
        if (!this.#committed) {
          this.#size += bytes.length;
          if (this.#size > this.#deps.limits.answerBytes) throw nothingVisible();
        }
        if (done) this.#endStream(this.#rewriter);
        else if (complete) this.#awaitLastWords(text !== '');
        return;
      }
      case 'events': {
        const before = this.#batch.length;
        this.#size += bytes.length;
        this.#limit(this.#size);
        this.#events?.push(bytes, this.#batch);
        if (this.#events?.done === true) this.#endEvents();
        else if (this.#isComplete) this.#awaitLastWords(this.#batch.length > before);
        return;
      }
      case 'sniff': {
        const isEvents = looksLikeEvents(bytes);
        if (isEvents === undefined) return;
        if (!isEvents) this.#state = 'whole';
        else if (this.#streams) this.#state = 'stream';
        else {
          this.#state = 'events';
          this.#events = new StreamDecoder(this.#deps.limits.sseLineBytes);
        }
        this.#take(withoutRestOfMark(bytes));
        return;
      }
      case 'error':
        // Whatever comes behind that explains nothing any more, and may never end.
        if (this.#gather(bytes) > ERROR_BYTES) throw this.#explained();
        return;
      case 'whole':
        this.#limit(this.#gather(bytes));
    }
  }

  /** Returns how much it is by now. */
  #gather(bytes: Buffer): number {
    this.#gathered ??= new Gathered(slabs);
    this.#gathered.add(bytes);
    return this.#gathered.size;
  }

  #limit(size: number): void {
    if (size <= this.#deps.limits.answerBytes) return;
    throw new SluiceError('upstream_invalid', "The provider's answer is larger than Sluice takes in.");
  }

  #explained(): SluiceError {
    const body = join(this.#gathered?.pieces ?? []).subarray(0, ERROR_BYTES);
    return failureOfStatus(this.#status, this.headers, body, 'same');
  }

  #rewrite(): StreamRewriter {
    return new StreamRewriter({
      provider: this.#target.provider.id,
      model: this.#target.model,
      wantsUsage: this.#wantsUsage,
      choices: this.#choices,
      promptTokens: this.#promptTokens,
      sseLineBytes: this.#deps.limits.sseLineBytes,
    });
  }

  #write(text: string, { visible }: StreamRewriter): void {
    if (this.#sink !== undefined) {
      if (text !== '' && !this.#sink.write(text)) this.#pause();
      return;
    }
    this.#early += text;
    if (visible) this.#commit();
    if (this.#early.length <= this.#deps.limits.sseLineBytes) return;
    // A client that is not there yet must not make the upstream run ahead; and one that waits must not wait for ever.
    if (this.#committed) this.#pause();
    else throw nothingVisible();
  }

  #pause(): void {
    this.#paused = true;
    this.#awaitsLastWords = false;
    this.#deadline.set(Number.POSITIVE_INFINITY);
    this.#exchange?.pause();
  }

  #commit(): void {
    if (this.#committed) return;
    this.#committed = true;
    this.#resolve(this);
  }

  #endStream(rewriter: StreamRewriter): void {
    const rest = rewriter.end();
    const { failure } = rewriter;
    if (failure !== undefined) {
      this.#write(rest, rewriter);
      throw failure;
    }
    this.#finish();
    // Only now: a client that hears the end may send its next request at once.
    if (this.#sink === undefined) {
      this.#early += rest;
      this.#commit();
    } else {
      this.#sink.write(rest);
      this.#sink.end();
    }
    this.#passOver();
  }

  #endEvents(): void {
    this.#events?.end(this.#batch);
    this.#finish();
    this.#resolve({ kind: 'decoded', headers: this.headers, batch: this.#batch });
    this.#passOver();
  }

  #endWhole(gathered: Gathered | undefined): void {
    const body = gathered?.pieces ?? [];
    if (this.#streams) {
      const batch = decodeCompletion(join(body));
      this.#finish();
      this.#resolve({ kind: 'decoded', headers: this.headers, batch });
      return;
    }
    const { pieces, usage } = completionBytes(body, {
      provider: this.#target.provider.id,
      model: this.#target.model,
      promptTokens: this.#promptTokens,
      wantsJson: this.#wantsJson,
    });
    this.#finish();
    this.#resolve({
      kind: 'body',
      isSent: true,
      headers: this.headers,
      pieces,
      usage,
      release: () => gathered?.release(),
    });
  }

  /** All was said. The rest is passed over, so that the connection can serve again; one that goes on is closed. */
  #passOver(): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    if (this.#paused) exchange.resume();
    this.#tail = setTimeout(() => exchange.abort(), TAIL_MS).unref();
  }

  #expire(): void {
    this.#exchange?.abort();
    if (this.#isComplete) {
      this.onEnd();
      return;
    }
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
    this.#gathered = undefined;
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

function nothingVisible(): SluiceError {
  return new SluiceError('upstream_invalid', 'The provider sent much, but nothing that says anything.');
}
