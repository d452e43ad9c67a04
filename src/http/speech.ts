import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallScope } from '../core/call.ts';
import { SluiceError, toSluiceError } from '../core/errors.ts';
import type { Provider } from '../core/provider.ts';
import { LONGEST_SPEECH, SPEECH_TYPES, type Speech, type SpeechFormat, type SpeechRequest } from '../core/speech.ts';
import { type ClientKeys, credentialsFor, withoutKey } from '../routing/credentials.ts';
import type { Deadline } from '../routing/deadlines.ts';
import { withCall } from './answer.ts';
import type { Deps } from './deps.ts';
import { withoutSecrets } from './edge/errors.ts';
import { chooseFormat } from './speech-format.ts';
import { DROPPED_FIELDS } from './wire.ts';

/** What a dialect made of a request to read a text aloud. */
export interface SpeechWish extends Omit<SpeechRequest, 'format'> {
  readonly provider: Provider;
  /** Absent: what the client accepts decides. */
  readonly format: SpeechFormat | undefined;
  readonly keys: ClientKeys;
}

/** Streams the spoken text. What fails before its first bytes is a status; afterwards the connection is cut. */
export async function sendSpeech(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Deps,
  wish: SpeechWish,
  cacheControl: string,
): Promise<FastifyReply> {
  const { provider, keys, format: asked, ...rest } = wish;
  const { speech } = provider;
  if (speech === undefined) {
    throw new SluiceError('not_supported', `${provider.label} does not read texts aloud.`, { param: 'provider' });
  }
  const format = chooseFormat(provider, asked, request.headers.accept);
  const text = cleanText(rest.text);
  const headers = { 'cache-control': cacheControl, vary: 'Origin, Accept', 'x-sluice-provider': provider.id };
  if (request.method === 'HEAD') {
    begin(reply, SPEECH_TYPES[format], headers).end();
    return reply;
  }
  return withCall(request, reply, deps, {}, async (parent) => {
    const call = parent.fork(credentialsFor(provider, keys, true));
    const deadline = watch(deps, call);
    try {
      const spoken = await speech.call(provider, { ...rest, text, format }, call);
      await stream(reply, spoken, headers, deps, call, deadline);
    } catch (thrown) {
      const error = call.cancelled ?? withoutKey(thrown, call.credentials);
      throw toSluiceError(error).from(provider.id, rest.model ?? '');
    } finally {
      deadline.clear();
      call.cancel();
      call.release();
    }
  });
}

/** Control characters have no sound, and half of a pair of surrogates no meaning. */
function cleanText(given: string): string {
  if (given.length > LONGEST_SPEECH) {
    throw new SluiceError('too_large', `The text has more than ${LONGEST_SPEECH} characters.`);
  }
  const text = given.toWellFormed().replace(/[^\P{Cc}\n\t]+/gu, ' ');
  if (/\S/.test(text)) return text;
  throw new SluiceError('invalid_request', 'The text is empty.');
}

/** What a provider may get beyond the fields that every provider knows: never where to go or who asks (S-5). */
export function extraOf(
  fields: Readonly<Record<string, unknown>>,
  known: readonly string[],
): Readonly<Record<string, unknown>> {
  const own = new Set([...known, ...DROPPED_FIELDS, 'api_key', 'key', 'provider']);
  const entries = Object.entries(fields).filter(([name]) => !own.has(name) && /^[A-Za-z][\w.-]{0,63}$/.test(name));
  return Object.fromEntries(entries);
}

/** Time runs while the provider is waited for, and not while the client is. */
function watch(deps: Deps, call: CallScope): Deadline {
  const { firstByteMs } = deps.config().limits;
  return deps.deadlines.start(firstByteMs, () =>
    call.cancel(new SluiceError('upstream_timeout', 'The provider has sent nothing for too long.')),
  );
}

async function stream(
  reply: FastifyReply,
  { mimeType, body }: Speech,
  headers: Readonly<Record<string, string>>,
  deps: Deps,
  call: CallScope,
  deadline: Deadline,
): Promise<void> {
  const { idleMs } = deps.config().limits;
  const raw = begin(reply, mimeType, headers);
  try {
    for await (const bytes of body) {
      deadline.set(Number.POSITIVE_INFINITY);
      if (!raw.write(bytes)) await drained(raw);
      if (raw.destroyed) return;
      deadline.set(idleMs);
    }
    raw.end();
  } catch (thrown) {
    const error = withoutKey(call.cancelled ?? thrown, call.credentials);
    const { code, message } = withoutSecrets(toSluiceError(error), deps.secrets);
    if (code === 'internal') deps.log.error({ id: call.id, error }, 'a speech failed unexpectedly');
    else if (code !== 'cancelled') deps.log.warn({ id: call.id, code, error: message }, 'a speech was cut');
    // Audio has no place for an error: the missing end of the body is the only sign.
    raw.destroy();
  }
}

/** Takes the connection over and sends the head of an answer without a known length. */
function begin(reply: FastifyReply, mimeType: string, headers: Readonly<Record<string, string>>): ServerResponse {
  const own = reply.getHeaders() as Record<string, string>;
  reply.hijack();
  return reply.raw.writeHead(200, { ...own, 'content-type': mimeType, ...headers });
}

/** Until the client has caught up, or is gone. */
async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return;
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]).catch(() => {});
  over.abort();
}
