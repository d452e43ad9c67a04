import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Lets connections end only when all that was written to them has been handed to the system. To Node a connection is idle as
 * soon as its answer was written, and `closeIdleConnections`, which `close` calls too, destroys it with whatever a slow reader
 * has still to take.
 */
export function keepUnsent(server: Server): void {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    const unsent = [...open].filter((socket) => socket.writableLength > 0);
    for (const socket of unsent) socket.destroy = endInOrder;
    closeIdle();
    for (const socket of unsent) Reflect.deleteProperty(socket, 'destroy');
  };
}

/** Instead of a socket's `destroy`. */
function endInOrder(this: Socket): Socket {
  Reflect.deleteProperty(this, 'destroy');
  // Not at each further look at what is idle.
  if (!this.writableEnded) this.destroySoon();
  return this;
}
