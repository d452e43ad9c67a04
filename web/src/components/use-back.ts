import { useEffect, useRef, useState } from 'preact/hooks';
import { BACKEND, getJson, toFailure } from '../api/http.ts';
import type { Failure } from '../state/model.ts';

/** How often the server is looked for while it does not answer. Milliseconds. */
const LOOK_MS = 3_000;

const waiting = new Set<() => void>();
let timer: ReturnType<typeof setTimeout> | undefined;
let isLooking = false;

/** Whether the server itself was not there, which passes without anybody's doing on the page. */
function isAway(failure: Failure | undefined): boolean {
  return failure?.code === 'unreachable' || failure?.code === 'shutting_down';
}

/** Calls `tell` as soon as the server answers. Returns the way to end that. All who wait look for it together. */
function whenBack(tell: () => void): () => void {
  if (waiting.size === 0) {
    timer = setTimeout(() => void look(), LOOK_MS);
    addEventListener('online', look);
    document.addEventListener('visibilitychange', look);
  }
  waiting.add(tell);
  return () => {
    waiting.delete(tell);
    if (waiting.size > 0) return;
    clearTimeout(timer);
    removeEventListener('online', look);
    document.removeEventListener('visibilitychange', look);
  };
}

async function look(): Promise<void> {
  if (isLooking || document.visibilityState === 'hidden') return;
  isLooking = true;
  clearTimeout(timer);
  // Whatever else it says, it is there.
  const failure = await getJson(`${BACKEND}/version?cache=true`).then(() => undefined, toFailure);
  isLooking = false;
  clearTimeout(timer);
  if (waiting.size === 0) return;
  if (isAway(failure)) timer = setTimeout(() => void look(), LOOK_MS);
  else for (const tell of [...waiting]) tell();
}

/** Whether the server, which was not there when `failure` came, answers by now. Then `onBack` has been called once, if there is one. */
export function useIsBack(failure: Failure | undefined, onBack?: () => void): boolean {
  const [back, setBack] = useState<Failure>();
  const call = useRef(onBack);
  call.current = onBack;
  useEffect(() => {
    if (!isAway(failure)) return;
    const end = whenBack(() => {
      end();
      setBack(failure);
      call.current?.();
    });
    return end;
  }, [failure]);
  return failure !== undefined && back === failure;
}
