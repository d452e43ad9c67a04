import { connect, createServer, type Socket } from 'node:net';
import type { Gateway, Place } from './gateway.ts';

export interface Line extends Gateway {
  /** Every connection breaks off, and there are no new ones. */
  cut(): void;
  /** Nothing passes any more, and nobody is told; connections can still be made. */
  hold(): void;
  /** What comes from now on passes; connections that were held stay silent. */
  mend(): void;
}

/** A way to the gateway that can be cut. */
export async function openLine(gateway: Place): Promise<Line> {
  const target = Number(new URL(gateway.origin).port);
  const sockets = new Set<Socket>();
  let isCut = false;
  let isHeld = false;
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    if (isHeld) {
      sockets.add(near);
      near.on('error', () => {});
      near.on('close', () => sockets.delete(near));
      return;
    }
    const far = connect(target, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    upstream: gateway.upstream,
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    hold: () => {
      isHeld = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    mend: () => {
      isCut = false;
      isHeld = false;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
