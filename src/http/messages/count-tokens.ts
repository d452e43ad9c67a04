import type { CallScope } from '../../core/call.ts';
import type { ChatRequest } from '../../core/chat.ts';
import { SluiceError } from '../../core/errors.ts';
import { speaksMessages } from '../../providers/ai-sdk/anthropic-native.ts';
import type { Target } from '../../routing/select.ts';
import { answerHeaders, withCall } from '../answer.ts';
import type { Deps, Handler } from '../deps.ts';
import type { JsonBody } from '../edge/body.ts';
import { limitMessages, validate } from '../validate.ts';
import { toQuestion } from './question.ts';
import { estimateTokens } from './tokens.ts';
import { CountBody } from './wire.ts';

/**
 * `POST /v1/messages/count_tokens`: counted by the upstream where it is one of Anthropic's, else estimated here, which the
 * answer then says. What steps would add is not part of it.
 */
export function countTokens(deps: Deps): Handler {
  return async (request, reply) => {
    reply.header('request-id', request.id);
    const json = request.body as JsonBody;
    limitMessages(json.value, 'messages', deps.config().limits.messages, 'invalid_request');
    const body = validate(CountBody, json.value, 'invalid_request');
    const question = await toQuestion(request, json, body, deps);
    return withCall(request, reply, deps, {}, async (call) => {
      const counted = await deps.router.perform(question, call, (target, scope) =>
        count(question.send(question.asked, target), target, scope, question.asked),
      );
      // Nothing is lost by counting, so nothing is said of it.
      reply.headers(answerHeaders({ ...counted, dropped: [] })).send(counted.value);
    });
  };
}

interface Count {
  readonly input_tokens: number;
  readonly estimated?: true;
}

async function count(request: ChatRequest, target: Target, scope: CallScope, asked: ChatRequest): Promise<Count> {
  if (speaksMessages(target.provider)) {
    try {
      return {
        input_tokens: await target.provider.countTokens({ ...request, model: target.model }, scope),
      };
    } catch (error) {
      // Whoever else serves this API may not serve its count.
      if (!(error instanceof SluiceError) || error.code !== 'model_not_found') throw error;
    }
  }
  return { input_tokens: await estimateTokens(asked), estimated: true };
}
