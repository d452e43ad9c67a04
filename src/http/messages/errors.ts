import type { SluiceError } from '../../core/errors.ts';
import { errorText } from '../edge/errors.ts';

/** Statuses whose class of error has a word of its own (https://platform.claude.com/docs/en/api/errors). */
const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** An upstream that is overloaded: the SDKs of this API know 529, those of others do not. */
export function messagesErrorStatus({ status, options }: SluiceError): number {
  return options.upstreamStatus ?? status;
}

/** Anthropic's word for a class of errors. */
export function errorType(status: number): string {
  return TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
}

/** Clients of this API shorten a conversation when they read these words, which are Anthropic's. */
function messageOf(error: SluiceError): string {
  const text = errorText(error);
  const isTold = error.code !== 'context_length_exceeded' || /prompt is too long/i.test(text);
  return isTold ? text : `prompt is too long: ${text}`;
}

/** An error as Anthropic writes it, with what every error of ours says besides. */
export function messagesErrorBody(error: SluiceError, { id }: { readonly id: string }): Record<string, unknown> {
  const { param, provider, model, details } = error.options;
  return {
    type: 'error',
    error: {
      type: errorType(error.status),
      message: messageOf(error),
      code: error.code,
      param: param ?? null,
      ...(details === undefined ? {} : { details }),
    },
    request_id: id,
    ...(model === undefined || model === '' ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
  };
}
