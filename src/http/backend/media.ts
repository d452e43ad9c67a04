import { z } from 'zod';
import { SluiceError } from '../../core/errors.ts';
import { isMediaName, mediaAddress } from '../../media/names.ts';
import type { Deps, Handler } from '../deps.ts';
import { validateQuery } from '../validate.ts';

/** `GET media` */
export const MediaListQuery = z.object({
  search: z
    .string()
    .max(1_000)
    .optional()
    .describe('Words that the names have, separated by spaces or +; all must fit'),
  kind: z.enum(['image', 'audio', 'video']).optional().describe('Only these'),
  before: z.string().max(512).optional().describe('The `next` of the page before'),
  limit: z.coerce.number().int().min(1).max(200).default(60),
});

/** A page of what is kept, the newest first. */
export const MediaListAnswer = z.object({
  media: z.array(
    z.object({
      name: z.string(),
      kind: z.enum(['image', 'audio', 'video']),
      mime_type: z.string(),
      size: z.int().describe('Bytes'),
      url: z.string(),
      thumbnail: z.string().nullable().describe('Of pictures'),
      created_at: z.string(),
    }),
  ),
  next: z.string().nullable().describe('For `before`; null on the last page'),
});

/** `GET media`: what is kept of answers, the newest first, page by page. */
export function listMedia(deps: Deps): Handler {
  return async (request) => {
    const { search, kind, before, limit } = validateQuery(MediaListQuery, request.query, 'invalid_request');
    const { media, next } = await deps.media.list({
      limit,
      ...(search === undefined ? {} : { text: search }),
      ...(kind === undefined ? {} : { kind }),
      ...(before === undefined ? {} : { before }),
    });
    return {
      media: media.map((each) => ({
        name: each.name,
        kind: each.kind,
        mime_type: each.mimeType,
        size: each.size,
        url: mediaAddress(each.name),
        thumbnail: each.kind === 'image' ? mediaAddress(each.name, 'thumbnail') : null,
        created_at: new Date(each.createdAt).toISOString(),
      })),
      next: next ?? null,
    };
  };
}

/** `DELETE media/<name>`: one kept file with its thumbnail. Answers that show it go without from then on. */
export function deleteMedia(deps: Deps): Handler {
  return async (request) => {
    const { name } = request.params as { name: string };
    if (!isMediaName(name) || !(await deps.media.delete(name))) throw new SluiceError('not_found', 'File not found.');
    return { message: 'File deleted' };
  };
}
