import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import tls from 'node:tls';
import { KEEP_ALIVE_MS } from './plain-server.ts';

const folder = new URL('../fixtures/tls/', import.meta.url);
const cert = readFileSync(new URL('certificate.pem', folder), 'utf8');
/** The same for `upstream.example`, to whom only a proxy leads. */
const faraway = readFileSync(new URL('upstream.example.pem', folder), 'utf8');
const key = readFileSync(new URL('key.pem', folder), 'utf8');

/** What `localhost` shows as its own. */
export const secureIdentity = { cert, key };

export interface SecureServer {
  readonly origin: string;
  /** Which of its connections took up an earlier session. */
  readonly resumed: readonly boolean[];
  /** What each connection asked for: a name and a protocol. */
  readonly greeted: readonly string[];
}

/** A server by TLS that is `localhost`, or `upstream.example` on a port of this machine, closed after the test. */
export async function secureServer(
  context: TestContext,
  listener: RequestListener,
  { isFaraway = false } = {},
): Promise<SecureServer> {
  const server = createServer(isFaraway ? { cert: faraway, key } : secureIdentity, listener);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const resumed: boolean[] = [];
  const greeted: string[] = [];
  server.on('secureConnection', (socket) => {
    resumed.push(socket.isSessionReused());
    greeted.push(`${socket.servername} ${socket.alpnProtocol}`);
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { origin: `https://localhost:${(server.address() as AddressInfo).port}`, resumed, greeted };
}

/** Makes these certificates ones that hold, for the rest of the test. */
export function trustSecureServer(context: TestContext): void {
  const before = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...before, cert, faraway]);
  context.after(() => tls.setDefaultCACertificates(before));
}
