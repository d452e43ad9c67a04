import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallScope } from '../core/call.ts';
import { SluiceError, toSluiceError } from '../core/errors.ts';
import type { Provider } from '../core/provider.ts';
import { LONGEST_SPEECH, SPEECH_TYPES, type Speech, type SpeechFormat, type SpeechRequest } from '../core/speech.ts';
import type { Asked } from '../routing/router.ts';
import { answerHeaders, withCall } from './answer.ts';
import type { Deps } from './deps.ts';
import { lateFailure } from './late-failure.ts';
import { perform, timed } from './perform.ts';
import { sendEvents } from './send-events.ts';
import { chooseFormat } from './speech-format.ts';
import { DROPPED_FIELDS } from './wire.ts';

/** What a dialect made of a request to read a text aloud. */
export interface SpeechWish extends Omit<SpeechRequest, 'format' | 'model'> {
  /** Absent: what the client accepts decides. */
  readonly format: SpeechFormat | undefined;
}

/** Headers that only one of the dialects sends, and whether the audio travels inside events. */
export interface SpeechDelivery {
  /** What the dialect calls the text. */
  readonly field: string;
  readonly cacheControl: string;
  readonly events?: boolean;
  /** What the request says about its call. */
  readonly about?: Parameters<typeof withCall>[3];
}

/** Streams the spoken text. What fails before its first bytes is a status; afterwards the connection is cut, or the last event says so. */
export function sendSpeech(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Deps,
  asked: Asked,
  wish: SpeechWish,
  { field, cacheControl, events = false, about = {} }: SpeechDelivery,
): Promise<FastifyReply> {
  const { accept } = request.headers;
  const wanted = { ...wish, text: cleanText(wish.text, field) };
  return withCall(request, reply, deps, about, async (call) => {
    const answered = await perform(
      deps,
      asked,
      'speech',
      call,
      async (provider, model, scope) => {
        const format = chooseFormat(provider, wish.format, events ? undefined : accept);
        const own = { ...wanted, format, ...(model === '' ? {} : { model }) };
        return { ...(await provider.speech(own, scope)), scope };
      },
      { isOver: () => false },
    );
    const { body, mimeType, scope } = answered.value;
    const pieces = timed(body, deps, scope);
    const own = answerHeaders(answered);
    if (events) return sendEvents(reply, speechEvents(pieces, wanted.text), own, deps, call);
    const headers = { ...own, 'cache-control': cacheControl, vary: VARY };
    return stream(reply, { mimeType, body: pieces }, headers, deps, call);
  });
}

const VARY = 'Origin, Accept';

/** What `sendSpeech` would begin with, without a word spoken. */
export function sendSpeechHead(
  request: FastifyRequest,
  reply: FastifyReply,
  provider: Provider,
  wish: Pick<SpeechWish, 'format' | 'text'>,
  { field, cacheControl }: SpeechDelivery,
): FastifyReply {
  cleanText(wish.text, field);
  const format = chooseFormat(provider, wish.format, request.headers.accept);
  const headers = { 'cache-control': cacheControl, vary: VARY, 'x-sluice-provider': provider.id };
  begin(reply, SPEECH_TYPES[format], headers).end();
  return reply;
}

/** OpenAI's events: the audio in pieces, each base64 by itself. What it cost nobody tells, so tokens are estimated. */
async function* speechEvents(pieces: AsyncIterable<Uint8Array>, text: string): AsyncGenerator<string, void> {
  for await (const piece of pieces) {
    const audio = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('base64');
    yield `data: ${JSON.stringify({ type: 'speech.audio.delta', audio })}\n\n`;
  }
  const tokens = Math.ceil(Buffer.byteLength(text) / 4);
  const usage = { input_tokens: tokens, output_tokens: 0, total_tokens: tokens, estimated: true };
  yield `data: ${JSON.stringify({ type: 'speech.audio.done', usage })}\n\n`;
}

/** Control characters have no sound, and half of a pair of surrogates no meaning. */
function cleanText(given: string, field: string): string {
  if (given.length > LONGEST_SPEECH) {
    const message = `'${field}' has more than ${LONGEST_SPEECH} characters, which is a fixed limit.`;
    throw new SluiceError('too_large', message, { param: field });
  }
  const text = given.toWellFormed().replace(/[^\P{Cc}\n\t]+/gu, ' ');
  if (/\S/.test(text)) return text;
  throw new SluiceError('invalid_request', `'${field}' is empty.`, { param: field });
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

async function stream(
  reply: FastifyReply,
  { mimeType, body }: Speech,
  headers: Readonly<Record<string, string>>,
  deps: Deps,
  call: CallScope,
): Promise<void> {
  const raw = begin(reply, mimeType, headers);
  try {
    for await (const bytes of body) {
      if (!raw.write(bytes)) await drained(raw);
      if (raw.destroyed) return;
    }
    raw.end();
  } catch (thrown) {
    const failure = call.cancelled ?? thrown;
    if (toSluiceError(failure).code !== 'cancelled') lateFailure(failure, call, deps);
    // Audio has no place for an error: the missing end of the body is the only sign.
    raw.destroy();
  }
}

/** Takes the connection over and sends the head of an answer without a known length. */
function begin(reply: FastifyReply, mimeType: string, headers: Readonly<Record<string, string>>): ServerResponse {
  const own = reply.getHeaders() as Record<string, string>;
  reply.hijack();
  return reply.raw.writeHead(200, { ...own, 'content-type': mimeType, 'x-accel-buffering': 'no', ...headers });
}

/** Until the client has caught up, or is gone. */
async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return;
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]).catch(() => {});
  over.abort();
}
