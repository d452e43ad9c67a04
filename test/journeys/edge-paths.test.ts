import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertError, CREATE, openWorld, type World } from './edge-world.ts';

/** What lies outside of the page's folder, as it would look if it were served. */
const OUTSIDE = /devDependencies|"compilerOptions"|root:x:0|createServer|node_modules|\[fonts\]/;

/** Ways to write `../`. */
const UPWARDS: readonly string[] = [
  '../',
  '..%2f',
  '..%2F',
  '%2e%2e/',
  '%2e%2e%2f',
  '%2E%2E%2F',
  '.%2e/',
  '%2e./',
  '..%252f',
  '%252e%252e/',
  '%252e%252e%252f',
  '%25252e%25252e%25252f',
  '..\\',
  '..%5c',
  '..%255c',
  '%2e%2e%5c',
  '..;/',
  '..;x=y/',
  '..%00/',
  '..%0d/',
  '..%0a/',
  '..%20/',
  '..%09/',
  '..././',
  '....//',
  '.../',
  './../',
  './/../',
  '%c0%ae%c0%ae/',
  '..%c0%af',
  '%c0%ae%c0%ae%c0%af',
  '..%e0%80%af',
  '..%c1%9c',
  '%uff0e%uff0e%u2215',
  '%ef%bc%8e%ef%bc%8e/',
  '%ef%bc%8e%ef%bc%8e%ef%bc%8f',
  '..%ef%bc%8f',
  '..%e2%88%95',
  'x/../../',
  'x%2f..%2f..%2f',
  'index.html/../../',
  'index.html%2f..%2f..%2f',
  '%2f',
  '%2f%2f',
  '//',
];
const TARGETS = ['package.json', 'src/main.ts', 'tsconfig.json', 'etc/passwd'];

/** Further names that nothing may be served under. */
const NAMES: readonly string[] = [
  '.',
  '..',
  '...',
  '.git',
  '.git/config',
  '.gitignore',
  '%2egitignore',
  '%2e%67itignore',
  '.env',
  '.DS_Store',
  '.well-known/security.txt',
  'index.html/',
  'index.html%2f',
  'index.html%00',
  'index.html%00.js',
  'index.html.',
  'index.html%20',
  'index.html::$DATA',
  'index.html~',
  'INDEX.HTML',
  'index.html%5c',
  'docs%2findex.html',
  'docs%2f',
  'docs%5cindex.html',
  '%2fetc%2fpasswd',
  '%5cwindows%5cwin.ini',
  'C:%5cwindows%5cwin.ini',
  'C:/windows/win.ini',
  'c%3a%2fwindows%2fwin.ini',
  'file:%2f%2f%2fetc%2fpasswd',
  'http:%2f%2fevil.example%2f',
  'proc/self/environ',
  'package.json',
  'sluice.yaml',
  'con',
  'nul',
  'swagger-ui-dist/package.json',
  'x'.repeat(4_096),
  `${'a/'.repeat(2_000)}a`,
];

