import type { Usage } from '../../core/chunk.ts';
import type { ErrorInfo } from '../../core/errors.ts';
import { shownTools } from './shown-tools.ts';
import { conversationIdOf, type Json, type ResponseBody } from './wire.ts';

/** What is settled about an answer before it begins. It is kept with the answer, so it is plain JSON. */
export interface ResponseHead {
  readonly id: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly model: string;
  readonly provider: string | null;
  readonly isBackground: boolean;
  /** Clients get what vendors attached to thoughts, to hand it back. */
  readonly isEncrypted: boolean;
  /** Tools beside those of `echo`: they came with the items. */
  readonly moreTools?: readonly Json[];
  /** What the client asked for, as the format repeats it in the answer. */
  readonly echo: Json;
}

/** https://platform.openai.com/docs/api-reference/responses/object */
export type Status = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** `incomplete`: why the answer is cut off, in the words of `incomplete_details.reason`. */
export interface State {
  readonly status: Status;
  readonly error?: Json;
  readonly incomplete?: string;
}

interface Now extends State {
  readonly output: readonly Json[];
  readonly usage: Usage | undefined;
  readonly completedAt?: number;
  readonly isStored?: boolean;
  readonly model?: string;
  readonly provider?: string;
  readonly tier?: string;
}

/** The parts of a request that come back with its answer, with OpenAI's defaults where the client said nothing. */
export function echoOf(body: ResponseBody, store: boolean): Json {
  const { reasoning, text } = body;
  const conversation = conversationIdOf(body);
  return {
    background: body.background ?? false,
    ...(conversation === undefined ? {} : { conversation: { id: conversation } }),
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    metadata: body.metadata ?? {},
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    reasoning: { ...reasoning, effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    safety_identifier: body.safety_identifier ?? null,
    service_tier: body.service_tier ?? 'default',
    store,
    temperature: body.temperature ?? 1,
    text: { ...text, format: text?.format ?? { type: 'text' }, verbosity: text?.verbosity ?? 'medium' },
    tool_choice: body.tool_choice ?? 'auto',
    tools: shownTools(body.tools ?? []),
    top_logprobs: body.top_logprobs ?? 0,
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? 'disabled',
    ...(typeof body.user === 'string' ? { user: body.user } : {}),
  };
}

/** The `response` object, complete as the official types have it. */
export function responseOf(head: ResponseHead, now: Now): Json {
  const provider = now.provider ?? head.provider;
  return {
    id: head.id,
    object: 'response',
    created_at: head.createdAt,
    status: now.status,
    completed_at: now.status === 'completed' ? (now.completedAt ?? null) : null,
    error: now.error ?? null,
    incomplete_details: now.incomplete === undefined ? null : { reason: now.incomplete },
    model: now.model ?? head.model,
    ...(provider === null ? {} : { provider }),
    output: now.output,
    usage: now.usage === undefined ? null : usageOf(now.usage),
    access_programs: null,
    ...head.echo,
    ...(now.tier === undefined ? {} : { service_tier: now.tier }),
    ...(now.isStored === false ? { store: false } : {}),
  };
}

/** What an answer cost, in the words of the format. */
export function usageOf(usage: Usage): Json {
  return {
    input_tokens: usage.promptTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens ?? 0, cache_write_tokens: usage.cacheWriteTokens ?? 0 },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: usage.totalTokens,
    ...(usage.estimated === true ? { estimated: true } : {}),
  };
}

/** A failure in the words of the format, where it has one that fits; our own is more precise and stands beside it. */
const CODES: Readonly<Record<string, string | undefined>> = {
  rate_limited: 'rate_limit_exceeded',
  context_length_exceeded: 'context_length_exceeded',
  insufficient_quota: 'insufficient_quota',
};

/** What failed: `code` is a word of the format's, `reason` our own. */
export function errorOf({ code, name, message }: ErrorInfo): Json {
  return {
    code: CODES[code] ?? 'server_error',
    message: `${name}: ${message}`,
    reason: code,
  };
}
