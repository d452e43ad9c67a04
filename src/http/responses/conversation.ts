import { SluiceError, toSluiceError } from '../../core/errors.ts';
import type { ConversationItem, ConversationRecord } from '../../core/stores.ts';
import type { Deps } from '../deps.ts';
import { mostBytes } from './bounds.ts';
import { conversationId, itemId, prefixOfType, responseId } from './ids.ts';
import type { KeptItem } from './items.ts';
import { chunksOf, type Kept } from './run.ts';
import { isMine, keepsAnswers, saidWhole } from './store.ts';
import { conversationIdOf, type Json, type ResponseBody } from './wire.ts';

/** A conversation as an answer finds it that is part of it. */
export interface Entered {
  readonly id: string;
  readonly items: readonly KeptItem[];
  /** The place before which these stand. */
  readonly below: number;
}

/** A conversation of the caller's. Throws `not_found`. */
export async function ownConversation(deps: Deps, id: string, param?: string): Promise<ConversationRecord> {
  const record = /^conv_[0-9a-f]{48}$/.test(id) ? await deps.stores.conversations.get(id) : undefined;
  if (record !== undefined && isMine(deps, record.owner)) return record;
  throw missing(id, param);
}

/** Also for one that is somebody else's. `param` is the part of the request that named it. */
export function missing(id: string, param = 'conversation_id'): SluiceError {
  return new SluiceError('not_found', `Conversation with id '${id.slice(0, 100)}' not found.`, { param });
}

/** What is in the conversation that a request names; undefined: it names none. */
export async function enterConversation(body: ResponseBody, deps: Deps): Promise<Entered | undefined> {
  const id = conversationIdOf(body);
  if (id === undefined) return undefined;
  if (body.previous_response_id != null) {
    throw new SluiceError(
      'invalid_request',
      "'conversation' and 'previous_response_id' exclude each other: each names what went before. Send one of them.",
      { param: 'conversation' },
    );
  }
  requireKeeping(deps);
  await ownConversation(deps, id, 'conversation');
  await limitConversation(deps, id, 'conversation');
  const placed = await deps.stores.conversations.items(id, { order: 'asc', limit: deps.config().limits.messages });
  return { id, items: placed.map(keptItem), below: (placed.at(-1)?.place ?? -1) + 1 };
}

/** Refuses a conversation that is larger than what a model may be asked. */
export async function limitConversation(deps: Deps, id: string, param = 'conversation_id'): Promise<void> {
  const { messages } = deps.config().limits;
  const { items, bytes } = await deps.stores.conversations.size(id);
  const mend = 'Delete some of its items, or begin another one.';
  if (items > messages) {
    const words = `The conversation has more than ${messages} items, which is the limit. ${mend}`;
    throw new SluiceError('invalid_request', words, { param });
  }
  const most = mostBytes(deps);
  if (bytes > most)
    throw new SluiceError('too_large', `The conversation has more than ${most} bytes. ${mend}`, { param });
}

/** What stood in its conversation before an answer, as far as it is still there. */
export async function itemsBefore(deps: Deps, { conversation }: Kept): Promise<readonly KeptItem[]> {
  if (conversation === undefined) return [];
  const { id, below } = conversation;
  const limit = deps.config().limits.messages;
  return (await deps.stores.conversations.items(id, { order: 'asc', below, limit })).map(keptItem);
}

/**
 * Adds an answer that came to its end, and what it was asked, to its conversation; one that failed or was cancelled leaves no
 * trace there. Returns why that was not possible. A conversation that has been deleted meanwhile takes nothing, as was wished.
 */
export async function joinConversation(kept: Kept, deps: Deps): Promise<SluiceError | undefined> {
  if (kept.conversation === undefined || !isSaid(kept)) return undefined;
  try {
    await addItems(deps, kept.conversation.id, [...kept.input, ...saidWhole(kept)]);
    return undefined;
  } catch (error) {
    return toSluiceError(error);
  }
}

function isSaid(kept: Kept): boolean {
  const chunks = chunksOf(kept);
  return (
    chunks.some(({ type }) => type === 'finish') && !chunks.some(({ type }) => type === 'error' || type === 'auth')
  );
}

/** Begins a conversation. It is on disk when the promise resolves. */
export async function beginConversation(
  deps: Deps,
  { owner, metadata }: Pick<ConversationRecord, 'owner' | 'metadata'>,
  items: readonly KeptItem[],
): Promise<ConversationRecord> {
  requireKeeping(deps);
  const record = { id: conversationId(), owner, createdAt: Date.now(), metadata };
  await deps.stores.conversations.create(record, withOwnIds(items, new Set()).map(toStore));
  return record;
}

/** Adds items at the end of a conversation; returns them as they stand there. Undefined: there is no such conversation any more. */
export async function addItems(
  deps: Deps,
  id: string,
  items: readonly KeptItem[],
): Promise<readonly KeptItem[] | undefined> {
  requireKeeping(deps);
  const { conversations } = deps.stores;
  const ids = items.map(({ item }) => item['id']).filter(isStorable);
  for (;;) {
    const present = await conversations.find(id, ids);
    const added = withOwnIds(items, new Set(present.map((each) => each.id)));
    if (await conversations.append(id, added.map(toStore))) return added;
    // Somebody else may just have added one of the same id.
    if (added.length === 0 || (await conversations.get(id)) === undefined) return undefined;
  }
}

/** Ids of items that can be kept, and found again by their address. Clients may send any. */
export function isStorable(id: unknown): id is string {
  return typeof id === 'string' && /^(?!\.{1,2}$)[\x21-\x7e]{1,512}$/.test(id);
}

/** Items with an id each that none of the others has, and none of `taken`. */
function withOwnIds(items: readonly KeptItem[], taken: ReadonlySet<string>): readonly KeptItem[] {
  const ids = new Set(taken);
  return items.map((kept) => {
    const { item } = kept;
    const given = item['id'];
    const isOwn = isStorable(given) && !ids.has(given);
    const id = isOwn ? given : itemId(prefixOfType(String(item['type'])), responseId(), 0, 'input');
    ids.add(id);
    return isOwn ? kept : { ...kept, item: { ...item, id } };
  });
}

function toStore(kept: KeptItem): ConversationItem {
  return { id: String(kept.item['id']), body: kept as unknown as Json };
}

/** An item of a conversation, as it was kept. */
export function keptItem({ body }: ConversationItem): KeptItem {
  return body as unknown as KeptItem;
}

function requireKeeping(deps: Deps): void {
  if (keepsAnswers(deps)) return;
  throw new SluiceError('not_supported', 'This server keeps no conversations (`keptResponses` is 0).');
}
