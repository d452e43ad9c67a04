import type { Call } from '../core/call.ts';

/** Response headers by name, as every HTTP client here has them. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** More of them, or longer ones, say nothing to a client. */
const MOST = 32;
const LONGEST = 256;

/** OpenAI's names, which most have, and Anthropic's. */
export const RATE_LIMIT = /^(x|anthropic)-ratelimit-/;

const noted = new WeakMap<Call, Readonly<Record<string, string>>>();

/** What paces clients among the headers of an upstream. Everything else may hold internals (S-7). */
export function rateLimits(headers: Headers): Readonly<Record<string, string>> {
  const found = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    RATE_LIMIT.test(name) && typeof value === 'string' ? [[name, value.slice(0, LONGEST)]] : [],
  );
  return Object.fromEntries(found.slice(0, MOST));
}

/** For providers: remembers what the upstream of a call said about its limits, as long as there is the call. */
export function noteRateLimits(call: Call, headers: Headers): void {
  noted.set(call, rateLimits(headers));
}

/** What a provider noted for a call; empty when there was nothing. */
export function rateLimitsOf(call: Call): Readonly<Record<string, string>> {
  return noted.get(call) ?? {};
}
