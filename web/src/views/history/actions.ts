import { toast } from '../../components/toast.ts';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { organised } from '../../state/history-filter.ts';
import type { Chat } from '../../state/model.ts';

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
