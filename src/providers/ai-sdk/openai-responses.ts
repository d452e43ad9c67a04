import type { SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { ChatRequest } from '../../core/chat.ts';
import { parseObject, present } from '../../core/objects.ts';
import { lostCacheMarks, lostThoughts } from '../lost.ts';
import { nearestEffort } from '../openai/efforts.ts';
import { withJsonInWords } from '../openai/json-in-words.ts';
import { parseModels } from '../openai/models.ts';
import { USUAL_SERVICE } from '../openai/services.ts';
import { withPossibleStrict } from '../openai/strict-schema.ts';
import { fromAiSdk } from './adapter.ts';
import { listPages } from './listing.ts';
import { mended } from './responses-mend.ts';
import { responsesApi } from './responses-native.ts';
import { faithful, LOOSE_TOOLS } from './responses-stream.ts';

/** OpenAI's Responses API, and whoever else serves it. Nothing is stored there: the conversation is sent each time. */
export const openaiResponses = fromAiSdk({
  baseUrl: () => 'https://api.openai.com/v1',

  async open({ baseUrl, apiKey, headers, fetch }) {
    const { createOpenAI } = await import('@ai-sdk/openai');
    const openai = createOpenAI({ baseURL: baseUrl, apiKey, headers, fetch });
    return (model) => faithful(openai.responses(model));
  },

  takes: [
    'user',
    'service_tier',
    'prompt_cache_key',
    'prompt_cache_retention',
    'safety_identifier',
    'max_tool_calls',
    'truncation',
    'reasoning.summary',
    'text.verbosity',
    'verbosity',
  ],

  options,

  taken: (request, drop) =>
    withJsonInWords(withPossibleStrict(withKnownTier(request, drop), drop), USUAL_SERVICE, drop),

  lost: (request) => [...lostCacheMarks(request), ...lostThoughts(request, 'openai')],

  native: responsesApi,

  hasBearer: true,

  events: {
    says(event) {
      const { type, logprobs } = event;
      if (!PIECES.has(type) || (Array.isArray(logprobs) && logprobs.length > 0)) return undefined;
      const place = [type, event['item_id'], event['output_index'], event['content_index'], event['summary_index']];
      return { holder: event, member: 'delta', of: place.join(' ') };
    },

    mending: () => ({ mend: mended }),

    ends: (data) => LAST.test(data) && LAST_TYPES.has(parseObject(data)?.['type']),
  },

  async listModels(connection, signal) {
    const headers = { authorization: `Bearer ${connection.apiKey}` };
    const pages = await listPages(
      connection,
      signal,
      headers,
      '',
      (json) => json,
      () => undefined,
    );
    return pages.flatMap((page) => parseModels(page));
  },
});

const SUMMARY_PIECE = 'response.reasoning_summary_text.delta';
/** Events that are pieces of a text. */
const PIECES: ReadonlySet<unknown> = new Set([
  'response.output_text.delta',
  'response.refusal.delta',
  'response.reasoning_text.delta',
  SUMMARY_PIECE,
  'response.function_call_arguments.delta',
]);

const LAST = /"response\.(?:completed|incomplete|failed)"/;
const LAST_TYPES: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** Anthropic has a field of that name, of which only the name comes here: its words are others. */
function withKnownTier(request: ChatRequest, drop: (field: string) => void): ChatRequest {
  const { service_tier: tier, ...extra } = request.extra;
  if (tier !== true) return request;
  drop('service_tier');
  return { ...request, extra };
}

function options(request: ChatRequest): SharedV4ProviderOptions {
  const { extra, responseFormat, sampling, parallelToolCalls, format } = request;
  const { reasoningEffort: word } = sampling;
  const effort = word === undefined ? undefined : nearestEffort(word, request.model);
  const known = {
    store: false,
    parallelToolCalls,
    reasoningEffort: effort,
    // The library knows OpenAI's models by name; of any other it would leave the effort out.
    forceReasoning: effort === undefined || effort === 'none' ? undefined : true,
    reasoningSummary: extra['reasoning.summary'],
    strictJsonSchema: responseFormat?.type === 'json_schema' ? (responseFormat.strict ?? false) : undefined,
    textVerbosity: extra['text.verbosity'] ?? extra['verbosity'],
    user: extra['user'],
    serviceTier: extra['service_tier'],
    promptCacheKey: extra['prompt_cache_key'],
    promptCacheRetention: extra['prompt_cache_retention'],
    safetyIdentifier: extra['safety_identifier'],
    maxToolCalls: extra['max_tool_calls'],
    truncation: extra['truncation'],
  };
  return {
    openai: present(known) as SharedV4ProviderOptions[string],
    // Here tools are strict unless they say otherwise; everywhere else it is the other way round.
    ...(format === 'responses' ? {} : LOOSE_TOOLS),
  };
}
