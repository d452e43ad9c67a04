import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { SluiceError } from '../../core/errors.ts';
import { type Member, scanObject } from '../../core/json.ts';
import type { Deadlines } from '../../routing/deadlines.ts';
import { MOST_FIELDS, tooDeep, tooManyFields, weighJson } from './weigh.ts';

/** A JSON body: as bytes, as value, and where its members stand. */
export interface JsonBody {
  readonly bytes: Buffer;
  readonly value: Record<string, unknown>;
  readonly members: readonly Member[];
}

/** The whole body of a request as bytes. Ends the wait for clients that stop sending in the middle. */
export function readBody(
  request: IncomingMessage,
  limit: number,
  idleMs: number,
  deadlines: Deadlines,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    refuseEncoding(request);
    if (Number(request.headers['content-length'] ?? 0) > limit) {
      reject(tooLarge(limit));
      return;
    }
    const pieces: Buffer[] = [];
    let size = 0;
    const deadline = deadlines.start(idleMs, () => {
      settle(new SluiceError('request_timeout', `The body of the request stopped for ${idleMs} ms.`));
    });
    const settle = (error: Error | undefined): void => {
      deadline.clear();
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      if (error === undefined)
        resolve(pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces));
      else {
        request.pause();
        reject(error);
      }
    };
    const onData = (bytes: Buffer): void => {
      deadline.touch();
      size += bytes.length;
      pieces.push(bytes);
      if (size > limit) settle(tooLarge(limit));
    };
    const onEnd = (): void => settle(undefined);
    const onClose = (): void =>
      settle(new SluiceError('invalid_request', 'The request ended before its body was complete.'));
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

/** Compressed bodies are not read: a small one could unpack to anything. */
export function refuseEncoding(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'];
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return;
  throw new SluiceError('unsupported_media_type', 'Compressed request bodies are not accepted.');
}

/** Parses a body that has to be a JSON object. */
export function parseJson(bytes: Buffer, limits: { readonly jsonDepth: number }): JsonBody {
  if (!isUtf8(bytes)) throw new SluiceError('invalid_request', 'The body is not valid UTF-8.');
  weighJson(bytes, limits);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new SluiceError('invalid_request', `The body is not valid JSON${position(error)}.`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new SluiceError('invalid_request', 'The body must be a JSON object.');
  }
  const { members, depth } = scanObject(bytes);
  if (depth > limits.jsonDepth) throw tooDeep(limits.jsonDepth);
  if (members.length > MOST_FIELDS) throw tooManyFields();
  const names = new Set<string>();
  for (const { name } of members) {
    if (names.has(name))
      throw new SluiceError('invalid_request', `The body has the field '${name.slice(0, 64)}' twice.`, {
        param: name.slice(0, 64),
      });
    names.add(name);
  }
  return { bytes, value: value as Record<string, unknown>, members };
}

/** Where V8 gave up, without the piece of the body that it quotes. */
function position(error: unknown): string {
  const found = error instanceof Error ? /position (\d+)/.exec(error.message) : null;
  return found === null ? '' : ` (at byte ${found[1]} or so)`;
}

function tooLarge(limit: number): SluiceError {
  return new SluiceError('too_large', `The body is larger than ${limit} bytes.`);
}
