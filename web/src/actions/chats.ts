import { toast } from '../components/toast.ts';
import { t } from '../i18n/index.ts';
import { app, until } from '../state/app.ts';
import { type Choice, settle } from '../state/catalog.ts';
import { isDraftOf } from '../state/drafts.ts';
import { type Chat, newId, type Side } from '../state/model.ts';
import { RECENT, withRecent } from '../state/picker.ts';
import { addressOf, goTo, parseRoute } from '../state/route.ts';
import { leafBelow, type MessageMap, newestAnswer, newestLeaf } from '../state/tree.ts';
import { loadMessages } from '../storage/keep.ts';
import { stopAll } from './stop.ts';

/** The chat in the address, if it is there. */
export function currentChat(): Chat | undefined {
  return chatOn(['chat']);
}

/** As `currentChat`; also one whose models are being compared. */
export function shownChat(): Chat | undefined {
  return chatOn(['chat', 'compare']);
}

function chatOn(screens: readonly string[]): Chat | undefined {
  const { screen, path } = parseRoute(location.hash);
  return screens.includes(screen) ? app.get().chats.byId[path[0] ?? ''] : undefined;
}

/** An empty page for a new chat; it comes into being with its first message. */
export function newChat(): void {
  goTo('#/');
}

/** Goes to the address of a chat, whether there is one of that id or not. */
export function openChat(id: string): void {
  goTo(addressOf('chat', id));
}

/** Makes a chat that is not shown yet. */
export function createChat(members: Partial<Chat> = {}): Chat {
  const now = Date.now();
  const chat: Chat = {
    id: newId(),
    title: '',
    titleBy: 'question',
    created: now,
    updated: now,
    tags: [],
    pinned: false,
    ...members,
  };
  app.dispatch({ type: 'chats/put', chats: [chat] });
  return chat;
}

/** A chat once it was read with its messages, if there is one. Asked before that, a question would go out without what it follows. */
export async function readChat(id: string): Promise<Chat | undefined> {
  await until(({ chats }) => chats.ready);
  if (app.get().chats.byId[id] === undefined) return undefined;
  const messages = await loadMessages(id);
  const chat = app.get().chats.byId[id];
  if (chat !== undefined) findLeaves(chat, messages);
  return app.get().chats.byId[id];
}

/** Goes on at the newest branch where the one that was shown has lost its end; each side of a comparison at that of its own model. */
function findLeaves({ id, leaf, sides }: Chat, messages: MessageMap): void {
  const newest = newestLeaf(messages);
  if (newest === undefined) return;
  if (messages[leaf ?? ''] === undefined) app.dispatch({ type: 'chats/changed', id, change: { leaf: newest } });
  const isLost = (side: Side): boolean => side.leaf !== undefined && messages[side.leaf] === undefined;
  if (!sides?.some(isLost)) return;
  const found = sides.map((side) => (isLost(side) ? { ...side, leaf: newestAnswer(messages, side) ?? newest } : side));
  app.dispatch({ type: 'chats/changed', id, change: { sides: found } });
}

/** The model that a chat, or the next one, talks to. A chat keeps its own though nobody offers it any more. */
export function choiceOf(chat: Chat | undefined): Choice {
  if (chat?.model !== undefined) return { provider: chat.provider ?? '', model: chat.model };
  const { catalog, settings } = app.get();
  return settle(catalog, settings.choice);
}

/** Changes the model of a chat, and of those to come; without a chat only of those. */
export function choose(chat: Chat | undefined, choice: Choice): void {
  const { more } = app.get().settings;
  app.dispatch({ type: 'settings/changed', change: { choice, more: { ...more, [RECENT]: withRecent(more, choice) } } });
  if (chat !== undefined) app.dispatch({ type: 'chats/changed', id: chat.id, change: choice });
}

/** A title of blanks changes nothing. From now on it is the person's. */
export function renameChat(id: string, title: string): void {
  const trimmed = title.trim();
  if (trimmed !== '') app.dispatch({ type: 'chats/changed', id, change: { title: trimmed, titleBy: 'person' } });
}

/** Removes chats, and brings them back if that was a mistake. */
export async function deleteChats(ids: readonly string[]): Promise<void> {
  try {
    await Promise.all(ids.map(loadMessages));
  } catch {
    // Without them there would be no way back.
    return toast(t('chat.unreadable'));
  }
  for (const id of ids) stopAll(id);
  const { chats: all, messages, drafts } = app.get();
  const chats = ids.map((id) => all.byId[id]).filter((chat) => chat !== undefined);
  const shown = shownChat();
  const address = location.hash;
  app.dispatch({ type: 'chats/removed', ids });
  app.dispatch({ type: 'messages/forgotten', chats: ids });
  for (const chat of ids) app.dispatch({ type: 'drafts/cleared', chat, andWithin: true });
  if (shown !== undefined && ids.includes(shown.id)) newChat();
  const title = chats[0]?.title ?? '';
  const text =
    chats.length === 1 ? t('shell.chatDeleted', { title }) : t('shell.chatsDeleted', { count: chats.length });
  toast(text, {
    undo: () => {
      // Copies: those that came from the database count as kept, and they no longer are.
      app.dispatch({ type: 'chats/put', chats: chats.map((chat) => ({ ...chat })) });
      const gone = ids.flatMap((id) => Object.values(messages[id] ?? {}));
      app.dispatch({ type: 'messages/put', messages: gone.map((message) => ({ ...message })) });
      const written = Object.entries(drafts).filter(([name]) => ids.some((id) => isDraftOf(name, id)));
      app.dispatch({ type: 'drafts/loaded', drafts: Object.fromEntries(written) });
      if (shown !== undefined && ids.includes(shown.id)) goTo(address);
    },
  });
}

/** Shows the branch on which `message` is. */
export function showBranch(chat: string, message: string): void {
  const leaf = leafBelow(app.get().messages[chat] ?? {}, message);
  app.dispatch({ type: 'chats/changed', id: chat, change: { leaf } });
}
