import type { WireFormat } from '../core/chat.ts';
import type { AnsweredAs, Usage } from '../core/chunk.ts';
import type { SluiceError } from '../core/errors.ts';
import type { Rostered } from '../core/roster.ts';
import { sumUsages } from '../core/usage.ts';

/** Which API a client speaks; `backend` is dialect A. */
export type Dialect = 'backend' | WireFormat;

/** What is asked of models. */
export type Operation =
  | 'chat'
  | 'completion'
  | 'image'
  | 'speech'
  | 'transcription'
  | 'embedding'
  | 'rerank'
  | 'moderation'
  | 'count_tokens';

/** What a route is for, where it asks models. */
export interface RouteKind {
  readonly dialect: Dialect;
  readonly operation: Operation;
}

/** A provider that was asked and did not answer. Times are in milliseconds. */
export interface FailedAttempt {
  readonly provider: string;
  readonly model: string;
  readonly code: string;
  readonly status: number;
  /** Since the request began. */
  readonly after: number;
  readonly duration: number;
}

/** What a request asked and what was answered, shortened and without secrets. Plain JSON. */
export interface Content {
  readonly request: { readonly body: unknown; readonly truncated: boolean } | null;
  readonly answer: AnswerContent | null;
}

/** `truncated`: the answer had more than this. */
export interface AnswerContent {
  readonly text: string;
  readonly reasoning: string;
  readonly tool_calls: readonly { readonly name: string; readonly arguments: string }[];
  readonly truncated: boolean;
}

/** `code` and `name` are those of the catalogue (`core/errors.ts`). */
export interface SeenError {
  readonly code: string;
  readonly name: string;
  /** undefined: not kept. */
  readonly message?: string;
}

/** One request as it is remembered after its end. Plain JSON; times and durations are in milliseconds. */
export interface Seen {
  readonly id: string;
  /** Since 1970. */
  readonly time: number;
  readonly method: string;
  readonly route: string;
  readonly dialect?: Dialect | undefined;
  readonly operation?: Operation | undefined;
  readonly user: string;
  readonly asked?: string | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly status: number;
  readonly error?: SeenError | undefined;
  readonly stream: boolean;
  readonly firstChunk?: number | undefined;
  readonly duration: number;
  readonly usage?: Usage | undefined;
  /** US dollars. */
  readonly cost: number | null;
  readonly attempts: number;
  readonly failures: readonly FailedAttempt[];
  readonly content?: Content | undefined;
}

/** The record alone, where the object may know more. Its id comes first. */
export function recordOf(seen: Seen): Seen {
  return {
    id: seen.id,
    time: seen.time,
    method: seen.method,
    route: seen.route,
    dialect: seen.dialect,
    operation: seen.operation,
    user: seen.user,
    asked: seen.asked,
    provider: seen.provider,
    model: seen.model,
    status: seen.status,
    error: seen.error,
    stream: seen.stream,
    firstChunk: seen.firstChunk,
    duration: seen.duration,
    usage: seen.usage,
    cost: seen.cost,
    attempts: seen.attempts,
    failures: seen.failures,
    content: seen.content,
  } satisfies { [Key in keyof Required<Seen>]: Seen[Key] };
}

/** Gathers what an answer says while it passes. */
export interface AnswerTap {
  /** The answer as far as it was gathered; undefined: there was no text. */
  read(): AnswerContent | undefined;
}

const NONE: readonly FailedAttempt[] = [];

/** What is noted of one request while it runs. Everything here is told synchronously, once or twice a request. */
export class Observation implements Rostered {
  place = -1;
  readonly id: string;
  readonly time = Date.now();
  readonly began = performance.now();
  readonly method: string;
  route: string;
  dialect: Dialect | undefined;
  operation: Operation | undefined;
  user = 'unknown';
  asked: string | undefined;
  provider: string | undefined;
  model: string | undefined;
  status = 0;
  error: SeenError | undefined;
  stream = false;
  firstChunk: number | undefined;
  duration = 0;
  usage: Usage | undefined;
  cost: number | null = null;
  attempts = 0;
  failures: readonly FailedAttempt[] = NONE;
  content: Content | undefined;
  /** Passed the guard: whoever did not is nobody's business here. */
  admitted = false;
  /** When the target that answers was asked, since the beginning. */
  askedAt = 0;
  /** The address as the client wrote it, and its scheme: for traces only. */
  url = '';
  scheme = 'http';
  /** `traceparent` and `tracestate` of the client. */
  traceparent: string | undefined;
  tracestate: string | undefined;
  body: unknown;
  tap: AnswerTap | undefined;
  /** The response, and whatever goes on behind it. */
  pending = 1;
  /** Its answer does not end with the response. */
  isDetached = false;
  isOver = false;
  /** It is none of ours. */
  isForgotten = false;
  /** Prices that are still being looked up. */
  openPrices = 0;
  /** Its price was looked up. */
  isCharged = false;
  /** Why its answers ended, in OpenAI's words: for traces only. */
  finishes: readonly string[] = [];
  /** What the first of them was called: for traces only. */
  answeredAs: AnsweredAs | undefined;
  /** Figures by which the answer was to be made, by the names of traces, which alone tell of them. */
  sampling: Readonly<Record<string, number>> | undefined;

  constructor(id: string, method: string, route: string, kind: RouteKind | undefined) {
    this.id = id;
    this.method = method;
    this.route = route;
    this.dialect = kind?.dialect;
    this.operation = kind?.operation;
  }

  /** Milliseconds since it began. */
  elapsed(): number {
    return performance.now() - this.began;
  }

  /** The first failure counts: what follows is its consequence. */
  failed(error: SluiceError): void {
    this.error ??= { code: error.code, name: error.name, message: error.message };
  }

  /** Several answers may belong to one request. */
  spent(usage: Usage): void {
    const { usage: before } = this;
    this.usage = before === undefined ? withoutRaw(usage) : sumUsages([before, usage]);
  }

  missed(failure: FailedAttempt): void {
    this.attempts += 1;
    this.failures = [...this.failures, failure];
  }

  /** Lets go of everything that only the running request needs. */
  seal(): void {
    this.body = undefined;
    this.tap = undefined;
  }
}

/** The upstream's own object has nothing that is shown, and may be large. */
function withoutRaw(usage: Usage): Usage {
  if (usage.raw === undefined) return usage;
  const { promptTokens, completionTokens, totalTokens, cachedTokens, cacheWriteTokens, reasoningTokens, estimated } =
    usage;
  // Named one by one: a rest of an object takes a hundred times as long.
  const counts: { -readonly [Name in keyof Usage]: Usage[Name] } = { promptTokens, completionTokens, totalTokens };
  if (cachedTokens !== undefined) counts.cachedTokens = cachedTokens;
  if (cacheWriteTokens !== undefined) counts.cacheWriteTokens = cacheWriteTokens;
  if (reasoningTokens !== undefined) counts.reasoningTokens = reasoningTokens;
  if (estimated !== undefined) counts.estimated = estimated;
  return counts;
}
