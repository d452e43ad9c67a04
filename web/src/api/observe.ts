import { BACKEND, getJson, request } from './http.ts';

/** Milliseconds. */
export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

/** Requests to models, and how they went. Costs are US dollars; null: no price is known. */
export interface Insight {
  readonly requests: number;
  readonly errors: number;
  readonly cost: number | null;
  /** Answers without a known price. */
  readonly unpriced: number;
  readonly first_chunk_ms: Percentiles | null;
  readonly duration_ms: Percentiles | null;
}

/** The same of one model or one provider; only a model has a `provider`. */
export interface NamedInsight extends Insight {
  readonly name: string;
  readonly provider?: string;
}

interface Sums {
  readonly requests: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly cost?: number | null;
  readonly errors?: number;
}

/** What `GET stats` answers. Servers that do not look at how requests go leave out `insights`. */
export interface Stats {
  /** Every day of the period, the oldest first. */
  readonly days: readonly (Sums & { readonly date: string })[];
  /** Tokens by name. */
  readonly models: Readonly<Record<string, number>>;
  readonly providers: Readonly<Record<string, number>>;
  readonly totals: Sums;
  readonly insights?: {
    readonly all: Insight;
    readonly models: readonly NamedInsight[];
    readonly providers: readonly NamedInsight[];
    readonly errors: Readonly<Record<string, number>>;
  };
}

/** The last `days` days, today included (UTC). */
export function loadStats(days: number, signal: AbortSignal): Promise<Stats> {
  return getJson(`${BACKEND}/stats?days=${days}`, { signal });
}

/** What one answer used. */
export interface UsageLine {
  readonly provider: string;
  readonly model: string;
  readonly total_tokens: number;
  readonly cost?: number | null;
}

/** The records of a day, yyyy-mm-dd. */
export async function loadUsage(date: string, signal: AbortSignal): Promise<readonly UsageLine[]> {
  const response = await request(`${BACKEND}/usage/${date}`, { signal });
  const text = await response.text();
  return text.split('\n').flatMap((line) => (line === '' ? [] : (JSON.parse(line) as UsageLine)));
}

interface FailedAttempt {
  readonly provider: string;
  readonly model: string;
  readonly code: string;
  readonly status: number;
  readonly duration_ms: number;
}

/** A request to a model, as the server's log has it. */
export interface LoggedRequest {
  readonly id: string;
  readonly time: string;
  readonly method: string;
  readonly route: string;
  readonly dialect: string;
  readonly operation: string;
  readonly user: string;
  readonly asked: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly status: number;
  readonly error: { readonly code: string; readonly name: string; readonly message: string | null } | null;
  readonly stream: boolean;
  readonly first_chunk_ms: number | null;
  readonly duration_ms: number;
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
    readonly cached_tokens: number;
    readonly cache_write_tokens: number;
    readonly reasoning_tokens: number;
    readonly estimated: boolean;
  } | null;
  readonly cost: number | null;
  readonly attempts: number;
  readonly failed_attempts: readonly FailedAttempt[];
  readonly has_content: boolean;
}

interface LoggedAnswer {
  readonly text: string;
  readonly reasoning: string;
  readonly tool_calls: readonly { readonly name: string; readonly arguments: string }[];
  readonly truncated: boolean;
}

/** With what was said: null where the log does not keep that, or not any more. */
export interface WholeRequest extends LoggedRequest {
  readonly request: { readonly body: unknown; readonly truncated: boolean } | null;
  readonly answer: LoggedAnswer | null;
}

/** `total`: all that fit the filter; `kept`: all that the log has; `next`: null where this page is the last. */
export interface RequestPage {
  readonly requests: readonly LoggedRequest[];
  readonly total: number;
  readonly kept: number;
  readonly next: string | null;
  readonly mode: 'none' | 'meta' | 'full';
}

/** What a person looks for in the log. Whatever is empty excludes nothing. */
export interface RequestFilter {
  readonly text: string;
  readonly provider: string;
  /** `ok`, `error`, or empty for all. */
  readonly status: string;
}

/** The newest first; `before` is the `next` of the page before. */
export function loadRequests(filter: RequestFilter, before: string | null, signal: AbortSignal): Promise<RequestPage> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) if (value.trim() !== '') query.set(name, value.trim());
  if (before !== null) query.set('before', before);
  return getJson(`${BACKEND}/requests?${query}`, { signal });
}

/** Throws RequestError with the status 404 where it made room for newer ones. */
export function loadRequest(id: string, signal: AbortSignal): Promise<WholeRequest> {
  return getJson(`${BACKEND}/requests/${encodeURIComponent(id)}`, { signal });
}

/** Empties the log of requests, for everybody. */
export async function clearRequests(): Promise<void> {
  await request(`${BACKEND}/requests`, { method: 'DELETE' });
}
