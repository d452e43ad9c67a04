import { type ErrorCode, type ErrorOptions, SluiceError } from '../../core/errors.ts';
import { firstSaid, parseJson, wordsOf } from '../../core/objects.ts';
import { Secrets } from '../../core/secrets.ts';
import { rateLimits } from '../../outbound/rate-limits.ts';
import { nameOfField, paramOf } from '../openai/failure.ts';
import { codeOfFailure, keptStatus, pacing, secondsToWait } from '../status.ts';

/** Characters of an upstream's own words that are passed on. */
const LONGEST_MESSAGE = 1_000;

/** What libraries call a part of a message that their vendor does not take. */
const MEDIA = /\b(media|file|audio|image|pdf)\b/i;

/** A 403 in these words is of the key itself, or of a missing one; in others, of what somebody with this key may do. */
const OF_KEY =
  /\b(api[ _-]?key|(security|bearer|access) token|signature|credentials?|unregistered callers|authenticat\w{1,9})\b/i;

/** What every message about an upstream needs: its name for people, and what must never be shown. */
export interface Speaker {
  readonly label: string;
  readonly secrets: readonly string[];
  /** `same`: the client calls fields as the upstream does. */
  readonly names?: 'same' | 'other';
}

/** An answer with an error status → our error, in the upstream's own words where it has some. */
export function statusFailure(speaker: Speaker, status: number, headers: Headers, body: string): SluiceError {
  const json = parse(body);
  const { names = 'other' } = speaker;
  const named = { ...(names === 'same' ? violationIn(json) : {}), ...paramOf(json, names) };
  const options = { ...pacingOf(headers, json), ...detailsOf(json), ...named };
  const error = member(json, 'error');
  return failure(speaker, status, messageOf(json), options, member(error, 'code') ?? member(error, 'type'));
}

/** An answer of a kind that was not asked for → our error, in the upstream's own words where it has some. */
export function wrongKind(speaker: Speaker, headers: Headers, body: string): SluiceError {
  const json = parse(body);
  const said = messageOf(json);
  if (said !== undefined) return failure(speaker, statusWithin(json), said, pacingOf(headers, json));
  const contentType = headers.get('content-type') ?? 'something of no known type';
  return new SluiceError('upstream_invalid', `${speaker.label} answered with ${contentType.slice(0, 100)}.`);
}

/** The `error` part of a stream: the vendor's own error object, or what the library says about unreadable data. */
export function streamFailure(speaker: Speaker, error: unknown): SluiceError {
  const carried = findSluiceError(error);
  if (carried !== undefined) return carried;
  if (error instanceof Error) return unreadable(speaker, error);
  const { message, statusCode } = (error ?? {}) as { message?: unknown; statusCode?: unknown };
  return failure(
    speaker,
    typeof statusCode === 'number' && statusCode >= 400 ? statusCode : 500,
    typeof message === 'string' ? message : undefined,
  );
}

/** Whatever the library throws before or during a stream → our error. */
export function thrownFailure(speaker: Speaker, thrown: unknown): SluiceError {
  const carried = findSluiceError(thrown);
  if (carried !== undefined) return carried;
  const name = thrown instanceof Error ? thrown.name : '';
  if (name === 'AI_UnsupportedFunctionalityError' || name === 'AI_InvalidArgumentError') {
    const said = clean(speaker, [(thrown as Error).message, ...fieldsOf(thrown)].join(' '));
    const isAbility = name === 'AI_UnsupportedFunctionalityError';
    return new SluiceError(
      isAbility ? 'not_supported' : 'invalid_request',
      `${speaker.label} cannot do this: ${said}`,
      { cause: thrown, ...(isAbility && MEDIA.test(said) ? { param: 'messages' } : {}) },
    );
  }
  if (name === 'AI_APICallError') {
    // Made by the library itself, for an error event at the very start of a stream. Its status is the vendor's word.
    const { statusCode, message } = thrown as Error & { statusCode?: number };
    if (statusCode !== undefined && statusCode >= 400) return failure(speaker, statusCode, message);
  }
  return unreadable(speaker, thrown);
}

/**
 * What a vendor's library throws before it has asked anybody. What comes of the network are `SluiceError`s and errors of the
 * library's own making; where it stumbles over a `null`, it was given one. It goes through JSON Schemas without a look at them.
 */
export function askingFailure(speaker: Speaker, thrown: unknown): unknown {
  if (!(thrown instanceof TypeError)) return thrown;
  return new SluiceError(
    'invalid_request',
    `${speaker.label} cannot be asked this: a part of the request is malformed. Most often it is a JSON Schema, of a tool or ` +
      "in 'response_format', with null or a number where a schema or a list of them belongs.",
    { cause: thrown },
  );
}

function failure(
  speaker: Speaker,
  status: number,
  said: string | undefined,
  paced: ErrorOptions = {},
  word?: unknown,
): SluiceError {
  const { label } = speaker;
  const text = said === undefined ? undefined : clean(speaker, said) + usedUp(said, paced.quotas);
  const options: ErrorOptions = { ...paced, ...keptStatus(status) };
  // Google answers 400, not 401, to a key it does not know.
  const code =
    status === 400 && /\bapi[ _]key\b/i.test(text ?? '') ? 'missing_credentials' : codeOf(status, text, word);
  if (code === 'missing_credentials') {
    const refused = text === undefined ? `${label} refused the API key.` : `${label} refused the API key: ${text}`;
    return new SluiceError(code, refused, { ...options, status: status === 403 ? 403 : 401 });
  }
  return new SluiceError(code, text ?? `${label} answered ${status} without an explanation.`, options);
}

