/** Characters that are looked at: a head beyond them is left to Node. */
const MOST_CHARACTERS = 4_096;

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
  /** The text around the value of `content-length`: the next head of the same client differs in that alone. */
  readonly before: string;
  readonly after: string;
}

/**
 * Headers that say more of the connection, or of where the message ends, than a length does, and the one of which Node makes a
 * list. Requests with them are none of ours.
 */
const NOT_PLAIN: ReadonlySet<string> = new Set([
  '__proto__',
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Of all that RFC 9112 §3 and RFC 9110 §5.5 allow, what nobody reads in two ways. */
const REQUEST_LINE = /^(GET|POST) (\/[\w/.:~%?=&+,@!$-]*) HTTP\/1\.1$/;
const HEADER_LINE = /^([\w-]+): ?([!-~](?:[ -~]*[!-~])?)$/;
const LENGTH_VALUE = /^\d{1,6}$/;

/**
 * Reads heads of requests that leave no question open. What clients send again and again is recognized: it costs a comparison then.
 */
export class PlainHeads {
  readonly #mostBytes: number;
  #latest: PlainHead | undefined;

  /** @param headerBytes a head of that many bytes may be refused, which is not decided here */
  constructor(headerBytes: number) {
    this.#mostBytes = Math.min(MOST_CHARACTERS, headerBytes);
  }

  /**
   * The head with which these bytes begin; undefined where it is not plain, not whole or long.
   *
   * @param known the head that came on the same connection before
   */
  read(bytes: Buffer, known: PlainHead | undefined): PlainHead | undefined {
    const text = bytes.toString('latin1', 0, this.#mostBytes);
    const end = text.indexOf(END);
    if (end === -1) return undefined;
    const latest = this.#latest;
    let head = known === undefined ? undefined : likeLast(text, end, known);
    if (latest !== undefined && latest !== known) head ??= likeLast(text, end, latest);
    head ??= parse(text, end);
    if (head !== undefined) this.#latest = head;
    return head;
  }
}

/** The head of a text that is like the last one but for the length. */
function likeLast(text: string, end: number, last: PlainHead): PlainHead | undefined {
  const { before, after, headers, rawHeaders } = last;
  const length = text.slice(before.length, end - after.length);
  const given = headers[LENGTH];
  if (length !== given && (given === undefined ? length !== '' : !LENGTH_VALUE.test(length))) return undefined;
  if (!text.startsWith(before) || !text.startsWith(after, end - after.length)) return undefined;
  if (length === given || given === undefined) return last;
  const all = rawHeaders.slice();
  all[all.findIndex((name, at) => at % 2 === 0 && name.toLowerCase() === LENGTH) + 1] = length;
  const now = { headers: { ...headers, [LENGTH]: length }, rawHeaders: all, bodyBytes: Number(length) };
  return { ...last, ...now, headBytes: end + END.length };
}

function parse(text: string, end: number): PlainHead | undefined {
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const [, method, url] = REQUEST_LINE.exec(first) ?? [];
  if (method === undefined || url === undefined) return undefined;
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
  if (headers['host'] === undefined || (method === 'POST') !== (length !== undefined)) return undefined;
  const after = text.slice(at + (length ?? '').length, end);
  const sizes = { headBytes: end + END.length, bodyBytes: Number(length ?? 0) };
  return { method, url, headers, rawHeaders, ...sizes, before: text.slice(0, at), after };
}
