import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Limits } from '../../config/config.ts';
import { SluiceError } from '../../core/errors.ts';
import { type Member, scanObject } from '../../core/json.ts';
import { detach, joinOwn, type Pieces } from '../../core/pieces.ts';
import type { Deadlines } from '../../routing/deadlines.ts';
import type { JsonBody } from './json-body.ts';
import { readLongChat } from './long-chat.ts';
import { PlainRequest } from './plain-requests.ts';
import { SMALL_BYTES, type Turn, type Turns } from './turns.ts';
import { MOST_FIELDS, tooDeep, tooManyFields, weighJson } from './weigh.ts';

/** More of them would cost more to send than to join: networks bring a body in hundreds, and a client may send single bytes. */
const MOST_PIECES = 32;

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** What reading a body takes: how long a client may fall silent and how deep JSON may nest, and the turns of large bodies. */
export interface BodyReader {
  readonly limits: Pick<Limits, 'clientBodyIdleMs' | 'jsonDepth'>;
  readonly deadlines: Deadlines;
  readonly turns: Turns;
}

/**
 * The JSON object that a request brings, of at most `limit` bytes: at once where the body came with the head, which spares a request
 * its promises.
 *
 * @param outlines the route can do with the outline of a long chat
 */
export function readJson(
  request: IncomingMessage,
  limit: number,
  reader: BodyReader,
  outlines = false,
): JsonBody | Promise<JsonBody> {
  refuseEncoding(request);
  announcedIn(request, limit);
  const plain = request instanceof PlainRequest ? request.takeBody() : undefined;
  return plain === undefined ? readJsonLater(request, limit, reader, outlines) : toJson([plain], reader, outlines);
}

async function readJsonLater(
  request: IncomingMessage,
  limit: number,
  reader: BodyReader,
  outlines: boolean,
): Promise<JsonBody> {
  const { pieces, turn } = await readBody(request, limit, reader);
  try {
    return toJson(pieces.length > MOST_PIECES ? [joinOwn(pieces)] : pieces, reader, outlines);
  } finally {
    // One step later the handler has passed it on.
    if (turn !== undefined) setImmediate(() => turn.end());
  }
}

function toJson(pieces: Pieces, { limits }: BodyReader, outlines: boolean): JsonBody {
  const parse = (bytes: Buffer): JsonBody => parseJson(bytes, limits);
  return (outlines ? readLongChat(pieces, parse) : undefined) ?? parse(joinOwn(pieces));
}

/** What a request brings, as it is, of at most `limit` bytes. */
export async function readBytes(request: IncomingMessage, limit: number, reader: BodyReader): Promise<Buffer> {
  refuseEncoding(request);
  const { pieces, turn } = await readBody(request, limit, reader);
  if (turn !== undefined) setImmediate(() => turn.end());
  return joinOwn(pieces);
}

interface Body {
  readonly pieces: Pieces;
  /** Of a large body: to be ended. */
  readonly turn: Turn | undefined;
}

