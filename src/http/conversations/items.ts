import { SluiceError } from '../../core/errors.ts';
import type { PlacedItem } from '../../core/stores.ts';
import type { Deps, Handler } from '../deps.ts';
import { bodyValue } from '../edge/body.ts';
import { sendJson } from '../responses/asking.ts';
import {
  addItems,
  isStorable,
  keptItem,
  limitConversation,
  missing,
  ownConversation,
} from '../responses/conversation.ts';
import { listOf, shown, USUAL_LIMIT } from '../responses/items.ts';
import { ENCRYPTED, included } from '../responses/wire.ts';
import { limitMessages, validate, validateQuery } from '../validate.ts';
import { itemsGiven, shownConversation } from './conversations.ts';
import { IncludeQuery, ItemsQuery, NewItems } from './wire.ts';

/** `POST conversations/<id>/items`: adds them at the end, and shows them as they are kept. */
export function addConversationItems(deps: Deps): Handler {
  return async (request, reply) => {
    const { id } = request.params as { id: string };
    const value = bodyValue(request);
    limitMessages(value, 'items', deps.config().limits.messages, 'invalid_field');
    const { items } = validate(NewItems, value, 'invalid_field');
    const query = validateQuery(IncludeQuery, request.query, 'invalid_field');
    await ownConversation(deps, id);
    await limitConversation(deps, id);
    const added = await addItems(deps, id, await itemsGiven(items, deps));
    if (added === undefined) throw missing(id);
    return sendJson(reply, listOf(added, { encrypted: isEncrypted(query), hasMore: false }));
  };
}

/** `GET conversations/<id>/items`: page by page, the newest first where nothing else is asked for. */
export function listConversationItems(deps: Deps): Handler {
  return async (request, reply) => {
    const { id } = request.params as { id: string };
    const query = validateQuery(ItemsQuery, request.query, 'invalid_field');
    await ownConversation(deps, id);
    const { after, limit = USUAL_LIMIT, order = 'desc' } = query;
    const from = after === undefined ? undefined : await placedItem(deps, id, after, 'after');
    const bound = from === undefined ? {} : order === 'asc' ? { above: from.place } : { below: from.place };
    const { conversations } = deps.stores;
    const bytes = deps.config().limits.chatBodyBytes;
    const found = await conversations.items(id, { order, ...bound, limit, bytes });
    const last = found.at(-1);
    const rest = last && (order === 'asc' ? { above: last.place } : { below: last.place });
    const hasMore = rest !== undefined && (await conversations.size(id, rest)).items > 0;
    return sendJson(reply, listOf(found.map(keptItem), { encrypted: isEncrypted(query), hasMore }));
  };
}

/** `GET conversations/<id>/items/<item>` */
export function retrieveConversationItem(deps: Deps): Handler {
  return async (request, reply) => {
    const { id, item } = request.params as { id: string; item: string };
    const query = validateQuery(IncludeQuery, request.query, 'invalid_field');
    await ownConversation(deps, id);
    return sendJson(reply, shown(keptItem(await placedItem(deps, id, item, 'item_id')), isEncrypted(query)));
  };
}

/** `DELETE conversations/<id>/items/<item>`: the model gets it no more. Shows the conversation. */
export function deleteConversationItem(deps: Deps): Handler {
  return async (request, reply) => {
    const { id, item } = request.params as { id: string; item: string };
    const record = await ownConversation(deps, id);
    const { conversations } = deps.stores;
    const { id: found } = await placedItem(deps, id, item, 'item_id');
    if (!(await conversations.deleteItem(id, found))) throw missingItem(item, 'item_id');
    return sendJson(reply, shownConversation(record));
  };
}

type ItemParam = 'after' | 'item_id';

async function placedItem(deps: Deps, id: string, item: string, param: ItemParam): Promise<PlacedItem> {
  const [found] = isStorable(item) ? await deps.stores.conversations.find(id, [item]) : [];
  if (found === undefined) throw missingItem(item, param);
  return found;
}

function missingItem(item: string, param: ItemParam): SluiceError {
  const code = param === 'after' ? 'invalid_request' : 'not_found';
  return new SluiceError(code, `Item with id '${item.slice(0, 100)}' not found in this conversation.`, { param });
}

function isEncrypted(query: Parameters<typeof included>[0]): boolean {
  return included(query).has(ENCRYPTED);
}
