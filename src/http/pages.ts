import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SluiceError } from '../core/errors.ts';
import { packageFolder } from '../package.ts';
import type { Handler, PlainRoute } from './deps.ts';
import { nothingAt } from './edge/no-route.ts';
import { ollamaProbe } from './ollama/probe.ts';
import { withVariant } from './variant.ts';

/** The page as `npm run build:web` makes it. */
const BUILT = path.join(packageFolder, 'web/dist');

/** Everything from this server, no inline script: what a model writes can neither run nor call home. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "media-src 'self' data: blob:",
  "frame-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Of the document in which HTML of an answer is tried out: there its scripts run, in an origin of their own, from which
 * nothing can be reached. Frames of the page lead to this server only (`frame-src`), so it cannot go elsewhere either.
 */
const PREVIEW = 'preview.html';
const PREVIEW_POLICY = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  'img-src data: blob:',
  'font-src data:',
  'media-src data: blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

/**
 * A policy refuses to go elsewhere only once a browser has said hello there: Chromium connects to a host as soon as a script
 * sets its `location`. https://github.com/WICG/connection-allowlists
 */
const NO_CONNECTIONS = { 'connection-allowlist': '(response-origin)' };

/** Names in this folder hold a hash of what is in the file. */
const HASHED = 'assets';

/** Files of swagger-ui-dist that the documents need. */
const READER_FILES: ReadonlySet<string> = new Set(['swagger-ui.css', 'swagger-ui-bundle.js']);

/** Pages that people know from other gateways, and where they are here. */
const SHORTCUTS = [
  ['/logs', '/#/dashboard/requests'],
  ['/stats', '/#/dashboard'],
  ['/stats/', '/#/dashboard'],
  ['/redoc', '/docs/'],
] as const;

/** The chat page and the readable form of the API's documents. */
export function pageRoutes(root: string = BUILT): readonly PlainRoute[] {
  const page = file(() => ({ root, name: 'index.html' }));
  return [
    withVariant(
      {
        method: 'GET',
        url: '/',
        handler: async (request, reply) => {
          try {
            return await page(request, reply);
          } catch (error) {
            if (error instanceof SluiceError && error.code === 'not_found') return notBuilt(reply);
            throw error;
          }
        },
      },
      ollamaProbe,
    ),
    { method: 'GET', url: '/favicon.ico', handler: file(() => ({ root, name: 'favicon.svg' })) },
    { method: 'GET', url: '/docs', handler: async (_request, reply) => reply.redirect('/docs/', 301) },
    { method: 'GET', url: '/docs/', handler: file(() => ({ root, name: 'docs/index.html' })) },
    {
      method: 'GET',
      url: '/docs/:name',
      isPage: true,
      handler: file(async (name) =>
        READER_FILES.has(name) ? { root: await readerFolder(), name } : { root, name: `docs/${name}` },
      ),
    },
    ...SHORTCUTS.map(([url, to]): PlainRoute => {
      return { method: 'GET', url, handler: async (_request, reply) => reply.redirect(to, 302) };
    }),
    {
      method: 'GET',
      url: `/${HASHED}/:name`,
      isPage: true,
      handler: file((name) => ({ root, name: `${HASHED}/${name}` })),
    },
    { method: 'GET', url: '/:name', isPage: true, handler: file((name) => ({ root, name })) },
  ];
}

/** The only form of a name that is looked for: no folders, no dot in front, nothing left to decode, an extension. */
const FILE_NAME = /^\w[\w-]*(\.\w[\w-]*)+$/;

/** Copies that the build left beside the files, the better one first. */
const COMPRESSED = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

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
    const open = (suffix: string) => send(request.raw, `/${name}${suffix}`, options);
    const found = await firstFound(request.headers['accept-encoding'], open);
    if (found.statusCode === 412) {
      throw new SluiceError('conflict', 'The file is not the one that the request is about.', { status: 412 });
    }
    if (found.statusCode >= 400) throw nothingAt(request);
    return reply
      .code(found.statusCode)
      .headers(found.headers)
      .headers({
        ...found.encoded,
        'content-security-policy': name === PREVIEW ? PREVIEW_POLICY : CONTENT_SECURITY_POLICY,
        ...(name === PREVIEW ? NO_CONNECTIONS : undefined),
        'referrer-policy': 'no-referrer',
        // Links in answers are no reason to ask a name server for their hosts.
        'x-dns-prefetch-control': 'off',
        'cache-control': name.startsWith(`${HASHED}/`) ? 'public, max-age=31536000, immutable' : 'no-cache',
        vary: 'Origin, Accept-Encoding',
      })
      .type(typeOf(name))
      .send(found.stream);
  };
}

type Found = Awaited<ReturnType<typeof import('@fastify/send').default>>;

/** The best compressed copy that the client takes, else the file itself. */
async function firstFound(
  accepted: string | undefined,
  open: (suffix: string) => Promise<Found>,
): Promise<Found & { readonly encoded: Readonly<Record<string, string>> }> {
  for (const [coding, suffix] of COMPRESSED) {
    if (!accepts(accepted, coding)) continue;
    const found = await open(suffix);
    if (found.statusCode < 400) return { ...found, encoded: { 'content-encoding': coding } };
    // Not thrown away unread: it may hold an open file.
    found.stream.destroy();
  }
  return { ...(await open('')), encoded: {} };
}

/** Whether `Accept-Encoding` names a coding, and not with `q=0` (RFC 9110 §12.5.3). */
function accepts(header: string | undefined, coding: string): boolean {
  return (header ?? '').split(',').some((item) => {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    return name === coding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/** By the name asked for: that of a compressed copy would say what it is packed in. */
function typeOf(name: string): string {
  return TYPES[path.extname(name)] ?? 'application/octet-stream';
}

const NOT_BUILT = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Sluice</title><meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body>
<h1>Sluice is running</h1>
<p>The API answers at <code>/v1</code>. The page itself is not built yet: run <code>npm run build:web</code>, then load this address again.</p>
</body>
</html>
`;

function notBuilt(reply: Parameters<Handler>[1]): unknown {
  return reply
    .code(200)
    .headers({ 'content-security-policy': CONTENT_SECURITY_POLICY, 'cache-control': 'no-cache' })
    .type('text/html; charset=utf-8')
    .send(NOT_BUILT);
}

async function readerFolder(): Promise<string> {
  return path.dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
}
