import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate as immediate } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CallScope } from '../core/call.ts';
import type { Batch } from '../core/chunk.ts';
import { atEndOfTurn } from '../core/end-of-turn.ts';
import { SluiceError, toSluiceError } from '../core/errors.ts';
import { lastOf } from '../core/last-of.ts';
import { type Pieces, sizeOf } from '../core/pieces.ts';
import type { Encoder } from '../core/stream.ts';
import { rateLimits } from '../outbound/rate-limits.ts';
import type { RelayedStream } from '../routing/relayed.ts';
import type { Performed } from '../routing/router.ts';
import type { Deps } from './deps.ts';
import type { Leave } from './edge/calls.ts';
import { addressOf } from './edge/client.ts';
import { writeHead } from './head.ts';
import { lateFailure } from './late-failure.ts';
import { EventStream } from './sse.ts';
import { totalDeadline } from './total-deadline.ts';
import { userOf } from './user.ts';

/** How long a client may take for the last words when its time is over or Sluice shuts down, in milliseconds. */
const LAST_WORDS_MS = 1_000;

/** Characters of a session's name that count. */
const LONGEST_SESSION = 256;

/** An encoder whose dialect has its own sign of life; without one it is a comment of the event stream. */
export type BeatingEncoder = Encoder & { readonly heartbeat?: string };

/** What of lost fields is told in a header. */
const MOST_NAMES = 50;
const LONGEST_NAME = 64;

/** What the body of a request says of its answer. */
export interface AskedOfCall {
  readonly user?: unknown;
  /** Seconds for the whole answer, below the operator's own limit. */
  readonly timeout?: number | null | undefined;
  /** Whether a field that nobody can express is an error. */
  readonly strict?: boolean | null | undefined;
  /** What the conversation is called, in the client's words. */
  readonly session?: string | null | undefined;
}

/**
 * Sends an answer that has begun. To be made where nothing of the question is in reach: a long prompt would stay in memory for
 * as long as the answer takes.
 */
export type Sending = () => Promise<void>;

/** Answers a call: sends all of the answer, or leaves it to be sent. */
export type RunCall = (call: CallScope) => Promise<Sending | undefined> | Promise<void>;
type Left = Awaited<ReturnType<RunCall>>;

/**
 * Runs one answer: opens its call, gives it a place, and cancels it when the client leaves or its time is over. What `run`
 * leaves to be sent is sent when nothing holds `run` any more, which knows the question.
 */
export function withCall(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Deps,
  asked: AskedOfCall,
  run: RunCall,
): Promise<FastifyReply> {
  const call = openCall(request, deps, asked);
  const enter = (leave: Leave): Promise<FastifyReply> => {
    const attended = attend(reply, deps, call, asked.timeout, leave);
    return untilSent(reply, call, begin(run, call), attended);
  };
  const entered = deps.calls.enter(call, addressOf(request));
  return typeof entered === 'function' ? enter(entered) : entered.then(enter);
}

/** The call of a request, as its head and its body have it. Whoever opens it gives it a place, and a deadline. */
export function openCall(request: FastifyRequest, deps: Deps, { user, session, strict }: AskedOfCall): CallScope {
  const call = new CallScope(request.id, deps.log);
  call.watched = request.observation;
  call.user = userOf(request, user);
  const { 'x-sluice-session': named } = request.headers;
  call.session = (typeof named === 'string' ? named : session)?.slice(0, LONGEST_SESSION);
  call.strict = strict === true || request.headers['x-sluice-strict'] === '1';
  return call;
}

/** Without a promise around the one of `run`, for which a request would wait three turns. */
function begin(run: RunCall, call: CallScope): Promise<Left> {
  try {
    return run(call);
  } catch (error) {
    return Promise.reject(error);
  }
}

interface Attended {
  /** Ends the call, gives its place back. */
  end(): void;
  /**
   * The same as soon as its client has all of it. What is on the way to one that reads slowly, or not at all, is in memory: until
   * then it has its place, and its time goes on.
   */
  endOnceSent(): void;
}

/** Cancels a call when its client leaves or its time is over. */
function attend(
  reply: FastifyReply,
  deps: Deps,
  call: CallScope,
  timeout: AskedOfCall['timeout'],
  leave: Leave,
): Attended {
  const deadline = totalDeadline(deps, call, timeout);
  let isAnswered = false;
  let isClosed = false;
  const over = (): void => {
    deadline.clear();
    leave();
  };
  const onClose = (): void => {
    isClosed = true;
    if (isAnswered) over();
    // Every answer ends with it; whoever has all of it has not left.
    else if (!reply.raw.writableFinished) call.cancel();
  };
  // Before whoever notes how the request ended: an answer that is over by then does not outlive its response.
  reply.raw.prependOnceListener('close', onClose);
  // While a form was read the client may have left already.
  if (reply.raw.destroyed) onClose();
  call.onCancel((reason) => {
    const isCut = reason instanceof SluiceError && reason.code !== 'cancelled';
    if (isCut) setTimeout(() => reply.raw.destroy(), LAST_WORDS_MS).unref();
  });
  return {
    end() {
      reply.raw.off('close', onClose);
      over();
    },
    endOnceSent() {
      isAnswered = true;
      if (isClosed) over();
    },
  };
}

async function untilSent(
  reply: FastifyReply,
  call: CallScope,
  begun: Promise<Left>,
  attended: Attended,
): Promise<FastifyReply> {
  try {
    const send = await begun;
    if (send !== undefined) await send();
    attended.endOnceSent();
    return reply;
  } catch (error) {
    reply.request.observation?.failed(toSluiceError(error));
    // Whatever else was opened for this answer: further choices, an upstream that nobody listens to any more.
    call.cancel();
    attended.end();
    throw error;
  }
}

