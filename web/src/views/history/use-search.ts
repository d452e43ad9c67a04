import { useEffect, useState } from 'preact/hooks';
import { app } from '../../state/app.ts';
import type { Hit } from '../../state/history-index.ts';
import { folded, type Snippet, termsOf } from '../../state/history-text.ts';
import { onChanged, searchChats, snippetsIn } from './search.ts';

/** Between two keys that somebody types, in milliseconds. */
const TYPING_MS = 120;
/** After this long without an answer titles are shown. */
const PARTIAL_MS = 250;

/** What a search has found. */
export interface Found {
  /** The search that these are for. */
  readonly search: string;
  readonly hits: readonly Hit[];
  /** Only titles so far: all messages are still being read, which takes a moment the first time. */
  readonly isPartial?: boolean;
}

/** What is found for `search`; undefined until it is there, and for the empty search. */
export function useSearch(search: string): Found | undefined {
  const [found, setFound] = useState<Found | undefined>(undefined);
  const isEmpty = termsOf(search).length === 0;
  useEffect(() => {
    if (isEmpty) return setFound(undefined);
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let partial: ReturnType<typeof setTimeout> | undefined;
    const run = (): void => {
      clearTimeout(partial);
      partial = setTimeout(() => {
        setFound((before) =>
          before?.search === search ? before : { search, hits: inTitles(search), isPartial: true },
        );
      }, PARTIAL_MS);
      searchChats(search)
        // Where there is no thread to be had, titles are better than nothing.
        .catch(() => inTitles(search))
        .then((hits) => {
          if (isOver) return;
          clearTimeout(partial);
          setFound({ search, hits });
        });
    };
    const soon = (): void => {
      clearTimeout(timer);
      timer = setTimeout(run, TYPING_MS);
    };
    soon();
    const end = onChanged(soon);
    return () => {
      isOver = true;
      clearTimeout(timer);
      clearTimeout(partial);
      end();
    };
  }, [search, isEmpty]);
  return isEmpty ? undefined : found;
}

function inTitles(search: string): readonly Hit[] {
  const terms = termsOf(search);
  const chats = Object.values(app.get().chats.byId);
  return chats
    .filter(({ title }) => terms.every((term) => folded(title).includes(term)))
    .sort((a, b) => b.updated - a.updated)
    .map(({ id }) => ({ chat: id }));
}

const NONE: Readonly<Record<string, Snippet>> = {};

/** The places in `messages` that a search is about, by message. */
export function useSnippets(messages: readonly string[], search: string): Readonly<Record<string, Snippet>> {
  const [snippets, setSnippets] = useState(NONE);
  const wanted = messages.join();
  useEffect(() => {
    if (wanted === '') return setSnippets(NONE);
    let isOver = false;
    snippetsIn(wanted.split(','), search).then(
      (read) => {
        if (!isOver) setSnippets(read);
      },
      () => {},
    );
    return () => {
      isOver = true;
    };
  }, [wanted, search]);
  return snippets;
}
