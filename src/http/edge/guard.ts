import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isLoopbackName } from '../../config/bind.ts';
import { SluiceError } from '../../core/errors.ts';
import { lastOf } from '../../core/last-of.ts';

/** Who may call: the answers of S-1, S-2 and S-4, decided before any work is done. */
export interface GuardSettings {
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly key?: string;
}

/** Name of the cookie that carries the access key of a browser. */
export const KEY_COOKIE = 'sluice_key';

/** Where clients of Anthropic's API put their key, and the header by which they are known. */
const KEY_HEADER = 'x-api-key';
const ANTHROPIC_HEADER = 'anthropic-version';

/**
 * Paths of Google's API, and those of OpenAI's that are Google's for its clients. Below `openai/` Google speaks as OpenAI does,
 * and only methods of models, which have a colon, are those of a provider with that name.
 */
const GOOGLE_PATH = /^\/(v1beta\/(?!openai\/[^:?]*(\?|$))|upload\/v1|v1\/models\/[^?]*:[A-Za-z]+(\?|$))/;
const SHARED_PATH = /^\/v1\/(models|files)(\/|\?|$)/;
/** The header by which those clients send their key, where they do not put it into the query; and the one in which they say who they are. */
const GOOGLE_KEY_HEADER = 'x-goog-api-key';
const GOOGLE_CLIENT_HEADER = 'x-goog-api-client';

/** Paths of Azure's form of OpenAI's API, and where its clients put their key. */
const AZURE_PATH = /^\/openai\//;
const AZURE_KEY_HEADER = 'api-key';

/** Values of Sec-Fetch-Site that do not speak of another page. */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);
/** Names that nobody outside can have: without a dot, or below what is for private networks (RFC 6762, RFC 8375, ICANN's `.internal`). */
const PRIVATE_NAME = /^[^.]+$|\.(local|internal|home\.arpa)$/;
/** The pages, as written: the router would find other routes under percent-encoded names too. */
const PAGE = /^\/(docs\/?|[\w-]+\.html)?(\?|$)/;

/**
 * Refuses requests whose Host is not ours. A page that rebinds its own name to 127.0.0.1 still sends that name
 * (DNS rebinding), so on a loopback bind only loopback names count. Beyond loopback such a page would get in where no key is
 * asked for; with a key, names count as soon as the operator has listed some.
 */
export function checkHost(request: IncomingMessage, settings: GuardSettings, isLoopbackBind: boolean): void {
  let hosts = 0;
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i];
    if (name !== undefined && name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  const name = hosts === 1 ? nameInHost(request.headers.host ?? '') : undefined;
  if (name === undefined) throw new SluiceError('invalid_request', 'A request needs exactly one valid Host header.');
  if (!(request.url ?? '').startsWith('/')) {
    throw new SluiceError('invalid_request', 'The request target must be a path.');
  }
  if (isLoopbackName(name) || settings.allowedHosts.some((host) => nameOf(host) === name)) return;
  if (!isLoopbackBind) {
    if (settings.key !== undefined && settings.allowedHosts.length === 0) return;
    if (isIP(name) !== 0 || PRIVATE_NAME.test(name)) return;
  }
  throw new SluiceError(
    'forbidden',
    `Sluice does not answer under the name ${name.slice(0, 100)}. Add it to allowedHosts in sluice.yaml, or use ` +
      `${isLoopbackBind ? 'localhost' : 'the address of the machine'}.`,
  );
}

/** The Origin that may read the answer; undefined when there is none. Refuses foreign pages. */
export function checkOrigin(request: IncomingMessage, settings: GuardSettings): string | undefined {
  const { origin } = request.headers;
  if (origin !== undefined) {
    if (isOwnOrigin(origin, request.headers.host) || settings.allowedOrigins.includes(origin)) return origin;
    throw new SluiceError(
      'forbidden',
      'Pages of another origin may not call Sluice. Add the origin to allowedOrigins in sluice.yaml if they should; for the ' +
        'page of Sluice itself, a proxy in front must hand on the Host header as the browser sent it.',
    );
  }
  const site = request.headers['sec-fetch-site'];
  if (site === undefined || OWN_SITES.has(String(site))) return undefined;
  // Other ports of this machine are the same site; elsewhere it may be the page of somebody else below the same domain.
  if (site === 'same-site' && isLoopbackName(nameOf(request.headers.host ?? ''))) return undefined;
  // A link on another site may lead to the page, but not make it do anything.
  const isVisit = request.headers['sec-fetch-mode'] === 'navigate' && PAGE.test(request.url ?? '');
  if (isVisit && (request.method === 'GET' || request.method === 'HEAD')) return undefined;
  throw new SluiceError('forbidden', 'Requests from other sites are refused.');
}

/**
 * Checks the access key and returns what else the Authorization header holds: a key for the provider. Paths of stored media
 * are open, since `<img>` cannot send headers, and their names cannot be guessed.
 */
