/**
 * The catalogue: every way in which a request can fail. `status` is what a client gets before the first chunk,
 * `name` the class name that front ends of dialect A know, `type` the word of OpenAI's error objects.
 */
const CATALOGUE = {
  invalid_request: { status: 400, name: 'BadRequestError', type: 'invalid_request_error' },
  context_length_exceeded: { status: 400, name: 'BadRequestError', type: 'invalid_request_error' },
  unsupported_field: { status: 400, name: 'BadRequestError', type: 'invalid_request_error' },
  unauthorized: { status: 401, name: 'MissingAuthError', type: 'authentication_error' },
  missing_credentials: { status: 401, name: 'MissingAuthError', type: 'authentication_error' },
  forbidden: { status: 403, name: 'PermissionDeniedError', type: 'permission_error' },
  not_found: { status: 404, name: 'NotFoundError', type: 'not_found_error' },
  provider_not_found: { status: 404, name: 'ProviderNotFoundError', type: 'not_found_error' },
  model_not_found: { status: 404, name: 'ModelNotFoundError', type: 'not_found_error' },
  method_not_allowed: { status: 405, name: 'MethodNotAllowedError', type: 'invalid_request_error' },
  request_timeout: { status: 408, name: 'TimeoutError', type: 'invalid_request_error' },
  conflict: { status: 409, name: 'ConflictError', type: 'invalid_request_error' },
  gone: { status: 410, name: 'GoneError', type: 'not_found_error' },
  too_large: { status: 413, name: 'PayloadTooLargeError', type: 'invalid_request_error' },
  uri_too_long: { status: 414, name: 'BadRequestError', type: 'invalid_request_error' },
  unsupported_media_type: { status: 415, name: 'BadRequestError', type: 'invalid_request_error' },
  invalid_field: { status: 422, name: 'BadRequestError', type: 'invalid_request_error' },
  rate_limited: { status: 429, name: 'RateLimitError', type: 'rate_limit_error' },
  insufficient_quota: { status: 429, name: 'RateLimitError', type: 'insufficient_quota' },
  header_too_large: { status: 431, name: 'BadRequestError', type: 'invalid_request_error' },
  cancelled: { status: 499, name: 'CancelledError', type: 'cancelled' },
  internal: { status: 500, name: 'InternalError', type: 'server_error' },
  model_unusable: { status: 500, name: 'ResponseError', type: 'server_error' },
  provider_failed: { status: 500, name: 'ResponseError', type: 'server_error' },
  not_supported: { status: 501, name: 'NotSupportedError', type: 'invalid_request_error' },
  upstream_failed: { status: 502, name: 'ResponseStatusError', type: 'upstream_error' },
  upstream_unreachable: { status: 502, name: 'ConnectionError', type: 'upstream_error' },
  upstream_cut: { status: 502, name: 'ConnectionError', type: 'upstream_error' },
  upstream_invalid: { status: 502, name: 'ResponseError', type: 'upstream_error' },
  overloaded: { status: 503, name: 'OverloadedError', type: 'overloaded_error' },
  shutting_down: { status: 503, name: 'OverloadedError', type: 'overloaded_error' },
  upstream_timeout: { status: 504, name: 'TimeoutError', type: 'upstream_error' },
  storage_failed: { status: 507, name: 'StorageError', type: 'server_error' },
} as const satisfies Record<string, { status: number; name: string; type: string }>;

/** Stable machine words. */
export type ErrorCode = keyof typeof CATALOGUE;

/** An error as a client may see it. */
export interface ErrorInfo {
  readonly code: ErrorCode;
  /** Class name in the way front ends know it, for example `RateLimitError`. */
  readonly name: string;
  readonly message: string;
  /** Seconds after which it is worth trying again. */
  readonly retryAfter?: number;
}

/** The status of an error, unless an upstream's own says otherwise. */
export function statusOf(code: ErrorCode): number {
  return CATALOGUE[code].status;
}

