import type { FastifyReply, FastifyRequest } from 'fastify';
import { SluiceError } from '../../core/errors.ts';
import type { PlainRoute } from '../deps.ts';

/** There is nothing at the path of this request. */
export function nothingAt(request: FastifyRequest): SluiceError {
  const { url, method } = request.raw;
  return new SluiceError(
    'not_found',
    `There is nothing at ${method} ${(url ?? '/').split('?', 1)[0]?.slice(0, 256)}. GET /docs lists what there is.`,
  );
}

/**
 * What to say where no route fits: 405 with `Allow` when the path exists under other methods (RFC 9110 §15.5.6), else 404.
 */
export function noRoute(
  routes: readonly Pick<PlainRoute, 'method' | 'url' | 'isCostly' | 'isPage'>[],
): (request: FastifyRequest, reply: FastifyReply) => SluiceError {
  const known = routes
    .filter(({ isPage }) => isPage !== true)
    .map(({ method, url, isCostly }) => ({
      methods: method === 'GET' && isCostly !== true ? ['GET', 'HEAD'] : [method],
      pattern: new RegExp(`^${url.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+').replaceAll('*', '.+')}$`),
    }));
  return (request, reply) => {
    const path = (request.raw.url ?? '/').split('?', 1)[0] ?? '/';
    const methods = new Set(known.flatMap((each) => (each.pattern.test(path) ? each.methods : [])));
    if (methods.size === 0) return nothingAt(request);
    const allow = [...methods].join(', ');
    reply.header('allow', allow);
    return new SluiceError('method_not_allowed', `This path answers ${allow} only.`);
  };
}
