import type { FastifyRequest } from 'fastify';
import type { CallScope } from '../../core/call.ts';
import type { ChatRequest, MediaPart, Message } from '../../core/chat.ts';
import { lastUserText } from '../../core/chat-text.ts';
import type { Batch } from '../../core/chunk.ts';
import { SluiceError } from '../../core/errors.ts';
import { introduction } from '../../routing/chunks.ts';
import type { Question } from '../../routing/router.ts';
import type { Target } from '../../routing/select.ts';
import type { KeptAnswers } from '../../streams/kept-answers.ts';
import { accepts } from '../accepts.ts';
import { answerHeaders, sendingChunks, withCall } from '../answer.ts';
import { freeformNames } from '../chat-tools.ts';
import type { Deps, Handler } from '../deps.ts';
import { answerIn, limitNames } from '../field-names.ts';
import { clientKeys } from '../keys.ts';
import { nothingSaid, tellLostParts, toChatFields, toMessages, toWebSearch } from '../to-chat.ts';
import { hasSearch, toolSteps } from '../tool-calls.ts';
import { memoryOf } from '../user.ts';
import { limitMessages, validate } from '../validate.ts';
import { DROPPED_FIELDS } from '../wire.ts';
import { wishOf } from '../wish.ts';
import { type Action, goingOn, withAction } from './action.ts';
import { asidesOf } from './asides.ts';
import { secretsOfClient, shown, shownRequest } from './debug.ts';
import { TypedStream } from './encode.ts';
import { readConversation } from './multipart.ts';
import { type OpenedAnswer, sendKept } from './streams.ts';
import { titleOf } from './title.ts';
import { ConversationBody, OWN_FIELDS, PROVIDERS_PATH } from './wire.ts';

/** `POST conversation`: a streamed answer as typed chunks. */
export function conversation(deps: Deps, answers: KeptAnswers): Handler {
  return async (request, reply) => {
    const { value, media, lost } = await readConversation(request, deps);
    limitMessages(value, 'messages', deps.config().limits.messages, 'invalid_request');
    const body = validate(ConversationBody, value, 'invalid_request');
    const { action, request: asked } = toChatRequest(body, value);
    if (asked.messages.every(isEmpty) && media.length === 0) throw nothingSaid('invalid_request');
    const keys = clientKeys(request, body.api_key);
    let sent: { readonly request: ChatRequest; readonly target: Target } | undefined;
    const question: Question = {
      wish: { ...asked, listing: PROVIDERS_PATH },
      keys,
      dropped: lost,
      steps: [...toolSteps(body.tool_calls, 'invalid_request', deps.search), tellLostParts(body, 'invalid_request')],
      ...(body.stream_timeout == null ? {} : { idleMs: body.stream_timeout * 1_000 }),
      request: () => (media.length === 0 ? asked : withMedia(asked, media, action)),
      send(ready, target) {
        const request = action === 'continue' ? goingOn(ready, target) : ready;
        sent = { request, target };
        return request;
      },
    };
    const form = wantsLines(request) ? 'lines' : 'events';
    const open = async (call: CallScope): Promise<OpenedAnswer> => {
      try {
        const answered = await answerIn(limitNames(body), deps, question, call);
        if (answered.value.kind !== 'chunks') throw new Error('the relay answered dialect A');
        const { chunks, headers = {} } = answered.value;
        const secrets = [deps.secrets, secretsOfClient(keys)];
        const asides = asidesOf({
          target: answered.target,
          headers: shown(headers, secrets) as Record<string, string>,
          request:
            body.debug_mode === true && sent !== undefined
              ? shownRequest(sent.request, sent.target, secrets)
              : undefined,
          title: wantsTitle(body, action, asked) ? titleOf(lastUserText(asked.messages)) : undefined,
        });
        const encoder = new TypedStream(form, asides, freeformNames(body.tools));
        return { chunks, encoder, headers: answerHeaders(answered) };
      } catch (error) {
        if (!isChunk(error)) throw error;
        const target = targetOf(error, deps);
        const asides = target && asidesOf({ target, headers: {} });
        return { chunks: failing(error, target), encoder: new TypedStream(form, asides), headers: {} };
      }
    };
    const told = {
      user: value['user'],
      timeout: body.timeout,
      strict: value['strict'] === true,
      session: sessionOf(value),
    };
    if (body.resumable === true) {
      if (form === 'lines') throw notResumable();
      return sendKept(request, reply, deps, answers, told, open);
    }
    return withCall(request, reply, deps, told, async (call) => {
      const { chunks, encoder, headers } = await open(call);
      return sendingChunks(reply, chunks, encoder, headers, deps, call);
    });
  };
}

/** What keeps requests of one conversation together where targets take turns. */
function sessionOf({ conversation_id: id }: Record<string, unknown>): string | undefined {
  return typeof id === 'string' ? id : undefined;
}

