import type { Call } from '../core/call.ts';

/** Response headers by name, as every HTTP client here has them. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** More of them, or longer ones, say nothing to a client. */
const MOST = 32;
const LONGEST = 256;

/** OpenAI's names, which most have, and Anthropic's. */
const NAME = /^(x|anthropic)-ratelimit-/;

/** What paces a client. Any other word may be a secret that the upstream quotes (S-6). */
const VALUES: readonly RegExp[] = [
  // A figure, or several with their windows: `100, 1000;w=3600` (the IETF's draft).
  /^-?\d{1,15}(\.\d{1,20})?(;[a-z]{1,9}=\d{1,15})*(, ?\d{1,15}(;[a-z]{1,9}=\d{1,15})*)*$/,
  // A duration: `12ms`, `6m0s`, `2m59.56s`.
  /^(\d{1,15}(\.\d{1,20})?(ms|us|ns|[dhms]))+$/,
  // Dates of RFC 3339 and of HTTP.
  /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i,
  /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
];

const noted = new WeakMap<Call, Readonly<Record<string, string>>>();

/** What paces clients among the headers of an upstream. Everything else may hold internals (S-7). */
export function rateLimits(headers: Headers): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  let count = 0;
  for (const name in headers) {
    const value = NAME.test(name) ? headers[name] : undefined;
    if (typeof value !== 'string' || !isPace(value)) continue;
    found[name] = value;
    count += 1;
    if (count === MOST) break;
  }
  return found;
}

function isPace(value: string): boolean {
  return value.length <= LONGEST && VALUES.some((form) => form.test(value));
}

/** For providers: remembers what the upstream of a call said about its limits, as long as there is the call. */
export function noteRateLimits(call: Call, headers: Headers): void {
  noted.set(call, rateLimits(headers));
}

/** What a provider noted for a call; empty when there was nothing. */
export function rateLimitsOf(call: Call): Readonly<Record<string, string>> {
  return noted.get(call) ?? {};
}
