import { useEffect, useState } from 'preact/hooks';
import { isAbort } from '../../api/http.ts';
import { readVersion } from './api.ts';

/** How often one looks whether there is more, in milliseconds. */
const LOOK_MS = 5_000;

interface Shared {
  /** Undefined until it was read once. */
  readonly body?: unknown;
  /** lost: the server does not answer; gone: it is not shared, or no longer. */
  readonly state: 'reading' | 'live' | 'lost' | 'gone';
}

/** A shared chat, as it is now. Nobody looks in a tab that is not looked at. */
export function useShared(share: string): Shared {
  const [shared, setShared] = useState<Shared>({ state: 'reading' });
  useEffect(() => {
    const leaving = new AbortController();
    let tag: string | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isLooking = false;
    const look = async (): Promise<void> => {
      if (isLooking || document.visibilityState === 'hidden') return;
      isLooking = true;
      clearTimeout(timer);
      try {
        const version = await readVersion(share, tag, leaving.signal);
        if (version.kind === 'new') {
          tag = version.tag;
          setShared({ body: version.body, state: 'live' });
        } else {
          const state = version.kind === 'gone' ? 'gone' : 'live';
          setShared((before) => (before.state === state ? before : { ...before, state }));
          if (version.kind === 'gone') tag = undefined;
        }
      } catch (error) {
        if (isAbort(error)) return;
        setShared((before) => ({ ...before, state: 'lost' }));
      } finally {
        isLooking = false;
      }
      if (!leaving.signal.aborted) timer = setTimeout(() => void look(), LOOK_MS);
    };
    setShared({ state: 'reading' });
    void look();
    const onVisible = (): void => void look();
    document.addEventListener('visibilitychange', onVisible);
    return () => {
      leaving.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [share]);
  return shared;
}
