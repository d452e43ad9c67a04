import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { sendNotModified } from '../not-modified.ts';

/** What routes say of such an answer. */
export const TAGGED = {
  answerHeaders: z.object({
    etag: z.string().describe('The version of this, for `If-None-Match`: who has it already gets 304 without a body'),
  }),
  statuses: [200, 304],
} as const;

/** Sends JSON with a tag of its version, or 304 to whoever has that version. */
export function sendTagged(
  request: FastifyRequest,
  reply: FastifyReply,
  json: string,
  tag = tagOf(json),
): FastifyReply {
  reply.header('etag', `"${tag}"`).header('cache-control', 'no-cache');
  if (isKnown(request.headers['if-none-match'], tag)) return sendNotModified(request, reply);
  return reply.header('content-type', 'application/json; charset=utf-8').send(json);
}

/** `If-None-Match` as front ends send it (a bare integer) and as HTTP has it: quoted, weak, in lists (RFC 9110 §13.1.2). */
function isKnown(header: string | undefined, known: string): boolean {
  return (header ?? '').split(',').some(
    (tag) =>
      tag
        .trim()
        .replace(/^W\//, '')
        .replace(/^"(.*)"$/, '$1') === known,
  );
}

function tagOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
