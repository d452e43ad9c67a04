import { answerHeaders, withCall } from '../answer.ts';
import { countPrompt } from '../counting.ts';
import type { Deps, Handler } from '../deps.ts';
import { bodyValue } from '../edge/body.ts';
import { limitMessages, validate } from '../validate.ts';
import { toQuestion } from './question.ts';
import { CountBody } from './wire.ts';

/**
 * `POST /v1/messages/count_tokens`: counted by the upstream where it is one of Anthropic's, else estimated here, which the
 * answer then says. What steps would add is not part of it.
 */
export function countTokens(deps: Deps): Handler {
  return async (request, reply) => {
    const value = bodyValue(request);
    limitMessages(value, 'messages', deps.config().limits.messages, 'invalid_request');
    const body = validate(CountBody, value, 'invalid_request');
    const question = await toQuestion(request, value, body, deps);
    return withCall(request, reply, deps, {}, async (call) => {
      const counted = await countPrompt('anthropic', question, call, deps);
      const { tokens, isEstimated } = counted.value;
      reply.headers(answerHeaders(counted)).send({ input_tokens: tokens, ...(isEstimated ? { estimated: true } : {}) });
    });
  };
}
