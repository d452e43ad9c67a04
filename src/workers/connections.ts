import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import { Server, type Socket } from 'node:net';

/** How long a kept connection may be silent before a server that retires closes it, in milliseconds. */
const SILENT_MS = 3_000;
const LOOK_MS = 250;

/** The connections of clients to one worker, so that it can retire without cutting an answer or refusing a request. */
export class Connections {
  readonly #server: HttpServer;
  /** When each was last busy; undefined while it is. */
  readonly #sockets = new Map<Socket, number | undefined>();
  readonly #answers = new Set<ServerResponse>();
  #isRetiring = false;

  constructor(server: HttpServer) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.#sockets.set(socket, performance.now());
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#begin(request.socket, response);
    });
  }

  get size(): number {
    return this.#sockets.size;
  }

  /** Takes no new connection; those that are open get one more answer, or time to be silent. Resolves when none is left. */
  async retire(): Promise<void> {
    this.#isRetiring = true;
    for (const response of this.#answers) sayLast(response);
    // Not the HTTP server's own `close`: it ends idle connections at once, and with them a request that is on its way.
    Server.prototype.close.call(this.#server);
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        this.#closeSilent();
        if (this.#sockets.size > 0) return;
        clearInterval(timer);
        resolve();
      }, LOOK_MS);
    });
  }

  #begin(socket: Socket, response: ServerResponse): void {
    this.#sockets.set(socket, undefined);
    this.#answers.add(response);
    if (this.#isRetiring) sayLast(response);
    response.once('close', () => {
      this.#answers.delete(response);
      if (this.#sockets.has(socket)) this.#sockets.set(socket, performance.now());
    });
  }

  #closeSilent(): void {
    const latest = performance.now() - SILENT_MS;
    for (const [socket, since] of this.#sockets) {
      if (since !== undefined && since < latest) socket.destroySoon();
    }
  }
}

/** The connection is closed after this answer. */
function sayLast(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}
