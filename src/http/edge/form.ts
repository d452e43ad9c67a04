import type { IncomingMessage } from 'node:http';
import type { BusboyInstance } from '@fastify/busboy';
import type { Limits } from '../../config/config.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Deadlines } from '../../routing/deadlines.ts';

export interface FormFile {
  /** Name of the part. */
  readonly name: string;
  /** Name of the file as the client gave it: metadata, never a path. */
  readonly filename: string;
  readonly bytes: Buffer;
}

export interface Form {
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  readonly files: readonly FormFile[];
}

type FormLimits = Pick<
  Limits,
  'uploadFileBytes' | 'uploadRequestBytes' | 'uploadParts' | 'uploadNameBytes' | 'clientBodyIdleMs'
> & { readonly fieldBytes: number };

/** Reads a `multipart/form-data` body (RFC 7578) into memory, within limits. */
export async function readForm(request: IncomingMessage, limits: FormLimits, deadlines: Deadlines): Promise<Form> {
  if (Number(request.headers['content-length'] ?? 0) > limits.uploadRequestBytes)
    throw tooLarge('request', limits.uploadRequestBytes);
  const { Busboy } = await import('@fastify/busboy');
  return new Promise((resolve, reject) => {
    const fields: { name: string; value: string }[] = [];
    const files: FormFile[] = [];
    let size = 0;
    const deadline = deadlines.start(limits.clientBodyIdleMs, () =>
      fail(new SluiceError('request_timeout', 'The form stopped in the middle.')),
    );
    let parser: BusboyInstance;
    const done = (): void => {
      deadline.clear();
      request.off('data', onData).off('close', onClose);
    };
    const fail = (error: SluiceError): void => {
      done();
      request.unpipe();
      request.pause();
      reject(error);
    };
    const onData = (bytes: Buffer): void => {
      deadline.touch();
      size += bytes.length;
      if (size > limits.uploadRequestBytes) fail(tooLarge('request', limits.uploadRequestBytes));
    };
    const onClose = (): void => {
      if (!request.complete)
        fail(new SluiceError('invalid_request', 'The request ended before the form was complete.'));
    };
    try {
      parser = new Busboy({
        headers: { ...request.headers, 'content-type': request.headers['content-type'] ?? '' },
        limits: {
          fieldNameSize: limits.uploadNameBytes,
          fieldSize: limits.fieldBytes,
          fileSize: limits.uploadFileBytes,
          parts: limits.uploadParts,
          headerPairs: 100,
        },
      });
    } catch {
      deadline.clear();
      reject(malformed());
      return;
    }
    parser.on('field', (name, value, nameCut, valueCut) => {
      if (nameCut || valueCut) fail(tooLarge(`part '${name.slice(0, 64)}'`, limits.fieldBytes));
      else fields.push({ name, value });
    });
    parser.on('file', (name, file, filename = '') => {
      const pieces: Buffer[] = [];
      if (Buffer.byteLength(filename) > limits.uploadNameBytes) {
        fail(new SluiceError('invalid_request', `A file name has more than ${limits.uploadNameBytes} bytes.`));
      }
      file.on('data', (bytes: Buffer) => pieces.push(bytes));
      file.on('limit', () => fail(tooLarge('file', limits.uploadFileBytes)));
      file.on('error', () => fail(malformed()));
      file.on('end', () => files.push({ name, filename, bytes: Buffer.concat(pieces) }));
    });
    for (const event of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) {
      parser.on(event, () =>
        fail(new SluiceError('invalid_request', `The form has more than ${limits.uploadParts} parts.`)),
      );
    }
    parser.on('error', () => fail(malformed()));
    parser.on('finish', () => {
      done();
      resolve({ fields, files });
    });
    request.on('data', onData).on('close', onClose);
    request.pipe(parser);
  });
}

function tooLarge(what: string, limit: number): SluiceError {
  return new SluiceError('too_large', `The ${what} is larger than ${limit} bytes.`);
}

function malformed(): SluiceError {
  return new SluiceError('invalid_request', 'The body is not a valid multipart form.');
}
