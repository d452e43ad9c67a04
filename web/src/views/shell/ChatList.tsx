import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Icon } from '../../components/Icon.tsx';
import { Menu } from '../../components/Menu.tsx';
import { t } from '../../i18n/index.ts';
import { sortedChats } from '../../state/chats.ts';
import { placeOf } from '../../state/compare.ts';
import { foldersOf } from '../../state/history-filter.ts';
import type { Chat } from '../../state/model.ts';
import { addressOf } from '../../state/route.ts';
import { sameMembers, useApp } from '../../state/use.ts';
import { chatMenu } from '../history/chat-menu.ts';
import { RenameField } from './RenameField.tsx';
import { useRoute } from './use-route.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Of the chats without pin and folder so many are listed; the others are on the screen of all chats. */
const RECENT = 60;

/** The chats: pinned ones, those in folders, the others by how long ago they were used. */
export function ChatList() {
  const chats = useApp((state) => state.chats);
  const sorted = useMemo(() => sortedChats(chats), [chats]);
  const folders = useMemo(() => foldersOf(sorted.filter(({ pinned }) => !pinned)), [sorted]);
  const groups = useMemo(() => grouped(sorted), [sorted]);
  const running = useApp((state) => Object.values(state.streams).map(({ chat }) => chat), sameMembers);
  const shown = useRoute().path[0];
  if (!chats.ready) return <div class="chat-list" aria-busy="true" />;
  const row = (chat: Chat) => (
    <Row key={chat.id} chat={chat} isShown={chat.id === shown} isRunning={running.includes(chat.id)} />
  );
  const group = ({ title, members }: Group) => (
    <section key={title}>
      <h2>{t(title)}</h2>
      <ul>{members.map(row)}</ul>
    </section>
  );
  return (
    <div class="chat-list">
      {sorted.length === 0 && <p class="hint">{t('shell.noChats')}</p>}
      {groups.filter(({ title }) => title === 'shell.pinned').map(group)}
      {folders.map(({ name, count }) => (
        <Folder
          key={name}
          name={name}
          count={count}
          isShown={shown !== undefined && chats.byId[shown]?.folder === name}
        >
          {() => sorted.filter(({ folder, pinned }) => folder === name && !pinned).map(row)}
        </Folder>
      ))}
      {groups.filter(({ title }) => title !== 'shell.pinned').map(group)}
      {sorted.length > RECENT && (
        <a class="chat-list-all" href={addressOf('history')}>
          {t('history.showAll', { count: sorted.length })}
        </a>
      )}
    </div>
  );
}

interface Group {
  readonly title: 'shell.pinned' | 'shell.today' | 'shell.thisWeek' | 'shell.earlier';
  readonly members: readonly Chat[];
}

function grouped(chats: readonly Chat[]): readonly Group[] {
  const now = Date.now();
  const titleOf = ({ pinned, updated }: Chat): Group['title'] => {
    if (pinned) return 'shell.pinned';
    if (now - updated < DAY_MS) return 'shell.today';
    return now - updated < 7 * DAY_MS ? 'shell.thisWeek' : 'shell.earlier';
  };
  const recent = chats.filter(({ pinned, folder }) => !pinned && folder === undefined).slice(0, RECENT);
  const groups = Map.groupBy([...chats.filter(({ pinned }) => pinned), ...recent], titleOf);
  return [...groups].map(([title, members]) => ({ title, members }));
}

interface FolderProps {
  readonly name: string;
  readonly count: number;
  /** The chat that is shown is in it. */
  readonly isShown: boolean;
  readonly children: () => ComponentChildren;
}

/** Closed until somebody opens it, or comes to a chat in it. */
function Folder({ name, count, isShown, children }: FolderProps) {
  const [isOpen, setOpen] = useState(isShown);
  useEffect(() => {
    if (isShown) setOpen(true);
  }, [isShown]);
  return (
    <details class="chat-folder" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Icon name="folder" size={14} />
        <span dir="auto">{name}</span>
        <small>{count}</small>
      </summary>
      {isOpen && <ul>{children()}</ul>}
    </details>
  );
}

interface RowProps {
  readonly chat: Chat;
  readonly isShown: boolean;
  readonly isRunning: boolean;
}

function Row({ chat, isShown, isRunning }: RowProps) {
  const [isRenaming, setRenaming] = useState(false);
  const title = chat.title || t('shell.untitled');
  if (isRenaming) {
    return (
      <li>
        <RenameField chat={chat} close={() => setRenaming(false)} />
      </li>
    );
  }
  return (
    <li class={isShown ? 'is-shown' : ''}>
      <a href={placeOf(chat)} aria-current={isShown ? 'page' : undefined} title={title}>
        {chat.pinned && <Icon name="pin" size={13} />}
        <span dir="auto">{title}</span>
        {isRunning && <State kind="running" />}
        {!isRunning && chat.unread === true && <State kind="unread" />}
      </a>
      <Menu label={t('shell.chatMenu', { title })} items={() => chatMenu(chat, () => setRenaming(true))} />
    </li>
  );
}

function State({ kind }: { readonly kind: 'running' | 'unread' }) {
  const label = t(`shell.${kind}`);
  return <span class={`chat-state is-${kind}`} role="img" aria-label={label} title={label} />;
}