/** The whole body of a request. Ends the wait for clients that stop sending in the middle. */
function readBody(request: IncomingMessage, limit: number, { limits, deadlines, turns }: BodyReader): Promise<Body> {
  const announced = announcedIn(request, limit);
  return new Promise((resolve, reject) => {
    let pieces: Buffer[] = [];
    /** Takes the place of the pieces where the size is known: joined, they would be in memory twice. */
    let whole: Buffer | undefined;
    let size = 0;
    let asked = false;
    let turn: Turn | undefined;
    let settled = false;
    const idleMs = limits.clientBodyIdleMs;
    const deadline = deadlines.start(idleMs, () => {
      fail(new SluiceError('request_timeout', `The body of the request stopped for ${idleMs} ms.`));
    });
    const settle = (): void => {
      settled = true;
      deadline.clear();
    };
    const fail = (error: SluiceError): void => {
      settle();
      pieces = [];
      request.pause();
      turn?.end();
      reject(error);
    };
    const waitForTurn = async (): Promise<void> => {
      asked = true;
      request.pause();
      deadline.set(Number.POSITIVE_INFINITY);
      turn = await turns.take(announced === 0 ? limit : announced);
      if (settled) return turn.end();
      if (announced > 0) {
        whole = Buffer.allocUnsafeSlow(announced);
        let at = 0;
        for (const piece of pieces) at += piece.copy(whole, at);
        detach(pieces);
        pieces = [];
      }
      deadline.set(idleMs);
      request.resume();
    };
    const onData = (bytes: Buffer): void => {
      if (settled) return;
      deadline.touch();
      const { length } = bytes;
      turn?.moved(length);
      if (whole === undefined) pieces.push(bytes);
      else {
        bytes.copy(whole, size);
        detach([bytes]);
      }
      size += length;
      if (size > limit) fail(tooLarge(limit));
      // Not before its first bytes: one that stands still from the beginning would keep its turn from the others.
      else if (!asked && Math.max(size, announced) > SMALL_BYTES) void waitForTurn();
    };
    const onEnd = (): void => {
      if (settled) return;
      settle();
      resolve({ pieces: whole === undefined ? pieces : [whole], turn });
      // The listeners stay, since taking them off costs more than the body, and must not hold it.
      pieces = [];
      whole = undefined;
    };
    const onClose = (): void => {
      if (!settled) fail(new SluiceError('invalid_request', 'The request ended before its body was complete.'));
    };
    // Whatever breaks a request closes it; without a listener for errors Node tells nobody else of them.
    request.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}

/** The length that the client has announced, within the limit. */
function announcedIn(request: IncomingMessage, limit: number): number {
  const announced = lengthOf(request);
  if (announced > limit) throw tooLarge(limit);
  return announced;
}

/** The length that the client has announced; 0 when it has not. */
export function lengthOf(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0);
}

/** Compressed bodies are not read: a small one could unpack to anything. */
export function refuseEncoding({ headers }: IncomingMessage): void {
  const { 'content-encoding': content = 'identity', 'transfer-encoding': transfer = 'chunked' } = headers;
  // Node takes out the chunks, and leaves what is below them as it is (RFC 9112 §6.1).
  if (content.toLowerCase() === 'identity' && transfer.toLowerCase() === 'chunked') return;
  throw new SluiceError('unsupported_media_type', 'Compressed request bodies are not accepted.');
}

/** What a JSON body says, for a handler that does not pass its bytes on: their memory is given back. */
export function bodyValue(request: { readonly body: unknown }): Record<string, unknown> {
  const { value, held } = request.body as JsonBody;
  detach(held);
  return value;
}

type JsonLimits = Pick<Limits, 'jsonDepth'>;

/** Parses what has to be a JSON object; `what` it is, in the words of an error. */
export function parseJson(bytes: Buffer, limits: JsonLimits, what = 'The body'): JsonBody {
  if (bytes.length === 0) throw new SluiceError('invalid_request', `${what} is empty: send a JSON object.`);
  if (!isUtf8(bytes)) throw new SluiceError('invalid_request', `${what} is not valid UTF-8.`);
  weighJson(bytes, limits);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    // RFC 8259, section 8.1; editors and shells of Windows put one before what they save.
    const why = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
      ? ': it begins with a byte order mark, send it without'
      : position(error);
    throw new SluiceError('invalid_request', `${what} is not valid JSON${why}.`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new SluiceError('invalid_request', `${what} must be a JSON object.`);
  }
  const names = Object.keys(value);
  const { members, depth } = scanObject(bytes, names);
  if (depth > limits.jsonDepth) throw tooDeep(limits.jsonDepth);
  if (members.length > MOST_FIELDS) throw tooManyFields();
  // Of two members of one name the value has the last.
  if (names.length !== members.length) refuseTwice(members);
  return { bytes, value: value as Record<string, unknown>, members, held: [bytes] };
}

function refuseTwice(members: readonly Member[]): void {
  const names = new Set<string>();
  for (const { name } of members) {
    if (names.has(name))
      throw new SluiceError('invalid_request', `The body has the field '${name.slice(0, 64)}' twice.`, {
        param: name.slice(0, 64),
      });
    names.add(name);
  }
}

/** Where V8 gave up, without the piece of the body that it quotes. */
function position(error: unknown): string {
  const found = error instanceof Error ? /position (\d+)/.exec(error.message) : null;
  return found === null ? '' : ` (at byte ${found[1]} or so)`;
}

function tooLarge(limit: number): SluiceError {
  return new SluiceError('too_large', `The body is larger than ${limit} bytes.`);
}

/**
 * An id that clients choose (bucket, share, user): 1 to 64 of `[A-Za-z0-9_-]` with a letter or digit, matched as a whole and
 * never changed into another one.
 */
export function parseId(id: string, param: string): string {
  if (/^(?=.*[A-Za-z0-9])[A-Za-z0-9_-]{1,64}$/.test(id)) return id;
  throw new SluiceError(
    'invalid_request',
    `'${param}' must be 1 to 64 letters, digits, '_' or '-', with at least one letter or digit.`,
    { param },
  );
}
