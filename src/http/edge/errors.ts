import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorDetail, SluiceError, toSluiceError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { type Secrets, withoutSecrets } from '../../core/secrets.ts';
import type { ErrorBody } from '../deps.ts';
import { isLast } from './admit.ts';

/** How long, and how many bytes, a client may go on sending after its request was refused. */
export const LINGER_MS = 2_000;
const LINGER_BYTES = 32 * 1024 * 1024;

/** The text of an error for clients. What came from a provider says which class of failure it is, as front ends expect. */
export function errorText(error: SluiceError): string {
  return error.options.provider === undefined ? error.message : `${error.name}: ${error.message}`;
}

/** The JSON body of every error, except on routes of a dialect that has a form of its own (`PlainRoute.errorBody`). */
export function errorBody(error: SluiceError): Record<string, unknown> {
  const { param, provider, model } = error.options;
  return {
    error: {
      message: errorText(error),
      type: error.type,
      code: error.code,
      param: param ?? null,
    },
    ...(error.code === 'invalid_field' ? { detail: detailOf(error) } : {}),
    ...(model === undefined || model === '' ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
  };
}

/** Dialect B promises a list with every field that is wrong, also where it is no schema that found it. */
function detailOf({ message, options: { detail, param = '' } }: SluiceError): readonly ErrorDetail[] {
  const keys = param.split(/[.[\]]+/).filter((key) => key !== '');
  const loc = ['body', ...keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key))];
  return detail ?? [{ loc, message, type: 'value_error' }];
}

/** What tells of a file that an error now stands in the place of; its type and its length are written anew in any case. */
const OF_FILE = ['etag', 'last-modified', 'accept-ranges', 'content-disposition', 'content-encoding'];

function withoutFile(reply: FastifyReply, status: number): void {
  for (const name of OF_FILE) reply.removeHeader(name);
  // Where a range cannot be had it tells the size.
  if (status !== 416) reply.removeHeader('content-range');
  reply.removeHeader('content-length');
  if (reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
}

const REALM = 'realm="Sluice"';

/**
 * The one exit for errors that happen before an answer has begun.
 *
 * @param unroutedBody the form of an error where no route could say which
 */
export function errorHandler(
  { secrets, log }: { readonly secrets: Secrets; readonly log: Logger },
  unroutedBody: ErrorBody = errorBody,
) {
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const error = withoutSecrets(fromFastify(thrown), secrets);
    if (error.code === 'internal') log.error({ error: thrown, id: request.id }, 'a request failed unexpectedly');
    if (error.code === 'cancelled' && reply.raw.destroyed) return;
    const status = request.route?.errorStatus?.(error) ?? error.status;
    withoutFile(reply, status);
    const { retryAfter, rateLimits = {} } = error.options;
    reply.headers(rateLimits);
    if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
    if (error.status === 401 && error.code === 'unauthorized') reply.header('www-authenticate', challengeOf(request));
    reply.code(status).header('content-type', 'application/json; charset=utf-8');
    const isRouted = request.route !== null && !request.is404;
    const bodyOf = isRouted ? (request.route?.errorBody ?? errorBody) : unroutedBody;
    const text = JSON.stringify(bodyOf(error, request));
    // A body that came along with the header is complete by then.
    if (request.raw.complete) send(reply, text);
    else {
      // A client that has fallen silent sends nothing that would have to be passed over.
      const lingerMs = error.code === 'request_timeout' ? 0 : LINGER_MS;
      setImmediate(() => (request.raw.complete ? send(reply, text) : sendEarly(request, reply, text, lingerMs)));
    }
  };
}

/** Browsers ask for the key where somebody opens an address. The page itself says what to do, without their window. */
function challengeOf({ headers }: FastifyRequest): string {
  const mode = headers['sec-fetch-mode'];
  return mode === undefined || mode === 'navigate' ? `Basic ${REALM}, charset="UTF-8"` : `Bearer ${REALM}`;
}

function send(reply: FastifyReply, text: string): void {
  // Fastify closes after every body that failed; this one is over, so the next request can follow if its client means to send one.
  if (reply.hasHeader('connection') && !isLast(reply.request.raw))
    reply.header('connection', reply.raw.shouldKeepAlive ? 'keep-alive' : 'close');
  reply.send(text);
}

/**
 * Answers while the client is still sending. Its bytes are passed over for a moment: if the connection closed with bytes
 * unread, the client's system would throw away the answer before the client has read it (RFC 9112 §9.6).
 */
function sendEarly(request: FastifyRequest, reply: FastifyReply, text: string, lingerMs: number): void {
  reply.hijack();
  const { raw: response } = reply;
  response.writeHead(reply.statusCode, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  });
  response.write(text);
  const timer = setTimeout(end, lingerMs);
  function end(): void {
    clearTimeout(timer);
    response.end();
  }
  let size = 0;
  request.raw.on('data', (bytes: Buffer) => {
    size += bytes.length;
    // What is not read stays with the client: it has to stop, and finds the answer.
    if (size > LINGER_BYTES) request.raw.pause();
  });
  request.raw.once('end', end).once('close', end).resume();
}

/** Fastify's own errors, in our words. */
function fromFastify(thrown: unknown): SluiceError {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_CONTENT_TYPE':
      return new SluiceError('unsupported_media_type', 'Send the body as JSON, with "Content-Type: application/json".');
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_ASYNC_CONSTRAINT':
      return new SluiceError('invalid_request', 'The path of the request is not valid.');
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new SluiceError('uri_too_long', 'The path of the request is too long.');
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new SluiceError('too_large', 'The body is too large.');
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return new SluiceError('invalid_request', 'The body is not valid.');
    default:
      return toSluiceError(thrown);
  }
}
