import type { FastifyRequest } from 'fastify';
import type { ChatRequest } from '../../core/chat.ts';
import type { Batch } from '../../core/chunk.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Provider } from '../../core/provider.ts';
import type { Question } from '../../routing/router.ts';
import { answerHeaders, sendChunks, withCall } from '../answer.ts';
import type { Deps, Handler } from '../deps.ts';
import { parseId } from '../edge/body.ts';
import { clientKeys } from '../keys.ts';
import { toChatFields, toMessages, toWebSearch } from '../to-chat.ts';
import { validate } from '../validate.ts';
import { DROPPED_FIELDS } from '../wire.ts';
import { TypedStream } from './encode.ts';
import { readConversation } from './multipart.ts';
import { ConversationBody, OWN_FIELDS } from './wire.ts';

/** `POST conversation`: a streamed answer as typed chunks. */
export function conversation(deps: Deps): Handler {
  return async (request, reply) => {
    const { value, media } = await readConversation(request, deps);
    const body = validate(ConversationBody, value, 'invalid_request');
    const asked = toChatRequest(body, value);
    const question: Question = {
      wish: asked,
      keys: clientKeys(request, body.api_key),
      request: () => (media.length === 0 ? asked : withMedia(asked, media)),
    };
    const encoder = new TypedStream(wantsLines(request) ? 'lines' : 'events');
    return withCall(
      request,
      reply,
      deps,
      { user: value['user'], timeout: body.timeout, strict: value['strict'] === true },
      async (call) => {
        try {
          const answered = await deps.router.answer(question, call);
          if (answered.value.kind !== 'chunks') throw new Error('the relay answered dialect A');
          const chunks = introduced(answered.value.chunks, answered.target.provider);
          await sendChunks(reply, chunks, encoder, answerHeaders(answered), deps, call);
        } catch (error) {
          if (!isChunk(error)) throw error;
          await sendChunks(reply, failing(error), encoder, {}, deps, call);
        }
      },
    );
  };
}

/**
 * Failures that front ends act upon when they come as chunks: `auth` opens the setting for the key, a model that nobody
 * offers is part of the dialogue. All others are status codes while nothing has been sent.
 */
function isChunk(error: unknown): error is SluiceError {
  return (
    error instanceof SluiceError &&
    (error.code === 'missing_credentials' || (error.code === 'model_not_found' && error.options.provider === undefined))
  );
}

// biome-ignore lint/correctness/useYield: an answer that consists of its failure
async function* failing(error: SluiceError): AsyncIterable<Batch> {
  throw error;
}

/** The parameters a provider takes follow its introduction. */
async function* introduced(chunks: AsyncIterable<Batch>, provider: Provider): AsyncIterable<Batch> {
  let isFirst = true;
  for await (const batch of chunks) {
    if (!isFirst) {
      yield batch;
      continue;
    }
    isFirst = false;
    const [first, ...rest] = batch;
    if (first === undefined) continue;
    yield [first, { type: 'parameters', parameters: parametersOf(provider) }, ...rest];
  }
}

/** Name → example, from which the front end builds its form of settings. */
function parametersOf(provider: Provider): Record<string, unknown> {
  return {
    provider: provider.id,
    model: '',
    messages: [],
    stream: true,
    timeout: 0,
    response_format: { type: 'json_object' },
    max_tokens: 4096,
    stop: ['stop1', 'stop2'],
    temperature: 1,
    top_p: 1,
    seed: 0,
    ...(provider.auth.kind === 'api_key' ? { api_key: '' } : {}),
  };
}

/** Understood here, so not for a provider to guess at. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(ConversationBody.shape),
  ...OWN_FIELDS,
  ...DROPPED_FIELDS,
]);

function toChatRequest(body: ConversationBody, value: Record<string, unknown>): ChatRequest {
  const state = body.conversation;
  return {
    model: body.model ?? '',
    providers: (body.provider ?? '').split(' ').filter((name) => name !== ''),
    ignored: body.ignored ?? [],
    messages: toMessages(body.messages),
    ...toChatFields(body),
    ...(state === null || state === undefined ? {} : { conversation: state }),
    ...toWebSearch(body.web_search),
    ...(typeof body.aspect_ratio === 'string' ? { aspectRatio: body.aspect_ratio } : {}),
    downloadMedia: body.download_media !== false,
    ...(body.memory === true && typeof body.user === 'string' ? { memoryUser: parseId(body.user, 'user') } : {}),
    extra: Object.fromEntries(Object.entries(value).filter(([name]) => !KNOWN_FIELDS.has(name))),
  };
}

/** Files that came with the form belong to the last message. */
function withMedia(request: ChatRequest, media: ChatRequest['messages'][number]['content']): ChatRequest {
  const last = request.messages.at(-1);
  if (last === undefined) return { ...request, messages: [{ role: 'user', content: media }] };
  return {
    ...request,
    messages: [...request.messages.slice(0, -1), { ...last, content: [...media, ...last.content] }],
  };
}

function wantsLines(request: FastifyRequest): boolean {
  const accept = request.headers.accept ?? '';
  return accept.includes('application/x-ndjson') && !accept.includes('text/event-stream');
}
