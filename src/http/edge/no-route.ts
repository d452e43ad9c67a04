import type { FastifyReply, FastifyRequest } from 'fastify';
import { SluiceError } from '../../core/errors.ts';
import type { PlainRoute } from '../deps.ts';

/** There is nothing at the path of this request, but perhaps at the one that was meant. */
export function nothingAt(request: FastifyRequest, meant?: string): SluiceError {
  const { url, method } = request.raw;
  const there = `There is nothing at ${method} ${(url ?? '/').split('?', 1)[0]?.slice(0, 256)}`;
  const hint = meant === undefined ? '' : `, but at ${meant.slice(0, 256)}: look at the base URL`;
  return new SluiceError('not_found', `${there}${hint}. GET /docs lists what there is.`);
}

/** Where a path would lead under another base URL: with a slash less, or with `/v1` once, where it is missing or there twice. */
function* likelyMeant(path: string): Generator<string> {
  const plain = path.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1');
  yield plain;
  yield `/v1${plain}`;
  yield plain.replace(/^\/v1(?=\/v1(?:beta)?\/)/, '');
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
  const methodsOf = (path: string) =>
    new Set(known.flatMap(({ pattern, methods }) => (pattern.test(path) ? methods : [])));
  return (request, reply) => {
    const path = (request.raw.url ?? '/').split('?', 1)[0] ?? '/';
    const methods = methodsOf(path);
    if (methods.size === 0) {
      const { method } = request.raw;
      return nothingAt(
        request,
        likelyMeant(path).find((each) => methodsOf(each).has(method ?? '')),
      );
    }
    const allow = [...methods].join(', ');
    reply.header('allow', allow);
    return new SluiceError('method_not_allowed', `This path answers ${allow} only.`);
  };
}
