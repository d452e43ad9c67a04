import { useEffect, useRef, useState } from 'preact/hooks';
import {
  clearRequests,
  type LoggedRequest,
  loadRequests,
  type RequestFilter,
  type RequestPage,
} from '../../api/observe.ts';
import { type Loaded, useLoaded } from './use-loaded.ts';

/** Between two looks at what is new. */
const PACE_MS = 4_000;
const NONE: readonly LoggedRequest[] = [];

interface Requests extends Loaded<RequestPage> {
  /** The first page, and those that were asked for since. */
  readonly rows: readonly LoggedRequest[];
  /** Where the next page begins; null: there is none. */
  readonly next: string | null;
  readonly showMore: () => Promise<void>;
  /** Deletes all, whatever the filter. */
  readonly forget: () => Promise<void>;
}

/** The log, page by page. While only its first page is shown, `isLive` follows what is new. */
export function useRequests(filter: RequestFilter, isLive: boolean): Requests {
  const [more, setMore] = useState({ rows: NONE, next: null as string | null, isMore: false });
  const page = useLoaded(
    (signal) => loadRequests(filter, null, signal),
    [filter],
    isLive && !more.isMore ? PACE_MS : undefined,
  );
  const leaving = useRef(new AbortController());
  useEffect(() => {
    setMore({ rows: NONE, next: null, isMore: false });
    // What is still on its way fits another filter.
    leaving.current = new AbortController();
    return () => leaving.current.abort();
  }, [filter]);
  const first = page.value?.requests ?? NONE;
  const next = more.isMore ? more.next : (page.value?.next ?? null);
  return {
    ...page,
    rows: more.isMore ? [...first, ...more.rows] : first,
    next,
    async showMore() {
      const signal = AbortSignal.any([leaving.current.signal, AbortSignal.timeout(30_000)]);
      const added = await loadRequests(filter, next, signal).catch(() => undefined);
      if (added !== undefined) setMore({ rows: [...more.rows, ...added.requests], next: added.next, isMore: true });
    },
    async forget() {
      await clearRequests();
      setMore({ rows: NONE, next: null, isMore: false });
      page.again();
    },
  };
}
