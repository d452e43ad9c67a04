import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { Limits } from '../../src/config/config.ts';
import { defaultLimits } from '../../src/config/defaults.ts';
import type { SluiceError } from '../../src/core/errors.ts';
import { createUpstreamClient, type UpstreamClient } from '../../src/outbound/upstream.ts';
import { eventually } from './eventually.ts';

export function clientFor(context: TestContext, limits: Partial<Limits> = {}): UpstreamClient {
  const client = createUpstreamClient(() => ({ ...defaultLimits, ...limits }));
  context.after(() => client.close());
  return client;
}

/** Resolves with the status and the body. */
export function ask(client: UpstreamClient, origin: string, body?: Buffer): Promise<string> {
  return new Promise((resolve, reject: (error: SluiceError) => void) => {
    let told = '';
    client.send(
      {
        origin,
        path: '/',
        method: body === undefined ? 'GET' : 'POST',
        headers: {},
        ...(body === undefined ? {} : { body }),
      },
      {
        onHead: (status) => {
          told += `${status} `;
        },
        onData: (bytes) => {
          told += bytes.toString('latin1');
        },
        onEnd: () => resolve(told),
        onError: reject,
      },
    );
  });
}

/** A server that does `speak` for each request of a connection, and knows its connections. */
export async function rawServer(
  context: TestContext,
  speak: (socket: Socket) => void,
): Promise<{ origin: string; connections: Socket[] }> {
  const connections: Socket[] = [];
  const server = createServer((socket) => {
    connections.push(socket);
    socket.on('error', () => {});
    socket.on('data', () => speak(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.close();
    for (const socket of connections) socket.destroy();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections };
}

/** Waits until the client has closed all that there were. */
export async function allOver(connections: readonly Socket[]): Promise<void> {
  const isOver = () => connections.every((socket) => socket.destroyed || socket.readableEnded);
  await eventually('all are closed', isOver);
}
