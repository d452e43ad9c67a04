import { randomUUID } from 'node:crypto';

/** One part of a form: a text, or a file. */
export type FormPart =
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly bytes: Buffer; readonly mimeType: string; readonly filename: string };

/** A form as it is sent. Its content type names the boundary, so it belongs to this body only. */
export interface Form {
  readonly contentType: string;
  readonly body: Buffer;
}

/**
 * A `multipart/form-data` body (RFC 7578), and its content type. Unlike in one of Node's `FormData`, texts keep the line breaks
 * that they have.
 */
export function toForm(parts: readonly FormPart[]): Form {
  const boundary = `sluice-${randomUUID()}`;
  const pieces = parts.flatMap((part): (Buffer | string)[] => {
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(part.name)}"`;
    if ('text' in part) return [`${head}\r\n\r\n${part.text}\r\n`];
    return [
      `${head}; filename="${quoted(part.filename)}"\r\ncontent-type: ${part.mimeType}\r\n\r\n`,
      part.bytes,
      '\r\n',
    ];
  });
  pieces.push(`--${boundary}--\r\n`);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))),
  };
}

/** As browsers write it (WHATWG HTML, multipart/form-data encoding algorithm). */
function quoted(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
}
