import { once } from 'node:events';
import { createServer, type IncomingMessage, request as passOn } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { secureIdentity } from './secure-server.ts';

const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\nproxy-agent: a proxy\r\n\r\n';

export interface ForwardProxy {
  readonly port: number;
  /** What was asked of it, with its headers. */
  readonly asked: readonly { readonly line: string; readonly headers: IncomingMessage['headers'] }[];
  /** What each connection by TLS asked for: a name and a protocol. */
  readonly greeted: readonly string[];
  /** The connections that became tunnels. */
  readonly tunnels: readonly Socket[];
}

interface ProxyOptions {
  /** `name:password` without which it serves nobody. */
  readonly credentials?: string;
  /** The port of this machine to which everything leads, whatever host is named; undefined: it refuses with 403. */
  readonly to: number | undefined;
  /** It is itself spoken to by TLS, as `localhost`. */
  readonly isSecure?: boolean;
  /** What it says of a tunnel that is open, piece by piece. */
  readonly says?: readonly string[];
}

/** A proxy as companies have them: tunnels by CONNECT, and plain requests that name the whole address. */
export async function startForwardProxy(
  context: TestContext,
  { credentials, to, isSecure = false, says = [ESTABLISHED] }: ProxyOptions,
): Promise<ForwardProxy> {
  const asked: { line: string; headers: IncomingMessage['headers'] }[] = [];
  const sockets = new Set<Socket>();
  const greeted: string[] = [];
  const tunnels: Socket[] = [];
  const refusal = ({ method, url, headers }: IncomingMessage): number | undefined => {
    asked.push({ line: `${method} ${url}`, headers });
    const wanted = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;
    if (headers['proxy-authorization'] !== wanted) return 407;
    return to === undefined ? 403 : undefined;
  };
  const server = isSecure ? createSecureServer(secureIdentity) : createServer();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('secureConnection', ({ servername, alpnProtocol }: TLSSocket) =>
    greeted.push(`${servername} ${alpnProtocol}`),
  );
  server.on('request', (request: IncomingMessage, response) => {
    const status = refusal(request);
    if (status !== undefined)
      return response.writeHead(status, { 'content-type': 'text/html;charset=utf-8' }).end('<h1>Access denied</h1>');
    const { host: _, 'proxy-authorization': __, ...headers } = request.headers;
    const { pathname, search, host } = new URL(request.url ?? '');
    const { method } = request;
    const passed = passOn({ port: to, method, path: pathname + search, headers: { ...headers, host } }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    return request.pipe(passed);
  });
  server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const status = refusal(request);
    if (status !== undefined) return socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 2\r\n\r\nno`);
    tunnels.push(socket);
    const further = connect({ port: to ?? 0, host: 'localhost' }, async () => {
      for (const [place, piece] of says.entries()) {
        if (place > 0) await sleep(20);
        socket.write(piece);
      }
      further.write(head);
      further.pipe(socket).pipe(further);
    });
    for (const each of [socket, further]) each.on('error', () => {});
    socket.on('close', () => further.destroy());
    return further.on('close', () => socket.destroy());
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  context.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, asked, greeted, tunnels };
}
