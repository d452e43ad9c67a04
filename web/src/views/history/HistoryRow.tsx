import { useState } from 'preact/hooks';
import { Icon } from '../../components/Icon.tsx';
import { Menu } from '../../components/Menu.tsx';
import { region, t } from '../../i18n/index.ts';
import { placeOf } from '../../state/compare.ts';
import { marked, type Snippet, termsOf } from '../../state/history-text.ts';
import type { Chat } from '../../state/model.ts';
import { RenameField } from '../shell/RenameField.tsx';
import { chatMenu } from './chat-menu.ts';
import { Marked } from './Marked.tsx';
import { openAt } from './reveal.ts';

export interface HistoryRowProps {
  readonly chat: Chat;
  readonly isSelected: boolean;
  readonly select: (isSelected: boolean) => void;
  readonly search: string;
  /** Where in the chat the search was found, if not in its title. */
  readonly message: string | undefined;
  readonly snippet: Snippet | undefined;
}

/** A chat in the list of all. It leads to the message in which the search was found, if there is one. */
export function HistoryRow({ chat, isSelected, select, search, message, snippet }: HistoryRowProps) {
  const [isRenaming, setRenaming] = useState(false);
  const title = chat.title || t('shell.untitled');
  if (isRenaming) {
    return (
      <li class="history-row">
        <RenameField chat={chat} close={() => setRenaming(false)} />
      </li>
    );
  }
  return (
    <li class={`history-row ${isSelected ? 'is-selected' : ''}`}>
      <label class="history-check">
        <input
          type="checkbox"
          aria-label={t('history.select', { title })}
          checked={isSelected}
          onChange={(event) => select(event.currentTarget.checked)}
        />
      </label>
      <a
        class="history-link"
        href={placeOf(chat)}
        onClick={(event) => {
          if (message === undefined || event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          void openAt(chat.id, message, search);
        }}
      >
        <span class="history-title" dir="auto">
          {chat.pinned && <Icon name="pin" size={13} />}
          {search === '' ? title : <Marked {...marked(title, termsOf(search))} />}
        </span>
        {snippet !== undefined && (
          <span class="history-snippet" dir="auto">
            <Marked {...snippet} />
          </span>
        )}
        <span class="history-facts">
          <time dateTime={new Date(chat.updated).toISOString()}>{dateOf(chat.updated)}</time>
          {chat.folder !== undefined && (
            <span class="history-fact">
              <Icon name="folder" size={13} />
              <span dir="auto">{chat.folder}</span>
            </span>
          )}
          {chat.tags.map((tag) => (
            <span key={tag} class="history-fact">
              <Icon name="tag" size={13} />
              <span dir="auto">{tag}</span>
            </span>
          ))}
          {chat.share !== undefined && (
            <span class="history-fact">
              <Icon name="share" size={13} />
              <span>{t('share.shared')}</span>
            </span>
          )}
        </span>
      </a>
      <Menu label={t('shell.chatMenu', { title })} items={() => chatMenu(chat, () => setRenaming(true))} />
    </li>
  );
}

const formats = new Map<string, Intl.DateTimeFormat>();

function dateOf(time: number): string {
  const language = region();
  let format = formats.get(language);
  if (format === undefined) {
    format = new Intl.DateTimeFormat(language, { dateStyle: 'medium' });
    formats.set(language, format);
  }
  return format.format(time);
}