/** The word of OpenAI's error objects. */
export function typeOf(code: ErrorCode): string {
  return CATALOGUE[code].type;
}

/** What an error may say beside its code and its message. */
export interface ErrorOptions {
  /** The request field at fault, for example `messages[0].role`. */
  readonly param?: string;
  /** Overrides the catalogue's status: an upstream's own 4xx is passed on as it is. */
  readonly status?: number;
  /** An upstream's own status, where clients of its format know it and others do not. */
  readonly upstreamStatus?: number;
  /** Seconds after which it is worth trying again. */
  readonly retryAfter?: number;
  /** Google's ids of the quotas that are used up: they alone say whether that is one of a minute or of a day. */
  readonly quotas?: readonly string[];
  /** Headers by which an upstream paces its clients, for ours. */
  readonly rateLimits?: Readonly<Record<string, string>>;
  readonly provider?: string;
  readonly model?: string;
  /** Schema violations one by one, for dialect B's `detail`. */
  readonly detail?: readonly ErrorDetail[];
  /** Anthropic's `error.details`, by which its clients know what to do. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** One schema violation; `loc` leads to the value, from the part of the request it is in (`body`, …) on. */
export interface ErrorDetail {
  readonly loc: readonly (string | number)[];
  readonly message: string;
  readonly type: string;
}

/** A class of failure before the words of an upstream that is a Sluice itself: ours is said in its place. */
const NAMED = new RegExp(`^(?:${[...new Set(Object.values(CATALOGUE).map(({ name }) => name))].join('|')}):(?: |$)`);

/** The one error class whose text a client may see. Everything else becomes `internal`, without its text. */
export class SluiceError extends Error {
  readonly code: ErrorCode;
  readonly options: ErrorOptions;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = CATALOGUE[code].name;
    this.code = code;
    this.options = options;
  }

  get status(): number {
    return this.options.status ?? statusOf(this.code);
  }

  get type(): string {
    return typeOf(this.code);
  }

  /** The same error with the provider and model it came from, unless it already names them. */
  from(provider: string, model: string): SluiceError {
    if (this.options.provider !== undefined) return this;
    const message = this.message.replace(NAMED, '') || 'The provider reported an error without an explanation.';
    return new SluiceError(this.code, message, { ...this.options, provider, model, cause: this });
  }

  toInfo(): ErrorInfo {
    const { retryAfter } = this.options;
    const info = { code: this.code, name: this.name, message: this.message };
    return retryAfter === undefined ? info : { ...info, retryAfter };
  }
}

/** Anything thrown, as an error that can be shown. Unknown errors lose their text, which may hold internals. */
export function toSluiceError(thrown: unknown): SluiceError {
  if (thrown instanceof SluiceError) return thrown;
  if (isMissingModule(thrown)) return partMissing(thrown);
  return new SluiceError(
    'internal',
    'Sluice failed to handle this request; the log has the details under its request id.',
    {
      cause: thrown,
    },
  );
}

function isMissingModule(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_MODULE_NOT_FOUND';
}

/** Files that are loaded when they are first needed have other names in another version, and are gone once that was installed over this one. */
export function partMissing(cause?: unknown): SluiceError {
  const message = 'A part of Sluice is missing, perhaps because it was updated while it ran: start it again.';
  return new SluiceError('internal', message, { cause });
}

/** Nobody waits for the answer any more. */
export function clientLeft(): SluiceError {
  return new SluiceError('cancelled', 'The client closed the connection.');
}

/** 503: for what comes, or still waits, while Sluice ends. */
export function shuttingDown(options: ErrorOptions = {}): SluiceError {
  return new SluiceError('shutting_down', 'Sluice is shutting down.', options);
}

/** For the `default` of a switch over a union: the compiler then finds the forgotten case. */
export function unreachable(value: never): never {
  throw new Error(`unhandled case: ${JSON.stringify(value)}`);
}
