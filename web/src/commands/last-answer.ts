import { currentChat } from '../actions/chats.ts';
import { app } from '../state/app.ts';
import type { Message } from '../state/model.ts';

/** The answer at the end of the chat on the screen; undefined where there is no chat, or where its last message is a question. */
export function lastAnswer(): Message | undefined {
  const chat = currentChat();
  const leaf = chat?.leaf === undefined ? undefined : app.get().messages[chat.id]?.[chat.leaf];
  return leaf?.role === 'assistant' ? leaf : undefined;
}