describe('paths of pages', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  for (const base of ['/', '/docs/', '/docs/../', '/v1/../', '/media/', '/images/', '/files/', '/thumbnail/']) {
    test(`nothing but the page's own files under ${base}`, async () => {
      const names = [...NAMES, ...UPWARDS.flatMap((up) => TARGETS.map((target) => `${up.repeat(3)}${target}`))];
      const single = UPWARDS.flatMap((up) => [`${up}package.json`, `${up}index.html`]);
      for (const name of [...names, ...single]) {
        // The proxy form of an address: refused for its form.
        const answer = await world.ask({ path: `${base}${name}` });
        assertError(answer, [400, 404, 414], `${base}${name}`);
        assert.doesNotMatch(answer.text, OUTSIDE, name);
        assert.equal(answer.headers.location, undefined);
      }
    });
  }

  test("the page's files, each under one name", async () => {
    const { text } = await world.ask({ path: '/' });
    const assets = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+\.(js|css))"/g)];
    assert.ok(assets.length >= 2, 'the page is built: npm run build:web');
    const types = { js: 'text/javascript', css: 'text/css' };
    for (const [path, type] of [
      ['/', 'text/html'],
      ['/index.html', 'text/html'],
      ['/service-worker.js', 'text/javascript'],
      ['/manifest.webmanifest', 'application/manifest+json'],
      ['/favicon.svg', 'image/svg+xml'],
      ['/icon-192.png', 'image/png'],
      ['/docs/', 'text/html'],
      ['/docs/start.js', 'text/javascript'],
      ['/docs/swagger-ui.css', 'text/css'],
      ...assets.map(([, asset = '', extension]) => [asset, types[extension as keyof typeof types]] as const),
    ] as const) {
      const { status, headers } = await world.ask({ path });
      assert.equal(status, 200, path);
      assert.ok(headers['content-type']?.startsWith(type), `${path}: ${headers['content-type']}`);
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.match(headers['content-security-policy']?.toString() ?? '', /default-src 'none'/);
      assert.match(headers['cache-control'] ?? '', path.startsWith('/assets/') ? /immutable/ : /no-cache/);
    }
    for (const name of ['swagger-ui-bundle.js.map', 'package.json', 'index.css', 'absolute-path.js', 'LICENSE']) {
      assertError(await world.ask({ path: `/docs/${name}` }), 404, name);
    }
  });

  test('ranges and conditions', async () => {
    const bomb = `bytes=${Array.from({ length: 500 }, (_, index) => `${index}-`).join(',')}`;
    for (const range of ['bytes=0-0', 'bytes=5-1', 'bytes=999999999-', 'bytes=-0', 'bytes=x', 'lines=1-2', bomb]) {
      const answer = await world.ask({ path: '/', headers: { range } });
      assert.equal(answer.status, 200, range);
      assert.match(answer.text, /<\/html>\s*$/);
    }
    const { headers } = await world.ask({ path: '/' });
    const etag = headers.etag ?? '';
    const unchanged = await world.ask({ path: '/', headers: { 'if-none-match': etag } });
    assert.deepEqual([unchanged.status, unchanged.text], [304, '']);
    assertError(await world.ask({ path: '/', headers: { 'if-match': '"other"' } }), 412);
    const head = await world.ask({ method: 'HEAD', path: '/' });
    assert.deepEqual([head.status, head.text], [200, '']);
  });

  test('odd paths', async () => {
    for (const path of [
      '//',
      '///',
      '//evil.example',
      '//evil.example/%2e%2e',
      '/\\evil.example',
      '/%',
      '/%%',
      '/%1',
      '/%zz',
      '/%00',
      '/%ff',
      '/%c0%af',
      '/%E0%A4%A',
      '/.',
      '/..',
      '/*',
      '/;',
      '/v1/%2e%2e/',
      '/v1/%',
      '/v1/models/%',
      '/v1/providers/%ff',
      '/v1/..',
      '/v1/../v1/models',
      '/v1/./models',
      '/v1//models',
      '//v1/models',
      '/V1/MODELS',
      '/v1/models;x=y',
      '/v1/models%2f',
      '/v1%2fmodels',
      '/backend-api/v2',
      '/backend-api/v2/',
      '/backend-api/v1/conversation',
      '/backend-api//v2/version',
      '/api',
      '/api//models',
      '/api/mock',
      '/favicon.ico/',
      '/:name',
      '/docs/:name',
    ]) {
      const answer = await world.ask({ path });
      assertError(answer, [400, 404], path);
      assert.equal(answer.headers.location, undefined, path);
    }
  });

  test('an address that is too long', async () => {
    for (const path of [
      `/${'a'.repeat(8_200)}`,
      `/v1/models/${'a'.repeat(8_200)}`,
      `/v1/providers/${'a'.repeat(8_200)}`,
      `/v1/models?x=${'a'.repeat(8_200)}`,
      `${CREATE}?prompt=${'a'.repeat(8_200)}`,
      `/api/${'a'.repeat(9_000)}/chat/completions`,
      `/${'a/'.repeat(4_200)}`,
      `/${'%2e'.repeat(3_000)}`,
    ]) {
      const { code } = assertError(await world.ask({ path }), 414, path);
      assert.equal(code, 'uri_too_long');
    }
    assertError(await world.ask({ path: `/${'a'.repeat(20_000)}` }), 431);
    assert.equal(world.upstream.chats.length, 0);
    await world.isWell();
  });
});
