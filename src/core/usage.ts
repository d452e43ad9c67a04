import type { Usage } from './chunk.ts';

/** OpenAI's usage object → ours. Undefined when it is none. */
export function decodeUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const promptTokens = count(value['prompt_tokens']) ?? 0;
  const completionTokens = count(value['completion_tokens']) ?? 0;
  const cachedTokens = count(member(value, 'prompt_tokens_details', 'cached_tokens'));
  const reasoningTokens = count(member(value, 'completion_tokens_details', 'reasoning_tokens'));
  return {
    promptTokens,
    completionTokens,
    totalTokens: count(value['total_tokens']) ?? promptTokens + completionTokens,
    ...(cachedTokens === undefined ? {} : { cachedTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    raw: value,
  };
}

/** Our usage → OpenAI's object, with every detail the upstream gave. */
export function encodeUsage(usage: Usage): Record<string, unknown> {
  return {
    ...usage.raw,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.totalTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens ?? 0, ...object(usage.raw?.['prompt_tokens_details']) },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens ?? 0,
      ...object(usage.raw?.['completion_tokens_details']),
    },
    ...(usage.estimated === true ? { estimated: true } : {}),
  };
}

function member(value: Record<string, unknown>, outer: string, inner: string): unknown {
  return object(value[outer])[inner];
}

function object(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
