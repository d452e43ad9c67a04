import { randomBytes } from 'node:crypto';

/** https://www.w3.org/TR/trace-context/#traceparent-header; later versions may add fields behind. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;
const LONGEST_STATE = 512;
const SAMPLED = 1;

/** The trace to which a request belongs. */
export interface TraceContext {
  readonly traceId: string;
  /** The client's span; absent: the trace begins here. */
  readonly parentId?: string;
  readonly state?: string;
  readonly isSampled: boolean;
}

/** Goes on with the client's trace, or begins one. */
export function traceContext(traceparent: string | undefined, tracestate: string | undefined): TraceContext {
  const [, traceId, parentId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || parentId === undefined || isZero(traceId) || isZero(parentId)) {
    return { traceId: randomBytes(16).toString('hex'), isSampled: true };
  }
  const state = tracestate === undefined || tracestate.length > LONGEST_STATE ? undefined : tracestate;
  return {
    traceId,
    parentId,
    ...(state === undefined ? {} : { state }),
    isSampled: (Number.parseInt(flags ?? '', 16) & SAMPLED) !== 0,
  };
}

/** 8 random bytes, in hex. */
export function newSpanId(): string {
  return randomBytes(8).toString('hex');
}

/** What an upstream gets. */
export function headersFor({ traceId, state, isSampled }: TraceContext, spanId: string): Record<string, string> {
  return {
    traceparent: `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`,
    ...(state === undefined ? {} : { tracestate: state }),
  };
}

function isZero(id: string): boolean {
  return /^0+$/.test(id);
}
