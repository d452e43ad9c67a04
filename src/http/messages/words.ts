import type { Source, Usage } from '../../core/chunk.ts';

type Json = Record<string, unknown>;

/** Reasons to stop that providers of ours pass on in Anthropic's words. */
const OWN_REASONS: ReadonlySet<string> = new Set([
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
  'compaction',
]);

/** Why an answer ended, in Anthropic's words. */
export function stopReason(finish: string, stopSequence: unknown, hasCalls: boolean): string {
  switch (finish) {
    case 'stop':
      if (hasCalls) return 'tool_use';
      return typeof stopSequence === 'string' ? 'stop_sequence' : 'end_turn';
    case 'tool_calls':
    case 'function_call':
      return 'tool_use';
    case 'length':
      return 'max_tokens';
    case 'content_filter':
      return 'refusal';
    default:
      return OWN_REASONS.has(finish) ? finish : 'end_turn';
  }
}

/** Anthropic counts cached tokens beside the others, not among them. */
export function encodeUsage(usage: Usage | undefined): Json {
  if (usage === undefined) return {};
  const { promptTokens, completionTokens, cachedTokens = 0, cacheWriteTokens = 0, reasoningTokens } = usage;
  return {
    input_tokens: Math.max(0, promptTokens - cachedTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    output_tokens: completionTokens,
    ...(reasoningTokens === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoningTokens } }),
  };
}

/** Where an answer of another vendor's comes from. Its index is empty: only Anthropic could make one. */
export function citation({ url, title, text }: Source): Json {
  return {
    type: 'web_search_result_location',
    url,
    title: title ?? null,
    cited_text: text ?? '',
    encrypted_index: '',
  };
}
