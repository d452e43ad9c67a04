import type { Batch } from '../../core/chunk.ts';
import { type Collected, collect, within } from '../../core/collect.ts';
import { SluiceError } from '../../core/errors.ts';
import { sumUsages } from '../../core/usage.ts';
import { speaks } from '../../providers/ai-sdk/native.ts';
import { answerHeaders, withCall } from '../answer.ts';
import type { Handler } from '../deps.ts';
import { bodyValue } from '../edge/body.ts';
import { limitMessages, validate } from '../validate.ts';
import { ask, now, sendJson } from './asking.ts';
import { compactionItem } from './compaction.ts';
import { itemId } from './ids.ts';
import { type Prepared, prepare } from './question.ts';
import { usageOf } from './response.ts';
import type { ResponseDeps } from './store.ts';
import { summarising, summaryOf } from './summarising.ts';
import { CompactBody, type Json } from './wire.ts';

/**
 * `POST responses/compact`: the conversation in short, what went before the request included. By the upstream where it does that itself,
 * else as a summary that the model writes. Nothing is stored of it.
 */
export function compactConversation(deps: ResponseDeps): Handler {
  return async (request, reply) => {
    const value = bodyValue(request);
    limitMessages(value, 'input', deps.config().limits.messages, 'invalid_field');
    const body = validate(CompactBody, value, 'invalid_field');
    const { user, timeout, strict, prompt_cache_key: session } = body;
    return withCall(request, reply, deps, { user, timeout, strict, session }, async (call) => {
      const { searchByModel: _, ...prepared } = await prepare(request, value, body, deps);
      call.session ??= prepared.session;
      let own: Json | undefined;
      const question = compacting(prepared, (answer) => {
        own = answer;
      });
      const answered = await ask({ ...prepared, question, compacts: false }, call, deps);
      const { chunks, headers } = answered.value;
      const said = await collect(within(chunks, deps.config().limits.answerBytes));
      sendJson(reply.headers(answerHeaders(answered, headers)), own ?? compacted(prepared, said));
      return undefined;
    });
  };
}

/** The question that asks for a summary. `onOwn` gets what an upstream made of the conversation that compacts by itself. */
function compacting(
  { question }: Omit<Prepared, 'searchByModel'>,
  onOwn: (answer: Json) => void,
): Prepared['question'] {
  return {
    ...summarising(question),
    async instead(request, target, scope): Promise<Batch | undefined> {
      const { provider, model } = target;
      if (!speaks(provider, 'responses') || provider.compact === undefined) return undefined;
      try {
        const sent = question.send(request, target);
        const { answer, usage } = await provider.compact({ ...sent, model }, scope);
        onOwn(answer);
        const counted: Batch = usage === undefined ? [] : [{ type: 'usage', usage }];
        return [...counted, { type: 'finish', finish: 'stop' }];
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
  };
}

/** Whoever else serves this API may not serve this part of it. */
function isMissing(error: unknown): boolean {
  return error instanceof SluiceError && (error.code === 'model_not_found' || error.status === 405);
}

/** What the format makes of a summary: the words of everybody but the assistant, and the summary in the place of the rest. */
function compacted({ id, items }: Pick<Prepared, 'id' | 'items'>, said: Collected): Json {
  const summary = summaryOf(said);
  const kept = items.flatMap(({ item }) => (item['type'] === 'message' && item['role'] !== 'assistant' ? [item] : []));
  return {
    id,
    object: 'response.compaction',
    created_at: now(),
    output: [...kept, compactionItem(itemId('cmp', id, kept.length), summary)],
    usage: usageOf(said.usage ?? sumUsages([])),
  };
}
