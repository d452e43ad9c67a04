import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { validateHeaderName, validateHeaderValue } from '../core/node-http.ts';

/** Names whose last value is remembered; an upstream may bring names of its own. */
const MOST_NAMES = 100;

/** What Node makes up its mind by: how a message is framed, and what becomes of its connection. */
const OF_NODE: ReadonlySet<string> = new Set([
  'connection',
  'content-disposition',
  'content-length',
  'date',
  'keep-alive',
  'trailer',
  'transfer-encoding',
]);

/** A header that was checked: most answers have the same ones. */
interface Line {
  readonly beginning: string;
  value: string | undefined;
  text: string;
}

type Headers = Readonly<Record<string, string | number | readonly string[] | undefined>>;

const lines = new Map<string, Line>();

/** What Node's own `writeHead` ends with: the lines that are there already, and headers that are still to be checked. */
type StoreHeader = (lines: string, headers: Record<string, unknown>) => void;

/**
 * Begins an answer with 200, as `response.writeHead` does: `own` headers, those `ofBody` where it says nothing else, and
 * those of `shared` where neither does. Names are in lower case. Node looks at every character of every header of every answer,
 * which takes more than all of routing; what was the same a moment ago is not looked at here.
 *
 * @throws {TypeError} Node's, for what cannot stand in a header
 */
export function writeHead(response: ServerResponse, shared: Headers, ofBody: Headers, own: Headers): void {
  const { _storeHeader: store } = response as { _storeHeader?: StoreHeader };
  // Node says what is wrong with a second head.
  if (response.headersSent || store === undefined) {
    response.writeHead(200, { ...shared, ...ofBody, ...own } as OutgoingHttpHeaders);
    return;
  }
  const rest: Record<string, unknown> = {};
  let text = 'HTTP/1.1 200 OK\r\n';
  for (const name in shared)
    if (ofBody[name] === undefined && own[name] === undefined) text += lineOf(name, shared[name], rest);
  for (const name in ofBody) if (own[name] === undefined) text += lineOf(name, ofBody[name], rest);
  for (const name in own) text += lineOf(name, own[name], rest);
  store.call(response, text, rest);
}

/** A header as it is sent; empty where Node has to look at it, which `rest` is for. */
function lineOf(name: string, value: Headers[string], rest: Record<string, unknown>): string {
  if (value === undefined) return '';
  let line = lines.get(name);
  if (line !== undefined && line.value === value) return line.text;
  if (typeof value !== 'string' || OF_NODE.has(name)) {
    rest[name] = value;
    return '';
  }
  if (line === undefined) {
    validateHeaderName(name);
    line = { beginning: `${name}: `, value: undefined, text: '' };
    if (lines.size < MOST_NAMES) lines.set(name, line);
  }
  validateHeaderValue(name, value);
  line.text = `${line.beginning}${value}\r\n`;
  line.value = value;
  return line.text;
}
