import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { SluiceError } from '../../core/errors.ts';
import type { UploadRecord } from '../../core/stores.ts';
import { uploadIdOf } from '../../core/upload-address.ts';
import type { Announced } from '../../uploads/resumable.ts';
import type { Deps, Handler } from '../deps.ts';
import { parseJson } from '../edge/body.ts';
import { addressOf, clientOf } from '../edge/client.ts';
import { originOf } from '../origin.ts';
import { fileIdOf, fileType, serveContent } from '../uploaded-files.ts';
import { validate } from '../validate.ts';
import { toCamelCase } from './camel.ts';
import { count } from './models.ts';

/** How long Google keeps a file; its clients do not delete what they send. */
const KEPT_MS = 48 * 60 * 60_000;
/** Google's. */
const PAGE_SIZE = 10;
const MOST_PER_PAGE = 100;

const HEADERS = {
  protocol: 'x-goog-upload-protocol',
  command: 'x-goog-upload-command',
  offset: 'x-goog-upload-offset',
  size: 'x-goog-upload-header-content-length',
  type: 'x-goog-upload-header-content-type',
  name: 'x-goog-upload-file-name',
  status: 'x-goog-upload-status',
  received: 'x-goog-upload-size-received',
  url: 'x-goog-upload-url',
} as const;

/** What may be said of a file before it comes. */
export const FileMetadata = z.looseObject({
  file: z
    .looseObject({
      name: z.string().max(512).nullish(),
      displayName: z.string().max(512).nullish(),
      mimeType: z.string().max(256).nullish(),
      sizeBytes: z.union([z.string().regex(/^\d{1,15}$/), z.int().min(0)]).nullish(),
    })
    .nullish(),
});

/** Of the address that the answer to an announcement gave. Whoever begins names no file. */
export const UploadQuery = z.object({
  upload_id: z.string().max(512).optional().describe('The file that is under way'),
  upload_protocol: z.string().max(64).optional(),
});

const bytes = z.string().regex(/^\d{1,15}$/);

/** Headers of an upload, whole or in pieces, as the curl examples of https://ai.google.dev/api/files have them. */
export const UploadHeaders = z.object({
  [HEADERS.protocol]: z
    .enum(['raw', 'resumable'])
    .optional()
    .describe('Of the first request: the whole file is its body, or the file is announced'),
  [HEADERS.command]: z
    .string()
    .optional()
    .describe(
      '`start`; then, at the address that was given, `upload`, `finalize`, `upload, finalize`, `query` or `cancel`',
    ),
  [HEADERS.offset]: bytes.optional().describe('Where the bytes of this piece belong; default 0'),
  [HEADERS.size]: bytes.optional().describe('With `start`: how large the file will be'),
  [HEADERS.type]: z.string().optional().describe('With `start`: the type of the file'),
  [HEADERS.name]: z.string().optional().describe('The name of the file, if the body says none'),
});

/** What its answers say: the first one where to send the file, the later ones how far it has come. */
export const UploadAnswerHeaders = z.object({
  [HEADERS.status]: z.enum(['active', 'final', 'cancelled']).optional(),
  [HEADERS.received]: bytes.optional().describe('How much of the file is there'),
  [HEADERS.url]: z.string().optional().describe('To `start`: where the file is to be sent'),
});

/** https://ai.google.dev/api/files#File */
export const GeminiFile = z.looseObject({
  name: z.string(),
  displayName: z.string(),
  mimeType: z.string(),
  sizeBytes: z.string(),
  createTime: z.string(),
  updateTime: z.string(),
  expirationTime: z.string().optional(),
  uri: z.string().describe('What `fileUri` refers to'),
  state: z.literal('ACTIVE'),
  source: z.literal('UPLOADED'),
});

/** Without `file` while it is under way. */
export const UploadAnswer = z.object({ file: GeminiFile.optional() });
/** A page. Without `files` where there are none, as Google writes an empty list; without a token it is the last. */
export const GeminiFileList = z.object({ files: z.array(GeminiFile).optional(), nextPageToken: z.string().optional() });

