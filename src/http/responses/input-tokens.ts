import { answerHeaders, withCall } from '../answer.ts';
import { countPrompt } from '../counting.ts';
import type { Handler } from '../deps.ts';
import { bodyValue } from '../edge/body.ts';
import { limitMessages, validate } from '../validate.ts';
import { sendJson } from './asking.ts';
import { prepare } from './question.ts';
import type { ResponseDeps } from './store.ts';
import { ResponseBody } from './wire.ts';

/** `POST responses/input_tokens`: how many tokens the input of such a request has, what went before it included. */
export function countInputTokens(deps: ResponseDeps): Handler {
  return async (request, reply) => {
    const value = bodyValue(request);
    limitMessages(value, 'input', deps.config().limits.messages, 'invalid_field');
    const body = validate(ResponseBody, value, 'invalid_field');
    return withCall(request, reply, deps, { timeout: body.timeout }, async (call) => {
      const { question } = await prepare(request, value, body, deps);
      const counted = await countPrompt('responses', { ...question, asked: question.request() }, call, deps);
      const { tokens, isEstimated } = counted.value;
      sendJson(reply.headers(answerHeaders(counted)), {
        object: 'response.input_tokens',
        input_tokens: tokens,
        ...(isEstimated ? { estimated: true } : {}),
      });
      return undefined;
    });
  };
}
