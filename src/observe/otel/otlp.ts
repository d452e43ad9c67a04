/** What of OTLP over HTTP in JSON is needed here (https://opentelemetry.io/docs/specs/otlp/#otlphttp). */

/** undefined: the attribute is left out. */
export type AttributeValue = string | number | boolean | readonly string[] | undefined;

/** `value` is an `AnyValue` of the protocol: `{ stringValue: … }` and so on. */
export interface KeyValue {
  readonly key: string;
  readonly value: object;
}

/** What is a fraction even where it happens to be whole; all other numbers are whole. Collectors keep one type for each name. */
const FRACTIONS: ReadonlySet<string> = new Set([
  'gen_ai.request.temperature',
  'gen_ai.request.top_p',
  'gen_ai.request.top_k',
  'gen_ai.request.frequency_penalty',
  'gen_ai.request.presence_penalty',
  'gen_ai.response.time_to_first_chunk',
  'sluice.cost_usd',
]);

/** Numbers that are none of their type are left out: the figures of requests may be any, and a collector refuses all that comes with one. */
export function attributes(values: Readonly<Record<string, AttributeValue>>): readonly KeyValue[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const isLost =
      typeof value === 'number' && !(FRACTIONS.has(key) ? Number.isFinite(value) : Number.isSafeInteger(value));
    if (value === undefined || isLost) return [];
    return [{ key, value: FRACTIONS.has(key) ? { doubleValue: value } : typed(value) }];
  });
}

/** Whole numbers are 64 bits wide there, and so texts in JSON. */
function typed(value: Exclude<AttributeValue, undefined>): object {
  if (typeof value === 'object') return { arrayValue: { values: value.map(typed) } };
  if (typeof value === 'string') return { stringValue: value.toWellFormed() };
  return typeof value === 'boolean' ? { boolValue: value } : { intValue: String(value) };
}

/** Milliseconds since 1970 as nanoseconds. */
export function nanoseconds(milliseconds: number): string {
  return String(BigInt(Math.round(milliseconds * 1_000)) * 1_000n);
}

/** SPAN_KIND_SERVER: a request of a client of ours. */
export const SERVER = 2;
/** SPAN_KIND_CLIENT: what we asked of an upstream. */
export const CLIENT = 3;
/** STATUS_CODE_ERROR */
export const FAILED = 2;

/** Ids are hex, times are nanoseconds since 1970 as text (opentelemetry-proto, trace.proto). */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly flags: number;
  readonly name: string;
  readonly kind: typeof SERVER | typeof CLIENT;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly events?: readonly object[];
  readonly status?: { readonly code: typeof FAILED; readonly message?: string };
}
