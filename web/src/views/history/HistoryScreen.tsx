import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Icon } from '../../components/Icon.tsx';
import { IconButton } from '../../components/IconButton.tsx';
import { hasScreenKeyboard } from '../../components/keep-focus.ts';
import { Menu } from '../../components/Menu.tsx';
import { ScreenHead } from '../../components/ScreenHead.tsx';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { sortedChats } from '../../state/chats.ts';
import { type HistoryFilter, isFiltering, noFilter, passes } from '../../state/history-filter.ts';
import { termsOf } from '../../state/history-text.ts';
import type { Chat } from '../../state/model.ts';
import { useApp } from '../../state/use.ts';
import { exportAs } from './chat-menu.ts';
import { Filters } from './Filters.tsx';
import { HistoryRow } from './HistoryRow.tsx';
import './history.css';
import { SelectionBar } from './SelectionBar.tsx';
import { warmUp } from './search.ts';
import { type Found, useSearch, useSnippets } from './use-search.ts';

/** Rows that are made at once; more of them come while one scrolls. */
const ROWS = 60;

/** What was looked for last: whoever comes back from a chat finds the list as it was. */
let last: { readonly search: string; readonly filter: HistoryFilter } = { search: '', filter: noFilter };

/** All chats: searched, filtered, and several of them changed at once. */
export default function HistoryScreen() {
  const chats = useApp((state) => state.chats);
  const [search, setSearch] = useState(last.search);
  const [filter, setFilter] = useState(last.filter);
  const [picked, setPicked] = useState<readonly string[]>([]);
  const [rows, setRows] = useState(ROWS);
  last = { search, filter };
  useEffect(warmUp, []);
  const sorted = useMemo(() => sortedChats(chats), [chats]);
  const found = useSearch(search);
  const isSearching = termsOf(search).length > 0;
  const isFinding = isSearching && (found === undefined || found.isPartial === true);
  const listed = useMemo(() => listOf(sorted, filter, isSearching, found), [sorted, filter, isSearching, found]);
  useEffect(() => setRows(ROWS), [search, filter]);
  const shown = listed.slice(0, rows);
  const snippets = useSnippets(
    shown.flatMap(({ message }) => message ?? []),
    found?.search ?? '',
  );
  const openFirst = useOpenFirst(search, found?.search === search && found.isPartial !== true);
  const ids = new Set(listed.map(({ chat }) => chat.id));
  const selected = picked.filter((id) => ids.has(id));
  const select = (id: string, isSelected: boolean): void =>
    setPicked(isSelected ? [...selected, id] : selected.filter((each) => each !== id));
  return (
    <>
      <ScreenHead title={t('history.title')}>
        <button
          type="button"
          class="button is-quiet"
          onClick={() => app.dispatch({ type: 'overlay/opened', name: 'import' })}
        >
          <Icon name="upload" /> <span class="where-wide">{t('transfer.import')}</span>
        </button>
        <Menu
          label={t('history.menu')}
          icon="more"
          items={() => [
            { label: t('transfer.exportAllMarkdown'), icon: 'download', run: () => exportAs('all', 'markdown') },
            { label: t('transfer.exportAllJson'), icon: 'download', run: () => exportAs('all', 'json') },
            {
              label: t('history.deleteAll'),
              icon: 'trash',
              isDangerous: true,
              run: () => app.dispatch({ type: 'overlay/opened', name: 'delete-chats' }),
            },
          ]}
        />
      </ScreenHead>
      <main class="screen-body history" aria-label={t('history.title')} tabIndex={-1} onKeyDown={moveInList}>
        <div class="history-tools">
          <SearchField search={search} setSearch={setSearch} openFirst={openFirst} />
          <Filters chats={sorted} filter={filter} setFilter={setFilter} />
        </div>
        {selected.length > 0 ? (
          <SelectionBar selected={selected} listed={listed.map(({ chat }) => chat.id)} setSelected={setPicked} />
        ) : (
          <p class={chats.ready && listed.length === 0 && !isFinding ? 'nothing' : 'hint history-count'} role="status">
            {statusOf(chats.ready, sorted.length, listed.length, isSearching, isFinding, isFiltering(filter))}
          </p>
        )}
        <ul class="history-list" aria-label={t('history.title')}>
          {shown.map(({ chat, message }) => (
            <HistoryRow
              key={chat.id}
              chat={chat}
              isSelected={selected.includes(chat.id)}
              select={(isSelected) => select(chat.id, isSelected)}
              search={isSearching ? search : ''}
              message={message}
              snippet={message === undefined ? undefined : snippets[message]}
            />
          ))}
        </ul>
        {shown.length < listed.length && <More key={rows} show={() => setRows(rows + ROWS)} />}
      </main>
    </>
  );
}

