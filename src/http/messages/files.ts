import { z } from 'zod';
import type { UploadRecord } from '../../core/stores.ts';
import type { Deps, Handler } from '../deps.ts';
import { fileIdOf, readFileForm } from '../uploaded-files.ts';
import { validate, validateQuery } from '../validate.ts';
import { wholeNumber } from '../wire.ts';

/** Files on a page where the client does not say how many; Anthropic's, too. */
const USUAL_LIMIT = 20;

const Ids = z.union([z.string().max(512), z.array(z.string().max(512)).max(100)]).optional();

/** A page is named by `page`, which is what `next_page` said, and was by `after_id` and `before_id` in earlier versions of the API. */
const ListQuery = z.object({
  limit: wholeNumber(1, 1_000).optional(),
  page: z.string().max(512).optional(),
  after_id: z.string().max(512).optional(),
  before_id: z.string().max(512).optional(),
  ids: Ids,
  'ids[]': Ids,
});

const Fields = z.object({
  expires_in_seconds: wholeNumber(3_600, 7_776_000).optional(),
});

/** `POST /v1/files` for clients of Anthropic's API (https://platform.claude.com/docs/en/build-with-claude/files). */
export function uploadFile(deps: Deps): Handler {
  return async (request) => {
    const { file, fields } = await readFileForm(request, deps);
    const { expires_in_seconds: seconds } = validate(Fields, fields, 'invalid_request');
    const expiry = seconds === undefined ? {} : { expiresAfterMs: seconds * 1_000 };
    return metadataOf(await deps.uploads.add({ ...file, purpose: 'user_data', ...expiry }));
  };
}

/** `GET /v1/files`: the newest first, or those that are asked for by their ids. */
export function listFileMetadata(deps: Deps): Handler {
  return async (request) => {
    const query = validateQuery(ListQuery, request.query, 'invalid_request');
    const { limit = USUAL_LIMIT, page: cursor, after_id: after, before_id: before } = query;
    const ids = [query.ids, query['ids[]']].flat().filter((id) => id !== undefined);
    if (ids.length > 0) return { ...listOf(await present(ids, deps)), has_more: false, next_page: null };
    const isBackwards = before !== undefined;
    const from = before ?? cursor ?? after;
    const order = isBackwards ? 'asc' : 'desc';
    const param = isBackwards ? 'before_id' : cursor === undefined ? 'after_id' : 'page';
    const bound = from === undefined ? {} : { after: from };
    const found = await deps.uploads.list({ order, limit: limit + 1, ...bound }, param);
    const page = found.slice(0, limit);
    const hasMore = found.length > limit;
    const list = listOf(isBackwards ? page.toReversed() : page);
    return { ...list, has_more: hasMore, next_page: hasMore && !isBackwards ? list.last_id : null };
  };
}

function listOf(records: readonly UploadRecord[]) {
  return { data: records.map(metadataOf), first_id: records[0]?.id ?? null, last_id: records.at(-1)?.id ?? null };
}

/** Those of the ids that are there. */
async function present(ids: readonly string[], deps: Deps): Promise<readonly UploadRecord[]> {
  const found = await Promise.all([...new Set(ids)].map((id) => deps.uploads.find(id)));
  return found.filter((record) => record !== undefined);
}

/** `GET /v1/files/<id>` */
export function retrieveFileMetadata(deps: Deps): Handler {
  return async (request) => metadataOf(await deps.uploads.get(fileIdOf(request)));
}

/** `DELETE /v1/files/<id>` */
export function deleteUploadedFile(deps: Deps): Handler {
  return async (request) => {
    const id = fileIdOf(request);
    await deps.uploads.delete(id);
    return { id, type: 'file_deleted' };
  };
}

function metadataOf({ id, name, mimeType, size, createdAt, expires }: UploadRecord): Record<string, unknown> {
  return {
    type: 'file',
    id,
    filename: name,
    mime_type: mimeType,
    size_bytes: size,
    created_at: new Date(createdAt).toISOString(),
    expires_at: expires === null ? null : new Date(expires).toISOString(),
    downloadable: true,
  };
}
