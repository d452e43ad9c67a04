import { useEffect, useState } from 'preact/hooks';
import { isAbort, toFailure } from '../../api/http.ts';
import { listMemory, type Remembered } from '../../api/memory.ts';
import type { Failure } from '../../state/model.ts';

interface MemoryList {
  readonly items: readonly Remembered[];
  /** Of all that fit; absent until it is known. */
  readonly count?: number;
  readonly failure?: Failure;
  readonly hasMore: boolean;
  readonly more: () => void;
  /** Reads it anew, after a change. */
  readonly again: () => void;
}

/** Between two letters that somebody types, in milliseconds. */
const PAUSE_MS = 200;

interface Read {
  readonly items: readonly Remembered[];
  readonly count?: number;
  readonly next: number | null;
  readonly failure?: Failure;
}

const NOTHING: Read = { items: [], next: null };

/** What is remembered of a user and fits a search. */
export function useMemory(user: string, search: string): MemoryList {
  const [read, setRead] = useState<Read>(NOTHING);
  const [turn, setTurn] = useState({ pages: 1, round: 0 });
  useEffect(() => setTurn((now) => (now.pages === 1 ? now : { ...now, pages: 1 })), [user, search]);
  useEffect(() => {
    if (user === '') return setRead({ ...NOTHING, count: 0 });
    const leaving = new AbortController();
    const timer = setTimeout(() => void load(leaving.signal), search === '' ? 0 : PAUSE_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [user, search, turn]);

  async function load(signal: AbortSignal): Promise<void> {
    try {
      const items: Remembered[] = [];
      let count = 0;
      let next: number | null = 1;
      while (next !== null && next <= turn.pages) {
        const page: Awaited<ReturnType<typeof listMemory>> = await listMemory(user, { search, page: next }, signal);
        items.push(...page.results);
        ({ count, next } = page);
      }
      setRead({ items, count, next });
    } catch (thrown) {
      if (!isAbort(thrown)) setRead((before) => ({ ...before, failure: toFailure(thrown) }));
    }
  }

  return {
    items: read.items,
    ...(read.count === undefined ? {} : { count: read.count }),
    ...(read.failure === undefined ? {} : { failure: read.failure }),
    hasMore: read.next !== null,
    more: () => setTurn(({ pages, round }) => ({ pages: pages + 1, round })),
    again: () => setTurn(({ pages, round }) => ({ pages, round: round + 1 })),
  };
}
