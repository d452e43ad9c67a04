import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands between a client and a server, as a firewall or a balancer does, and passes bytes on. */
export interface TcpRelay {
  readonly port: number;
  /** Connections that were ever made. */
  readonly count: number;
  /** Nobody is told; whoever sends something on a connection of before finds it broken. */
  forget(): void;
  /** From now on connections are taken, and nothing is said on them. */
  fallSilent(): void;
}

/** Listens on a free loopback port until the test is over. */
export async function tcpRelay(context: { after(done: () => void): void }, to: number): Promise<TcpRelay> {
  const forgotten = new WeakSet<Socket>();
  const sockets = new Set<Socket>();
  let count = 0;
  let isSilent = false;
  const server = createServer((client) => {
    count += 1;
    sockets.add(client);
    client.on('error', () => {});
    client.on('close', () => sockets.delete(client));
    if (isSilent) return;
    const further = connect(to, '127.0.0.1');
    further.on('error', () => client.destroy());
    further.on('close', () => client.destroy());
    further.on('data', (bytes) => client.write(bytes));
    client.on('close', () => further.destroy());
    client.on('data', (bytes) => {
      if (forgotten.has(client)) client.resetAndDestroy();
      else further.write(bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    port: (server.address() as AddressInfo).port,
    get count() {
      return count;
    },
    forget() {
      for (const socket of sockets) forgotten.add(socket);
    },
    fallSilent() {
      isSilent = true;
    },
  };
}
