import type { FastifyReply } from 'fastify';
import type { CallScope } from '../../core/call.ts';
import type { Batch, Chunk } from '../../core/chunk.ts';
import { AnswerSize } from '../../core/collect.ts';
import type { SluiceError } from '../../core/errors.ts';
import { objectsIn } from '../../core/objects.ts';
import { searchByModel } from '../../enrich/search-by-model.ts';
import type { OpenedChunks } from '../../routing/chunks.ts';
import type { Performed, Question } from '../../routing/router.ts';
import type { Target } from '../../routing/select.ts';
import { errorChunk } from '../answer.ts';
import { answerIn } from '../field-names.ts';
import { joinConversation } from './conversation.ts';
import { FIELD_NAMES } from './names.ts';
import { pieces } from './pieces.ts';
import type { Prepared } from './question.ts';
import { echoOf, type ResponseHead } from './response.ts';
import type { Run } from './run.ts';
import { shownTools } from './shown-tools.ts';
import { isKept, type ResponseDeps } from './store.ts';
import { triggered } from './summarising.ts';
import { ENCRYPTED, type Json, type ResponseBody } from './wire.ts';

/** The router's answer to a request, with the searches that its model makes on the way. */
export async function ask(prepared: Prepared, call: CallScope, deps: ResponseDeps): Promise<Performed<OpenedChunks>> {
  let target: Target | undefined;
  const first = await answered(
    withSearch(prepared, call, deps, () => target),
    call,
    deps,
  );
  target = first.target;
  return first;
}

/** The router's answer, whose complaints about fields are in the client's words. */
async function answered(question: Question, call: CallScope, deps: ResponseDeps): Promise<Performed<OpenedChunks>> {
  const { value, ...rest } = await answerIn(FIELD_NAMES, deps, question, call);
  if (value.kind !== 'chunks') throw new Error('the relay answered the Responses API');
  return { ...rest, value };
}

/**
 * The question, with a search that the model may make while it answers: each round asks the same target again, which is known
 * by then.
 */
function withSearch(
  { question: asked, compacts, searchByModel: search }: Prepared,
  call: CallScope,
  deps: ResponseDeps,
  target: () => Target | undefined,
): Question {
  const question = compacts ? triggered(asked) : asked;
  if (search === undefined) return question;
  const step = searchByModel(search, deps.config().limits.answerBytes, async (request) => {
    const only = target();
    if (only === undefined) throw new Error('a search before the answer has begun');
    const round = await answered({ ...question, only, steps: [], request: () => request }, call, deps);
    return round.value.chunks;
  });
  return { ...question, steps: [...(question.steps ?? []), step] };
}

/** The head of an answer that begins now. */
export function headOf(prepared: Prepared, body: ResponseBody, model: string, provider: string | null): ResponseHead {
  return {
    id: prepared.id,
    createdAt: now(),
    model,
    provider,
    isBackground: body.background === true,
    isEncrypted: body.include?.includes(ENCRYPTED) === true,
    ...(prepared.moreTools.length === 0 ? {} : { moreTools: shownTools(prepared.moreTools) as readonly Json[] }),
    echo: echoOf(body, prepared.store),
  };
}

/** Seconds since 1970. */
export function now(): number {
  return Math.floor(Date.now() / 1_000);
}

/** A whole answer, with its text in one piece: official clients put that together themselves, others look for it. */
export function sendResponse(reply: FastifyReply, response: Json): FastifyReply {
  const parts = objectsIn(response['output']).flatMap((item) => objectsIn(item['content']));
  const texts = parts.flatMap(({ type, text }) => (type === 'output_text' && typeof text === 'string' ? [text] : []));
  return sendJson(reply, { ...response, output_text: texts.join('') });
}

/** JSON that the types of the route do not describe to Fastify. */
export function sendJson(reply: FastifyReply, value: Json): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(value));
}

/** What has become known since the head of the answer was written. */
export function note(run: Run, prepared: Prepared, dropped: readonly string[]): void {
  // Nobody was asked for another.
  if (dropped.includes('service_tier')) run.ending.tier = 'default';
  const search = prepared.searched();
  if (search !== undefined) run.ending.search = search;
}

/**
 * The end of an answer: it is on disk before anybody hears of it, and whoever does may refer to it at once. Never throws.
 *
 * @param store whether it is to be kept, beside what its conversation keeps of it
 * @returns why its conversation could not take it; nothing was lost unnoticed, so the answer has failed then
 */
export async function finish(
  run: Run,
  last: readonly Chunk[],
  deps: ResponseDeps,
  store = true,
): Promise<SluiceError | undefined> {
  run.ending.completedAt = now();
  const failure = await joinConversation(run.endingWith(last), deps);
  const end = failure === undefined ? last : [errorChunk(failure)];
  if (store) run.ending.isStored = !run.isDeleted && (await isKept(deps, run.endingWith(end), run.owner));
  deps.runs.delete(run.id);
  run.end(end);
  return failure;
}

/** What counts of a batch: what is said, and what closes the answer, which the router sends in one batch, the last. */
export interface Relevant {
  readonly said: readonly Chunk[];
  readonly last: readonly Chunk[];
}

/** The chunks that count. Since the last event repeats the whole answer, it is held in memory, and so has a limit. */
export async function* relevant(chunks: AsyncIterable<Batch>, deps: ResponseDeps): AsyncIterable<Relevant> {
  const size = new AnswerSize(deps.config().limits.answerBytes);
  for await (const batch of chunks) {
    size.add(batch);
    const last = batch.filter(({ type }) => type === 'usage' || type === 'finish');
    yield { said: pieces(batch), last };
  }
}
