import type { IncomingHttpHeaders } from 'node:http';
import { SluiceError } from '../../core/errors.ts';
import { firstSaid, membersOf, parseJson } from '../../core/objects.ts';
import { rateLimits } from '../../outbound/rate-limits.ts';
import { speaksTls } from '../../outbound/transport-failure.ts';
import { codeOfFailure, keptStatus, pacing, secondsToWait } from '../status.ts';

/** Characters of an upstream's own words that are passed on. */
const LONGEST_MESSAGE = 2_000;

/**
 * An upstream's answer with an error status → our error, in the upstream's own words where it has some.
 *
 * @param names whether the client calls fields as the upstream does
 */
export function failureOfStatus(
  status: number,
  headers: IncomingHttpHeaders,
  body: Buffer,
  names: 'same' | 'other' = 'other',
): SluiceError {
  const json = parseJson(body.toString('utf8'));
  const said = messageOf(json);
  const options = {
    ...pacing(secondsToWait(headers['retry-after']), rateLimits(headers)),
    ...paramOf(json, names),
  };
  if (status >= 300 && status < 400) {
    return new SluiceError(
      'upstream_invalid',
      `The provider redirects to another address (${status}), which is not followed.`,
    );
  }
  if (status < 400) {
    return new SluiceError('upstream_invalid', `The provider answered ${status}, which is no answer to a chat.`);
  }
  if (status === 400 && said === undefined && WANTS_TLS.test(body.toString('latin1'))) return speaksTls();
  if (status >= 500 && said === undefined) {
    return new SluiceError(
      'upstream_failed',
      `The provider answered ${status} with something that is not a JSON error.`,
      options,
    );
  }
  const message = said ?? `The provider answered ${status} without an explanation.`;
  return new SluiceError(codeOfFailure(status, said, wordOf(json)), message, { ...options, ...keptStatus(status) });
}

/** How nginx, Apache and Go say in plain HTTP that they speak TLS. */
const WANTS_TLS =
  /plain HTTP (request was sent )?to (an )?(HTTPS|SSL-enabled server) port|an HTTP request to an HTTPS server/;

/** The field that an error in OpenAI's form names: as a whole, or the name in our words of what it is in. */
export function paramOf(json: unknown, names: 'same' | 'other'): { readonly param?: string } {
  const { param } = membersOf(membersOf(json)['error']);
  if (typeof param !== 'string') return {};
  if (names === 'same') return nameOfField(param);
  // Places within may have been others in what the client sent.
  const [name] = /^[a-z_]{1,64}(?=[.[]|$)/.exec(param) ?? [];
  return name === undefined ? {} : { param: OF_RESPONSES.get(name) ?? name };
}

/** What an upstream calls a field, as far as it looks like one. */
export function nameOfField(param: string): { readonly param?: string } {
  return /^[ -~]{1,256}$/.test(param) ? { param } : {};
}

/** What the Responses API calls otherwise than chat completions do, whose names are ours. */
const OF_RESPONSES: ReadonlyMap<string, string> = new Map([
  ['input', 'messages'],
  ['instructions', 'messages'],
  ['max_output_tokens', 'max_tokens'],
  ['reasoning', 'reasoning_effort'],
  ['text', 'response_format'],
]);

/** The error that some upstreams send inside a stream, or with status 200. */
export function failureInAnswer(json: object): SluiceError | undefined {
  const error = errorIn(json);
  if (isNothing(error)) return undefined;
  const said = messageOf({ error }) ?? messageOf(json) ?? 'The provider reported an error without an explanation.';
  const { code, status, status_code, type } = membersOf(error);
  const word = wordOf({ error });
  const number = [code, status, status_code, STATUSES.get(word), STATUSES.get(type)]
    .map(asNumber)
    .find((each) => each >= 400 && each < 600);
  if (number === undefined) return new SluiceError('provider_failed', said);
  return new SluiceError(codeOfFailure(number, said, word), said, keptStatus(number));
}

/** Statuses of errors that come without one, by the upstream's word. */
const STATUSES: ReadonlyMap<unknown, number> = new Map([
  ['context_length_exceeded', 400],
  ['insufficient_quota', 429],
  ['rate_limit_exceeded', 429],
  ['rate_limit_error', 429],
]);

/** What an upstream calls an error for machines: OpenAI's `code`; llama.cpp says it with the `type`. */
function wordOf(json: unknown): unknown {
  const { code, type } = membersOf(membersOf(json)['error']);
  return type === 'exceed_context_size_error' ? 'context_length_exceeded' : code;
}

/** OpenAI's error has a member of its own; Mistral's and vLLM's is the whole object; OpenRouter's may end a choice. */
function errorIn(json: object): unknown {
  const { error, object, choices } = json as { error?: unknown; object?: unknown; choices?: unknown };
  if (!isNothing(error)) return error;
  if (object === 'error') return json;
  const failed = Array.isArray(choices) ? choices.find((choice) => choice?.finish_reason === 'error') : undefined;
  return failed === undefined ? undefined : (failed.error ?? true);
}

/** Some upstreams write the member in every answer. */
function isNothing(error: unknown): boolean {
  return error === null || error === undefined || error === false || error === '';
}

function asNumber(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
}

function messageOf(json: unknown): string | undefined {
  const said = firstSaid(candidates(json));
  return said === undefined ? undefined : clean(said);
}

/** The places where upstreams put their words: OpenAI's, Mistral's, FastAPI's, Ollama's. */
function candidates(json: unknown): unknown[] {
  const first = Array.isArray(json) ? json[0] : json;
  if (typeof first !== 'object' || first === null) return [];
  const { error, message, detail } = first as { error?: unknown; message?: unknown; detail?: unknown };
  const inner = typeof error === 'object' && error !== null ? (error as { message?: unknown }).message : error;
  const details = typeof detail === 'object' && detail !== null ? JSON.stringify(detail) : detail;
  return [inner, wrongFields(membersOf(message)['detail']) ?? message, wrongFields(detail) ?? details];
}

/** What FastAPI says of each wrong field, in words; Mistral has the list within its message. */
function wrongFields(list: unknown): string | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const words = list.flatMap((each) => {
    const { loc, msg } = membersOf(each);
    return Array.isArray(loc) && loc.every(isStep) && typeof msg === 'string' ? [`${loc.join('.')}: ${msg}`] : [];
  });
  return words.length < list.length ? undefined : words.join('; ');
}

function isStep(step: unknown): boolean {
  return typeof step === 'string' || typeof step === 'number';
}

function clean(text: string): string {
  const printable = text.replace(/[^\P{Cc}\n\t]/gu, ' ').trim();
  return printable.length > LONGEST_MESSAGE ? `${printable.slice(0, LONGEST_MESSAGE)}…` : printable;
}