interface Listed {
  readonly chat: Chat;
  readonly message?: string | undefined;
}

function listOf(
  sorted: readonly Chat[],
  filter: HistoryFilter,
  isSearching: boolean,
  found: Found | undefined,
): readonly Listed[] {
  if (!isSearching) return sorted.filter((chat) => passes(chat, filter)).map((chat) => ({ chat }));
  const byId = new Map(sorted.map((chat) => [chat.id, chat]));
  return (found?.hits ?? []).flatMap((hit): Listed[] => {
    const chat = byId.get(hit.chat);
    return chat !== undefined && passes(chat, filter) ? [{ chat, message: hit.message }] : [];
  });
}

function statusOf(
  isReady: boolean,
  all: number,
  count: number,
  isSearching: boolean,
  isFinding: boolean,
  isFiltered: boolean,
): string {
  if (!isReady) return '';
  if (isFinding) return t('history.searching');
  if (isSearching) return count === 0 ? t('history.nothing') : t('history.found', { count });
  if (all === 0) return t('shell.noChats');
  if (count === 0) return t('history.nothingHere');
  return isFiltered ? t('history.found', { count }) : t('history.count', { count });
}

/** Opens the first chat that was found, at once or when it is there. */
function useOpenFirst(search: string, isFound: boolean): () => void {
  const [wanted, setWanted] = useState<string>();
  useEffect(() => {
    if (wanted === undefined || (wanted === search && !isFound)) return;
    setWanted(undefined);
    if (wanted === search) document.querySelector<HTMLElement>('.history-link')?.click();
  }, [wanted, search, isFound]);
  return () => setWanted(search);
}

interface SearchFieldProps {
  readonly search: string;
  readonly setSearch: (text: string) => void;
  readonly openFirst: () => void;
}

function SearchField({ search, setSearch, openFirst }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (!hasScreenKeyboard()) field.current?.focus();
  }, []);
  return (
    <label class="search-field history-search">
      <Icon name="search" />
      <input
        ref={field}
        id="history-search"
        type="search"
        // By itself: else the button in the label would be part of its name.
        aria-label={t('history.search')}
        dir="auto"
        autocomplete="off"
        spellcheck={false}
        placeholder={t('history.searchHint')}
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (search === '') return;
          if (event.key === 'Enter') openFirst();
          else if (event.key === 'Escape') setSearch('');
          else return;
          event.preventDefault();
        }}
      />
      {search !== '' && (
        <IconButton
          icon="close"
          label={t('history.clearSearch')}
          onClick={(event) => {
            event.preventDefault();
            setSearch('');
            field.current?.focus();
          }}
        />
      )}
    </label>
  );
}

/** Shows more when it comes into sight, or when it is pressed. */
function More({ show }: { readonly show: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (button.current === null) return;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) show();
      },
      { rootMargin: '600px 0px' },
    );
    observer.observe(button.current);
    return () => observer.disconnect();
  }, []);
  return (
    <button ref={button} type="button" class="button history-more" onClick={show}>
      {t('history.more')}
    </button>
  );
}

/** The arrow keys go from the search field down the list and back. */
function moveInList(event: KeyboardEvent): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const field = document.querySelector<HTMLElement>('#history-search');
  const links = [...document.querySelectorAll<HTMLElement>('.history-link')];
  const at = links.indexOf(document.activeElement as HTMLElement);
  if (at === -1 && document.activeElement !== field) return;
  const next = event.key === 'ArrowDown' ? at + 1 : at - 1;
  event.preventDefault();
  if (next < 0) field?.focus();
  else links[next]?.focus();
}
