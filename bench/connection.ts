import { connect, type Socket } from 'node:net';
import { MessageReader } from './message-reader.ts';

/** An answer, read to its end. */
export interface Answer {
  readonly status: number;
  /** One character per byte; the mock's texts are ASCII. */
  readonly body: string;
}

interface Waiting {
  readonly onBody: ((piece: string) => void) | undefined;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** One keep-alive connection of the load client: one request at a time. */
export class Connection {
  readonly #socket: Socket;
  #waiting: Waiting | undefined;
  #status = 0;
  #body = '';

  private constructor(socket: Socket) {
    this.#socket = socket;
    const reader = new MessageReader({
      head: (startLine) => {
        this.#status = Number(startLine.split(' ')[1]);
        this.#body = '';
      },
      body: (bytes) => {
        const piece = bytes.toString('latin1');
        this.#body += piece;
        this.#waiting?.onBody?.(piece);
      },
      end: () => {
        const waiting = this.#waiting;
        this.#waiting = undefined;
        waiting?.resolve({ status: this.#status, body: this.#body });
      },
    });
    socket.on('data', (bytes: Buffer) => reader.push(bytes));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the connection was closed in the middle of an answer')));
  }

  static open(port: number): Promise<Connection> {
    const { promise, resolve, reject } = Promise.withResolvers<Connection>();
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(new Connection(socket));
    });
    return promise;
  }

  /** Sends a whole request as bytes. `onBody` sees each piece of the answer's body as it comes. */
  send(request: Buffer, onBody?: (piece: string) => void): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.#waiting = { onBody, resolve, reject };
    if (this.#socket.destroyed) this.#fail(new Error('the connection was closed between two requests'));
    else this.#socket.write(request);
    return promise;
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #fail(error: Error): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(error);
  }
}