/**
 * `POST /upload/v1beta/files`: a file in one piece (`raw`), or announced and then sent piece by piece (`resumable`), as the
 * headers say (https://ai.google.dev/gemini-api/docs/files, and Google's Scotty, whose protocol it is).
 */
export function uploadFile(deps: Deps): Handler {
  return async (request, reply) => {
    const { upload_id: name } = validate(UploadQuery, request.query, 'invalid_request');
    const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const commands = new Set((headerOf(request, 'command') ?? '').split(',').map((each) => each.trim().toLowerCase()));
    if (name !== undefined) return goOn(name, commands, bytes, request, reply, deps);
    const protocol = headerOf(request, 'protocol');
    if (protocol === 'raw') {
      const about = aboutOf({}, headerOf(request, 'name'), request.headers['content-type'], deps);
      return { file: shown(await deps.uploads.add({ ...about, bytes }), request) };
    }
    if (protocol === 'resumable' && commands.has('start')) return begin(bytes, request, reply, deps);
    throw new SluiceError(
      'invalid_request',
      "Begin with the header 'X-Goog-Upload-Protocol: resumable' and 'X-Goog-Upload-Command: start', or send the whole file with 'X-Goog-Upload-Protocol: raw'.",
      { param: protocol === 'resumable' ? 'X-Goog-Upload-Command' : 'X-Goog-Upload-Protocol' },
    );
  };
}

async function begin(bytes: Buffer, request: FastifyRequest, reply: FastifyReply, deps: Deps): Promise<object> {
  const body = bytes.length === 0 ? {} : toCamelCase(parseJson(bytes, deps.config().limits).value);
  const { file } = validate(FileMetadata, body, 'invalid_request');
  if (file?.name) {
    throw new SluiceError('invalid_request', "A file's name is given by Sluice. Leave 'file.name' out.", {
      param: 'file.name',
    });
  }
  const about = aboutOf(file ?? {}, headerOf(request, 'name'), headerOf(request, 'type'), deps);
  const said = headerOf(request, 'size') ?? file?.sizeBytes ?? undefined;
  const size = said === undefined ? {} : { size: bytesSaid(said, 'size') };
  const name = await deps.resumable.begin({ ...about, ...size }, clientOf(addressOf(request)));
  // What stands in the query besides (`key`) is needed again.
  const address = new URL(request.url, originOf(request));
  address.searchParams.set('upload_id', name);
  address.searchParams.set('upload_protocol', 'resumable');
  reply.headers({ [HEADERS.status]: 'active', [HEADERS.url]: address.href });
  return {};
}

/** What a file under way is told: to take bytes, to end, to say how much is there, or to be forgotten. */
async function goOn(
  name: string,
  commands: ReadonlySet<string>,
  bytes: Buffer,
  request: FastifyRequest,
  reply: FastifyReply,
  { resumable, uploads }: Deps,
): Promise<object> {
  const answer = (status: string, received: number): void => {
    reply.headers({ [HEADERS.status]: status, [HEADERS.received]: String(received) });
  };
  if (commands.has('cancel')) {
    await resumable.cancel(name);
    reply.header(HEADERS.status, 'cancelled');
    return {};
  }
  // Whoever did not get our answer asks once more.
  const before = await uploads.find(uploadIdOf(name));
  if (before !== undefined) {
    answer('final', before.size);
    return commands.has('query') ? {} : { file: shown(before, request) };
  }
  if (commands.has('query')) {
    answer('active', await resumable.received(name));
    return {};
  }
  const takes = commands.has('upload');
  const ends = commands.has('finalize');
  if (!takes && !ends) {
    throw new SluiceError(
      'invalid_request',
      "'X-Goog-Upload-Command' must be upload, finalize, both ('upload, finalize'), query or cancel.",
      { param: 'X-Goog-Upload-Command' },
    );
  }
  if (takes)
    answer('active', await resumable.append(name, bytesSaid(headerOf(request, 'offset') ?? '0', 'offset'), bytes));
  if (!ends) return {};
  const record = await resumable.finish(name);
  answer('final', record.size);
  return { file: shown(record, request) };
}

