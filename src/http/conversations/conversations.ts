import type { ConversationRecord } from '../../core/stores.ts';
import type { Deps, Handler } from '../deps.ts';
import { bodyValue } from '../edge/body.ts';
import { ownerNow } from '../keys.ts';
import { sendJson } from '../responses/asking.ts';
import { beginConversation, missing, ownConversation } from '../responses/conversation.ts';
import { responseId } from '../responses/ids.ts';
import { inputOf } from '../responses/input.ts';
import type { KeptItem } from '../responses/items.ts';
import type { Item, Json } from '../responses/wire.ts';
import { limitMessages, validate } from '../validate.ts';
import { ConversationBody, ConversationChange } from './wire.ts';

/** `POST conversations`: begins one, with items or without. */
export function createConversation(deps: Deps): Handler {
  return async (request, reply) => {
    const value = request.body === undefined ? {} : bodyValue(request);
    limitMessages(value, 'items', deps.config().limits.messages, 'invalid_field');
    const { items, metadata } = validate(ConversationBody, value, 'invalid_field');
    const owner = ownerNow(deps.config());
    const record = await beginConversation(deps, { owner, metadata: metadata ?? {} }, await itemsGiven(items, deps));
    return sendJson(reply, shownConversation(record));
  };
}

/** `GET conversations/<id>` */
export function retrieveConversation(deps: Deps): Handler {
  return async (request, reply) => {
    const { id } = request.params as { id: string };
    return sendJson(reply, shownConversation(await ownConversation(deps, id)));
  };
}

/** `POST conversations/<id>`: replaces the metadata. */
export function updateConversation(deps: Deps): Handler {
  return async (request, reply) => {
    const { id } = request.params as { id: string };
    const value = bodyValue(request);
    const metadata = validate(ConversationChange, value, 'invalid_field').metadata ?? {};
    const record = await ownConversation(deps, id);
    if (!(await deps.stores.conversations.describe(id, metadata))) throw missing(id);
    return sendJson(reply, shownConversation({ ...record, metadata }));
  };
}

/** `DELETE conversations/<id>`: with all of its items. Answers that were part of it stay. */
export function deleteConversation(deps: Deps): Handler {
  return async (request, reply) => {
    const { id } = request.params as { id: string };
    await ownConversation(deps, id);
    if (!(await deps.stores.conversations.delete(id))) throw missing(id);
    return sendJson(reply, { id, object: 'conversation.deleted', deleted: true });
  };
}

/** A conversation in the words of the API, whose times are in seconds. */
export function shownConversation({ id, createdAt, metadata }: ConversationRecord): Json {
  return { id, object: 'conversation', created_at: Math.floor(createdAt / 1_000), metadata };
}

/** Items of a request, as they are kept. */
export async function itemsGiven(items: readonly Item[] | null | undefined, deps: Deps): Promise<readonly KeptItem[]> {
  return inputOf({ input: [...(items ?? [])] }, responseId(), deps, { field: 'items' });
}
