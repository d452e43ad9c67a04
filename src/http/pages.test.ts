import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { pageRoutes } from './pages.ts';

/** Only the routes of the page, on a folder like the one the build leaves. */
function open(root: string): FastifyInstance {
  const app = Fastify();
  for (const { method, url, handler } of pageRoutes(root)) app.route({ method, url, handler });
  return app;
}

describe('the page', () => {
  const script = 'export const answer = 42;\n'.repeat(100);
  let root: string;
  let app: FastifyInstance;
  before(() => {
    root = mkdtempSync(path.join(tmpdir(), 'sluice-pages-'));
    mkdirSync(path.join(root, 'assets'));
    writeFileSync(path.join(root, 'index.html'), '<title>Sluice</title>');
    writeFileSync(path.join(root, 'assets/index-abc.js'), script);
    writeFileSync(path.join(root, 'assets/index-abc.js.br'), brotliCompressSync(script));
    writeFileSync(path.join(root, 'assets/index-abc.js.gz'), gzipSync(script));
    app = open(root);
  });
  after(async () => {
    await app.close();
    rmSync(root, { recursive: true });
  });

  for (const [accepted, coding] of [
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['identity', undefined],
    [undefined, undefined],
  ] as const) {
    test(`sends assets as ${coding ?? 'they are'} to clients that accept ${accepted}`, async () => {
      const headers = accepted === undefined ? {} : { 'accept-encoding': accepted };
      const answer = await app.inject({ url: '/assets/index-abc.js', headers });
      assert.equal(answer.statusCode, 200);
      assert.equal(answer.headers['content-encoding'], coding);
      assert.equal(answer.headers['content-type'], 'text/javascript; charset=utf-8');
      assert.match(String(answer.headers['cache-control']), /immutable/);
      assert.match(String(answer.headers.vary), /Accept-Encoding/);
      const expected = { br: brotliCompressSync(script), gzip: gzipSync(script) };
      assert.deepEqual(answer.rawPayload, coding === undefined ? Buffer.from(script) : expected[coding]);
    });
  }

  test('asks again for the page itself, which has no compressed copy here', async () => {
    const answer = await app.inject({ url: '/', headers: { 'accept-encoding': 'br' } });
    assert.equal(answer.headers['content-encoding'], undefined);
    assert.equal(answer.headers['cache-control'], 'no-cache');
    assert.match(answer.body, /Sluice/);
  });

  test('says how to build it while it is not built', async () => {
    const empty = open(path.join(root, 'nowhere'));
    const answer = await empty.inject({ url: '/' });
    assert.equal(answer.statusCode, 200);
    assert.match(answer.body, /npm run build:web/);
    assert.match(String(answer.headers['content-security-policy']), /default-src 'none'/);
    assert.equal((await empty.inject({ url: '/assets/index-abc.js' })).statusCode, 404);
    await empty.close();
  });
});
