import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallScope } from '../../core/call.ts';
import type { Batch } from '../../core/chunk.ts';
import { collect } from '../../core/collect.ts';
import type { ClientKeys } from '../../routing/credentials.ts';
import type { Answered, Question } from '../../routing/router.ts';
import type { Wish } from '../../routing/select.ts';
import { answerHeaders, sendChunks, withCall } from '../answer.ts';
import type { Deps } from '../deps.ts';
import type { JsonBody } from '../edge/body.ts';
import { answerIn } from '../field-names.ts';
import { isFirstOf } from '../first-target.ts';
import { clientKeys } from '../keys.ts';
import { validate } from '../validate.ts';
import { DROPPED_FIELDS } from '../wire.ts';
import { asksGoogle, toChatRequest } from './decode.ts';
import { answerHead, ContentStream, encodeAnswers, type Framing } from './encode.ts';
import { FIELD_NAMES } from './names.ts';
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
  const { value } = request.body as JsonBody;
  const body = validate(GenerateContentBody, value, 'invalid_request');
  const wish: Wish = {
    model,
    providers: (body.provider ?? '').split(' ').filter((name) => name !== ''),
    ignored: body.ignored ?? [],
  };
  const keys = clientKeys(request, body.apiKey);
  const searches = asksGoogle(body) && (await isFirstOf('google', deps, wish, keys));
  const { request: asked, dropped } = toChatRequest(body, wish, searches);
  const candidates = body.generationConfig?.candidateCount ?? 1;
  const question: Question = {
    wish,
    keys,
    dropped: [
      ...dropped,
      ...DROPPED_FIELDS.filter((name) => Object.hasOwn(value, name)),
      // Candidates of a stream would have to be told apart piece by piece, and none of Google's models streams several.
      ...(form !== 'whole' && candidates > 1 ? ['generationConfig.candidateCount'] : []),
    ],
    request: () => asked,
  };
  const { user, timeout, strict } = body;
  return withCall(request, reply, deps, { user, timeout, strict }, async (call) => {
    const answered = await answerIn(FIELD_NAMES, deps, question, call);
    const headers = answerHeaders(answered);
    const head = answerHead(answered.target.model);
    const first = chunksOf(answered);
    if (form !== 'whole') return sendChunks(reply, first, new ContentStream(head, form), headers, deps, call);
    const all = [first, ...(await further(candidates - 1, question, answered, keys, deps, call))];
    reply.headers(headers).send(encodeAnswers(head, await Promise.all(all.map(collect))));
    return undefined;
  });
}

/** Every further candidate is asked for by itself, of whoever gave the first. */
async function further(
  count: number,
  question: Question,
  { target }: Answered,
  keys: ClientKeys,
  deps: Deps,
  call: CallScope,
): Promise<AsyncIterable<Batch>[]> {
  const wish = { model: target.model, providers: [target.provider.id], ignored: [] };
  const again: Question = { wish, keys, request: question.request };
  const answers = await Promise.all(Array.from({ length: count }, () => deps.router.answer(again, call)));
  return answers.map(chunksOf);
}

function chunksOf({ value }: Answered): AsyncIterable<Batch> {
  if (value.kind !== 'chunks') throw new Error('nothing was to be relayed');
  return value.chunks;
}
