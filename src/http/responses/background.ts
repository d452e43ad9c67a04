import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Chunk } from '../../core/chunk.ts';
import { errorChunk, openCall, sendChunks, withCall } from '../answer.ts';
import { addressOf } from '../edge/client.ts';
import { ownerNow } from '../keys.ts';
import { lateFailure } from '../late-failure.ts';
import { totalDeadline } from '../total-deadline.ts';
import { ask, finish, headOf, note, relevant, sendResponse } from './asking.ts';
import { type Prepared, placeOf, prepare } from './question.ts';
import { Run } from './run.ts';
import { keep, type ResponseDeps } from './store.ts';
import { ResponsesStream } from './stream.ts';
import type { Json, ResponseBody } from './wire.ts';

/** An answer that goes on without its client, who gets it now as far as it is there, or reads along. */
export async function answerInBackground(
  request: FastifyRequest,
  reply: FastifyReply,
  value: Json,
  body: ResponseBody,
  deps: ResponseDeps,
): Promise<unknown> {
  const { user, strict, prompt_cache_key: session } = body;
  const call = openCall(request, deps, { user, strict, session });
  const entered = deps.calls.enter(call, addressOf(request));
  const leave = typeof entered === 'function' ? entered : await entered;
  let run: Run;
  let prepared: Prepared;
  try {
    prepared = await prepare(request, value, body, deps);
    const [lost] = prepared.lost;
    if (lost !== undefined && call.strict) call.drop(lost);
    call.session ??= prepared.session;
    const head = headOf(prepared, body, body.model ?? '', null);
    run = new Run({ head, input: prepared.input, ...placeOf(prepared) }, ownerNow(deps.config()), call);
    // The client is told that it can be retrieved.
    await keep(deps, run.kept, run.owner);
  } catch (error) {
    leave();
    throw error;
  }
  deps.runs.set(run.id, run);
  void work(run, prepared, body.timeout, deps).finally(leave);
  if (body.stream === true) return sendAlong(request, reply, run, -1, deps);
  return sendResponse(reply, new ResponsesStream(run.kept.head).response());
}

/** The events of an answer that is being made: those that were, from a number on, and then as they come. */
export function sendAlong(
  request: FastifyRequest,
  reply: FastifyReply,
  run: Run,
  startingAfter: number,
  deps: ResponseDeps,
): Promise<FastifyReply> {
  return withCall(request, reply, deps, {}, (reader) => {
    // Leaving ends the reading, not the answer.
    reader.watched = undefined;
    const stream = new ResponsesStream(run.kept.head, { ending: run.ending, startingAfter });
    return sendChunks(reply, run.follow(reader), stream, {}, deps, reader);
  });
}

/** Makes the answer. Never throws: a failure is how the answer ends. */
async function work(
  run: Run,
  prepared: Prepared,
  timeout: number | null | undefined,
  deps: ResponseDeps,
): Promise<void> {
  const { call } = run;
  const deadline = totalDeadline(deps, call, timeout);
  let last: readonly Chunk[] = [];
  try {
    const { target, value, dropped } = await ask(prepared, call, deps);
    run.ending.model = target.model;
    run.ending.provider = target.provider.id;
    note(run, prepared, dropped);
    for await (const { said, last: closing } of relevant(value.chunks, deps)) {
      run.push(said);
      last = closing;
    }
  } catch (thrown) {
    last = [errorChunk(lateFailure(thrown, call, deps))];
  } finally {
    deadline.clear();
  }
  await finish(run, last, deps);
}
