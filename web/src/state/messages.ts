import type { WireChunk } from '../api/chunks.ts';
import type { Message } from './model.ts';
import { takeChunks } from './take.ts';
import type { MessageMap } from './tree.ts';

/** Messages by chat and id, of the chats that were opened. */
export type MessagesState = Readonly<Record<string, MessageMap>>;

/** `put`: new, or anew as a whole; `removed`: out of their chat; `forgotten`: all messages of these chats. */
export type MessagesAction =
  /** From the database, or from another tab. */
  | { readonly type: 'messages/loaded'; readonly chat: string; readonly messages: readonly Message[] }
  | { readonly type: 'messages/put'; readonly messages: readonly Message[] }
  | {
      readonly type: 'messages/changed';
      readonly chat: string;
      readonly id: string;
      readonly change: Partial<Message>;
    }
  /** What came of an answer; `now` in milliseconds. */
  | {
      readonly type: 'messages/chunks';
      readonly chat: string;
      readonly id: string;
      readonly chunks: readonly WireChunk[];
      readonly lastEvent?: number;
      readonly now: number;
    }
  | { readonly type: 'messages/removed'; readonly chat: string; readonly ids: readonly string[] }
  | { readonly type: 'messages/forgotten'; readonly chats: readonly string[] };

/** Before a chat was opened. */
export const initialMessages: MessagesState = {};

/** What is about a message that is not there any more changes nothing: its chat may be deleted while its answer comes. */
export function reduceMessages(state: MessagesState, action: MessagesAction): MessagesState {
  switch (action.type) {
    case 'messages/loaded': {
      const loaded = Object.fromEntries(action.messages.map((message) => [message.id, message]));
      return { ...state, [action.chat]: { ...state[action.chat], ...loaded } };
    }
    case 'messages/put': {
      const next = { ...state };
      for (const message of action.messages) {
        next[message.chat] = { ...next[message.chat], [message.id]: message };
      }
      return next;
    }
    case 'messages/changed': {
      const message = state[action.chat]?.[action.id];
      if (message === undefined) return state;
      return withMessage(state, { ...message, ...action.change });
    }
    case 'messages/chunks': {
      const message = state[action.chat]?.[action.id];
      if (message === undefined) return state;
      const taken = takeChunks(message, action.chunks, action.now);
      return withMessage(state, action.lastEvent === undefined ? taken : { ...taken, lastEvent: action.lastEvent });
    }
    case 'messages/removed': {
      const gone = new Set(action.ids);
      const rest = Object.entries(state[action.chat] ?? {}).filter(([id]) => !gone.has(id));
      return { ...state, [action.chat]: Object.fromEntries(rest) };
    }
    case 'messages/forgotten': {
      const gone = new Set(action.chats);
      return Object.fromEntries(Object.entries(state).filter(([chat]) => !gone.has(chat)));
    }
  }
}

function withMessage(state: MessagesState, message: Message): MessagesState {
  return { ...state, [message.chat]: { ...state[message.chat], [message.id]: message } };
}
