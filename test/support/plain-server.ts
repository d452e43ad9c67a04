import { randomInt } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * How long a server of tests keeps a connection that nobody uses, in milliseconds. With the 5 s of Node, Sluice would leave one after a
 * second, and a busy machine may take longer until the next request.
 */
export const KEEP_ALIVE_MS = 60_000;

/** A small HTTP server on a free loopback port, closed after the test. Returns its address without a slash. */
export async function plainServer(
  context: { after(done: () => void): void },
  listener: RequestListener,
): Promise<{ url: string; port: number; server: Server }> {
  const server = createServer(listener);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, server };
}

/** Below those that any system gives to whoever asks for port 0. */
const LOWEST_PORT = 12_000;
const HIGHEST_PORT = 32_000;

/** A loopback port on which nothing listens, and that no other test gets from the system meanwhile. */
export async function unusedPort(): Promise<number> {
  const port = randomInt(LOWEST_PORT, HIGHEST_PORT);
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
  });
  if (!isFree) return unusedPort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Answers as the listing of models of an OpenAI-compatible upstream. Another key than `key` is refused. */
export function listing(models: readonly string[], key?: string): RequestListener {
  return (request, response) => {
    const isRefused = key !== undefined && request.headers.authorization !== `Bearer ${key}`;
    response.writeHead(isRefused ? 401 : 200, { 'content-type': 'application/json' });
    const data = models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'test' }));
    const refusal = { error: { message: `Incorrect API key provided: ${request.headers.authorization}` } };
    response.end(JSON.stringify(isRefused ? refusal : { object: 'list', data }));
  };
}
