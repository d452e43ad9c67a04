import { z } from 'zod';
import type { UploadRecord } from '../../core/stores.ts';
import type { Deps, Handler } from '../deps.ts';
import { fileIdOf, readFileForm, serveContent } from '../uploaded-files.ts';
import { validate, validateQuery } from '../validate.ts';
import { wholeNumber } from '../wire.ts';

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

/** `POST files`, for the documents. */
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

/** `GET files` */
export const FileQuery = z.object({
  purpose: Purpose.optional(),
  after: z.string().max(512).optional().describe('The id of a file: what follows it is listed'),
  limit: wholeNumber(1, USUAL_LIMIT).optional().describe(`1 to ${USUAL_LIMIT}, which is the default`),
  order: z.enum(['asc', 'desc']).optional().describe('By time; default desc'),
});

/** https://platform.openai.com/docs/api-reference/files/object */
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

/** A page; the next one begins `after` its `last_id`. */
export const FileList = z.object({
  object: z.literal('list'),
  data: z.array(FileObject),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});

/** `DELETE files/<id>` */
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
  return async (request) => shownFile(await deps.uploads.get(fileIdOf(request)));
}

/** `GET files/<id>/content`: the bytes as they came. No browser takes them for anything. */
export function fileContent(deps: Deps): Handler {
  return async (request, reply) => serveContent(await deps.uploads.get(fileIdOf(request)), request, reply, deps);
}

/** `DELETE files/<id>` */
export function deleteFile(deps: Deps): Handler {
  return async (request) => {
    const id = fileIdOf(request);
    await deps.uploads.delete(id);
    return { id, object: 'file', deleted: true };
  };
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
