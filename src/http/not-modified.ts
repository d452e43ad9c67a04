import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * 304, to whoever has the present version. To HEAD it is sent as a stream: of nothing the server would tell the length, 0, and
 * caches would believe that of what they have (RFC 9110 §8.6).
 */
export function sendNotModified(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.code(304).send(request.method === 'HEAD' ? Readable.from([]) : undefined);
}
