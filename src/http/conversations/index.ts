import type { Limits } from '../../config/config.ts';
import type { Deps, Route } from '../deps.ts';
import { ItemList } from '../responses/wire.ts';
import { createConversation, deleteConversation, retrieveConversation, updateConversation } from './conversations.ts';
import {
  addConversationItems,
  deleteConversationItem,
  listConversationItems,
  retrieveConversationItem,
} from './items.ts';
import {
  Conversation,
  ConversationBody,
  ConversationChange,
  DeletedConversation,
  IncludeQuery,
  ItemsQuery,
  NewItems,
  ShownItem,
} from './wire.ts';

const bodyLimit = (limits: Limits) => limits.chatBodyBytes;

/** OpenAI's Conversations API: what answers of the Responses API may be part of. */
export function conversationsRoutes(deps: Deps): readonly Route[] {
  const one = { tag: 'Conversations', url: '/v1/conversations/:id', answer: Conversation } as const;
  const items = { ...one, url: '/v1/conversations/:id/items', answer: ItemList } as const;
  const item = { ...one, url: '/v1/conversations/:id/items/:item' } as const;
  return [
    {
      ...one,
      method: 'POST',
      url: '/v1/conversations',
      summary: 'Begin a conversation',
      body: ConversationBody,
      hasNoBody: true,
      bodyLimit,
      handler: createConversation(deps),
    },
    { ...one, method: 'GET', summary: 'A conversation, without its items', handler: retrieveConversation(deps) },
    {
      ...one,
      method: 'POST',
      summary: 'Replace the metadata of a conversation',
      body: ConversationChange,
      handler: updateConversation(deps),
    },
    {
      ...one,
      method: 'DELETE',
      summary: 'Delete a conversation with all of its items',
      answer: DeletedConversation,
      handler: deleteConversation(deps),
    },
    {
      ...items,
      method: 'POST',
      summary: 'Add items at the end of a conversation',
      body: NewItems,
      query: IncludeQuery,
      bodyLimit,
      handler: addConversationItems(deps),
    },
    {
      ...items,
      method: 'GET',
      summary: 'The items of a conversation, page by page',
      query: ItemsQuery,
      handler: listConversationItems(deps),
    },
    {
      ...item,
      method: 'GET',
      summary: 'An item of a conversation',
      query: IncludeQuery,
      answer: ShownItem,
      handler: retrieveConversationItem(deps),
    },
    {
      ...item,
      method: 'DELETE',
      summary: 'Delete an item of a conversation',
      handler: deleteConversationItem(deps),
    },
  ];
}
