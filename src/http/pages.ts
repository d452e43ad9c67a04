import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SluiceError } from '../core/errors.ts';
import type { Handler, PlainRoute } from './deps.ts';
import { nothingAt } from './edge/no-route.ts';

/** The page's own files. */
const PUBLIC = fileURLToPath(new URL('../../public', import.meta.url));

/** Everything from this server, no inline script: what a model writes can neither run nor call home. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "media-src 'self' data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Files of swagger-ui-dist that the documents need. */
const READER_FILES: ReadonlySet<string> = new Set(['swagger-ui.css', 'swagger-ui-bundle.js']);

/** The chat page and the readable form of the API's documents. */
export function pageRoutes(): readonly PlainRoute[] {
  return [
    { method: 'GET', url: '/', handler: file(() => ({ root: PUBLIC, name: 'index.html' })) },
    { method: 'GET', url: '/favicon.ico', handler: file(() => ({ root: PUBLIC, name: 'favicon.svg' })) },
    { method: 'GET', url: '/docs', handler: async (_request, reply) => reply.redirect('/docs/', 301) },
    { method: 'GET', url: '/docs/', handler: file(() => ({ root: PUBLIC, name: 'docs/index.html' })) },
    {
      method: 'GET',
      url: '/docs/:name',
      handler: file(async (name) =>
        READER_FILES.has(name) ? { root: await readerFolder(), name } : { root: PUBLIC, name: `docs/${name}` },
      ),
    },
    { method: 'GET', url: '/:name', handler: file((name) => ({ root: PUBLIC, name })) },
  ];
}

/** The only form of a name that is looked for: no folders, no dot in front, nothing left to decode, an extension. */
const FILE_NAME = /^\w[\w-]*(\.\w[\w-]*)+$/;

interface Served {
  readonly root: string;
  readonly name: string;
}

function file(locate: (name: string) => Served | Promise<Served>): Handler {
  return async (request, reply) => {
    const { name: asked } = request.params as { name?: string };
    if (asked !== undefined && !FILE_NAME.test(asked)) throw nothingAt(request);
    const { root, name } = await locate(asked ?? '');
    const { default: send } = await import('@fastify/send');
    const options = { root, dotfiles: 'ignore', index: false, cacheControl: false, acceptRanges: false } as const;
    const found = await send(request.raw, `/${name}`, options);
    if (found.statusCode === 412) {
      throw new SluiceError('conflict', 'The file is not the one that the request is about.', { status: 412 });
    }
    if (found.statusCode >= 400) throw nothingAt(request);
    return reply
      .code(found.statusCode)
      .headers(found.headers)
      .headers({
        'content-security-policy': CONTENT_SECURITY_POLICY,
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-cache',
      })
      .send(found.stream);
  };
}

async function readerFolder(): Promise<string> {
  return path.dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
}
