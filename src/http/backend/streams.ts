import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallScope } from '../../core/call.ts';
import type { Batch, Chunk } from '../../core/chunk.ts';
import { SluiceError, toSluiceError } from '../../core/errors.ts';
import type { Encoder } from '../../core/stream.ts';
import type { KeptAnswer, KeptAnswers } from '../../streams/kept-answers.ts';
import { Reader } from '../../streams/reader.ts';
import { errorChunk, openStream, withCall } from '../answer.ts';
import type { Deps, Handler } from '../deps.ts';
import { addressOf, clientOf } from '../edge/client.ts';
import { lateFailure } from '../late-failure.ts';
import { totalDeadline } from '../total-deadline.ts';
import { validate } from '../validate.ts';
import { TypedStream } from './encode.ts';
import { StreamHeaders, StreamQuery } from './wire.ts';

const EVENT_STREAM = 'text/event-stream; charset=utf-8';

/** An answer whose first visible chunk is there. */
export interface OpenedAnswer {
  readonly chunks: AsyncIterable<Batch>;
  /** Of an event stream. */
  readonly encoder: Encoder;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * `POST conversation` with `resumable`: the answer is kept, and the client is its first reader. Once the client has been told
 * its id, leaving does not end it any more. The answer takes a place, and so does every reader.
 */
export function sendKept(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Deps,
  answers: KeptAnswers,
  asked: Parameters<typeof withCall>[3],
  open: (call: CallScope) => Promise<OpenedAnswer>,
): Promise<FastifyReply> {
  return withCall(request, reply, deps, asked, async (call) => {
    const scope = call.fork();
    const entered = deps.calls.enter(scope, addressOf(request));
    const leave = typeof entered === 'function' ? entered : await entered;
    const deadline = totalDeadline(deps, scope, asked.timeout);
    const close = (): void => {
      deadline.clear();
      leave();
    };
    let kept: KeptAnswer | undefined;
    try {
      kept = answers.open(clientOf(addressOf(request)), scope);
      const { chunks, encoder, headers } = await open(scope);
      // From here on it no longer depends on the connection, and what becomes of it is not what becomes of its first reader.
      scope.release();
      call.watched = undefined;
      void run(kept, chunks, encoder, deps, scope).then(close);
      await follow(reply, kept, 0, { ...headers, 'x-sluice-stream': kept.id }, deps);
    } catch (error) {
      // Nobody has heard of it: the failure is a status code.
      if (kept !== undefined) answers.forget(kept);
      // Whoever notes what became of the request hears why it was cancelled, and not that its client had left.
      scope.cancel(toSluiceError(error));
      close();
      throw error;
    }
  });
}

/** `GET streams/<id>`: what came after an event, and what follows until the end. */
export function getStream(deps: Deps, answers: KeptAnswers): Handler {
  return async (request, reply) => {
    const answer = keptAnswer(request, answers);
    const { count, ended } = answer.events;
    const last = lastEventId(request);
    const after = last ?? validate(StreamQuery, request.query, 'invalid_request').after;
    const param = last === undefined ? 'after' : 'Last-Event-ID';
    if (after > count) {
      throw new SluiceError(
        'invalid_request',
        `'${param}' is ${after}, but the stream has had ${count} events so far.`,
        {
          param,
        },
      );
    }
    reply.header('cache-control', 'no-store');
    // To an EventSource, which comes back after every end, this says not to (HTML, "server-sent events").
    if (last !== undefined && ended && after === count) return reply.code(204).send();
    const headers = { 'x-sluice-stream': answer.id, 'cache-control': 'no-store' };
    return withCall(request, reply, deps, {}, () => {
      // Only now: more may have gone while it waited for its place.
      const { dropped } = answer.events;
      if (after < dropped) throw gone(dropped, param);
      return follow(reply, answer, after, headers, deps);
    });
  };
}

/** `DELETE streams/<id>`: ends the answer, here and upstream. Once more, or after its own end, it changes nothing. */
export function deleteStream(answers: KeptAnswers): Handler {
  return async (request) => {
    const answer = keptAnswer(request, answers);
    answer.stop();
    return { id: answer.id, stopped: answer.stopped };
  };
}

/** Takes an answer in at the pace of its provider, whoever reads it. A failure becomes its last event. Never rejects. */
async function run(
  kept: KeptAnswer,
  chunks: AsyncIterable<Batch>,
  encoder: Encoder,
  deps: Deps,
  scope: CallScope,
): Promise<void> {
  const fail = (thrown: unknown): void => {
    if (kept.events.ended) return;
    const last: Chunk = kept.stopped
      ? { type: 'finish', finish: 'stopped' }
      : errorChunk(lateFailure(thrown, scope, deps));
    kept.end(encoder.encode([last]));
  };
  // Readers need not wait until everything behind the answer has come to rest.
  const unlisten = scope.onCancel(fail);
  try {
    for await (const batch of chunks) {
      if (kept.events.ended) return;
      kept.events.append(encoder.encode(batch));
    }
    kept.end(encoder.end());
  } catch (thrown) {
    fail(thrown);
  } finally {
    unlisten();
  }
}

/** Sends what came after an event, and goes on until the answer ends or the client leaves. Never rejects. */
function follow(
  reply: FastifyReply,
  answer: KeptAnswer,
  after: number,
  headers: Readonly<Record<string, string>>,
  deps: Deps,
): Promise<void> {
  return new Promise((resolve) => {
    const { events } = answer;
    const leave = answer.attend();
    const stream = openStream(reply, EVENT_STREAM, headers, deps, () => {
      reader.stop();
      leave();
      resolve();
    });
    const reader = new Reader(events, after, stream, () =>
      new TypedStream('events').encode([errorChunk(gone(events.dropped, 'after'))]),
    );
    reader.start();
    // The head goes out even when there is nothing to say yet.
    if (!stream.closed) reply.raw.flushHeaders();
  });
}

function keptAnswer(request: FastifyRequest, answers: KeptAnswers): KeptAnswer {
  const answer = answers.find((request.params as { id: string }).id);
  if (answer !== undefined) return answer;
  throw new SluiceError('not_found', 'There is no such stream, or it is no longer kept. Ask the question again.', {
    param: 'id',
  });
}

/** What an EventSource sends when it comes back; it knows more than the address, which stays the same. */
function lastEventId(request: FastifyRequest): number | undefined {
  const value = request.headers['last-event-id'];
  if (value === undefined || value === '') return undefined;
  return validate(StreamHeaders, { 'Last-Event-ID': value }, 'invalid_request')['Last-Event-ID'];
}

function gone(dropped: number, param: string): SluiceError {
  return new SluiceError(
    'gone',
    `The events up to ${dropped} are no longer kept; '?after=${dropped}' gives the rest.`,
    { param },
  );
}
