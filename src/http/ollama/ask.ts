import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ChatRequest } from '../../core/chat.ts';
import { collect, within } from '../../core/collect.ts';
import type { Question } from '../../routing/router.ts';
import type { Wish } from '../../routing/select.ts';
import { answerHeaders, sendingChunks, withCall } from '../answer.ts';
import type { Deps, Handler } from '../deps.ts';
import { bodyValue } from '../edge/body.ts';
import { answerIn } from '../field-names.ts';
import { clientKeys } from '../keys.ts';
import { samplingFor } from '../thinking.ts';
import { limitMessages, validate } from '../validate.ts';
import { DROPPED_FIELDS } from '../wire.ts';
import { wishOf } from '../wish.ts';
import { chatToRequest, generateToRequest, toEffort } from './decode.ts';
import { type AnswerOptions, encodeAnswer, encodeLoaded, type Kind, LineStream } from './encode.ts';
import { modelNamed } from './models.ts';
import { FIELD_NAMES } from './names.ts';
import { type AskedBody, ChatBody, GenerateBody } from './wire.ts';

/** `POST /api/chat` */
export function chat(deps: Deps): Handler {
  return (request, reply) => {
    const value = bodyValue(request);
    limitMessages(value, 'messages', deps.config().limits.messages, 'invalid_request');
    const body = validate(ChatBody, value, 'invalid_request');
    const isEmpty = (body.messages ?? []).length === 0;
    const toRequest = (wish: Wish) => chatToRequest(body, wish);
    return ask(deps, request, reply, { kind: 'chat', body, isEmpty, toRequest });
  };
}

/** `POST /api/generate` */
export function generate(deps: Deps): Handler {
  return (request, reply) => {
    const body = validate(GenerateBody, bodyValue(request), 'invalid_request');
    const isEmpty = !body.prompt && (body.images ?? []).length === 0;
    const toRequest = (wish: Wish) => generateToRequest(body, wish);
    return ask(deps, request, reply, { kind: 'generate', body, isEmpty, toRequest });
  };
}

interface Asking {
  readonly kind: Kind;
  readonly body: AskedBody;
  /** Nothing is asked: the model shall be loaded, or go. */
  readonly isEmpty: boolean;
  readonly toRequest: (wish: Wish) => ChatRequest;
}

async function ask(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { kind, body, isEmpty, toRequest }: Asking,
): Promise<FastifyReply> {
  const showsThoughts = toEffort(body.think) !== 'none';
  const startedAt = performance.now();
  const asked = { kind, model: body.model, showsThoughts, startedAt };
  if (isEmpty) return reply.send(encodeLoaded(asked, body.keep_alive === 0 || body.keep_alive === '0'));
  const wish = wishOf({ ...body, model: await modelNamed(body.model, deps) });
  const question: Question = {
    wish,
    keys: clientKeys(request, body.api_key),
    dropped: DROPPED_FIELDS.filter((name) => Object.hasOwn(body, name)),
    request: () => toRequest(wish),
    send(ready, target) {
      const { sampling, isLost } = samplingFor(ready.sampling, target);
      return { ...ready, sampling, ...(isLost ? { extra: { ...ready.extra, think: body.think } } : {}) };
    },
  };
  const { user, timeout, strict } = body;
  return withCall(request, reply, deps, { user, timeout, strict }, async (call) => {
    const answered = await answerIn(FIELD_NAMES, deps, question, call);
    const options: AnswerOptions = { ...asked, begunAt: performance.now() };
    const headers = answerHeaders(answered, answered.value.kind === 'chunks' ? answered.value.headers : undefined);
    const { value } = answered;
    if (value.kind !== 'chunks') throw new Error('nothing was to be relayed');
    // Streams are this API's default.
    if (body.stream !== false) return sendingChunks(reply, value.chunks, new LineStream(options), headers, deps, call);
    const answer = await collect(within(value.chunks, deps.config().limits.answerBytes));
    reply.headers(headers).send(encodeAnswer(answer, options));
    return undefined;
  });
}