/**
 * Headers of ours on every answer of a model, and what paces its clients.
 *
 * @param upstream what the upstream sent of a chat that is relayed
 */
export function answerHeaders(answered: Performed<unknown>, upstream?: IncomingHttpHeaders): Record<string, string> {
  const headers: Record<string, string> = {
    'x-sluice-provider': answered.target.provider.id,
    'x-sluice-model': asHeader(answered.target.model),
    'x-sluice-attempts': String(answered.attempts),
  };
  if (answered.dropped.length > 0) headers['x-sluice-dropped'] = fieldNames(answered.dropped);
  return Object.assign(headers, upstream === undefined ? answered.rateLimits : rateLimits(upstream));
}

const asHeader = lastOf((model) => encodeURI(model.toWellFormed()));

/** Names of fields as a header; they are the client's own, so any character may be in them. */
function fieldNames(names: readonly string[]): string {
  return [...new Set(names)]
    .slice(0, MOST_NAMES)
    .map((name) => encodeURI(name.slice(0, LONGEST_NAME).toWellFormed()).replaceAll(',', '%2C'))
    .join(', ');
}

/** Up to this size an answer becomes a text, which Node sends together with the head in one piece. */
const ONE_WRITE_BYTES = 16 * 1024;

/**
 * Sends a whole answer in JSON past Fastify, which would have nothing to add: its pieces are not joined, nor their size asked.
 * `onSent` runs when nobody looks at them any more.
 */
export function sendWhole(
  reply: FastifyReply,
  pieces: Pieces,
  headers: Readonly<Record<string, string>>,
  onSent: () => void = () => {},
): void {
  const { raw: response } = reply;
  const size = sizeOf(pieces);
  reply.hijack();
  const ofBody = { 'content-type': 'application/json; charset=utf-8', 'content-length': size };
  writeHead(response, reply.getHeaders(), ofBody, headers);
  if (size <= ONE_WRITE_BYTES) {
    let text = '';
    for (const piece of pieces) text += piece.toString('latin1');
    atEndOfTurn(() => {
      if (!response.destroyed) response.end(text, 'latin1');
    });
    onSent();
    return;
  }
  response.once('finish', onSent);
  response.cork();
  for (const piece of pieces) response.write(piece);
  // Not before all of it has left: to a shutdown, a connection whose answer has ended is idle, and closed.
  response.write('', () => response.end());
  response.uncork();
}

/** `sendChunks` for `withCall`. */
export function sendingChunks(...all: Parameters<typeof sendChunks>): Sending {
  return () => sendChunks(...all);
}

/** Streams chunks to a client that was told 200. A failure becomes the encoder's last word, and nothing follows it. */
export async function sendChunks(
  reply: FastifyReply,
  chunks: AsyncIterable<Batch>,
  encoder: BeatingEncoder,
  headers: Readonly<Record<string, string>>,
  deps: Deps,
  call: CallScope,
): Promise<void> {
  const stream = openStream(reply, encoder.contentType, headers, deps, undefined, encoder.heartbeat);
  try {
    for await (const batch of chunks) {
      if (stream.closed) return;
      if (!stream.write(encoder.encode(batch))) await stream.drained();
    }
  } catch (thrown) {
    if (stream.closed) return;
    stream.write(encoder.encode([errorChunk(lateFailure(thrown, call, deps))]));
    call.cancel(); // further choices of the same answer
    // What ends the stream leaves by itself: Google's library looks for an error in what one read brings, and nothing else.
    await immediate();
  }
  stream.write(encoder.end());
  stream.end();
}

/** Streams an upstream's bytes as they come, at the pace of the slower side. */
export function sendingRelayed(
  reply: FastifyReply,
  relayed: RelayedStream,
  encodeError: (error: SluiceError) => string,
  headers: Readonly<Record<string, string>>,
  deps: Deps,
  call: CallScope,
): Sending {
  return () =>
    new Promise((resolve) => {
      const stream = openStream(reply, 'text/event-stream; charset=utf-8', headers, deps, resolve);
      relayed.attach({
        write: (latin1) => {
          if (stream.write(latin1, 'latin1')) return true;
          stream.onDrain(() => relayed.resume());
          return false;
        },
        end: () => stream.end(),
        fail: (error) => {
          if (reply.raw.destroyed) return;
          stream.write(encodeError(lateFailure(error, call, deps)));
          stream.end();
        },
      });
    });
}

/** What a failure looks like as a chunk: missing credentials have a type of their own, which front ends act upon. */
export function errorChunk(error: SluiceError): Batch[number] {
  return error.code === 'missing_credentials'
    ? { type: 'auth', auth: error.toInfo() }
    : { type: 'error', error: error.toInfo() };
}

/** Takes the connection over and sends the head of a stream. */
export function openStream(
  reply: FastifyReply,
  contentType: string,
  headers: Readonly<Record<string, string>>,
  deps: Deps,
  onClosed: () => void = () => {},
  heartbeat?: string,
): EventStream {
  const { observation } = reply.request;
  if (observation !== undefined) observation.stream = true;
  const beats = contentType.startsWith('text/event-stream') ? deps.heartbeats : undefined;
  reply.hijack();
  // Whoever needs it has it. Fastify would keep it until the end.
  reply.request.body = undefined;
  const ofBody = { 'content-type': contentType, 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };
  writeHead(reply.raw, reply.getHeaders(), ofBody, headers);
  return new EventStream(reply.raw, beats, onClosed, heartbeat);
}
