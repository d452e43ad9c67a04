import type { IncomingHttpHeaders } from 'node:http';
import { countOf } from '../core/count.ts';
import { lastOf } from '../core/last-of.ts';

/** What a reader tells of one answer, in this order; `data` any number of times. */
export interface AnswerHandler {
  /** Names of headers are in lower case. Values of equal names are joined by a comma, those of `set-cookie` a list. */
  onHead(status: number, headers: IncomingHttpHeaders): void;
  /** A part of the body, free of framing. The bytes are valid until this returns, and may be overwritten after it. */
  onData(bytes: Buffer): void;
  onEnd(): void;
}

/** What came is not HTTP/1.1. */
export class NotHttp extends Error {}

/** What came is a record of TLS, as servers send that were spoken to without. */
export class SpeaksTls extends NotHttp {}

/** Where in a message the next byte stands. */
type State =
  | 'head'
  | 'counted'
  | 'endless'
  | 'size'
  | 'extension'
  | 'size end'
  | 'chunk'
  | 'chunk CR'
  | 'chunk LF'
  | 'trailers'
  | 'over';

const CR = 0x0d;
const LF = 0x0a;
const SEMICOLON = 0x3b;
const HEAD_END = Buffer.from('\r\n\r\n');
const NOTHING = Buffer.alloc(0);
/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;
/** Control characters, except tabs: none may stand in the value of a header (RFC 9110 §5.5) or in a status line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;
/**
 * Hexadecimal digits of a chunk's size, zeros in front among them: no body is as long as they can say, their number is exact
 * in a double, and a size cannot go on for ever.
 */
const MOST_DIGITS = 12;
/** Of one request: a proxy that says every few seconds that it is still there needs fewer for an hour. */
const MOST_INTERIM = 1_000;
/** Names of headers that are remembered: shorter ones, and so many of each length. */
const LONGEST_KNOWN = 64;
const MOST_OF_LENGTH = 16;

/** Names as they were written and in lower case, by their length: a map would look each up in V8's table of strings first. */
const lowered = Array.from({ length: LONGEST_KNOWN }, (): { readonly written: string; readonly name: string }[] => []);

/** What a status line says; undefined where it is none of HTTP/1.1. */
const statusOf = lastOf((line) => {
  const found = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/.exec(line);
  return found === null || CONTROL.test(line)
    ? undefined
    : { status: Number(found[2]), isPersistent: found[1] === '1' };
});

/**
 * Reads the answer to one request after another from the bytes of a connection (RFC 9112), however they are split. Within one
 * piece the parts of a chunked body are moved together, so that whoever takes them gets all that a read has brought at once.
 */
export class AnswerReader {
  readonly #handler: AnswerHandler;
  readonly #headLimit: number;
  #state: State = 'head';
  /** The beginning of a head whose end has not come yet. */
  #begun: Buffer | undefined;
  /** Bytes of the body or of the chunk that are still to come. */
  #left = 0;
  /** Digits of a chunk's size that were read. */
  #digits = 0;
  /** Bytes of the extension of one chunk's size, or of the trailers. */
  #extra = 0;
  /** Bytes of the current line of the trailers. */
  #line = 0;
  #isReusable = true;
  /** Interim answers before the final one. */
  #interim = 0;

  /** @param headLimit bytes of all headers together */
  constructor(handler: AnswerHandler, headLimit: number) {
    this.#handler = handler;
    this.#headLimit = headLimit;
  }

  /** Whether the answer has been read to its end, and another request may follow on the connection. */
  get isFree(): boolean {
    return this.#state === 'over' && this.#isReusable;
  }

  /** Gets ready for the answer to the next request. */
  next(): void {
    this.#state = 'head';
    this.#interim = 0;
  }

  /** Takes what came, and may move it about. Throws `NotHttp` where it is none; the reader is of no use then. */
  push(bytes: Buffer): void {
    const rest = this.#state === 'head' ? this.#head(bytes) : bytes;
    if (rest.length > 0) this.#body(rest);
  }

  /** The connection has ended. Returns whether that is how the answer was to end. */
  close(): boolean {
    if (this.#state === 'endless') this.#finish();
    return this.#state === 'over';
  }

  #body(bytes: Buffer): void {
    switch (this.#state) {
      case 'counted':
        this.#counted(bytes);
        break;
      case 'endless':
        this.#handler.onData(bytes);
        break;
      case 'over':
        // Nobody asked for what follows.
        this.#isReusable = false;
        break;
      default:
        this.#chunked(bytes);
    }
  }

