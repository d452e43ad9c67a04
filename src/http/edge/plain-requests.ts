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

/** Bytes of a body that is passed on as it comes, without holding its client back: a longer one is left to the parser. */
const MOST_IN_PIECES = 64 * 1024;

/**
 * Takes requests that leave no question open past Node's parser, which makes a dozen strings of each head and hands on the body
 * as a stream: a tenth of what a small request costs. The head of such a request comes in one read, right behind another request, and
 * most often its body with it. Node's server does with it what it does with all: it answers in order, keeps and closes connections.
 *
 * The first request of each connection is the parser's: until then Node's server takes the connection for one that never said
 * anything, and would close it after a while. So are long bodies in pieces, and all that leaves a question open with everything behind it,
 * as only the parser knows where that begins.
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
    /** Has not all of its body. */
    let arriving: PlainRequest | undefined;
    /** Bytes that the parser has still to get of its request; infinite where nobody else knows. */
    let missing = 0;
    const onData = (bytes: Buffer): void => {
      if (arriving !== undefined) {
        const rest = arriving.arrive(bytes);
        if (arriving.complete) arriving = undefined;
        if (rest === undefined) return;
        missing = Number.POSITIVE_INFINITY;
        toParser(rest);
      } else if (missing > 0 || !takes(bytes)) toParser(bytes);
    };
    /** Hands on a plain request that begins here. Returns false, and notes how long it is, where the parser has to read it. */
    const takes = (bytes: Buffer): boolean => {
      const head = heads.read(bytes, known);
      known = head;
      missing = head === undefined ? Number.POSITIVE_INFINITY : head.headBytes + head.bodyBytes;
      if (head === undefined || isFirst || bytes.length > missing) return false;
      const isWhole = bytes.length === missing;
      if (!isWhole && head.bodyBytes > MOST_IN_PIECES) return false;
      missing = 0;
      const request = new PlainRequest(socket, head, bytes);
      if (!isWhole) arriving = request;
      parser.onIncoming?.(request, true);
      return true;
    };
    const toParser = (bytes: Buffer): void => {
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

/** A request that was read here: who wants the body of one that came whole as bytes need not wait for a stream. */
export class PlainRequest extends Message {
  #body: Buffer | undefined;
  /** Bytes of the body that have not come. */
  #missing: number;
  /** Node's marks: of a body that somebody reads, and of one that is passed over since its answer is sent. */
  declare _consuming: boolean;
  declare readonly _dumped: boolean;

  /** @param bytes the head and what came with it, which nobody else has */
  constructor(socket: Socket, { method, url, headers, rawHeaders, headBytes, bodyBytes }: PlainHead, bytes: Buffer) {
    super(socket);
    this.httpVersion = '1.1';
    this.httpVersionMajor = 1;
    this.httpVersionMinor = 1;
    this.method = method;
    this.url = url;
    this.headers = { ...headers };
    this.rawHeaders = rawHeaders.slice();
    this.#missing = headBytes + bodyBytes - bytes.length;
    // A large one has its own memory, which can be given back.
    const body = bytes.length - headBytes < DETACHED_BYTES ? bytes.subarray(headBytes) : copied(bytes, headBytes);
    this.complete = this.#missing === 0;
    if (this.complete) this.#body = body;
    else if (body.length > 0) this.push(body);
  }

  /** Takes what has come of its body. Returns what is none of it. */
  arrive(bytes: Buffer): Buffer | undefined {
    const own = bytes.length > this.#missing ? bytes.subarray(0, this.#missing) : bytes;
    this.#missing -= own.length;
    if (!this._dumped) this.push(own);
    if (this.#missing === 0) {
      this.complete = true;
      this.push(null);
    }
    return own === bytes ? undefined : bytes.subarray(own.length);
  }

  /** The body of one that came whole; undefined where somebody has it already. */
  takeBody(): Buffer | undefined {
    const body = this.#body;
    this.#body = undefined;
    if (body !== undefined) this._consuming = true;
    return body;
  }

  override _read(size: number): void {
    const body = this.takeBody();
    if (body === undefined) super._read(size);
    else {
      if (body.length > 0) this.push(body);
      this.push(null);
    }
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
