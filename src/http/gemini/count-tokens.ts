import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallScope } from '../../core/call.ts';
import { SluiceError } from '../../core/errors.ts';
import { speaks } from '../../providers/ai-sdk/native.ts';
import type { Target } from '../../routing/select.ts';
import { answerHeaders, withCall } from '../answer.ts';
import type { Deps } from '../deps.ts';
import type { JsonBody } from '../edge/body.ts';
import { estimateTokens } from '../messages/tokens.ts';
import { limitMessages, validate } from '../validate.ts';
import { type GeminiQuestion, toQuestion } from './question.ts';
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
  const { generateContentRequest, ...alone } = validate(
    CountTokensBody,
    (request.body as JsonBody).value,
    'invalid_request',
  );
  const value = generateContentRequest ?? alone;
  limitMessages(value, 'contents', deps.config().limits.messages, 'invalid_request');
  const body = validate(GenerateContentBody, value, 'invalid_request');
  const question = await toQuestion(request, body, model, deps);
  return withCall(request, reply, deps, {}, async (call) => {
    const counted = await deps.router.perform(question, call, (target, scope) => count(question, target, scope));
    // Nothing is lost by counting, so nothing is said of it.
    reply.headers(answerHeaders({ ...counted, dropped: [] })).send(counted.value);
  });
}

async function count(question: GeminiQuestion, target: Target, scope: CallScope): Promise<Record<string, unknown>> {
  if (speaks(target.provider, 'gemini')) {
    try {
      const sent = question.send(question.asked, target);
      return { totalTokens: await target.provider.countTokens({ ...sent, model: target.model }, scope) };
    } catch (error) {
      // Whoever else serves this API may not serve its count.
      if (!(error instanceof SluiceError) || error.code !== 'model_not_found') throw error;
    }
  }
  return { totalTokens: await estimateTokens(question.asked), estimated: true };
}
