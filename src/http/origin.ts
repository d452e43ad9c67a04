import type { FastifyRequest } from 'fastify';

/** The address under which the client reached us. */
export function originOf(request: FastifyRequest): string {
  return `${isSecure(request) ? 'https' : 'http'}://${request.headers.host}`;
}

/** Whether the client came by TLS, which only a proxy in front of us speaks. Whoever pretends it misleads nobody else. */
export function isSecure({ headers }: FastifyRequest): boolean {
  return headers['x-forwarded-proto'] === 'https';
}
