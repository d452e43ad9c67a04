import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { BusboyInstance } from '@fastify/busboy';
import type { Limits } from '../../config/config.ts';
import { SluiceError, toSluiceError } from '../../core/errors.ts';
import { extensionFor } from '../../core/media-types.ts';
import { collectBytes } from '../../core/pieces.ts';
import type { Deadlines } from '../../routing/deadlines.ts';
import { lengthOf, refuseEncoding } from './body.ts';
import { SMALL_BYTES, type Turn, type Turns } from './turns.ts';

/** One part of a form, as it arrives. Its body has to be read before the next part comes. */
export interface FormPart {
  readonly name: string;
  /** Name of the file as the client gave it: metadata, never a path. Undefined for plain fields. */
  readonly filename: string | undefined;
  readonly mimeType: string;
  readonly body: AsyncIterable<Buffer>;
}

/** A part with a file, whole in memory. */
export interface FormFile {
  /** Name of the part. */
  readonly name: string;
  /** As the client gave it: metadata, never a path. */
  readonly filename: string;
  readonly mimeType: string;
  readonly bytes: Buffer;
}

/** In the order in which they came. Names may come twice. */
export interface Form {
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  readonly files: readonly FormFile[];
}

type FormLimits = Pick<
  Limits,
  'uploadFileBytes' | 'uploadRequestBytes' | 'uploadParts' | 'uploadNameBytes' | 'clientBodyIdleMs'
> & {
  readonly fieldBytes: number;
  /** Parts that are fields also where they have a file's name, as a browser gives it to every `Blob`. */
  readonly fieldNames?: readonly string[];
};

interface FormReader {
  readonly deadlines: Deadlines;
  /** For large forms that are held in memory. */
  readonly turns?: Turns;
  /** Ends the form with its reason, without waiting for what has not come. */
  readonly givenUp?: AbortSignal;
}

/** Reads a `multipart/form-data` body (RFC 7578) into memory, within limits. */
export async function readForm(
  request: IncomingMessage,
  limits: FormLimits,
  reader: FormReader & { readonly turns: Turns },
): Promise<Form> {
  const fields: { name: string; value: string }[] = [];
  const files: FormFile[] = [];
  for await (const { name, filename, mimeType, body } of formParts(request, limits, reader)) {
    const bytes = await collectBytes(body);
    if (filename !== undefined) files.push({ name, filename, mimeType, bytes });
    else if (isUtf8(bytes)) fields.push({ name, value: bytes.toString('utf8') });
    else throw wrongPart(name, `The part '${shown(name)}' is not valid UTF-8.`);
  }
  return { fields, files };
}