  /** Reads heads up to that of the final answer. Returns what follows it. */
  #head(received: Buffer): Buffer {
    let bytes = this.#begun === undefined ? received : Buffer.concat([this.#begun, received]);
    this.#begun = undefined;
    for (;;) {
      const end = bytes.indexOf(HEAD_END);
      if (end > this.#headLimit || (end === -1 && bytes.length > this.#headLimit))
        throw new NotHttp('The headers are too large.');
      if (end === -1) {
        if (isTls(bytes)) throw new SpeaksTls('This is TLS.');
        if (!couldBegin(bytes)) throw new NotHttp('This is not HTTP/1.1.');
        // Its end would be waited for in vain.
        if (bytes.includes('\n\n')) throw new NotHttp('The lines of the head end without a carriage return.');
        // What was received is not ours to keep.
        this.#begun = bytes.length === 0 ? undefined : Buffer.from(bytes);
        return NOTHING;
      }
      const isFinal = this.#readHead(bytes.toString('latin1', 0, end));
      bytes = bytes.subarray(end + HEAD_END.length);
      if (isFinal) return bytes;
    }
  }

  /** Returns whether this is the head of the final answer, not of an interim one (RFC 9110 §15.2). */
  #readHead(text: string): boolean {
    const lineEnd = text.indexOf('\r\n');
    const statusLine = lineEnd === -1 ? text : text.slice(0, lineEnd);
    const found = statusOf(statusLine);
    if (found === undefined) throw new NotHttp('This is not HTTP/1.1.');
    const { status, isPersistent } = found;
    const headers = lineEnd === -1 ? {} : readFields(text, lineEnd + 2);
    if (status === 101) throw new NotHttp('The connection changes to a protocol that nobody asked for.');
    if (status < 200) {
      this.#interim += 1;
      if (this.#interim > MOST_INTERIM) throw new NotHttp('There are too many interim answers.');
      return false;
    }
    this.#frame(status, headers, isPersistent);
    this.#handler.onHead(status, headers);
    if (this.#state === 'counted' && this.#left === 0) this.#finish();
    return true;
  }

  /** How the body ends: RFC 9112 §6.3. */
  #frame(status: number, headers: IncomingHttpHeaders, isPersistent: boolean): void {
    const { connection, 'transfer-encoding': encoding, 'content-length': length } = headers;
    this.#isReusable = isPersistent
      ? connection === undefined || !/(?:^|,)\s*close\s*(?:,|$)/i.test(connection)
      : connection !== undefined && /(?:^|,)\s*keep-alive\s*(?:,|$)/i.test(connection);
    // What HTTP once called no encoding. Not in a list: who reads such another way could be led astray.
    const isNone = encoding?.toLowerCase() === 'identity';
    if (isNone) this.#isReusable = false;
    if (status === 204 || status === 304) {
      this.#state = 'counted';
      this.#left = 0;
    } else if (encoding !== undefined && !isNone) {
      if (encoding.toLowerCase() !== 'chunked') throw new NotHttp('The body is encoded in an unknown way.');
      // Both are a sign of an attack on somebody; what is chunked is read so.
      if (length !== undefined) this.#isReusable = false;
      this.#state = 'size';
    } else if (length === undefined) {
      this.#isReusable = false;
      this.#state = 'endless';
    } else {
      this.#state = 'counted';
      this.#left = parseLength(length);
    }
  }

  #counted(bytes: Buffer): void {
    const piece = bytes.length <= this.#left ? bytes : bytes.subarray(0, this.#left);
    this.#left -= piece.length;
    this.#handler.onData(piece);
    if (this.#left > 0) return;
    if (piece.length < bytes.length) this.#isReusable = false;
    this.#finish();
  }

