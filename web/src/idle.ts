/** How long Safari waits, which has no `requestIdleCallback`, in milliseconds: long enough for a frame in between. */
const WITHOUT_MS = 20;

/** Calls back once the page has nothing else to do, or after `timeout` milliseconds. Returns what takes that back. */
export function whenIdle(callback: () => void, timeout: number): () => void {
  if (typeof requestIdleCallback === 'undefined') {
    const timer = setTimeout(callback, Math.min(WITHOUT_MS, timeout));
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(callback, { timeout });
  return () => cancelIdleCallback(handle);
}
