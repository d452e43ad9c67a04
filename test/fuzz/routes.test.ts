import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../src/http/deps.ts';
import type { openApiDocument } from '../../src/http/docs.ts';
import { buildServer } from '../../src/http/server.ts';
import { startGateway } from '../support/gateway.ts';

/** What the page is made of, and the document itself. */
const UNDESCRIBED: ReadonlySet<string> = new Set([
  ...['GET /', 'GET /favicon.ico', 'GET /docs', 'GET /docs/', 'GET /docs/{}', 'GET /assets/{}', 'GET /{}'],
  ...['GET /logs', 'GET /stats', 'GET /stats/', 'GET /redoc'],
  'GET /openapi.json',
]);

test('what is served is described, and what is described is served', async () => {
  const gateway = await startGateway('');
  try {
    const { paths } = (await (await fetch(`${gateway.origin}/openapi.json`)).json()) as ReturnType<
      typeof openApiDocument
    > & { readonly paths: Readonly<Record<string, object>> };
    const described = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`),
    );
    const served = servedRoutes();
    assert.ok(served.length > 80, `${served.length} routes are few`);
    assert.deepEqual(served.filter((route) => !UNDESCRIBED.has(route)).sort(), described.sort());
  } finally {
    await gateway.close();
  }
});

/** The routes that the server registers, without the HEAD that comes with each GET. */
function servedRoutes(): readonly string[] {
  const routes: string[] = [];
  const listen = (message: unknown): void => {
    const { fastify } = message as { readonly fastify: FastifyInstance };
    fastify.addHook('onRoute', ({ method, url }) => {
      for (const each of [method].flat()) {
        if (each !== 'HEAD') routes.push(`${each} ${url.replace(/:\w+|\*/g, '{}')}`);
      }
    });
  };
  const limits = { headerBytes: 16_384, clientHeaderMs: 1, urlBytes: 8_192 };
  const config = { limits, bind: { host: '127.0.0.1' }, trustedProxies: [] };
  // Told to all who listen whenever a server is made: https://fastify.dev/docs/latest/Reference/Hooks/#diagnostics-channel-hooks
  subscribe('fastify.initialization', listen);
  buildServer({ config: () => config, observer: {} } as unknown as Deps);
  unsubscribe('fastify.initialization', listen);
  return routes;
}
