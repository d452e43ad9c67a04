import type { FastifyRequest } from 'fastify';

/** Whether the Accept header names a type, in whatever case (RFC 9110 §8.3.1). `type` is in lower case. */
export function accepts(request: FastifyRequest, type: string): boolean {
  return (request.headers.accept ?? '').toLowerCase().includes(type);
}
