import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { BusboyInstance } from '@fastify/busboy';
import type { Limits } from '../../config/config.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Deadlines } from '../../routing/deadlines.ts';
import { refuseEncoding } from './body.ts';

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
  refuseEncoding(request);
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
        // Every part as bytes: as text, letters that are no UTF-8 would silently become others.
        isPartAFile: () => true,
        limits: {
          fieldNameSize: limits.uploadNameBytes,
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
    // The library's types promise both names; a part may have neither.
    parser.on('file', (name: string | undefined, file, filename: string | undefined, _encoding, mimeType) => {
      const isFile = filename !== undefined || mimeType === 'application/octet-stream';
      const limit = isFile ? limits.uploadFileBytes : limits.fieldBytes;
      const pieces: Buffer[] = [];
      let length = 0;
      if (Buffer.byteLength(filename ?? '') > limits.uploadNameBytes) {
        fail(new SluiceError('invalid_request', `A file name has more than ${limits.uploadNameBytes} bytes.`));
      }
      if (Buffer.byteLength(name ?? '') > limits.uploadNameBytes) {
        fail(new SluiceError('invalid_request', `The name of a part has more than ${limits.uploadNameBytes} bytes.`));
      }
      file.on('data', (bytes: Buffer) => {
        length += bytes.length;
        if (length <= limit) pieces.push(bytes);
        else fail(tooLarge(isFile ? 'file' : `part '${(name ?? '').slice(0, 64)}'`, limit));
      });
      file.on('limit', () => fail(tooLarge('file', limits.uploadFileBytes)));
      file.on('error', () => fail(malformed()));
      file.on('end', () => {
        const bytes = Buffer.concat(pieces);
        if (isFile) files.push({ name: name ?? '', filename: filename ?? '', bytes });
        else if (isUtf8(bytes)) fields.push({ name: name ?? '', value: bytes.toString('utf8') });
        else fail(new SluiceError('invalid_request', `The part '${(name ?? '').slice(0, 64)}' is not valid UTF-8.`));
      });
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