/** The quotas that the vendor's words do not name. */
function usedUp(said: string, quotas: readonly string[] = []): string {
  const unnamed = quotas.filter((id) => !said.includes(id));
  return unnamed.length === 0 ? '' : ` (used up: ${unnamed.join(', ')})`;
}

/**
 * A failure that the vendor explains is the vendor's own; without words it may as well be something on the way. Amazon answers 403
 * to a key that it does not know, Google to one that has leaked, and all of them to a model or a region that is not for this account.
 */
function codeOf(status: number, text: string | undefined, word: unknown): ErrorCode {
  if (status >= 500 && status !== 504 && text === undefined) return 'upstream_failed';
  const isOfKey = status === 403 && word !== 'permission_error' && OF_KEY.test(text ?? '');
  return isOfKey ? 'missing_credentials' : codeOfFailure(status, text, word);
}

/** What `fetch` threw before an answer → our error. */
export function notReached({ label }: Speaker, thrown: unknown): SluiceError {
  if (thrown instanceof SluiceError && thrown.code !== 'upstream_unreachable') return thrown;
  return new SluiceError('upstream_unreachable', `${label} cannot be reached.`, { cause: thrown });
}

/** What a body threw in its middle → our error. */
export function broken({ label }: Speaker, thrown: unknown): SluiceError {
  if (thrown instanceof SluiceError && thrown.code !== 'upstream_cut') return thrown;
  return new SluiceError('upstream_cut', `${label} broke off its answer.`, { cause: thrown });
}

/** The fields at fault, where the library checked some against a schema: it names them in a cause of its error only. */
function fieldsOf(thrown: unknown): string[] {
  let error = thrown;
  for (let depth = 0; depth < 10 && error instanceof Error; depth += 1) {
    const issues = member(error, 'issues');
    if (Array.isArray(issues)) return issues.map((issue) => `(${[member(issue, 'path')].flat().join('.')})`);
    error = error.cause;
  }
  return [];
}

/** The first of our own errors in a chain of causes: libraries wrap what their `fetch` threw. */
function findSluiceError(thrown: unknown): SluiceError | undefined {
  let error = thrown;
  for (let depth = 0; depth < 10 && error instanceof Error; depth += 1) {
    if (error instanceof SluiceError) return error;
    error = error.cause;
  }
  return undefined;
}

function pacingOf(headers: Headers, json: unknown): ErrorOptions {
  const quotas = quotasIn(json);
  return {
    ...pacing(retryAfterOf(headers, json), rateLimits(Object.fromEntries(headers))),
    ...(quotas.length === 0 ? {} : { quotas }),
  };
}

/** The ids in Google's `QuotaFailure`. Anything but words may be a secret that it quotes (S-6). */
function quotasIn(json: unknown): readonly string[] {
  const ids = detailsIn(json).flatMap((detail) => {
    const violations = member(detail, 'violations');
    return Array.isArray(violations) ? violations.map((each) => wordsOf(member(each, 'quotaId'))) : [];
  });
  return [...new Set(ids.filter((id) => /^[A-Z][A-Za-z-]{1,127}$/.test(id)))].slice(0, 10);
}

function detailsIn(json: unknown): readonly unknown[] {
  const details = member(member(json, 'error'), 'details');
  return Array.isArray(details) ? details : [];
}

/** `Retry-After` in seconds, or Google's `RetryInfo` in the error's details. */
function retryAfterOf(headers: Headers, json: unknown): number | undefined {
  const seconds = secondsToWait(headers.get('retry-after'));
  if (seconds !== undefined) return seconds;
  for (const detail of detailsIn(json)) {
    const delay = /^(\d+(?:\.\d+)?)s$/.exec(wordsOf(member(detail, 'retryDelay')))?.[1];
    if (delay !== undefined) return secondsToWait(delay);
  }
  return undefined;
}

/** The first field that Google calls wrong. */
function violationIn(json: unknown): ErrorOptions {
  for (const detail of detailsIn(json)) {
    const violations = member(detail, 'fieldViolations');
    const field = member(Array.isArray(violations) ? violations[0] : undefined, 'field');
    if (typeof field === 'string') return nameOfField(field);
  }
  return {};
}

/** Anthropic's word for machines of what became of a conversation that it holds. */
function detailsOf(json: unknown): ErrorOptions {
  const word = member(member(member(json, 'error'), 'details'), 'error_code');
  return typeof word === 'string' && /^[a-z_]{1,64}$/.test(word) ? { details: { error_code: word } } : {};
}

/** Anthropic and Google: `error.message`; Amazon: `message` or `Message`. */
function messageOf(json: unknown): string | undefined {
  return firstSaid([member(member(json, 'error'), 'message'), member(json, 'message'), member(json, 'Message')]);
}

/** Google names the status within its errors, too. */
function statusWithin(json: unknown): number {
  const code = member(member(json, 'error'), 'code');
  return typeof code === 'number' && code >= 400 && code < 600 ? code : 500;
}

function unreadable({ label }: Speaker, cause?: unknown): SluiceError {
  return new SluiceError('upstream_invalid', `${label} sent something that cannot be read.`, { cause });
}

function clean(speaker: Speaker, text: string): string {
  const known = new Secrets();
  known.use(speaker.secrets);
  const printable = known
    .mask(text)
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
  return printable.length > LONGEST_MESSAGE ? `${printable.slice(0, LONGEST_MESSAGE)}…` : printable;
}

/** Google writes an error that takes the place of a stream as the one element of a list. */
function parse(text: string): unknown {
  const json = parseJson(text);
  return Array.isArray(json) ? json[0] : json;
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
