import type { Limits } from '../../config/config.ts';
import type { Deps, OwnerOf, Route } from '../deps.ts';
import { cancelResponse, deleteResponse } from './cancel.ts';
import { compactConversation } from './compact.ts';
import { createResponse } from './create.ts';
import { tagOfResponse } from './ids.ts';
import { listInputItems } from './input-items.ts';
import { countInputTokens } from './input-tokens.ts';
import { retrieveResponse } from './retrieve.ts';
import type { ResponseDeps } from './store.ts';
import {
  CompactBody,
  CompactedResponse,
  Deleted,
  InputTokens,
  ItemList,
  ItemsQuery,
  ResponseBody,
  ResponseObject,
  RetrieveQuery,
} from './wire.ts';

const TAG = 'Responses';
const EVENTS = ['application/json', 'text/event-stream'];

/** An answer that is being made is in the memory of one process. */
const ownerOf: OwnerOf = ({ params }) => tagOfResponse((params as { id: string }).id);

/** OpenAI's Responses API, for any provider. */
export function responsesRoutes(shared: Deps): readonly Route[] {
  const deps: ResponseDeps = { ...shared, runs: new Map() };
  const create = {
    method: 'POST',
    tag: TAG,
    body: ResponseBody,
    bodyLimit: (limits: Limits) => limits.chatBodyBytes,
    answer: ResponseObject,
    produces: EVENTS,
    kind: { dialect: 'responses', operation: 'chat' },
    handler: createResponse(deps),
  } as const;
  const count = {
    ...create,
    answer: InputTokens,
    produces: ['application/json'],
    kind: { dialect: 'responses', operation: 'count_tokens' },
    handler: countInputTokens(deps),
  } as const;
  const compact = {
    ...create,
    body: CompactBody,
    answer: CompactedResponse,
    produces: ['application/json'],
    handler: compactConversation(deps),
  } as const;
  return [
    { ...create, url: '/v1/responses', summary: 'Answer items, whole or as a stream of typed events' },
    { ...create, url: '/api/:provider/responses', summary: 'The same, by one provider' },
    { ...count, url: '/v1/responses/input_tokens', summary: 'Count the tokens of an input' },
    { ...count, url: '/api/:provider/responses/input_tokens', summary: 'The same, by one provider' },
    { ...compact, url: '/v1/responses/compact', summary: 'Put a summary in the place of a long conversation' },
    { ...compact, url: '/api/:provider/responses/compact', summary: 'The same, by one provider' },
    {
      method: 'GET',
      url: '/v1/responses/:id',
      summary: 'A stored answer, or the events of one that is being made',
      tag: TAG,
      query: RetrieveQuery,
      answer: ResponseObject,
      produces: EVENTS,
      ownerOf,
      handler: retrieveResponse(deps),
    },
    {
      method: 'DELETE',
      url: '/v1/responses/:id',
      summary: 'Forget a stored answer',
      tag: TAG,
      answer: Deleted,
      ownerOf,
      handler: deleteResponse(deps),
    },
    {
      method: 'POST',
      url: '/v1/responses/:id/cancel',
      summary: 'Stop an answer that is being made',
      tag: TAG,
      hasNoBody: true,
      answer: ResponseObject,
      ownerOf,
      handler: cancelResponse(deps),
    },
    {
      method: 'GET',
      url: '/v1/responses/:id/input_items',
      summary: 'What the model got for an answer, page by page',
      tag: TAG,
      query: ItemsQuery,
      answer: ItemList,
      ownerOf,
      handler: listInputItems(deps),
    },
  ];
}
