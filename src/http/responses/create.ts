import type { FastifyReply } from 'fastify';
import type { Batch, Chunk } from '../../core/chunk.ts';
import { clientLeft, SluiceError, toSluiceError } from '../../core/errors.ts';
import { withoutSecrets } from '../../core/secrets.ts';
import type { OpenedChunks } from '../../routing/chunks.ts';
import type { Performed } from '../../routing/router.ts';
import { answerHeaders, errorChunk, type Sending, sendingChunks, withCall } from '../answer.ts';
import type { Handler } from '../deps.ts';
import { bodyValue } from '../edge/body.ts';
import { ownerNow } from '../keys.ts';
import { limitMessages, validate } from '../validate.ts';
import { ask, finish, headOf, note, now, relevant, sendResponse } from './asking.ts';
import { answerInBackground } from './background.ts';
import { placeOf, prepare } from './question.ts';
import { Run } from './run.ts';
import type { ResponseDeps } from './store.ts';
import { ResponsesStream } from './stream.ts';
import { ResponseBody } from './wire.ts';

/** `POST responses`, and the same under `/api/<provider>/…`. */
export function createResponse(deps: ResponseDeps): Handler {
  return async (request, reply) => {
    const value = bodyValue(request);
    limitMessages(value, 'input', deps.config().limits.messages, 'invalid_field');
    const body = validate(ResponseBody, value, 'invalid_field');
    if (body.background === true) return answerInBackground(request, reply, value, body, deps);
    const { user, timeout, strict, prompt_cache_key: session } = body;
    return withCall(request, reply, deps, { user, timeout, strict, session }, async (call) => {
      const prepared = await prepare(request, value, body, deps);
      call.session ??= prepared.session;
      const answered = await ask(prepared, call, deps);
      const { provider, model } = answered.target;
      const { store } = prepared;
      // What is not stored need not be in memory for as long as the answer takes.
      const input = store || prepared.conversation !== undefined ? prepared.input : [];
      const head = headOf(prepared, body, model, provider.id);
      const run = new Run({ head, input, ...placeOf(prepared) }, ownerNow(deps.config()), call);
      note(run, prepared, answered.dropped);
      return answer(reply, answered, run, { streams: body.stream === true, store }, deps);
    });
  };
}

async function answer(
  reply: FastifyReply,
  answered: Performed<OpenedChunks>,
  run: Run,
  { streams, store }: { readonly streams: boolean; readonly store: boolean },
  deps: ResponseDeps,
): Promise<Sending | undefined> {
  const headers = answerHeaders(answered, answered.value.headers);
  const stream = new ResponsesStream(run.kept.head, { ending: run.ending });
  if (streams) {
    const chunks = followed(answered.value.chunks, run, store, deps);
    return sendingChunks(reply, chunks, stream, headers, deps, run.call);
  }
  const whole = gathered(answered.value.chunks, deps);
  for await (const batch of followed(whole, run, store, deps)) stream.encode(batch);
  sendResponse(reply.headers(headers), stream.response());
  return undefined;
}

/** The chunks that count, with what is to be kept of them kept. */
function followed(chunks: AsyncIterable<Batch>, run: Run, store: boolean, deps: ResponseDeps): AsyncIterable<Batch> {
  if (store || run.kept.conversation !== undefined) return recorded(chunks, run, store, deps);
  return bare(chunks, run, deps);
}

/** A whole answer as one batch: nobody waits for its pieces. */
async function* gathered(chunks: AsyncIterable<Batch>, deps: ResponseDeps): AsyncIterable<Batch> {
  const all: Chunk[] = [];
  for await (const { said, last } of relevant(chunks, deps)) {
    for (const chunk of said) all.push(chunk);
    for (const chunk of last) all.push(chunk);
  }
  yield all;
}

/** The chunks that count, of an answer that is not kept. */
async function* bare(chunks: AsyncIterable<Batch>, run: Run, deps: ResponseDeps): AsyncIterable<Batch> {
  for await (const { said, last } of relevant(chunks, deps)) {
    yield said;
    if (last.length === 0) continue;
    run.ending.completedAt = now();
    yield last;
  }
}

/** The chunks that count, which are kept on disk before the last of them goes out. */
async function* recorded(
  chunks: AsyncIterable<Batch>,
  run: Run,
  store: boolean,
  deps: ResponseDeps,
): AsyncIterable<Batch> {
  let isOver = false;
  const end = async (last: readonly Chunk[]): Promise<void> => {
    isOver = true;
    const failure = await finish(run, last, deps, store);
    if (failure !== undefined) throw failure;
  };
  if (store) deps.runs.set(run.id, run);
  try {
    for await (const { said, last } of relevant(chunks, deps)) {
      run.push(said);
      yield said;
      if (last.length === 0) continue;
      await end(last);
      yield last;
    }
  } catch (thrown) {
    if (!isOver) await end([errorChunk(withoutSecrets(toSluiceError(thrown), deps.secrets))]);
    throw thrown;
  } finally {
    if (!isOver) await end([errorChunk(run.call.cancelled instanceof SluiceError ? run.call.cancelled : clientLeft())]);
  }
}
