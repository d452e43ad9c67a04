import type { FastifyRequest } from 'fastify';

/** The address under which the client reached us; a proxy in front says whether it did so by https. */
export function originOf(request: FastifyRequest): string {
  const protocol = request.headers['x-forwarded-proto'] === 'https' ? 'https' : request.protocol;
  return `${protocol}://${request.headers.host}`;
}
