import { deleteChats } from '../../actions/chats.ts';
import type { MenuItem } from '../../components/Menu.tsx';
import { withPart } from '../../components/with-part.ts';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import type { Chat } from '../../state/model.ts';
import { openOrganise } from './actions.ts';

/** What can be done with a chat, wherever it is listed. */
export function chatMenu(chat: Chat, rename: () => void): readonly MenuItem[] {
  const pin = (): void => app.dispatch({ type: 'chats/changed', id: chat.id, change: { pinned: !chat.pinned } });
  const share = (): void => app.dispatch({ type: 'overlay/opened', name: 'share', about: chat.id });
  return [
    { label: t('shell.rename'), icon: 'edit', run: rename },
    { label: t('shell.nameByModel'), icon: 'thought', run: () => nameByModel(chat) },
    { label: t(chat.pinned ? 'shell.unpin' : 'shell.pin'), icon: 'pin', run: pin },
    { label: t('history.organise'), icon: 'folder', run: () => openOrganise([chat.id]) },
    { label: t('share.share'), icon: 'share', run: share },
    { label: t('transfer.exportMarkdown'), icon: 'download', run: () => exportAs([chat.id], 'markdown') },
    { label: t('transfer.exportJson'), icon: 'download', run: () => exportAs([chat.id], 'json') },
    { label: t('shell.delete'), icon: 'trash', isDangerous: true, run: () => void deleteChats([chat.id]) },
  ];
}

/** The code for it is fetched when it is needed, as that for the next one. */
function nameByModel(chat: Chat): void {
  withPart(
    () => import('../../actions/name-chat.ts'),
    ({ nameChat }) => void nameChat(chat),
  );
}

/** The code for it is fetched when it is needed. */
export function exportAs(ids: readonly string[] | 'all', format: 'markdown' | 'json'): void {
  withPart(
    () => import('../transfer/export.ts'),
    ({ exportChats }) => void exportChats(ids, format),
  );
}
