import { toast } from '../components/toast.ts';
import { t } from '../i18n/index.ts';
import { app } from '../state/app.ts';
import type { Chat, Message, Part } from '../state/model.ts';
import { leafBelow, newestLeaf, versionBeside } from '../state/tree.ts';

/** Writes the text of an answer anew, for the person and for what is asked after it. What is no text stays. */
export function editAnswer({ chat, id, parts }: Message, text: string): void {
  const first = parts.findIndex(({ type }) => type === 'text');
  const edited = parts.flatMap((part, index): readonly Part[] => {
    if (part.type !== 'text') return [part];
    return index === first ? [{ type: 'text', text }] : [];
  });
  app.dispatch({ type: 'messages/changed', chat, id, change: { parts: edited, edited: true } });
}

/** Takes one message out of its chat: what came after it comes after the one before it. Brings it back if that was a mistake. */
export function deleteMessage(message: Message): void {
  const { chat, id, parent } = message;
  const before = app.get().chats.byId[chat];
  if (before === undefined) return;
  const messages = app.get().messages[chat] ?? {};
  const draft = `${chat}/${id}`;
  const { [draft]: anew } = app.get().drafts;
  const children = Object.values(messages).filter((each) => each.parent === id);
  const beside = versionBeside(messages, message);
  setParents(children, parent);
  app.dispatch({ type: 'messages/removed', chat, ids: [id] });
  app.dispatch({ type: 'drafts/cleared', chat: draft });
  const left = app.get().messages[chat] ?? {};
  const rest = beside === undefined ? (parent ?? newestLeaf(left)) : leafBelow(left, beside);
  moveLeaves(chat, id, rest, parent ?? undefined);
  toast(t('chat.messageDeleted'), {
    undo: () => {
      const now = app.get().chats.byId[chat];
      if (now === undefined) return;
      // A copy: one that came from the database counts as kept, and it no longer is.
      app.dispatch({ type: 'messages/put', messages: [{ ...message }] });
      if (anew !== undefined) app.dispatch({ type: 'drafts/loaded', drafts: { [draft]: anew } });
      setParents(children, id);
      const { leaf, sides } = before;
      const isUnmoved = leaf === id && now.leaf === rest;
      const change: Partial<Chat> = { ...(isUnmoved ? { leaf: id } : {}), ...(sides && now.sides ? { sides } : {}) };
      app.dispatch({ type: 'chats/changed', id: chat, change });
    },
  });
}

function setParents(messages: readonly Message[], parent: string | null): void {
  for (const { chat, id } of messages) app.dispatch({ type: 'messages/changed', chat, id, change: { parent } });
}

/** Nothing ends at a message that is gone. What is beside it may be of the other side, so a side ends before it. */
function moveLeaves(id: string, gone: string, leaf: string | undefined, sideLeaf: string | undefined): void {
  const chat = app.get().chats.byId[id];
  if (chat === undefined) return;
  const moved = <Kept extends { readonly leaf?: string }>(kept: Kept, to: string | undefined): Kept => {
    if (kept.leaf !== gone) return kept;
    const { leaf: _, ...rest } = kept;
    return (to === undefined ? rest : { ...rest, leaf: to }) as Kept;
  };
  const sides = chat.sides === undefined ? {} : { sides: chat.sides.map((side) => moved(side, sideLeaf)) };
  app.dispatch({ type: 'chats/put', chats: [moved({ ...chat, ...sides }, leaf)] });
}
