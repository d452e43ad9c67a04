import type { Limits } from '../../config/config.ts';
import type { Deps, Route } from '../deps.ts';
import { countTokens } from './count-tokens.ts';
import { messagesErrorBody, messagesErrorStatus } from './errors.ts';
import { createMessage } from './messages.ts';
import { CountBody, CountObject, MessageObject, MessagesBody, MessagesError } from './wire.ts';

/** Anthropic's Messages API. With `/api/<provider>` for its base URL, the official client asks one provider. */
export function messagesRoutes(deps: Deps): readonly Route[] {
  const common = {
    method: 'POST',
    tag: 'Anthropic Messages',
    bodyLimit: (limits: Limits) => limits.chatBodyBytes,
    errorBody: messagesErrorBody,
    error: MessagesError,
    errorStatus: messagesErrorStatus,
  } as const;
  const create = {
    ...common,
    body: MessagesBody,
    answer: MessageObject,
    produces: ['application/json', 'text/event-stream'],
    kind: { dialect: 'anthropic', operation: 'chat' },
    handler: createMessage(deps),
  } as const;
  const count = {
    ...common,
    body: CountBody,
    answer: CountObject,
    kind: { dialect: 'anthropic', operation: 'count_tokens' },
    handler: countTokens(deps),
  } as const;
  return [
    { ...create, url: '/v1/messages', summary: 'Answer a conversation, whole or as a stream of events' },
    { ...create, url: '/api/:provider/messages', summary: 'The same, by one provider' },
    { ...create, url: '/api/:provider/v1/messages', summary: 'The same, for clients that add /v1' },
    { ...count, url: '/v1/messages/count_tokens', summary: 'Count the tokens of a prompt' },
    { ...count, url: '/api/:provider/messages/count_tokens', summary: 'The same, by one provider' },
    { ...count, url: '/api/:provider/v1/messages/count_tokens', summary: 'The same, for clients that add /v1' },
  ];
}