export function checkKey(request: IncomingMessage, settings: GuardSettings): string | undefined {
  const { scheme, words } = authorization(request.headers.authorization);
  const ofVendor = googleKey(request) ?? keyOfAzure(request);
  if (settings.key === undefined) return scheme === 'bearer' ? words[0] : ofVendor;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead && /^\/(media|images|thumbnail)\//.test(request.url ?? '')) return undefined;
  if (scheme === 'bearer' && isKey(words[0], settings.key)) return words[1];
  if (scheme === 'basic' && isKey(passwordOf(words[0]), settings.key)) return undefined;
  if (isKey(cookieOf(request.headers.cookie, KEY_COOKIE), settings.key)) return undefined;
  if (isKey(keyOfAnthropic(request), settings.key) || isKey(ofVendor, settings.key))
    return scheme === 'bearer' ? words[0] : undefined;
  throw new SluiceError('unauthorized', 'This server asks for its access key: send "Authorization: Bearer <key>".');
}

/** The key that a client of Anthropic's API sent in its way. */
function keyOfAnthropic({ headers }: IncomingMessage): string | undefined {
  const given = headers[KEY_HEADER];
  return typeof given === 'string' && isAnthropicClient(headers) ? given : undefined;
}

/** Whether a client of Anthropic's API asks. */
export function isAnthropicClient(headers: IncomingMessage['headers']): boolean {
  return headers[ANTHROPIC_HEADER] !== undefined;
}

/** Whether a request speaks to the part of this server that is like Google's API. */
export function isOfGoogle(request: IncomingMessage): boolean {
  const { url = '' } = request;
  return GOOGLE_PATH.test(url) || (isGoogleClient(request.headers) && SHARED_PATH.test(url));
}

/** Whether a client of Google's API asks. */
export function isGoogleClient(headers: IncomingMessage['headers']): boolean {
  return headers[GOOGLE_KEY_HEADER] !== undefined || headers[GOOGLE_CLIENT_HEADER] !== undefined;
}

/** The key that a client of Google's API sent in one of its ways. */
function googleKey(request: IncomingMessage): string | undefined {
  if (!isOfGoogle(request)) return undefined;
  const header = request.headers[GOOGLE_KEY_HEADER];
  if (typeof header === 'string') return header;
  return keyInQuery(request);
}

/** The key that a client of Azure's API sent in its way. */
function keyOfAzure({ url = '', headers }: IncomingMessage): string | undefined {
  const given = headers[AZURE_KEY_HEADER];
  return typeof given === 'string' && AZURE_PATH.test(url) ? given : undefined;
}

/** `key` of the query, where Google's clients and the address that is printed at start have it. */
export function keyInQuery({ url = '' }: IncomingMessage): string | undefined {
  const at = url.indexOf('?');
  return at === -1 ? undefined : (new URLSearchParams(url.slice(at + 1)).get('key') ?? undefined);
}

/** Compares in constant time, whatever the length. */
export function isKey(given: string | undefined, key: string): boolean {
  if (given === undefined) return false;
  const a = Buffer.from(given);
  const b = Buffer.from(key);
  return a.length === b.length && timingSafeEqual(a, b);
}

function isOwnOrigin(origin: string, host: string | undefined): boolean {
  let url: URL;
  try {
    url = new URL(origin);
  } catch {
    return false;
  }
  if ((url.protocol !== 'http:' && url.protocol !== 'https:') || url.origin !== origin) return false;
  return url.host === host || isLoopbackName(nameOf(url.host));
}

/** The name in a Host header; undefined where that is not valid. */
const nameInHost = lastOf((host) =>
  /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/.test(host) ? nameOf(host) : undefined,
);

function nameOf(host: string): string {
  const name = host.startsWith('[') ? host.slice(1, host.indexOf(']')) : host.replace(/:\d+$/, '');
  return name.toLowerCase();
}

function authorization(header: string | undefined): { scheme: string; words: readonly string[] } {
  const text = (header ?? '').trim();
  const end = text.search(/\s/);
  if (end === -1) return { scheme: text.toLowerCase(), words: [] };
  const rest = text.slice(end).trimStart();
  return { scheme: text.slice(0, end).toLowerCase(), words: /\s/.test(rest) ? rest.split(/\s+/) : [rest] };
}

function passwordOf(credentials: string | undefined): string | undefined {
  const text = Buffer.from(credentials ?? '', 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1 ? undefined : text.slice(colon + 1);
}

/** The value of one cookie of a `Cookie` header. */
export function cookieOf(header: string | undefined, wanted: string): string | undefined {
  for (const pair of (header ?? '').split(';')) {
    const [name, value] = pair.trim().split('=', 2);
    if (name !== wanted || value === undefined) continue;
    try {
      return decodeURIComponent(value);
    } catch {
      return undefined;
    }
  }
  return undefined;
}
