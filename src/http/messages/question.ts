import type { FastifyRequest } from 'fastify';
import type { ChatRequest, Message, Tool } from '../../core/chat.ts';
import { endsWithQuestion } from '../../core/chat-text.ts';
import { SluiceError } from '../../core/errors.ts';
import { speaksMessages } from '../../providers/ai-sdk/anthropic-native.ts';
import type { ClientKeys } from '../../routing/credentials.ts';
import type { Question } from '../../routing/router.ts';
import type { Target } from '../../routing/select.ts';
import type { Deps } from '../deps.ts';
import { firstSpeaks } from '../first-target.ts';
import { clientKeys } from '../keys.ts';
import { samplingFor } from '../thinking.ts';
import { hasSearch, toolSteps } from '../tool-calls.ts';
import { memoryOf } from '../user.ts';
import { DROPPED_FIELDS } from '../wire.ts';
import { wishOf } from '../wish.ts';
import { refuseBroken } from './broken-media.ts';
import { type Decoded, decodeMessages } from './decode.ts';
import { kindOf } from './tools.ts';
import type { MessagesBody } from './wire.ts';

/** A question, its request as it is before any step, and the request as one target gets it. */
export interface MessagesQuestion extends Question {
  readonly asked: ChatRequest;
  send(request: ChatRequest, target: Target): ChatRequest;
}

/** What a body of the Messages API asks, and of whom. */
export async function toQuestion(
  request: FastifyRequest,
  fields: Record<string, unknown>,
  body: MessagesBody,
  deps: Deps,
): Promise<MessagesQuestion> {
  const wish = wishOf(body, request);
  const keys = messageKeys(request, body);
  const beta = betaNames(request.headers['anthropic-beta']);
  const decoded = decodeMessages(fields, body, wish, beta.known);
  const search = decoded.request.tools?.find(isSearch);
  // Anthropic searches by itself; for everybody else the search is ours.
  const searchesHere =
    search !== undefined &&
    endsWithQuestion(decoded.request.messages) &&
    !(await firstSpeaks('anthropic', wish, keys, deps));
  const { webSearch = searchesHere ? true : undefined, ...decodedRequest } = decoded.request;
  const asked: ChatRequest = {
    ...decodedRequest,
    ...(webSearch === undefined || hasSearch(body.tool_calls) ? {} : { webSearch }),
    ...memoryOf(body.memory, body.metadata?.user_id, 'metadata.user_id'),
  };
  return {
    wish,
    keys,
    steps: toolSteps(body.tool_calls, 'invalid_request', deps.search),
    dropped: [
      ...DROPPED_FIELDS.filter((name) => Object.hasOwn(fields, name)),
      ...(beta.isCut ? ['anthropic-beta'] : []),
    ],
    asked,
    request: () => asked,
    send: (ready, target) => {
      if (speaksMessages(target.provider)) return forAnthropic(ready, decoded, searchesHere);
      if (body.thread != null) throw noThreads(target);
      refuseBroken(body.messages);
      return forOthers(ready, decoded, searchesHere, target);
    },
  };
}

/** The official clients, which hold conversations at the server by themselves, go on without when they read this code. */
function noThreads({ provider: { label } }: Target): SluiceError {
  return new SluiceError('invalid_request', `${label} holds no conversations: send all messages, without 'thread'.`, {
    param: 'thread',
    details: { error_code: 'thread_unsupported_request' },
  });
}

/**
 * Keys as the official client sends them: `x-api-key`, or a Bearer token. It always sends one, so it serves only where the
 * operator configured none; `api_key` in the body is meant, and beats the configuration as everywhere.
 */
function messageKeys(request: FastifyRequest, body: MessagesBody): ClientKeys {
  const { apiKey: header, bearer } = clientKeys(request, undefined);
  const own = body.api_key == null ? {} : clientKeys(request, body.api_key);
  const theirs = typeof header === 'string' ? header : bearer;
  return {
    ...(own.apiKey === undefined ? {} : { apiKey: own.apiKey }),
    ...(theirs === undefined ? {} : { bearer: theirs }),
  };
}

/** Names of beta features end with the day of their version: `context-1m-2025-08-07`, `claude-code-20250219`. */
const BETA_NAME = /^[a-z0-9][a-z0-9.-]{0,90}-\d{4}-?\d{2}-?\d{2}$/;
const MOST_BETAS = 32;

/** The beta features that a client asks for. What does not look like one never reaches an upstream's headers. */
function betaNames(header: string | string[] | undefined): {
  readonly known: readonly string[];
  readonly isCut: boolean;
} {
  const names = [header ?? []]
    .flat()
    .join(',')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const known = [...new Set(names.filter((name) => BETA_NAME.test(name)))].slice(0, MOST_BETAS);
  return { known, isCut: known.length < new Set(names).size };
}

function isSearch(tool: Tool): boolean {
  return kindOf(tool)?.startsWith('web_search_') === true;
}

/** Everything as the client sent it. */
function forAnthropic(request: ChatRequest, { fields }: Decoded, isSearched: boolean): ChatRequest {
  const tools = request.tools?.filter((tool) => !isSearched || !isSearch(tool));
  return withTools({ ...request, extra: fields }, tools);
}

/** Without what only Anthropic understands, which is named instead. */
function forOthers(request: ChatRequest, decoded: Decoded, isSearched: boolean, target: Target): ChatRequest {
  const lost = new Set(decoded.foreign);
  for (const tool of request.tools ?? []) {
    const kind = kindOf(tool);
    if (kind === undefined || !isSearched || !isSearch(tool)) continue;
    lost.delete(`tools.${kind}`);
    for (const name of Object.keys(tool.vendor?.['anthropic']?.['tool'] ?? {})) {
      if (name !== 'type' && name !== 'name') lost.add(`tools.${kind}.${name}`);
    }
  }
  const { sampling, isLost } = samplingFor(request.sampling, target);
  if (isLost) lost.add(decoded.effortField);
  const sent: ChatRequest = {
    ...request,
    messages: request.messages.flatMap(withoutUnreadable),
    sampling,
    extra: Object.fromEntries([...lost].map((name) => [name, true])),
  };
  return withTools(
    sent,
    decoded.offered.filter((tool) => kindOf(tool) === undefined),
  );
}

function withTools({ tools: _, toolChoice, ...request }: ChatRequest, tools: readonly Tool[] | undefined): ChatRequest {
  // A choice among no tools is an error to most.
  if (tools === undefined || tools.length === 0) return request;
  return { ...request, tools, ...(toolChoice === undefined ? {} : { toolChoice }) };
}

/** Blocks that nobody else can read have no text; what remains empty says nothing. */
function withoutUnreadable(message: Message): readonly Message[] {
  const content = message.content.filter(
    (part) => part.type !== 'text' || part.text !== '' || part.vendor === undefined,
  );
  if (content.length === message.content.length) return [message];
  const hasCalls = message.role === 'assistant' && message.toolCalls !== undefined;
  return content.length === 0 && message.role !== 'tool' && !hasCalls ? [] : [{ ...message, content }];
}
