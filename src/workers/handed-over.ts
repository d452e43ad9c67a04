import type { ChildProcess } from 'node:child_process';

/** Until a connection is offered again that a worker could not take, in milliseconds: it has to close something first. */
const AGAIN_MS = 100;

/** What Node's cluster says inside, of which only a part is looked at. */
interface InternalMessage {
  readonly cmd?: string;
  readonly act?: string;
  readonly seq?: number;
  readonly ack?: number;
}

/**
 * Watches the connections that are handed to a worker, and makes up for what Node leaves out (`handoff` in
 * lib/internal/cluster/round_robin_handle.js), so that no client waits for ever:
 *
 * - A worker that has too many files open cannot take a connection, and says so (`NODE_HANDLE_NACK`). Node gives that worker no
 *   further one, and forgets the connection. Here it is offered again a little later, to whoever is free then.
 * - Of a worker that dies on the way Node keeps the connection open, and never says that it is disconnected.
 *
 * `onRefused` hears of the first. The function that is returned is to be called when the worker has ended.
 */
export function watchHandedOver(child: ChildProcess, onRefused: () => void): () => void {
  const { send } = child;
  /** By the number of the message they went with, the oldest first. */
  const onTheirWay = new Map<number, { close?(): void }>();
  const again = new Set<NodeJS.Timeout>();

  child.send = (...words: unknown[]): boolean => {
    const [message, handle] = words as [InternalMessage, { close?(): void } | null | undefined];
    if (message?.act === 'newconn' && message.seq !== undefined && handle) onTheirWay.set(message.seq, handle);
    return Reflect.apply(send, child, words) as boolean;
  };
  child.on('internalMessage', ({ cmd, ack }: InternalMessage) => {
    if (ack !== undefined) onTheirWay.delete(ack);
    // Connections travel one at a time, and what arrived was acknowledged before.
    const [refused] = onTheirWay.keys();
    if (cmd === 'NODE_HANDLE_NACK' && refused !== undefined) offerAgain(refused);
  });

  function offerAgain(seq: number): void {
    onRefused();
    const timer = setTimeout(() => {
      again.delete(timer);
      // As a worker answers that is about to end.
      child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack: seq, accepted: false });
    }, AGAIN_MS);
    again.add(timer);
  }

  return () => {
    for (const timer of again) clearTimeout(timer);
    for (const handle of onTheirWay.values()) handle.close?.();
    child.emit('disconnect');
  };
}
