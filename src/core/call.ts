import type { Logger } from './logger.ts';

/** Keys for one call, already resolved: from the client for this call only, or from configuration. */
export interface Credentials {
  readonly apiKey?: string;
}

/** What travels down with a request. */
export interface Call {
  /** Request id; the client gets it back as `x-request-id`. */
  readonly id: string;
  /** Client left, deadline passed, shutdown: one signal, made when first asked for. */
  readonly signal: AbortSignal;
  /** Why the call was cancelled, if it was. */
  readonly cancelled: Error | undefined;
  /** Runs `listener` once when the call is cancelled (at once if it already is). Returns a function that takes it back. */
  onCancel(listener: (reason: Error) => void): () => void;
  readonly credentials: Credentials;
  readonly log: Logger;
}