/** The result of a tool may be empty, and a model that calls one may say nothing. */
function isEmpty(message: Message): boolean {
  const isCall = message.role === 'assistant' && message.toolCalls !== undefined;
  return message.content.length === 0 && message.role !== 'tool' && !isCall;
}

/** Bare lines have no place for the number of an event. */
function notResumable(): SluiceError {
  return new SluiceError(
    'invalid_request',
    "'resumable' needs an event stream: accept text/event-stream, or leave the field out.",
    { param: 'resumable' },
  );
}

/**
 * Failures that front ends act upon when they come as chunks: `auth` opens the setting for the key, a model that nobody
 * offers is part of the dialogue. All others are status codes while nothing has been sent.
 */
function isChunk(error: unknown): error is SluiceError {
  return (
    error instanceof SluiceError &&
    (error.code === 'missing_credentials' || (error.code === 'model_not_found' && error.options.model === undefined))
  );
}

/** Who failed, as far as that is known. */
function targetOf({ options: { provider: id = '', model = '' } }: SluiceError, deps: Deps): Target | undefined {
  const provider = deps.router.catalog.provider(id);
  return provider === undefined ? undefined : { provider, model };
}

/** An answer that consists of its failure. Front ends ask for the key of the provider that was introduced. */
async function* failing(error: SluiceError, target: Target | undefined): AsyncIterable<Batch> {
  if (target !== undefined) yield [introduction(target)];
  throw error;
}

/** Understood here, so not for a provider to guess at. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(ConversationBody.shape),
  ...OWN_FIELDS,
  ...DROPPED_FIELDS,
]);

/**
 * Whether a chat begins here that wants a title: one that the client keeps under an id, or says so. Another answer to the
 * first question leaves the title alone, which the user may have changed.
 */
function wantsTitle(body: ConversationBody, action: Action, { messages }: ChatRequest): boolean {
  const keepsChats = body.title ?? (body.conversation_id ?? '') !== '';
  return keepsChats && action === 'next' && !messages.some(({ role }) => role === 'assistant');
}

function toChatRequest(
  body: ConversationBody,
  value: Record<string, unknown>,
): { readonly action: Action; readonly request: ChatRequest } {
  const { action, messages } = withAction(body.action, withPrompt(toMessages(body.messages), promptOf(body)));
  return { action, request: { ...toFields(body, value), messages } };
}

/** The words of a prompt; '': there are none. With a file in their message, front ends send its parts instead of a text. */
function promptOf({ prompt }: ConversationBody): string {
  if (typeof prompt === 'string') return prompt.trim() === '' ? '' : prompt;
  return (prompt ?? [])
    .flatMap((part) => ('text' in part && typeof part.text === 'string' && !('name' in part) ? [part.text] : []))
    .join('\n')
    .trim();
}

/** Front ends name a prompt for pictures and video beside the messages; it is asked when these say nothing. */
function withPrompt(messages: ChatRequest['messages'], prompt: string): ChatRequest['messages'] {
  if (prompt === '' || lastUserText(messages) !== '') return messages;
  return [...messages, { role: 'user', content: [{ type: 'text', text: prompt }] }];
}

function toFields(body: ConversationBody, value: Record<string, unknown>): Omit<ChatRequest, 'messages'> {
  const state = body.conversation;
  const prompt = promptOf(body);
  return {
    ...wishOf(body),
    ...toChatFields(body),
    ...(state === null || state === undefined ? {} : { conversation: state }),
    // A search in the client's own words is the more precise one.
    ...(hasSearch(body.tool_calls) ? {} : toWebSearch(body.web_search)),
    ...(prompt === '' ? {} : { prompt }),
    ...(typeof body.aspect_ratio === 'string' ? { aspectRatio: body.aspect_ratio } : {}),
    downloadMedia: body.download_media !== false,
    ...memoryOf(body.memory, body.user),
    extra: Object.fromEntries(Object.entries(value).filter(([name]) => !KNOWN_FIELDS.has(name))),
  };
}

/** Files that came with the form belong to the user's last word, or to the question whose answer goes on. */
function withMedia(request: ChatRequest, media: readonly MediaPart[], action: Action): ChatRequest {
  const { messages } = request;
  const end = action === 'continue' ? messages.length - 1 : messages.length;
  const last = messages[end - 1];
  // A message of files alone has no content of its own and was passed over.
  if (last?.role !== 'user')
    return { ...request, messages: messages.toSpliced(end, 0, { role: 'user', content: media }) };
  return { ...request, messages: messages.with(end - 1, { ...last, content: [...media, ...last.content] }) };
}

function wantsLines(request: FastifyRequest): boolean {
  return accepts(request, 'application/x-ndjson') && !accepts(request, 'text/event-stream');
}
