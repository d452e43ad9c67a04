import type { Usage } from './chunk.ts';
import { isObject, membersOf } from './objects.ts';

/** What an answer cost, in US dollars; null: unknown. A promise, which does not fail, while prices are being loaded. */
export type Cost = number | null | Promise<number | null>;

/** OpenAI's usage object → ours. Undefined when it is none, or counts nothing: some upstreams send it empty, or full of nulls. */
export function decodeUsage(value: unknown): Usage | undefined {
  if (!isObject(value) || COUNTS.every((name) => tokenCount(value[name]) === undefined)) return undefined;
  const promptTokens = tokenCount(value['prompt_tokens']) ?? 0;
  const completionTokens = tokenCount(value['completion_tokens']) ?? 0;
  // DeepSeek's and Moonshot's own names come without OpenAI's on some of the servers that have their models.
  const cachedTokens =
    tokenCount(member(value, 'prompt_tokens_details', 'cached_tokens')) ??
    tokenCount(value['prompt_cache_hit_tokens']) ??
    tokenCount(value['cached_tokens']);
  // OpenRouter's name, which others use too, and LiteLLM's.
  const cacheWriteTokens =
    tokenCount(member(value, 'prompt_tokens_details', 'cache_write_tokens')) ??
    tokenCount(value['cache_creation_input_tokens']);
  const reasoningTokens = tokenCount(member(value, 'completion_tokens_details', 'reasoning_tokens'));
  const totalTokens = tokenCount(value['total_tokens']) ?? promptTokens + completionTokens;
  const usage: { -readonly [Name in keyof Usage]: Usage[Name] } = {
    promptTokens,
    completionTokens,
    totalTokens,
    raw: value,
  };
  if (cachedTokens !== undefined) usage.cachedTokens = cachedTokens;
  if (cacheWriteTokens !== undefined) usage.cacheWriteTokens = cacheWriteTokens;
  if (reasoningTokens !== undefined) usage.reasoningTokens = reasoningTokens;
  return usage;
}

/** Our usage → OpenAI's object, with every detail the upstream gave. */
export function encodeUsage(usage: Usage): Record<string, unknown> {
  return {
    ...usage.raw,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.totalTokens,
    prompt_tokens_details: {
      ...membersOf(usage.raw?.['prompt_tokens_details']),
      cached_tokens: usage.cachedTokens ?? 0,
      ...(usage.cacheWriteTokens ? { cache_write_tokens: usage.cacheWriteTokens } : {}),
    },
    completion_tokens_details: {
      ...membersOf(usage.raw?.['completion_tokens_details']),
      reasoning_tokens: usage.reasoningTokens ?? 0,
    },
    ...(usage.estimated === true ? { estimated: true } : {}),
  };
}

/** Whether an upstream's object says all that `encodeUsage` does. */
export function isWholeUsage(value: unknown): boolean {
  return (
    isObject(value) &&
    COUNTS.every((name) => isCount(value[name])) &&
    DETAILS.every(([name, count]) => isCount(member(value, name, count)))
  );
}

const COUNTS = ['prompt_tokens', 'completion_tokens', 'total_tokens'];
const DETAILS = [
  ['prompt_tokens_details', 'cached_tokens'],
  ['completion_tokens_details', 'reasoning_tokens'],
] as const;

/** Tokens of a prompt by the bytes of its messages' texts: four bytes are about one of English, and each message costs four more. */
export function estimatePrompt<Message>(messages: readonly Message[], bytesOf: (message: Message) => number): number {
  let tokens = 1;
  for (const message of messages) tokens += 4 + Math.floor(bytesOf(message) / 4);
  return tokens;
}

/** Tokens of an answer by the bytes of each piece of its text, in the same way, which makes none of a single letter. */
export class TextEstimate {
  #tokens = 0;

  add(text: string): void {
    this.#tokens += Math.round(Buffer.byteLength(text) / 4);
  }

  get tokens(): number {
    return this.#tokens;
  }
}

function member(value: Record<string, unknown>, outer: string, inner: string): unknown {
  return membersOf(value[outer])[inner];
}

/** No answer has more: whoever says so would spoil the sums of all days. */
const MOST_TOKENS = 1_000_000_000;

/** A number of tokens, if it is any. A whole one: many clients read no other, and would lose the answer over it. */
export function tokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= MOST_TOKENS ? Math.round(value) : undefined;
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && tokenCount(value) !== undefined;
}

/** What both tell of it, or the one that does. */
function sumOf(
  name: 'cachedTokens' | 'cacheWriteTokens' | 'reasoningTokens',
  one: Usage,
  other: Usage,
): Partial<Usage> {
  if (one[name] === undefined && other[name] === undefined) return {};
  return { [name]: (one[name] ?? 0) + (other[name] ?? 0) };
}

/** The usage of several choices or rounds of one answer. */
export function sumUsages(usages: readonly Usage[]): Usage {
  const [first, ...others] = usages;
  if (first === undefined) return { promptTokens: 0, completionTokens: 0, totalTokens: 0, estimated: true };
  return others.reduce(
    (all, usage) => ({
      promptTokens: all.promptTokens + usage.promptTokens,
      completionTokens: all.completionTokens + usage.completionTokens,
      totalTokens: all.totalTokens + usage.totalTokens,
      ...sumOf('cachedTokens', all, usage),
      ...sumOf('cacheWriteTokens', all, usage),
      ...sumOf('reasoningTokens', all, usage),
      ...(all.estimated === true || usage.estimated === true ? { estimated: true } : {}),
    }),
    first,
  );
}
