import type { JSONObject } from '@ai-sdk/provider';
import { z } from 'zod';
import { addressPart } from '../../core/address-part.ts';
import type { ChatRequest } from '../../core/chat.ts';
import type { Model } from '../../core/model.ts';
import { isObject, present } from '../../core/objects.ts';
import { lostDetail, lostThoughts } from '../lost.ts';
import { fromAiSdk } from './adapter.ts';
import { Mending } from './anthropic-mend.ts';
import { messagesApi } from './anthropic-native.ts';
import { withAnthropicBudget } from './budget.ts';
import { hasOnly } from './joined-texts.ts';
import { listPages } from './listing.ts';
import { lostEffort } from './options.ts';

/** Anthropic's Messages API, and whoever else serves it. */
export const anthropic = fromAiSdk({
  baseUrl: () => 'https://api.anthropic.com/v1',
  toolName: /^[\w-]{1,128}$/,

  async open({ baseUrl, apiKey, headers, fetch }) {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ baseURL: baseUrl, apiKey, headers, fetch });
  },

  native: messagesApi,
  takes: ['thinking', 'user'],
  taken: (request, drop) => withAnthropicBudget(withOneChoice(request), drop),
  events: {
    says(event) {
      const { type, index, delta } = event;
      if (type !== 'content_block_delta' || !isObject(delta) || !hasOnly(event, EVENT)) return undefined;
      const member = PIECES.get(delta['type']);
      if (member === undefined || !hasOnly(delta, DELTA)) return undefined;
      return { holder: delta, member, of: `${index} ${member}` };
    },
    mending: () => new Mending(),
  },
  lost: (request) => [...lostDetail(request), ...lostThoughts(request, 'anthropic'), ...lostEffort(request)],

  options(request) {
    const { thinking, user } = request.extra;
    const { thinkingTokens: budgetTokens } = request.sampling;
    return {
      anthropic: {
        // Signs of life while the model thinks: without them an idle deadline may strike.
        includePings: true,
        ...(request.parallelToolCalls === false ? { disableParallelToolUse: true } : {}),
        ...(typeof user === 'string' ? { metadata: { userId: user } } : {}),
        ...(budgetTokens === undefined ? {} : { thinking: { type: 'enabled', budgetTokens } }),
        ...(isObject(thinking) ? { thinking: toThinking(thinking as JSONObject) } : {}),
      },
    };
  },

  async listModels(connection, signal) {
    const headers = { 'x-api-key': connection.apiKey, 'anthropic-version': '2023-06-01' };
    const pages = await listPages(
      connection,
      signal,
      headers,
      'limit=1000',
      (json) => Page.parse(json),
      (page) => (page.has_more && page.last_id ? `limit=1000&after_id=${addressPart(page.last_id)}` : undefined),
    );
    return pages.flatMap((page) => page.data.map(toModel));
  },
});

/** All that an event with a piece of a text has. */
const EVENT: ReadonlySet<string> = new Set(['type', 'index', 'delta']);
/** Kinds of deltas that are pieces of a text → the member that holds it. */
const PIECES: ReadonlyMap<unknown, string> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['input_json_delta', 'partial_json'],
]);
const DELTA: ReadonlySet<string> = new Set(['type', ...PIECES.values()]);

/** Its models take either of the two, and the library keeps the temperature: one that leaves the choice as it is gives way. */
function withOneChoice(request: ChatRequest): ChatRequest {
  const { temperature, ...sampling } = request.sampling;
  const { topP = 1 } = sampling;
  return temperature === 1 && topP !== 1 ? { ...request, sampling } : request;
}

/** The client's `thinking` in Anthropic's own spelling → the library's. */
function toThinking({ budget_tokens, ...rest }: JSONObject): JSONObject {
  return { ...rest, ...(budget_tokens === undefined ? {} : { budgetTokens: budget_tokens }) };
}

const Supported = z.looseObject({ supported: z.boolean() }).optional().catch(undefined);
const Tokens = z.number().nullish().catch(undefined);
const Text = z.string().nullish().catch(undefined);
const Entry = z.object({
  id: z.string(),
  display_name: z.string().optional().catch(undefined),
  max_input_tokens: Tokens,
  max_tokens: Tokens,
  capabilities: z.looseObject({ image_input: Supported, thinking: Supported }).nullish().catch(undefined),
  created_at: Text,
  lifecycle: Text,
  line: Text,
  deprecated_at: Text,
  retires_at: Text,
});
const Page = z.object({
  data: z.array(Entry),
  has_more: z.boolean().catch(false),
  last_id: z.string().nullish().catch(undefined),
});

/** Every Claude that is still served reads images and calls tools; not all of them think. */
function toModel({ id, display_name: label, max_input_tokens, max_tokens, ...said }: z.infer<typeof Entry>): Model {
  return {
    id,
    ...(label === undefined ? {} : { label }),
    vision: said.capabilities?.image_input?.supported ?? true,
    tools: true,
    reasoning: said.capabilities?.thinking?.supported ?? !/claude-(2|3-(?!7)|instant)/.test(id),
    contextLength: max_input_tokens ?? 200_000,
    ...(max_tokens == null ? {} : { longestAnswer: max_tokens }),
    vendor: { anthropic: present(said) },
  };
}
