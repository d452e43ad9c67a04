import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallScope } from '../../core/call.ts';
import type { Batch } from '../../core/chunk.ts';
import { collect, within } from '../../core/collect.ts';
import type { Answered, Question } from '../../routing/router.ts';
import { answerHeaders, sendingChunks, withCall } from '../answer.ts';
import type { Deps } from '../deps.ts';
import { bodyValue } from '../edge/body.ts';
import { answerIn } from '../field-names.ts';
import { limitMessages, validate } from '../validate.ts';
import { answerHead, ContentStream, encodeAnswers, type Framing } from './encode.ts';
import { hidingThoughts } from './hidden.ts';
import { FIELD_NAMES } from './names.ts';
import { toQuestion } from './question.ts';
import { GenerateContentBody } from './wire.ts';

/** How the answer is to be sent: whole, or streamed. */
export type Form = 'whole' | Framing;

/** `:generateContent` and `:streamGenerateContent` of one model. */
export async function generate(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  model: string,
  form: Form,
): Promise<FastifyReply> {
  const value = bodyValue(request);
  limitMessages(value, 'contents', deps.config().limits.messages, 'invalid_request');
  const body = validate(GenerateContentBody, value, 'invalid_request');
  const question = await toQuestion(request, body, model, deps);
  const candidates = body.generationConfig?.candidateCount ?? 1;
  // Candidates of a stream would have to be told apart piece by piece, and none of Google's models streams several.
  const lost = form !== 'whole' && candidates > 1 ? ['generationConfig.candidateCount'] : [];
  const { user, timeout, strict } = body;
  return withCall(request, reply, deps, { user, timeout, strict }, async (call) => {
    const dropped = [...(question.dropped ?? []), ...lost];
    const answered = await answerIn(FIELD_NAMES, deps, { ...question, dropped }, call);
    const headers = answerHeaders(answered, answered.value.kind === 'chunks' ? answered.value.headers : undefined);
    const head = answerHead(answered.target.model);
    const wantsThoughts = body.generationConfig?.thinkingConfig?.includeThoughts === true;
    const { answerBytes } = deps.config().limits;
    const shown = (each: Answered) => (wantsThoughts ? chunksOf(each) : hidingThoughts(chunksOf(each), answerBytes));
    const first = shown(answered);
    if (form !== 'whole') return sendingChunks(reply, first, new ContentStream(head, form), headers, deps, call);
    const all = [first, ...(await further(candidates - 1, question, answered, deps, call)).map(shown)];
    const answers = await Promise.all(all.map((each) => collect(within(each, answerBytes))));
    reply.headers(headers).send(encodeAnswers(head, answers));
    return undefined;
  });
}

/** Every further candidate is asked for by itself, of whoever gave the first. */
async function further(
  count: number,
  question: Question,
  { target }: Answered,
  deps: Deps,
  call: CallScope,
): Promise<Answered[]> {
  const again: Question = { ...question, only: target };
  return await Promise.all(Array.from({ length: count }, () => deps.router.answer(again, call)));
}

function chunksOf({ value }: Answered): AsyncIterable<Batch> {
  if (value.kind !== 'chunks') throw new Error('nothing was to be relayed');
  return value.chunks;
}
