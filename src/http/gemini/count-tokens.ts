import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerHeaders, withCall } from '../answer.ts';
import { countPrompt } from '../counting.ts';
import type { Deps } from '../deps.ts';
import { bodyValue } from '../edge/body.ts';
import { limitMessages, validate } from '../validate.ts';
import { toQuestion } from './question.ts';
import { CountTokensBody, GenerateContentBody } from './wire.ts';

/**
 * `:countTokens`: counted by the upstream where it is Google's, else estimated here, which the answer then says. What steps
 * would add is not part of it.
 */
export async function countTokens(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  model: string,
): Promise<FastifyReply> {
  const { generateContentRequest, ...alone } = validate(CountTokensBody, bodyValue(request), 'invalid_request');
  const value = generateContentRequest ?? alone;
  limitMessages(value, 'contents', deps.config().limits.messages, 'invalid_request');
  const body = validate(GenerateContentBody, value, 'invalid_request');
  const question = await toQuestion(request, body, model, deps);
  return withCall(request, reply, deps, { timeout: body.timeout }, async (call) => {
    const counted = await countPrompt('gemini', question, call, deps);
    const { tokens, isEstimated } = counted.value;
    reply.headers(answerHeaders(counted)).send({ totalTokens: tokens, ...(isEstimated ? { estimated: true } : {}) });
  });
}
