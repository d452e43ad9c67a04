import type { FastifyReply, FastifyRequest } from 'fastify';
import { SluiceError } from '../core/errors.ts';
import { mediaTypeOf } from '../core/media-types.ts';
import type { UploadRecord } from '../core/stores.ts';
import type { NewUpload } from '../uploads/uploads.ts';
import type { Deps } from './deps.ts';
import { type FormFile, readForm } from './edge/form.ts';
import { serve } from './media/serve.ts';

/** Fields of text beside the file. */
const FIELD_BYTES = 64 * 1024;

interface FileUpload {
  readonly file: Pick<NewUpload, 'name' | 'mimeType' | 'bytes'>;
  readonly fields: Readonly<Record<string, string>>;
}

/** A form with one file in the part `file`, within the limits of uploads. */
export async function readFileForm(request: FastifyRequest, deps: Deps): Promise<FileUpload> {
  const { limits } = deps.config();
  const uploadRequestBytes = Math.min(limits.uploadRequestBytes, limits.uploadFileBytes + 16 * FIELD_BYTES);
  const bounds = { ...limits, fieldBytes: FIELD_BYTES, uploadRequestBytes };
  const { fields, files } = await readForm(request.raw, bounds, deps);
  const { filename: name, mimeType, bytes } = onlyFile(files);
  return {
    file: { name, mimeType: fileType(name, mimeType), bytes },
    fields: Object.fromEntries(fields.map((field) => [field.name, field.value])),
  };
}

/** The bytes of a file, whatever they are. */
export async function serveContent(
  record: UploadRecord,
  request: FastifyRequest,
  reply: FastifyReply,
  { uploads }: Deps,
): Promise<FastifyReply> {
  return serve(request, reply, {
    size: record.size,
    mimeType: 'application/octet-stream',
    etag: record.id,
    modified: record.createdAt,
    cacheControl: 'private, no-cache',
    open: (range) => uploads.open(record, range),
  });
}

/** What a path calls a file. */
export function fileIdOf(request: FastifyRequest): string {
  return (request.params as { id: string }).id;
}

function onlyFile(files: readonly FormFile[]): FormFile {
  const [file, ...others] = files.filter(({ name }) => name === 'file');
  if (file === undefined) {
    throw new SluiceError('invalid_field', "The form needs a part 'file' with a file.", { param: 'file' });
  }
  if (others.length === 0) return file;
  throw new SluiceError('invalid_field', "The form has more than one part 'file'.", { param: 'file' });
}

const TYPES: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  json: 'application/json',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
};

/** What the client says it is, or else what its name says. */
export function fileType(name: string, given: string): string {
  if (/^[\w.+-]+\/[\w.+-]+$/.test(given) && given !== 'application/octet-stream') return given.toLowerCase();
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  const known = Object.hasOwn(TYPES, extension) ? TYPES[extension] : undefined;
  return known ?? mediaTypeOf(name)?.mimeType ?? 'application/octet-stream';
}
