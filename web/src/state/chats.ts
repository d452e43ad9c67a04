import type { Chat } from './model.ts';

/** All chats, without their messages. */
export interface ChatsState {
  /** False until they were read from the browser's database. */
  readonly ready: boolean;
  readonly byId: Readonly<Record<string, Chat>>;
}

/** `loaded`: read from the browser's database, beside those that came into being meanwhile; `put`: new, or anew as a whole. */
export type ChatsAction =
  | { readonly type: 'chats/loaded'; readonly chats: readonly Chat[] }
  | { readonly type: 'chats/put'; readonly chats: readonly Chat[] }
  /** Changes some members; `updated` only where it is among them. */
  | { readonly type: 'chats/changed'; readonly id: string; readonly change: Partial<Chat> }
  | { readonly type: 'chats/removed'; readonly ids: readonly string[] };

/** Before the browser's database was read. */
export const initialChats: ChatsState = { ready: false, byId: {} };

/** The chats alone: whoever removes one sees to its messages and drafts. */
export function reduceChats(state: ChatsState, action: ChatsAction): ChatsState {
  switch (action.type) {
    case 'chats/loaded':
      return { ready: true, byId: { ...state.byId, ...byId(action.chats) } };
    case 'chats/put':
      return { ...state, byId: { ...state.byId, ...byId(action.chats) } };
    case 'chats/changed': {
      const chat = state.byId[action.id];
      if (chat === undefined) return state;
      return { ...state, byId: { ...state.byId, [chat.id]: { ...chat, ...action.change } } };
    }
    case 'chats/removed': {
      const gone = new Set(action.ids);
      const rest = Object.entries(state.byId).filter(([id]) => !gone.has(id));
      return { ...state, byId: Object.fromEntries(rest) };
    }
  }
}

function byId(chats: readonly Chat[]): Record<string, Chat> {
  return Object.fromEntries(chats.map((chat) => [chat.id, chat]));
}

/** Pinned ones first, then the newest. */
export function sortedChats(state: ChatsState): readonly Chat[] {
  return Object.values(state.byId).sort(
    (a, b) => Number(b.pinned) - Number(a.pinned) || b.updated - a.updated || (a.id < b.id ? -1 : 1),
  );
}
