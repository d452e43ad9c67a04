import type { ClientRequest } from 'node:http';
import { request } from '../core/node-http.ts';

/** How long an answer may be awaited before its worker is asked whether it does anything at all. */
const LOOK_AFTER_MS = 5_000;
/** How long it has to say so: longer than any one thing keeps it, on a busy machine too. */
const PATIENCE_MS = 10_000;

/**
 * Tells when a worker hangs from which an answer is awaited. A model may take its time, so that the answer itself proves nothing: a
 * worker that works answers `/health` meanwhile. Returns what ends the watch.
 */
export function watchOver(
  socketPath: string,
  headers: Readonly<Record<string, string>>,
  onHung: () => void,
): () => void {
  let probe: ClientRequest | undefined;
  let timer: NodeJS.Timeout;
  let isOver = false;
  const wait = (): void => {
    clearTimeout(timer);
    if (!isOver) timer = setTimeout(look, LOOK_AFTER_MS);
  };
  const look = (): void => {
    timer = setTimeout(onHung, PATIENCE_MS);
    probe = request({ socketPath, path: '/health', headers, agent: false });
    probe.on('response', (answer) => {
      answer.resume();
      wait();
    });
    // A lack of descriptors here says nothing of the other one; that it is gone, the awaited answer tells itself.
    probe.on('error', wait);
    probe.end();
  };
  wait();
  return () => {
    isOver = true;
    clearTimeout(timer);
    probe?.destroy();
  };
}
