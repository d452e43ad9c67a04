import { type ErrorInfo, SluiceError } from '../../core/errors.ts';
import { errorText } from '../edge/errors.ts';

/** Google's words for HTTP's status codes (https://cloud.google.com/apis/design/errors#handling_errors). */
const STATUS_WORDS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  413: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

const TYPE = 'type.googleapis.com/google.rpc';

/** An error as the Gemini API tells of it. Our own code is the reason among the details. */
export function errorBody(error: SluiceError): Record<string, unknown> {
  const { status } = error;
  const { param, quotas, retryAfter, provider, model } = error.options;
  const metadata = { ...(provider === undefined ? {} : { provider }), ...(model ? { model } : {}) };
  return {
    error: {
      code: status,
      message: errorText(error),
      status: STATUS_WORDS[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'UNAVAILABLE'),
      details: [
        { '@type': `${TYPE}.ErrorInfo`, reason: error.code, domain: 'sluice', metadata },
        ...(param === undefined
          ? []
          : [{ '@type': `${TYPE}.BadRequest`, fieldViolations: [{ field: param, description: error.message }] }]),
        ...(quotas === undefined
          ? []
          : [{ '@type': `${TYPE}.QuotaFailure`, violations: quotas.map((quotaId) => ({ quotaId })) }]),
        ...(retryAfter === undefined ? [] : [{ '@type': `${TYPE}.RetryInfo`, retryDelay: `${retryAfter}s` }]),
      ],
    },
  };
}

/** The same for a failure inside a stream. */
export function streamError({ code, name, message, retryAfter }: ErrorInfo): Record<string, unknown> {
  return errorBody(new SluiceError(code, `${name}: ${message}`, retryAfter === undefined ? {} : { retryAfter }));
}
