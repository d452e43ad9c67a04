import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import { Server, type Socket } from 'node:net';

/** How long a kept connection may be silent before a server that retires closes it, in milliseconds. */
const SILENT_MS = 3_000;
const LOOK_MS = 250;

/** What Node calls a request, which depends on its header `Expect`. */
const REQUESTS = ['request', 'checkContinue', 'checkExpectation'] as const;

interface Connection {
  /** Those that are not yet over, in the order of their requests: a client need not wait for one before it asks again. */
  readonly answers: ServerResponse[];
  /** When it was last busy. */
  since: number;
}

/** The connections of clients to one worker, so that it can retire without cutting an answer or refusing a request. */
export class Connections {
  readonly #server: HttpServer;
  readonly #connections = new Map<Socket, Connection>();
  #isRetiring = false;

  constructor(server: HttpServer) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.#connections.set(socket, { answers: [], since: performance.now() });
      socket.once('close', () => this.#connections.delete(socket));
    });
    for (const event of REQUESTS) {
      server.prependListener(event, (request: IncomingMessage, response: ServerResponse) => {
        this.#begin(request.socket, response);
      });
    }
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Takes no new connection; those that are open get one more answer, or time to be silent. Resolves when none is left. */
  async retire(): Promise<void> {
    this.#isRetiring = true;
    for (const { answers } of this.#connections.values()) sayLast(answers);
    // Not the HTTP server's own `close`: it ends idle connections at once, and with them a request that is on its way.
    Server.prototype.close.call(this.#server);
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        this.#closeSilent();
        if (this.#connections.size > 0) return;
        clearInterval(timer);
        resolve();
      }, LOOK_MS);
    });
  }

  #begin(socket: Socket, response: ServerResponse): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    const { answers } = connection;
    answers.push(response);
    if (this.#isRetiring) sayLast(answers);
    response.once('close', () => {
      answers.splice(answers.indexOf(response), 1);
      connection.since = performance.now();
    });
  }

  #closeSilent(): void {
    const latest = performance.now() - SILENT_MS;
    for (const [socket, { answers, since }] of this.#connections) {
      if (answers.length === 0 && since < latest) socket.destroySoon();
    }
  }
}

/** The connection is closed after the last of these answers, and not before: the others would be lost. */
function sayLast(answers: readonly ServerResponse[]): void {
  for (const [at, response] of answers.entries()) {
    if (response.headersSent) continue;
    if (at === answers.length - 1) response.setHeader('connection', 'close');
    else response.removeHeader('connection');
  }
}
