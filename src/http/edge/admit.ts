import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.ts';
import { SluiceError } from '../../core/errors.ts';
import {
  checkHost,
  checkKey,
  checkOrigin,
  type GuardSettings,
  isAnthropicClient,
  isKey,
  isOfGoogle,
  KEY_COOKIE,
  keyInQuery,
} from './guard.ts';
import { setLastingCookie } from './lasting-cookie.ts';

/** Node 24 leaves out those beyond without a word, so a request with that many is refused; newer ones refuse those beyond themselves. */
export const MOST_HEADERS = 200;

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
/** What pages of other origins may read of an answer. */
const EXPOSED =
  'x-request-id, request-id, x-sluice-provider, x-sluice-model, x-sluice-attempts, x-sluice-dropped, x-sluice-stream, retry-after, etag';

/**
 * Everything that is decided before a body is read. Returns false when that was all there is to answer.
 *
 * @param isOpen whether the path is for everybody, with or without the access key
 */
export function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  settings: GuardSettings & Pick<Config, 'limits'>,
  isLoopbackBind: boolean,
  isOpen: boolean,
): boolean {
  const { raw } = request;
  headersOfAll(request, reply);
  checkSize(raw, settings.limits.urlBytes);
  checkHost(raw, settings, isLoopbackBind);
  const origin = checkOrigin(raw, settings);
  if (origin !== undefined && answersOrigin(origin, raw, reply)) return false;
  if (settings.key !== undefined && movesKey(settings.key, raw, reply)) return false;
  request.accessKey = settings.key;
  if (!isOpen) request.bearer = checkKey(raw, settings);
  return true;
}

/** Of every answer, whatever becomes of its request. */
function headersOfAll(request: FastifyRequest, reply: FastifyReply): void {
  const { id, raw } = request;
  reply.headers({ 'x-request-id': id, 'x-content-type-options': 'nosniff', vary: 'Origin' });
  // Caches may keep what says nothing of them, and only a key in Authorization would tell shared ones not to (RFC 9111 §3.5, §4.2.2).
  if (raw.method === 'GET' || raw.method === 'HEAD') reply.header('cache-control', 'no-store');
  // Under this name their official client shows it.
  if (isOfAnthropic(request)) reply.header('request-id', id);
  if (isLast(raw)) reply.header('connection', 'close');
}

function isOfAnthropic({ headers, route }: FastifyRequest): boolean {
  const kind = route?.kind;
  return isAnthropicClient(headers) || (typeof kind === 'object' && kind.dialect === 'anthropic');
}

/** What follows on a connection that shall speak another protocol is none of HTTP to Node, and is not read (RFC 9110 §7.8). */
export function isLast({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined;
}

/** Of the address and the headers; Node itself looks at the bytes of both together. */
function checkSize({ url = '', rawHeaders }: IncomingMessage, urlBytes: number): void {
  if (url.length > urlBytes) throw new SluiceError('uri_too_long', `The address is longer than ${urlBytes} bytes.`);
  if (rawHeaders.length >= 2 * MOST_HEADERS)
    throw new SluiceError('header_too_large', `The request has ${MOST_HEADERS} headers or more.`);
}

/** Lets a page of this origin read the answer. Whether it only asked if it may, and has its answer by now (CORS preflight). */
function answersOrigin(origin: string, { method, headers }: IncomingMessage, reply: FastifyReply): boolean {
  reply.headers({
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': EXPOSED,
  });
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false;
  const asked = headers['access-control-request-headers'];
  reply.headers({
    'access-control-allow-methods': METHODS,
    'access-control-max-age': '600',
    ...(asked === undefined ? {} : { 'access-control-allow-headers': asked }),
  });
  reply.code(200).send('');
  return true;
}

/** The address that is printed at start: its key moves from the address bar into a cookie. Whether this was one. */
function movesKey(key: string, request: IncomingMessage, reply: FastifyReply): boolean {
  if (request.method !== 'GET' || isOfGoogle(request)) return false;
  const given = keyInQuery(request);
  if (given === undefined || !isKey(given, key)) return false;
  setLastingCookie(reply, KEY_COOKIE, encodeURIComponent(given));
  const [path = '/', query = ''] = (request.url ?? '/').split(/\?(.*)/s, 2);
  const rest = query.split('&').filter((pair) => !new URLSearchParams(pair).has('key'));
  // One slash in front: `//host` would lead to another server.
  const to = [path.replace(/^[/\\]+/, '/'), ...(rest.length > 0 ? [rest.join('&')] : [])].join('?');
  reply.redirect(to, 303);
  return true;
}
