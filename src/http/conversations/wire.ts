import { z } from 'zod';
import { Item, ItemsQuery, Metadata, OneOrMany } from '../responses/wire.ts';

/** OpenAI's limit, which clients know. */
const MOST_METADATA = 16;

const ConversationMetadata = Metadata.refine((metadata) => Object.keys(metadata).length <= MOST_METADATA, {
  error: `must have at most ${MOST_METADATA} keys`,
});

/** `POST conversations` */
export const ConversationBody = z.looseObject({
  items: z.array(Item).nullish().describe('What the conversation begins with: items as in the `input` of an answer'),
  metadata: ConversationMetadata.nullish(),
});

/** `POST conversations/<id>` */
export const ConversationChange = z.looseObject({
  metadata: ConversationMetadata.nullable().describe('Takes the place of all that was there'),
});

/** `POST conversations/<id>/items` */
export const NewItems = z.looseObject({ items: z.array(Item).min(1) });

/** What of items is to be shown beyond the usual. */
export const IncludeQuery = z.object({ include: OneOrMany, 'include[]': OneOrMany });

export { ItemsQuery };

/** Without its items, which have a path of their own. */
export const Conversation = z.object({
  id: z.string(),
  object: z.literal('conversation'),
  created_at: z.int().describe('Seconds since 1970'),
  metadata: Metadata,
});

/** `DELETE conversations/<id>` */
export const DeletedConversation = z.object({
  id: z.string(),
  object: z.literal('conversation.deleted'),
  deleted: z.literal(true),
});

/** An item; its further members depend on its type. */
export const ShownItem = z.looseObject({ type: z.string(), id: z.string() });
