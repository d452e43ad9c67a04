import type { ErrorCode, ErrorOptions } from '../core/errors.ts';

/** Anthropic's "overloaded". */
const OVERLOADED = 529;

/** An upstream's error status, explained in its own words → our code. */
function codeOfStatus(status: number): ErrorCode {
  switch (status) {
    case 401:
      return 'missing_credentials';
    case 402: // an account without credit: says nothing about the request, so another provider may serve it
    case 403:
      return 'forbidden';
    case 404:
      return 'model_not_found';
    case 408:
    case 504:
    case 524: // Cloudflare's "a timeout occurred"
      return 'upstream_timeout';
    case 413:
      return 'too_large';
    case 429:
      return 'rate_limited';
    case 502:
      return 'upstream_failed';
    case 503:
    case OVERLOADED:
      return 'overloaded';
    default:
      return status >= 400 && status < 500 ? 'invalid_request' : 'provider_failed';
  }
}

/**
 * A prompt that does not fit, in the words of Anthropic, Google, Amazon, Mistral, vLLM, llama.cpp and OpenAI, who alone have a word
 * for machines.
 */
const TOO_LONG =
  /prompt is too long|input is too long|maximum context length|input token count [^.]{0,80}exceeds|context (length|size|window)[^.]{0,40} exceeded|exceeds? [^.]{0,40}context (length|size|window)/i;

/**
 * The code of a failure of which the upstream says more than its status: in words, and with a word for machines. These two are
 * OpenAI's own words, which its clients look for: one shortens the conversation, the other gives up.
 */
export function codeOfFailure(status: number, said: string | undefined, word?: unknown): ErrorCode {
  if (status === 429 && word === 'insufficient_quota') return word;
  const isOfRequest = status === 400 || status === 413 || status === 422;
  if (isOfRequest && (word === 'context_length_exceeded' || TOO_LONG.test(said ?? '')))
    return 'context_length_exceeded';
  return codeOfStatus(status);
}

/** Client errors keep the upstream's status (402, 422, 451, …), since clients of the vendor expect it. */
export function keptStatus(status: number): ErrorOptions {
  if (status === OVERLOADED) return { upstreamStatus: status };
  return status >= 400 && status < 500 && status !== 408 ? { status } : {};
}

/** What an upstream says of when it is worth asking again. */
export function pacing(retryAfter: number | undefined, rateLimits: Readonly<Record<string, string>>): ErrorOptions {
  return {
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(Object.keys(rateLimits).length === 0 ? {} : { rateLimits }),
  };
}

/** Longer than anybody waits. Without an end a figure might be passed on with an exponent, which no client reads. */
const MOST_SECONDS = 1_000_000_000;

/** `Retry-After` in seconds, from seconds or a date (RFC 9110 §10.2.3). */
export function secondsToWait(value: string | null | undefined): number | undefined {
  if (value === null || value === undefined) return undefined;
  // Some write fractions. Anything else without a word in it is no date, though JavaScript would read it as one.
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(value)
    ? Number(value)
    : (Date.parse(/[a-z]{3}/i.test(value) ? value : '') - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.min(MOST_SECONDS, Math.max(0, Math.ceil(seconds)));
}
