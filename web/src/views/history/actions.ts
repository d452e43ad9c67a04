import { toast } from '../../components/toast.ts';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { organised } from '../../state/history-filter.ts';
import type { Chat } from '../../state/model.ts';
import { addressOf, goTo } from '../../state/route.ts';
import { leafBelow } from '../../state/tree.ts';
import { loadMessages } from '../../storage/keep.ts';

/** The chats with these ids that are there. */
export function chatsOf(ids: readonly string[]): readonly Chat[] {
  const { byId } = app.get().chats;
  return ids.map((id) => byId[id]).filter((chat) => chat !== undefined);
}

/** Opens the window for folder and tags of some chats. */
export function openOrganise(ids: readonly string[]): void {
  app.dispatch({ type: 'overlay/opened', name: 'organise', about: ids.join(',') });
}

/** Puts chats into a folder (empty: out of it; absent: where they are), and gives and takes tags. */
export function organise(ids: readonly string[], change: Parameters<typeof organised>[1]): void {
  const before = chatsOf(ids);
  const chats = organised(before, change);
  if (chats.length === 0) return;
  app.dispatch({ type: 'chats/put', chats });
  const changed = new Set(chats.map(({ id }) => id));
  toast(t('history.organised', { count: chats.length }), {
    undo: () => {
      const back = before.filter(({ id }) => changed.has(id));
      for (const { id, folder, tags } of back) {
        const now = app.get().chats.byId[id];
        if (now === undefined) continue;
        const { folder: _, ...rest } = now;
        app.dispatch({ type: 'chats/put', chats: [{ ...rest, tags, ...(folder === undefined ? {} : { folder }) }] });
      }
    },
  });
}

/** How long a message may take to be there, in milliseconds: of a long chat the earlier ones come later. */
const PATIENCE_MS = 8_000;

/** Opens a chat at one of its messages, on whatever branch that is. */
export async function openAt(chat: string, message: string): Promise<void> {
  const messages = await loadMessages(chat);
  if (messages[message] === undefined) return goTo(addressOf('chat', chat));
  const leaf = leafBelow(messages, message);
  if (app.get().chats.byId[chat]?.leaf !== leaf) {
    app.dispatch({ type: 'chats/changed', id: chat, change: { leaf } });
  }
  goTo(addressOf('chat', chat));
  const element = await appeared(`[data-message="${CSS.escape(message)}"]`);
  if (element === undefined) return;
  // Twice: what comes into sight for the first time is dressed then, and changes its height.
  element.scrollIntoView({ block: 'start' });
  await new Promise((resolve) => setTimeout(resolve, 150));
  element.scrollIntoView({ block: 'start' });
  element.classList.add('is-found');
  element.setAttribute('tabindex', '-1');
  element.focus({ preventScroll: true });
  setTimeout(() => element.classList.remove('is-found'), 2_000);
}

function appeared(selector: string): Promise<HTMLElement | undefined> {
  const find = (): HTMLElement | null => document.querySelector<HTMLElement>(selector);
  const there = find();
  if (there !== null) return Promise.resolve(there);
  return new Promise((resolve) => {
    const end = (element: HTMLElement | undefined): void => {
      observer.disconnect();
      clearTimeout(timer);
      resolve(element);
    };
    const observer = new MutationObserver(() => {
      const element = find();
      if (element !== null) end(element);
    });
    const timer = setTimeout(() => end(undefined), PATIENCE_MS);
    observer.observe(document.body, { childList: true, subtree: true });
  });
}
