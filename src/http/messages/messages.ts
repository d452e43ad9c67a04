import { within } from '../../core/collect.ts';
import { SluiceError } from '../../core/errors.ts';
import { speaksMessages } from '../../providers/ai-sdk/anthropic-native.ts';
import { answerHeaders, sendingChunks, withCall } from '../answer.ts';
import type { Deps, Handler } from '../deps.ts';
import { bodyValue } from '../edge/body.ts';
import { answerIn } from '../field-names.ts';
import { guessTokens } from '../tokens.ts';
import { limitMessages, validate } from '../validate.ts';
import { collectMessage } from './collect.ts';
import { MessageStream, messageHead } from './encode.ts';
import { hidingThoughts } from './hidden.ts';
import { FIELD_NAMES } from './names.ts';
import { toQuestion } from './question.ts';
import { MessagesBody } from './wire.ts';

/** `POST /v1/messages`, and the same under `/api/<provider>/…`. */
export function createMessage(deps: Deps): Handler {
  return async (request, reply) => {
    const fields = bodyValue(request);
    limitMessages(fields, 'messages', deps.config().limits.messages, 'invalid_request');
    const body = validate(MessagesBody, fields, 'invalid_request');
    const question = await toQuestion(request, fields, body, deps);
    const { timeout, strict } = body;
    // Claude Code's names hold the session.
    const user = body.metadata?.user_id;
    return withCall(request, reply, deps, { user, session: user, timeout, strict }, async (call) => {
      const answered = await answerIn(FIELD_NAMES, deps, question, call);
      const { value, target } = answered;
      if (value.kind !== 'chunks')
        throw new SluiceError('internal', 'An answer came in a form that was not asked for.');
      // What comes in this format is passed on as it is.
      const wantsThoughts = (body.thinking?.type ?? 'disabled') !== 'disabled' || speaksMessages(target.provider);
      const { answerBytes } = deps.config().limits;
      const chunks = wantsThoughts ? value.chunks : hidingThoughts(value.chunks, answerBytes);
      const headers = answerHeaders(answered, value.headers);
      const head = messageHead(target.provider.id, target.model, guessTokens(question.asked));
      if (body.stream === true) return sendingChunks(reply, chunks, new MessageStream(head), headers, deps, call);
      const message = await collectMessage(within(chunks, answerBytes), head);
      reply.headers(headers).header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(message));
      return undefined;
    });
  };
}
