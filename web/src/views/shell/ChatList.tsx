import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { deleteChats, renameChat } from '../../actions/chats.ts';
import { Icon } from '../../components/Icon.tsx';
import { Menu } from '../../components/Menu.tsx';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { sortedChats } from '../../state/chats.ts';
import type { Chat } from '../../state/model.ts';
import { addressOf, parseRoute } from '../../state/route.ts';
import { useApp } from '../../state/use.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The chats, pinned ones first, the others by how long ago they were used. */
export function ChatList() {
  const chats = useApp((state) => state.chats);
  const groups = useMemo(() => grouped(sortedChats(chats)), [chats]);
  const shown = useShownChat();
  if (!chats.ready) return <div class="chat-list" aria-busy="true" />;
  return (
    <div class="chat-list">
      {groups.length === 0 && <p class="hint">{t('shell.noChats')}</p>}
      {groups.map(({ title, members }) => (
        <section key={title}>
          <h2>{t(title)}</h2>
          <ul>
            {members.map((chat) => (
              <Row key={chat.id} chat={chat} isShown={chat.id === shown} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

type GroupTitle = 'shell.pinned' | 'shell.today' | 'shell.thisWeek' | 'shell.earlier';

function grouped(chats: readonly Chat[]): readonly { readonly title: GroupTitle; readonly members: readonly Chat[] }[] {
  const now = Date.now();
  const titleOf = ({ pinned, updated }: Chat): GroupTitle => {
    if (pinned) return 'shell.pinned';
    if (now - updated < DAY_MS) return 'shell.today';
    return now - updated < 7 * DAY_MS ? 'shell.thisWeek' : 'shell.earlier';
  };
  const groups = Map.groupBy(chats, titleOf);
  return [...groups].map(([title, members]) => ({ title, members }));
}

function Row({ chat, isShown }: { readonly chat: Chat; readonly isShown: boolean }) {
  const [isRenaming, setRenaming] = useState(false);
  const title = chat.title || t('shell.untitled');
  if (isRenaming) {
    return (
      <li>
        <RenameField chat={chat} close={() => setRenaming(false)} />
      </li>
    );
  }
  const pin = (): void => app.dispatch({ type: 'chats/changed', id: chat.id, change: { pinned: !chat.pinned } });
  return (
    <li class={isShown ? 'is-shown' : ''}>
      <a href={addressOf('chat', chat.id)} aria-current={isShown ? 'page' : undefined} title={title}>
        {chat.pinned && <Icon name="pin" size={13} />}
        <span dir="auto">{title}</span>
      </a>
      <Menu
        label={t('shell.chatMenu', { title })}
        items={() => [
          { label: t('shell.rename'), icon: 'edit', run: () => setRenaming(true) },
          { label: t(chat.pinned ? 'shell.unpin' : 'shell.pin'), icon: 'pin', run: pin },
          { label: t('shell.delete'), icon: 'trash', isDangerous: true, run: () => void deleteChats([chat.id]) },
        ]}
      />
    </li>
  );
}

function RenameField({ chat, close }: { readonly chat: Chat; readonly close: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  const save = (): void => {
    renameChat(chat.id, field.current?.value ?? '');
    close();
  };
  return (
    <input
      ref={field}
      class="rename"
      aria-label={t('shell.rename')}
      defaultValue={chat.title}
      maxLength={200}
      onBlur={save}
      onKeyDown={(event) => {
        if (event.key === 'Enter') save();
        else if (event.key === 'Escape') close();
        else return;
        event.stopPropagation();
      }}
    />
  );
}

function useShownChat(): string | undefined {
  const [shown, setShown] = useState(() => parseRoute(location.hash).path[0]);
  useEffect(() => {
    const take = (): void => setShown(parseRoute(location.hash).path[0]);
    addEventListener('hashchange', take);
    return () => removeEventListener('hashchange', take);
  }, []);
  return shown;
}
