import type { FastifyRequest } from 'fastify';
import type { PlainRoute } from './deps.ts';
import { errorBody } from './edge/errors.ts';

/** What some clients get under a path in place of all others: those who speak another dialect. */
export interface Variant extends Pick<PlainRoute, 'handler' | 'bodyLimit' | 'errorBody'> {
  isFor(request: FastifyRequest): boolean;
}

/** The same row of a route table, with another meaning for some: the first variant that is for them. */
export function withVariant<R extends PlainRoute>(route: R, ...variants: readonly Variant[]): R {
  const of = (request: FastifyRequest): Variant | R => variants.find((each) => each.isFor(request)) ?? route;
  return {
    ...route,
    handler: (request, reply) => of(request).handler(request, reply),
    bodyLimit: (limits, request) => of(request).bodyLimit?.(limits, request) ?? limits.bodyBytes,
    errorBody: (error, request) => (of(request).errorBody ?? errorBody)(error, request),
  };
}
