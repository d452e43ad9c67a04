import type { FastifyReply, FastifyRequest } from 'fastify';
import { SluiceError } from '../../core/errors.ts';
import type { PlainRoute } from '../deps.ts';

type Row = Pick<PlainRoute, 'method' | 'url' | 'isCostly' | 'isPage' | 'errorBody'>;

/** What is known where no route fits. */
export interface NoRoute {
  /** Why nobody answers: 405 with `Allow` when the path exists under other methods (RFC 9110 §15.5.6), else 404. */
  refuse(request: FastifyRequest, reply: FastifyReply): SluiceError;
  /** The row at this path under another method, or at the path that was likely meant. */
  nearest(request: FastifyRequest): Row | undefined;
}

/** There is nothing at the path of this request, but perhaps at the one that was meant. */
export function nothingAt(request: FastifyRequest, meant?: string): SluiceError {
  const { url, method } = request.raw;
  const there = `There is nothing at ${method} ${(url ?? '/').split('?', 1)[0]?.slice(0, 256)}`;
  const hint = meant === undefined ? '' : `, but at ${meant.slice(0, 256)}: look at the base URL`;
  return new SluiceError('not_found', `${there}${hint}. GET /docs lists what there is.`);
}

/** The first of two versions. */
const TWO_VERSIONS = /^\/v1(?=\/v1(?:beta)?\/)|^\/v1beta(?=\/v1beta\/)/;

/** Where a path would lead under another base URL: with a slash less, or with its version once, where it is missing or there twice. */
function* likelyMeant(path: string): Generator<string> {
  const plain = path.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1');
  // To the patterns of paths, the second of two versions is the name of a provider.
  if (!TWO_VERSIONS.test(plain)) yield plain;
  yield `/v1${plain}`;
  yield plain.replace(TWO_VERSIONS, '');
}

const pathOf = ({ raw: { url = '/' } }: FastifyRequest): string => url.split('?', 1)[0] ?? '/';

/** Rows with `isPage` are left out: whether there is such a file only their handlers know. */
export function noRoute(routes: readonly Row[]): NoRoute {
  const known = routes
    .filter(({ isPage }) => isPage !== true)
    .map((row) => ({
      row,
      methods: row.method === 'GET' && row.isCostly !== true ? ['GET', 'HEAD'] : [row.method],
      pattern: new RegExp(`^${row.url.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+').replaceAll('*', '.+')}$`),
    }));
  const at = (path: string) => known.filter(({ pattern }) => pattern.test(path));
  const fitting = (path: string, asked: string) => at(path).find(({ methods }) => methods.includes(asked));
  const meantBy = (request: FastifyRequest) =>
    likelyMeant(pathOf(request)).find((each) => fitting(each, request.raw.method ?? '') !== undefined);
  return {
    refuse(request, reply) {
      const methods = new Set(at(pathOf(request)).flatMap((each) => each.methods));
      if (methods.size === 0 || TWO_VERSIONS.test(pathOf(request))) return nothingAt(request, meantBy(request));
      const allow = [...methods].join(', ');
      reply.header('allow', allow);
      return new SluiceError('method_not_allowed', `This path answers ${allow} only.`);
    },
    nearest(request) {
      const [here] = at(pathOf(request));
      if (here !== undefined) return here.row;
      const meant = meantBy(request);
      return meant === undefined ? undefined : fitting(meant, request.raw.method ?? '')?.row;
    },
  };
}
