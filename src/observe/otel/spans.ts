import type { FailedAttempt, Observation } from '../observation.ts';
import { isFailure } from '../request-log.ts';
import { type AttributeValue, attributes, CLIENT, FAILED, nanoseconds, SERVER, type Span } from './otlp.ts';
import { newSpanId, type TraceContext } from './trace-context.ts';
import { operationName, providerName } from './words.ts';

/** Where a provider listens. */
export type AddressOf = (provider: string) => URL | undefined;

/** Ids that had to be known before the end, since upstreams were told of them: of the attempts, in their order. */
export interface Told {
  readonly context: TraceContext;
  readonly attempts: readonly string[];
}

/** The spans of a request: one for what the client asked, and one for each time that a provider was asked. */
export function spansOf(seen: Observation, { context, attempts }: Told, addressOf: AddressOf): readonly Span[] {
  const { traceId, parentId, state, isSampled } = context;
  const trace = { traceId, flags: isSampled ? 1 : 0, ...(state === undefined ? {} : { traceState: state }) };
  const at = (after: number): string => nanoseconds(seen.time + after);
  const request: Span = {
    ...trace,
    spanId: newSpanId(),
    ...(parentId === undefined ? {} : { parentSpanId: parentId }),
    name: `${seen.method} ${seen.route}`,
    kind: SERVER,
    startTimeUnixNano: at(0),
    endTimeUnixNano: at(seen.duration),
    attributes: attributes({
      'http.request.method': seen.method,
      'http.route': seen.route,
      // A query may hold a key, a path does not.
      'url.path': seen.url.replace(/[?#].*$/s, ''),
      'url.scheme': seen.scheme,
      'http.response.status_code': seen.status,
      'error.type': isFailure(seen) ? (seen.error?.code ?? String(seen.status)) : undefined,
      'sluice.request.id': seen.id,
      'sluice.dialect': seen.dialect,
      'sluice.attempts': seen.attempts,
      'sluice.cost_usd': seen.cost ?? undefined,
    }),
    // Of the client's own mistakes the server's span is no failure (semantic conventions for HTTP spans).
    ...(seen.status >= 500 || (seen.status < 400 && isFailure(seen)) ? { status: { code: FAILED } } : {}),
  };
  const asked = { ...trace, parentSpanId: request.spanId, kind: CLIENT } as const;
  const idAt = (index: number): string => attempts[index] ?? newSpanId();
  const failed = seen.failures.map(
    (failure, index): Span => ({
      ...asked,
      ...nameOf(seen, failure),
      spanId: idAt(index),
      startTimeUnixNano: at(failure.after),
      endTimeUnixNano: at(failure.after + failure.duration),
      attributes: attributes({ ...about(seen, failure, addressOf), 'error.type': failure.code }),
      ...failureOf(failure.code, at(failure.after + failure.duration)),
    }),
  );
  return [request, ...failed, ...answering(seen, asked, idAt(failed.length), addressOf)];
}

/** The span of the provider that answered, if one did. */
function answering(
  seen: Observation,
  asked: Pick<Span, 'traceId' | 'flags' | 'parentSpanId' | 'kind'>,
  spanId: string,
  addressOf: AddressOf,
): readonly Span[] {
  const { provider, model = '', usage, error, finishes, answeredAs, firstChunk } = seen;
  if (provider === undefined) return [];
  const end = nanoseconds(seen.time + seen.duration);
  const hasFailed = error !== undefined && isFailure(seen);
  return [
    {
      ...asked,
      ...nameOf(seen, { model }),
      spanId,
      startTimeUnixNano: nanoseconds(seen.time + seen.askedAt),
      endTimeUnixNano: end,
      attributes: attributes({
        ...about(seen, { provider, model }, addressOf),
        'gen_ai.response.id': answeredAs?.id,
        'gen_ai.response.model': answeredAs?.model,
        'gen_ai.response.time_to_first_chunk':
          seen.stream && firstChunk !== undefined ? Math.max(0, firstChunk - seen.askedAt) / 1_000 : undefined,
        'gen_ai.response.finish_reasons': finishes.length === 0 ? undefined : finishes,
        'gen_ai.usage.input_tokens': usage?.promptTokens,
        'gen_ai.usage.output_tokens': usage?.completionTokens,
        'gen_ai.usage.cache_read.input_tokens': usage?.cachedTokens,
        'gen_ai.usage.cache_creation.input_tokens': usage?.cacheWriteTokens,
        'gen_ai.usage.reasoning.output_tokens': usage?.reasoningTokens,
        'error.type': hasFailed ? error.code : undefined,
      }),
      ...(hasFailed ? failureOf(error.code, end) : {}),
    },
  ];
}

function nameOf({ operation }: Observation, { model }: { readonly model: string }): { readonly name: string } {
  return { name: `${operationName(operation)} ${model}`.trimEnd() };
}

function about(
  { operation, stream, sampling }: Observation,
  { provider, model }: Pick<FailedAttempt, 'provider' | 'model'>,
  addressOf: AddressOf,
): Record<string, AttributeValue> {
  const address = addressOf(provider);
  return {
    'gen_ai.operation.name': operationName(operation),
    'gen_ai.provider.name': providerName(provider),
    'gen_ai.request.model': model === '' ? undefined : model,
    'gen_ai.request.stream': stream || undefined,
    ...sampling,
    'server.address': address?.hostname,
    'server.port': address === undefined ? undefined : portOf(address),
  };
}

/** By code alone: words of upstreams may quote anything. */
function failureOf(code: string, at: string): Pick<Span, 'events' | 'status'> {
  return {
    events: [{ name: 'exception', timeUnixNano: at, attributes: attributes({ 'exception.type': code }) }],
    status: { code: FAILED, message: code },
  };
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'http:' ? 80 : 443;
}