/** `GET /v1beta/files`: page by page, the newest first. The token of a page is the name of the file before it. */
export function listFiles(deps: Deps): Handler {
  return async (request) => {
    const { pageSize, pageToken } = request.query as { pageSize?: unknown; pageToken?: unknown };
    const limit = Math.min(MOST_PER_PAGE, count(pageSize, 'pageSize') || PAGE_SIZE);
    const after = typeof pageToken === 'string' && pageToken !== '' ? { after: uploadIdOf(pageToken) } : {};
    const found = await deps.uploads.list({ order: 'desc', limit: limit + 1, ...after }, 'pageToken');
    const files = found.slice(0, limit).map((record) => shown(record, request));
    const next = found.length > limit ? { nextPageToken: nameOf(found[limit - 1]?.id ?? '') } : {};
    return files.length === 0 ? {} : { files, ...next };
  };
}

/** `GET /v1beta/files/<name>`, and its bytes as `:download`. */
export function getFile(deps: Deps): Handler {
  return async (request, reply) => {
    const [name = '', method] = fileIdOf(request).split(':', 2);
    const record = await deps.uploads.get(uploadIdOf(name), 'name');
    if (method === undefined) return shown(record, request);
    if (method === 'download') return serveContent(record, request, reply, deps);
    throw new SluiceError('not_found', `A file has no method '${method.slice(0, 64)}'; there is ':download'.`);
  };
}

/** `DELETE /v1beta/files/<name>` */
export function deleteFile(deps: Deps): Handler {
  return async (request) => {
    await deps.uploads.delete(uploadIdOf(fileIdOf(request)));
    return {};
  };
}

function aboutOf(
  file: NonNullable<z.infer<typeof FileMetadata>['file']>,
  fileName: string | undefined,
  type: string | undefined,
  deps: Deps,
): Omit<Announced, 'size'> {
  const name = file.displayName ?? fileName ?? '';
  const { uploadNameBytes } = deps.config().limits;
  if (Buffer.byteLength(name) > uploadNameBytes) {
    throw new SluiceError('invalid_request', `A file name has more than ${uploadNameBytes} bytes.`, {
      param: file.displayName === undefined ? HEADERS.name : 'file.displayName',
    });
  }
  const mimeType = fileType(fileName ?? name, file.mimeType ?? type ?? '');
  return { name, mimeType, purpose: 'user_data', expiresAfterMs: KEPT_MS };
}

/** Google's names have no dash: its libraries take them out of an address up to the first. */
function nameOf(id: string): string {
  return id.replace(/^file-/, '');
}

function shown(record: UploadRecord, request: FastifyRequest): z.infer<typeof GeminiFile> {
  const name = `files/${nameOf(record.id)}`;
  const created = new Date(record.createdAt).toISOString();
  return {
    name,
    displayName: record.name,
    mimeType: record.mimeType,
    sizeBytes: String(record.size),
    createTime: created,
    updateTime: created,
    ...(record.expires === null ? {} : { expirationTime: new Date(record.expires).toISOString() }),
    uri: `${originOf(request)}/v1beta/${name}`,
    state: 'ACTIVE',
    source: 'UPLOADED',
  };
}

function headerOf({ headers }: FastifyRequest, which: keyof typeof HEADERS): string | undefined {
  const value = headers[HEADERS[which]];
  return typeof value === 'string' ? value : undefined;
}

function bytesSaid(value: string | number, which: 'size' | 'offset'): number {
  if (/^\d{1,15}$/.test(String(value))) return Number(value);
  throw new SluiceError('invalid_request', `'${HEADERS[which]}' must be a number of bytes.`, { param: HEADERS[which] });
}
