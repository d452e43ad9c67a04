import { useCallback, useEffect, useState } from 'preact/hooks';
import { isAbort, toFailure } from '../../api/http.ts';
import type { Failure } from '../../state/model.ts';

/** What was loaded, or why it was not. `again` loads it anew. */
export interface Loaded<Value> {
  /** The last that came; it stays while newer ones are awaited. */
  readonly value?: Value;
  readonly failure?: Failure;
  readonly again: () => void;
}

/** What `load` brings, anew whenever one of `inputs` changes, and every `everyMs` while the page is seen. */
export function useLoaded<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[],
  everyMs?: number,
): Loaded<Value> {
  const [state, setState] = useState<{ readonly value?: Value; readonly failure?: Failure }>({});
  const [count, setCount] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const run = async (): Promise<void> => {
      try {
        const value = document.visibilityState === 'hidden' && count > 0 ? undefined : await load(leaving.signal);
        if (!leaving.signal.aborted && value !== undefined) setState({ value });
      } catch (thrown) {
        if (isAbort(thrown) || leaving.signal.aborted) return;
        setState(({ value }) => ({ failure: toFailure(thrown), ...(value === undefined ? {} : { value }) }));
      }
      if (everyMs !== undefined && !leaving.signal.aborted) timer = setTimeout(() => void run(), everyMs);
    };
    void run();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [...inputs, everyMs, count]);
  const again = useCallback(() => setCount((before) => before + 1), []);
  return { ...state, again };
}
