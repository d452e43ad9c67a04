/** What a reader tells about the messages it sees, in the order of the bytes. */
export interface MessageHandler {
  /** `startLine` without its line end; header names in lower case, the last of equal names wins. */
  head(startLine: string, headers: ReadonlyMap<string, string>): void;
  /** Decoded bytes of the body. */
  body(bytes: Buffer): void;
  end(): void;
}

type State = 'head' | 'counted' | 'size' | 'chunk' | 'chunk end' | 'trailers';

const LINE_END = Buffer.from('\r\n');
const HEAD_END = Buffer.from('\r\n\r\n');
const EMPTY = Buffer.alloc(0);

/**
 * Reads HTTP/1.1 messages with a `Content-Length` or chunked body, requests and answers alike. The mock and the load
 * client stand on it because node:http would cost them more than the gateway costs that is measured between them.
 * A body that ends with the connection is not understood: neither side of the benchmark may send one.
 */
export class MessageReader {
  readonly #handler: MessageHandler;
  #state: State = 'head';
  /** Bytes of the body or of the chunk that are still to come. */
  #left = 0;
  /** The start of a head or line whose end has not come yet. */
  #pending: Buffer = EMPTY;

  constructor(handler: MessageHandler) {
    this.#handler = handler;
  }

  push(received: Buffer): void {
    let rest = this.#pending.length === 0 ? received : Buffer.concat([this.#pending, received]);
    this.#pending = EMPTY;
    while (rest.length > 0) {
      const used = this.#step(rest);
      if (used === 0) {
        this.#pending = rest;
        return;
      }
      rest = rest.subarray(used);
    }
  }

  /** Takes one piece off the front and returns its length; 0 when more bytes are needed. */
  #step(bytes: Buffer): number {
    switch (this.#state) {
      case 'head':
        return this.#head(bytes);
      case 'counted':
      case 'chunk':
        return this.#body(bytes);
      case 'size':
        return this.#size(bytes);
      case 'chunk end':
        if (bytes.length < 2) return 0;
        this.#state = 'size';
        return 2;
      case 'trailers':
        return this.#trailers(bytes);
    }
  }

  #head(bytes: Buffer): number {
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) return 0;
    const [startLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
    const headers = new Map<string, string>();
    for (const line of lines) {
      const colon = line.indexOf(':');
      headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
    }
    this.#handler.head(startLine, headers);
    if (headers.get('transfer-encoding') === 'chunked') {
      this.#state = 'size';
      return end + 4;
    }
    this.#left = Number(headers.get('content-length') ?? 0);
    this.#state = 'counted';
    if (this.#left === 0) this.#finish();
    return end + 4;
  }

  #body(bytes: Buffer): number {
    const piece = bytes.length <= this.#left ? bytes : bytes.subarray(0, this.#left);
    this.#left -= piece.length;
    this.#handler.body(piece);
    if (this.#left === 0) {
      if (this.#state === 'chunk') this.#state = 'chunk end';
      else this.#finish();
    }
    return piece.length;
  }

  #size(bytes: Buffer): number {
    const end = bytes.indexOf(LINE_END);
    if (end < 0) return 0;
    this.#left = Number.parseInt(bytes.toString('latin1', 0, end), 16);
    if (Number.isNaN(this.#left))
      throw new Error(`not a chunk size: ${JSON.stringify(bytes.toString('latin1', 0, end))}`);
    this.#state = this.#left === 0 ? 'trailers' : 'chunk';
    return end + 2;
  }

  #trailers(bytes: Buffer): number {
    const end = bytes.indexOf(LINE_END);
    if (end < 0) return 0;
    if (end === 0) this.#finish();
    return end + 2;
  }

  #finish(): void {
    this.#state = 'head';
    this.#handler.end();
  }
}
