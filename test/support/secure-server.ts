import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import tls from 'node:tls';

const folder = new URL('../fixtures/tls/', import.meta.url);
const cert = readFileSync(new URL('certificate.pem', folder), 'utf8');
const key = readFileSync(new URL('key.pem', folder), 'utf8');

/** A server by TLS that is `localhost`, closed after the test, and which of its connections took up an earlier session. */
export async function secureServer(
  context: TestContext,
  listener: RequestListener,
): Promise<{ origin: string; resumed: boolean[] }> {
  const server = createServer({ cert, key }, listener);
  const resumed: boolean[] = [];
  server.on('secureConnection', (socket) => resumed.push(socket.isSessionReused()));
  server.listen(0, 'localhost');
  await once(server, 'listening');
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { origin: `https://localhost:${(server.address() as AddressInfo).port}`, resumed };
}

/** Makes its certificate one that holds, for the rest of the test. */
export function trustSecureServer(context: TestContext): void {
  const before = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...before, cert]);
  context.after(() => tls.setDefaultCACertificates(before));
}
