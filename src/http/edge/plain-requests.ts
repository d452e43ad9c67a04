import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { IncomingMessage as Message } from '../../core/node-http.ts';
import { DETACHED_BYTES, detach } from '../../core/pieces.ts';
import { type PlainHead, PlainHeads } from './plain-head.ts';
import { SMALL_BYTES } from './turns.ts';

/** A socket with what Node's HTTP server hangs on it (lib/_http_server.js). */
interface ServedSocket extends Socket {
  readonly parser?: {
    incoming?: IncomingMessage | null;
    onIncoming?(request: IncomingMessage, keepsAlive: boolean): unknown;
  } | null;
}

type OnData = (bytes: Buffer) => void;

/**
 * Takes requests that leave no question open past Node's parser, which makes a dozen strings of each head and hands on the body
 * as a stream: a tenth of what a small request costs. Such a request comes whole, in one read, between two others. Node's
 * server does with it what it does with all: it answers in order, keeps and closes connections.
 *
 * What comes in several reads is the parser's, and so is the first request of each connection: until then Node's server takes it
 * for one that never said anything, and would close it after a while. All else is the parser's, too, and everything behind it, as
 * only the parser knows where that begins.
 *
 * @param headerBytes the limit for the head of a request
 */
export function readPlainRequests(server: Server, headerBytes: number): void {
  const heads = new PlainHeads(headerBytes);
  server.on('connection', (socket: ServedSocket) => {
    const { parser } = socket;
    const [parse, ...others] = socket.listeners('data') as OnData[];
    // As Node has it today. Where a later one has it otherwise, its parser reads everything.
    if (parse === undefined || others.length > 0 || typeof parser?.onIncoming !== 'function') return;
    let isFirst = true;
    let known: PlainHead | undefined;
    /** Bytes that the parser has still to get of its request; infinite where nobody else knows. */
    let missing = 0;
    const onData = (bytes: Buffer): void => {
      if (missing === 0) {
        const head = heads.read(bytes, known);
        if (head !== undefined) {
          known = head;
          missing = head.headBytes + head.bodyBytes;
          if (missing === bytes.length && !isFirst) {
            missing = 0;
            parser.onIncoming?.(new PlainRequest(socket, head, bytes), true);
            return;
          }
        } else missing = Number.POSITIVE_INFINITY;
      }
      isFirst = false;
      // More than that is the beginning of another one.
      missing = bytes.length > missing ? Number.POSITIVE_INFINITY : missing - bytes.length;
      parse(bytes);
      // Of a body the parser makes copies.
      if (socket.parser !== parser) socket.off('data', onData);
      else if (lengthOf(parser.incoming) <= SMALL_BYTES) detach([bytes]);
    };
    socket.off('data', parse);
    socket.on('data', onData);
  });
}

/** A request that came whole: who wants its body as bytes need not wait for a stream. */
export class PlainRequest extends Message {
  #body: Buffer | undefined;
  /** Node's mark of a body that somebody reads; others are passed over once the answer is sent. */
  declare _consuming: boolean;

  /** @param bytes head and body, which nobody else has */
  constructor(socket: Socket, { method, url, headers, rawHeaders, headBytes, bodyBytes }: PlainHead, bytes: Buffer) {
    super(socket);
    this.httpVersion = '1.1';
    this.httpVersionMajor = 1;
    this.httpVersionMinor = 1;
    this.method = method;
    this.url = url;
    this.headers = { ...headers };
    this.rawHeaders = rawHeaders.slice();
    this.complete = true;
    // A large one has its own memory, which can be given back.
    this.#body = bodyBytes < DETACHED_BYTES ? bytes.subarray(headBytes) : copied(bytes, headBytes);
  }

  /** The body; undefined where somebody has it already. */
  takeBody(): Buffer | undefined {
    const body = this.#body;
    this.#body = undefined;
    if (body !== undefined) this._consuming = true;
    return body;
  }

  override _read(): void {
    const body = this.takeBody();
    if (body !== undefined && body.length > 0) this.push(body);
    this.push(null);
  }
}

function lengthOf(request: IncomingMessage | null | undefined): number {
  return Number(request?.headers['content-length'] ?? 0);
}

function copied(bytes: Buffer, start: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length - start);
  bytes.copy(copy, 0, start);
  detach([bytes]);
  return copy;
}
