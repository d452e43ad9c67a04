import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { SluiceError } from '../../core/errors.ts';
import { mediaTypeOf } from '../../core/media-types.ts';
import type { UploadRecord } from '../../core/stores.ts';
import type { NewUpload } from '../../uploads/uploads.ts';
import type { Deps, Handler } from '../deps.ts';
import { type FormFile, readForm } from '../edge/form.ts';
import { serve } from '../media/serve.ts';
import { validate, validateQuery } from '../validate.ts';
import { wholeNumber } from '../wire.ts';

/** Fields of text beside the file. */
const FIELD_BYTES = 64 * 1024;
/** OpenAI's bounds for `expires_after[seconds]`. */
const EXPIRES = { least: 3_600, most: 2_592_000 };
/** Files on a page where the client does not say how many; OpenAI's, too. */
const USUAL_LIMIT = 10_000;

const Purpose = z.string().regex(/^[\w-]{1,64}$/, 'must be a word such as user_data');

const Fields = z
  .object({
    purpose: Purpose,
    'expires_after[anchor]': z.literal('created_at').optional(),
    'expires_after[seconds]': wholeNumber(EXPIRES.least, EXPIRES.most).optional(),
  })
  .refine((fields) => fields['expires_after[anchor]'] === undefined || fields['expires_after[seconds]'] !== undefined, {
    path: ['expires_after[seconds]'],
    error: "must say how long, beside 'expires_after[anchor]'",
  });

export const FileForm = {
  type: 'object',
  required: ['file', 'purpose'],
  properties: {
    file: { type: 'string', contentMediaType: 'application/octet-stream' },
    purpose: { type: 'string', description: 'What it is for, for example `user_data`' },
    'expires_after[anchor]': { type: 'string', enum: ['created_at'] },
    'expires_after[seconds]': { type: 'integer', minimum: EXPIRES.least, maximum: EXPIRES.most },
  },
} as const;

export const FileQuery = z.object({
  purpose: Purpose.optional(),
  after: z.string().max(512).optional().describe('The id of a file: what follows it is listed'),
  limit: wholeNumber(1, USUAL_LIMIT).optional().describe(`1 to ${USUAL_LIMIT}, which is the default`),
  order: z.enum(['asc', 'desc']).optional().describe('By time; default desc'),
});

export const FileObject = z.object({
  id: z.string(),
  object: z.literal('file'),
  bytes: z.int(),
  created_at: z.int().describe('Seconds since 1970'),
  expires_at: z.int().nullable(),
  filename: z.string(),
  purpose: z.string(),
  status: z.literal('processed'),
  status_details: z.null(),
});

export const FileList = z.object({
  object: z.literal('list'),
  data: z.array(FileObject),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});

export const DeletedFile = z.object({ id: z.string(), object: z.literal('file'), deleted: z.literal(true) });

/** `POST files`: keeps a file, which messages may refer to by its id (`file_id`). */
export function createFile(deps: Deps): Handler {
  return async (request) => {
    const { file, fields } = await readFileForm(request, deps);
    const { purpose, 'expires_after[seconds]': seconds } = validate(Fields, fields, 'invalid_field');
    const expiry = seconds === undefined ? {} : { expiresAfterMs: seconds * 1_000 };
    return shownFile(await deps.uploads.add({ ...file, purpose, ...expiry }));
  };
}

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

/** `GET files`: page by page, the newest first where nothing else is asked for. */
export function listFiles(deps: Deps): Handler {
  return async (request) => {
    const query = validateQuery(FileQuery, request.query, 'invalid_field');
    const { limit = USUAL_LIMIT, order = 'desc', after, purpose } = query;
    const bounds = { ...(after === undefined ? {} : { after }), ...(purpose === undefined ? {} : { purpose }) };
    const found = await deps.uploads.list({ order, limit: limit + 1, ...bounds });
    const data = found.slice(0, limit).map(shownFile);
    const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
    return { object: 'list', data, ...ends, has_more: found.length > limit };
  };
}

/** `GET files/<id>` */
export function retrieveFile(deps: Deps): Handler {
  return async (request) => shownFile(await deps.uploads.get(idOf(request)));
}

/** `GET files/<id>/content`: the bytes as they came. No browser takes them for anything. */
export function fileContent(deps: Deps): Handler {
  return async (request, reply) => serveContent(await deps.uploads.get(idOf(request)), request, reply, deps);
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

/** `DELETE files/<id>` */
export function deleteFile(deps: Deps): Handler {
  return async (request) => {
    const id = idOf(request);
    await deps.uploads.delete(id);
    return { id, object: 'file', deleted: true };
  };
}

function idOf(request: FastifyRequest): string {
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

function shownFile(record: UploadRecord): z.infer<typeof FileObject> {
  return {
    id: record.id,
    object: 'file',
    bytes: record.size,
    created_at: seconds(record.createdAt),
    expires_at: record.expires === null ? null : seconds(record.expires),
    filename: record.name,
    purpose: record.purpose,
    status: 'processed',
    status_details: null,
  };
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1_000);
}