/** The parts of a form one after the other. The client is held back while a part is not read. */
export async function* formParts(
  request: IncomingMessage,
  limits: FormLimits,
  { deadlines, turns, givenUp }: FormReader,
): AsyncGenerator<FormPart, void, undefined> {
  refuseEncoding(request);
  const announced = lengthOf(request);
  if (announced > limits.uploadRequestBytes) throw requestTooLarge(limits);
  const { Busboy } = await import('@fastify/busboy');
  let parser: BusboyInstance;
  try {
    parser = new Busboy({
      headers: { ...request.headers, 'content-type': request.headers['content-type'] ?? '' },
      // Every part as bytes: as text, letters that are no UTF-8 would silently become others.
      isPartAFile: () => true,
      limits: { parts: limits.uploadParts },
    });
  } catch {
    throw malformed();
  }

  const arrived: FormPart[] = [];
  const open = new Set<Readable>();
  let failure: SluiceError | undefined;
  let ended = false;
  let isOver = false;
  let turn: Turn | undefined;
  let hasAsked = false;
  let isWaiting = false;
  let wake = (): void => {};
  const fail = (error: SluiceError): void => {
    failure ??= error;
    for (const body of open) body.destroy(failure);
    turn?.end();
    wake();
  };
  let size = 0;
  const onIdle = (): void => {
    // A client that is held back, because it is not its turn or we are busy with an earlier part, is not idle.
    if (isWaiting || parser.writableNeedDrain || request.complete)
      deadline = deadlines.start(limits.clientBodyIdleMs, onIdle);
    else fail(new SluiceError('request_timeout', 'The form stopped in the middle.'));
  };
  let deadline = deadlines.start(limits.clientBodyIdleMs, onIdle);
  const goOn = (): void => {
    if (!isWaiting && !parser.writableNeedDrain) request.resume();
  };
  const waitForTurn = async (of: Turns): Promise<void> => {
    hasAsked = true;
    isWaiting = true;
    request.pause();
    const taken = await of.take(announced === 0 ? limits.uploadRequestBytes : announced);
    isWaiting = false;
    if (isOver || failure !== undefined) {
      taken.end();
      return;
    }
    turn = taken;
    deadline.touch();
    goOn();
  };
  const onData = (bytes: Buffer): void => {
    if (isOver) return;
    deadline.touch();
    turn?.moved(bytes.length);
    size += bytes.length;
    if (size > limits.uploadRequestBytes) {
      fail(requestTooLarge(limits));
      return;
    }
    if (!parser.write(bytes)) request.pause();
    // Not before its first bytes: one that stands still from the beginning would keep its turn from the others.
    if (turns !== undefined && !hasAsked && Math.max(size, announced) > SMALL_BYTES) void waitForTurn(turns);
  };
  const onEnd = (): void => {
    if (!isOver) parser.end();
  };
  const onClose = (): void => {
    // All of it may have arrived: what was not read by then, nobody will read.
    if (!request.readableEnded)
      fail(new SluiceError('invalid_request', 'The request ended before the form was complete.'));
  };
  // The library's types promise both names; a part may have neither.
  parser.on('file', (name: string | undefined, body, filename: string | undefined, _encoding, mimeType) => {
    const part = toPart({ name: name ?? '', filename, mimeType, body }, limits);
    const tooLong = longName(part.name, filename, limits);
    if (tooLong !== undefined) fail(tooLong);
    open.add(body);
    body.once('close', () => open.delete(body));
    body.on('error', () => fail(malformed()));
    arrived.push(part);
    wake();
  });
  parser.on('partsLimit', () =>
    fail(new SluiceError('invalid_request', `The form has more than ${limits.uploadParts} parts.`)),
  );
  parser.on('error', () => fail(malformed()));
  parser.on('finish', () => {
    ended = true;
    wake();
  });
  parser.on('drain', goOn);
  request.on('data', onData).on('end', onEnd).on('close', onClose);
  if (request.destroyed) onClose();
  const onGivenUp = (): void => fail(toSluiceError(givenUp?.reason));
  givenUp?.addEventListener('abort', onGivenUp, { once: true });
  if (givenUp?.aborted) onGivenUp();
  try {
    for (;;) {
      if (failure !== undefined) throw failure;
      const part = arrived.shift();
      if (part !== undefined) yield part;
      else if (ended) return;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    isOver = true;
    deadline.clear();
    if (!ended) request.pause();
    // One step later the handler has passed it on.
    if (turn !== undefined) setImmediate(() => turn?.end());
  }
}

function longName(name: string, filename = '', { uploadNameBytes: most }: FormLimits): SluiceError | undefined {
  if (Buffer.byteLength(filename) > most) return wrongPart(name, `A file name has more than ${most} bytes.`);
  if (Buffer.byteLength(name) > most) return wrongPart(name, `The name of a part has more than ${most} bytes.`);
  return undefined;
}

function toPart(
  { name, filename, mimeType, body }: FormPart & { readonly body: Readable },
  limits: FormLimits,
): FormPart {
  // Some send what was pasted without a name.
  const looksLikeFile =
    filename !== undefined || mimeType === 'application/octet-stream' || extensionFor(mimeType) !== undefined;
  if (looksLikeFile && !limits.fieldNames?.includes(name))
    return { name, filename: filename ?? '', mimeType, body: bounded(body, limits.uploadFileBytes, 'file', name) };
  const field = bounded(body, limits.fieldBytes, `part '${shown(name)}'`, name);
  return { name, filename: undefined, mimeType, body: field };
}

/** At most `limit` bytes of a part. */
async function* bounded(
  body: Readable,
  limit: number,
  what: string,
  part: string,
): AsyncGenerator<Buffer, void, undefined> {
  let size = 0;
  try {
    for await (const bytes of body) {
      size += (bytes as Buffer).length;
      if (size > limit) throw tooLarge(what, limit, part);
      yield bytes as Buffer;
    }
  } catch (error) {
    throw error instanceof SluiceError ? error : malformed();
  }
}

function requestTooLarge({ uploadRequestBytes }: FormLimits): SluiceError {
  return tooLarge('request', uploadRequestBytes);
}

function tooLarge(what: string, limit: number, part?: string): SluiceError {
  const options = part === undefined ? {} : { param: shown(part) };
  return new SluiceError('too_large', `The ${what} is larger than ${limit} bytes.`, options);
}

function wrongPart(part: string, message: string): SluiceError {
  return new SluiceError('invalid_request', message, { param: shown(part) });
}

/** As much of a part's name as an error tells. */
function shown(part: string): string {
  return part.slice(0, 64);
}

function malformed(): SluiceError {
  return new SluiceError('invalid_request', 'The body is not a valid multipart form.');
}
