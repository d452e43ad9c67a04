import { useEffect, useState } from 'preact/hooks';
import { isAbort, toFailure } from '../../api/http.ts';
import { listMedia, type MediaKind } from '../../api/media.ts';
import { t } from '../../i18n/index.ts';
import { ATTACHED, type AttachedFile } from '../../state/media.ts';
import type { Failure } from '../../state/model.ts';
import { onRecords, readRecords } from '../../storage/records.ts';
import { type Item, itemOfFile, itemOfMedia } from './item.ts';

/** `all`: media of answers, of whatever kind; `attached`: files that went along with questions. */
export type Shelf = 'all' | MediaKind | 'attached';

interface ItemList {
  readonly items: readonly Item[];
  readonly isLoading: boolean;
  readonly failure?: Failure;
  readonly hasMore: boolean;
  readonly more: () => void;
  readonly again: () => void;
  /** Takes one out of the list, which is no longer where it was kept. */
  readonly drop: (id: string) => void;
}

interface Read {
  readonly items: readonly Item[];
  readonly isLoading: boolean;
  readonly next: string | null;
  readonly failure?: Failure;
}

/** Between two letters that somebody types, in milliseconds. */
const PAUSE_MS = 200;
const LOADING: Read = { items: [], isLoading: true, next: null };

/** What is on a shelf and fits a search, in pages. */
export function useItems(shelf: Shelf, search: string): ItemList {
  const [read, setRead] = useState<Read>(LOADING);
  const [further, setFurther] = useState<{ readonly before: string }>();
  const [round, setRound] = useState(0);
  useEffect(() => {
    setRead(LOADING);
    setFurther(undefined);
    const leaving = new AbortController();
    const timer = setTimeout(() => void load(leaving.signal), search === '' ? 0 : PAUSE_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [shelf, search, round]);
  useEffect(() => {
    if (further === undefined) return;
    const leaving = new AbortController();
    setRead(({ failure: _, ...rest }) => ({ ...rest, isLoading: true }));
    void load(leaving.signal, further.before);
    return () => leaving.abort();
  }, [further]);
  // What is shown stays until then, and with it what somebody looks at.
  useEffect(() => {
    if (shelf !== 'attached') return;
    const leaving = new AbortController();
    const end = onRecords(ATTACHED, () => void load(leaving.signal));
    return () => {
      end();
      leaving.abort();
    };
  }, [shelf, search]);

  async function load(signal: AbortSignal, from?: string): Promise<void> {
    try {
      if (shelf === 'attached') {
        const items = await attached(search);
        if (!signal.aborted) setRead({ items, isLoading: false, next: null });
        return;
      }
      const kind = shelf === 'all' ? {} : { kind: shelf };
      const page = await listMedia({ search, ...kind, ...(from === undefined ? {} : { before: from }) }, signal);
      const items = page.media.map(itemOfMedia);
      setRead((old) => ({
        items: from === undefined ? items : [...old.items, ...items],
        isLoading: false,
        next: page.next,
      }));
    } catch (thrown) {
      // What a browser says of its own storage is for those who write pages.
      const failure = shelf === 'attached' ? { message: t('media.unreadable') } : toFailure(thrown);
      if (!signal.aborted && !isAbort(thrown)) setRead((old) => ({ ...old, isLoading: false, failure }));
    }
  }

  const more = (): void => {
    if (read.next !== null && !read.isLoading) setFurther({ before: read.next });
  };
  return {
    items: read.items,
    isLoading: read.isLoading,
    ...(read.failure === undefined ? {} : { failure: read.failure }),
    hasMore: read.next !== null,
    more,
    // What is there already stays.
    again: () => (read.next === null ? setRound((count) => count + 1) : more()),
    drop: (id) => setRead((old) => ({ ...old, items: old.items.filter((item) => item.id !== id) })),
  };
}

async function attached(search: string): Promise<readonly Item[]> {
  const words = search.trim().toLowerCase().split(/\s+/);
  const files = await readRecords<AttachedFile>(ATTACHED);
  return files
    .filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
    .sort((a, b) => b.created - a.created)
    .map(itemOfFile);
}
