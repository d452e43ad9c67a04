import { MOST_HEADERS } from './admit.ts';

/** A longer head is left to Node. */
const MOST_BYTES = 4_096;

const END = '\r\n\r\n';
const LENGTH = 'content-length';

/** What the head of a plain request says. */
export interface PlainHead {
  readonly method: string;
  /** The path and the query. */
  readonly url: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names and values in turns, as they came. */
  readonly rawHeaders: readonly string[];
  /** Bytes of the head. */
  readonly headBytes: number;
  /** Bytes of the body. */
  readonly bodyBytes: number;
  /** The text around the value of `content-length`, to the last line's end: the next head of the same client differs in that alone. */
  readonly before: string;
  readonly after: string;
}

/**
 * Headers that say more of the connection, or of where the message ends, than a length does, and the one of which Node makes a
 * list. What has them is not plain.
 */
const NOT_PLAIN: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'proxy-connection',
  'set-cookie',
  'transfer-encoding',
  'upgrade',
]);

/** Of all that RFC 9112 §3 and RFC 9110 §5.5 allow, what nobody reads in two ways. */
const REQUEST_LINE = /^(GET|POST) (\/[\w/.:~%?=&+,@!$-]*) HTTP\/1\.1$/;
const HEADER_LINE = /^([\w-]+): ?([!-~](?:[ -~]*[!-~])?)$/;
const MOST_DIGITS = 6;
const LENGTH_VALUE = /^\d{1,6}$/;
const ZERO = 0x30;

/**
 * Reads heads of requests that leave no question open. What clients send again and again is recognized: it costs a comparison then.
 */
export class PlainHeads {
  readonly #mostBytes: number;
  #latest: PlainHead | undefined;

  /** @param headerBytes a head of that many bytes may be refused, which is not decided here */
  constructor(headerBytes: number) {
    this.#mostBytes = Math.min(MOST_BYTES, headerBytes);
  }

  /**
   * The head with which these bytes begin; undefined where it is not plain, not whole or long.
   *
   * @param known the head that came on the same connection before
   */
  read(bytes: Buffer, known: PlainHead | undefined): PlainHead | undefined {
    const latest = this.#latest;
    let head = known === undefined ? undefined : likeLast(bytes, known);
    if (latest !== undefined && latest !== known) head ??= likeLast(bytes, latest);
    head ??= this.#parse(bytes);
    if (head !== undefined) this.#latest = head;
    return head;
  }

  #parse(bytes: Buffer): PlainHead | undefined {
    const end = bytes.subarray(0, this.#mostBytes).indexOf(END);
    return end === -1 ? undefined : parse(bytes, end);
  }
}

/**
 * The head that is like the last one but for the length. Compared as whole texts of the same size: V8 does that eight bytes at a time,
 * while `startsWith` looks at one after the other.
 */
function likeLast(bytes: Buffer, last: PlainHead): PlainHead | undefined {
  const { before, after, headers, rawHeaders, bodyBytes } = last;
  let at = before.length;
  if (bytes.toString('latin1', 0, at) !== before) return undefined;
  let length = 0;
  for (const end = at + MOST_DIGITS; at < end; at += 1) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) break;
    length = length * 10 + digit;
  }
  const hasLength = headers[LENGTH] !== undefined;
  if (hasLength !== at > before.length) return undefined;
  if (bytes.toString('latin1', at, at + after.length) !== after) return undefined;
  const headBytes = at + after.length;
  if (length === bodyBytes && headBytes === last.headBytes) return last;
  const digits = bytes.toString('latin1', before.length, at);
  const all = rawHeaders.slice();
  all[all.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === LENGTH) + 1] = digits;
  return { ...last, headers: { ...headers, [LENGTH]: digits }, rawHeaders: all, bodyBytes: length, headBytes };
}

function parse(bytes: Buffer, end: number): PlainHead | undefined {
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const [, method, url] = REQUEST_LINE.exec(first) ?? [];
  if (method === undefined || url === undefined) return undefined;
  // They are refused, and the connection closed.
  if (lines.length > MOST_HEADERS) return undefined;
  const headers: Record<string, string> = {};
  const rawHeaders: string[] = [];
  /** Where the value of the length stands, or would. */
  let at = end;
  let lineEnd = first.length;
  for (const line of lines) {
    lineEnd += 2 + line.length;
    const [, name, value] = HEADER_LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) return undefined;
    const lower = name.toLowerCase();
    // Most clients say that the connection is to be kept, which it is anyway.
    const isPlain = !NOT_PLAIN.has(lower) || (lower === 'connection' && value === 'keep-alive');
    if (!isPlain || Object.hasOwn(headers, lower)) return undefined;
    if (lower === LENGTH) {
      if (!LENGTH_VALUE.test(value)) return undefined;
      at = lineEnd - value.length;
    }
    headers[lower] = value;
    rawHeaders.push(name, value);
  }
  const length = headers[LENGTH];
  if ((method === 'POST') !== (length !== undefined)) return undefined;
  const headBytes = end + END.length;
  const before = bytes.toString('latin1', 0, at);
  const after = bytes.toString('latin1', at + (length ?? '').length, headBytes);
  return { method, url, headers, rawHeaders, headBytes, bodyBytes: Number(length ?? 0), before, after };
}