  #chunked(bytes: Buffer): void {
    // What of the body was found in these bytes stands from `start` to `end`.
    let start = -1;
    let end = -1;
    let at = 0;
    const { length } = bytes;
    while (at < length && !this.#isOver) {
      if (this.#state !== 'chunk') {
        at = this.#between(bytes, at);
        continue;
      }
      const next = Math.min(length, at + this.#left);
      if (start === -1) {
        start = at;
        end = next;
      } else {
        bytes.copyWithin(end, at, next);
        end += next - at;
      }
      this.#left -= next - at;
      at = next;
      if (this.#left === 0) this.#state = 'chunk CR';
    }
    if (start !== -1) this.#handler.onData(bytes.subarray(start, end));
    if (!this.#isOver) return;
    if (at < length) this.#isReusable = false;
    this.#finish();
  }

  get #isOver(): boolean {
    return this.#state === 'over';
  }

  /** Reads what stands between the data of two chunks, or behind the last. Returns where it stopped. */
  #between(bytes: Buffer, begin: number): number {
    let at = begin;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at] as number;
      switch (this.#state) {
        case 'size': {
          const digit = digitOf(byte);
          if (digit !== -1) {
            this.#digits += 1;
            if (this.#digits > MOST_DIGITS) throw new NotHttp('A chunk is too large.');
            this.#left = this.#left * 16 + digit;
          } else if (this.#digits > 0 && byte === CR) this.#state = 'size end';
          else if (this.#digits > 0 && (byte === SEMICOLON || byte === 0x20 || byte === 0x09))
            this.#state = 'extension';
          else throw new NotHttp('The size of a chunk is not a number.');
          break;
        }
        case 'extension':
          this.#extra += 1;
          if (this.#extra > this.#headLimit) throw new NotHttp('The extensions of chunks are too large.');
          if (byte === CR) this.#state = 'size end';
          break;
        case 'size end':
          if (byte !== LF) throw new NotHttp('The size of a chunk has no proper end.');
          this.#digits = 0;
          // Some pad every size, and an answer has as many chunks as it has words.
          this.#extra = 0;
          this.#line = 0;
          this.#state = this.#left === 0 ? 'trailers' : 'chunk';
          break;
        case 'chunk CR':
          if (byte !== CR) throw new NotHttp('A chunk is longer than its size.');
          this.#state = 'chunk LF';
          break;
        case 'chunk LF':
          if (byte !== LF) throw new NotHttp('A chunk is longer than its size.');
          this.#state = 'size';
          break;
        case 'trailers':
          this.#extra += 1;
          if (this.#extra > this.#headLimit) throw new NotHttp('The trailers are too large.');
          if (byte === LF) {
            if (this.#line === 0) {
              this.#state = 'over';
              return at + 1;
            }
            this.#line = 0;
          } else if (byte !== CR) this.#line += 1;
          break;
        default:
          return at;
      }
    }
    return at;
  }

  #finish(): void {
    this.#state = 'over';
    this.#handler.onEnd();
  }
}

/** The lines of a head behind the first (RFC 9112 §5); what is folded over several lines is refused. */
function readFields(text: string, begin: number): IncomingHttpHeaders {
  const headers: Record<string, string | string[]> = {};
  for (let at = begin; at < text.length; ) {
    const colon = text.indexOf(':', at);
    let end = text.indexOf('\r\n', at);
    if (end === -1) end = text.length;
    if (colon === -1 || colon > end) throw new NotHttp('A header has no value.');
    const name = nameOf(text.slice(at, colon));
    const written = text.slice(colon + 1, end);
    // Before it is trimmed: that would take away ends of lines as well.
    if (CONTROL.test(written)) throw new NotHttp('A header holds control characters.');
    const value = written.trim();
    const before = Object.hasOwn(headers, name) ? headers[name] : undefined;
    if (name === 'set-cookie') headers[name] = [...(before ?? []), value];
    else headers[name] = before === undefined ? value : `${before}, ${value}`;
    at = end + 2;
  }
  return headers;
}

function nameOf(written: string): string {
  const known = lowered[written.length];
  if (known !== undefined) for (const each of known) if (each.written === written) return each.name;
  if (!TOKEN.test(written)) throw new NotHttp('A header has no proper name.');
  const name = written.toLowerCase();
  // A copy: as a part of the head it would keep all of that.
  if (known !== undefined && known.length < MOST_OF_LENGTH)
    known.push({ written: Buffer.from(written, 'latin1').toString('latin1'), name });
  return name;
}

/** Several equal lengths are one (RFC 9110 §8.6). */
function parseLength(value: string): number {
  const plain = countOf(value);
  if (plain !== undefined) return plain;
  const [first = '', ...others] = value.split(',').map((each) => each.trim());
  const length = countOf(first);
  if (length === undefined || others.some((other) => other !== first))
    throw new NotHttp('The length of the body is not a number.');
  return length;
}

/** An alert: 21, and a version that begins with 3 (RFC 8446 §5.1). */
function isTls(bytes: Buffer): boolean {
  return bytes[0] === 21 && bytes[1] === 3;
}

/** Whether the first bytes can become a status line. */
function couldBegin(bytes: Buffer): boolean {
  const begin = 'HTTP/1.';
  return begin.startsWith(bytes.toString('latin1', 0, begin.length));
}

/** A hexadecimal digit; -1: it is none. */
function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
