import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { talk } from '../support/raw-http.ts';
import { assertError, CHATS, CREATE, HI, openWorld, type World } from './edge-world.ts';

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

/** Methods that Node's parser knows and no path of ours answers, but for those of the first line. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const FOREIGN = ['TRACE', 'PROPFIND', 'LOCK', 'SEARCH', 'PURGE', 'M-SEARCH', 'REPORT', 'MKCOL', 'LINK', 'QUERY'];

const PATHS: Readonly<Record<string, readonly string[]>> = {
  '/': ['GET', 'HEAD'],
  '/docs': ['GET', 'HEAD'],
  '/docs/': ['GET', 'HEAD'],
  '/openapi.json': ['GET', 'HEAD'],
  '/favicon.ico': ['GET', 'HEAD'],
  '/v1/chat/completions': ['POST'],
  '/api/mock/chat/completions': ['POST'],
  '/api/mock/some-id/chat/completions': ['POST'],
  '/v1/models': ['GET', 'HEAD'],
  '/v1/models/test-model': ['GET', 'HEAD', 'POST'],
  '/api/mock/models': ['GET', 'HEAD'],
  '/v1/providers': ['GET', 'HEAD'],
  '/v1/providers/mock': ['GET', 'HEAD'],
  '/backend-api/v2/conversation': ['POST'],
  '/backend-api/v2/create': ['GET'],
  '/backend-api/v2/models': ['GET', 'HEAD'],
  '/backend-api/v2/models/mock': ['GET', 'HEAD'],
  '/backend-api/v2/providers': ['GET', 'HEAD'],
  '/backend-api/v2/version': ['GET', 'HEAD'],
};

describe('methods', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  const BODIES: readonly { readonly headers: Record<string, string>; readonly body?: string }[] = [
    { headers: {} },
    { headers: { 'content-type': 'application/json' }, body: JSON.stringify(HI) },
    { headers: { 'content-type': 'application/json' }, body: '{' },
    { headers: { 'content-type': 'text/plain' }, body: 'Hi' },
    { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: '--x--\r\n' },
  ];

  test('every other method of every path: 405, with those that there are', async () => {
    for (const [path, allowed] of Object.entries(PATHS)) {
      for (const method of [...METHODS, ...FOREIGN]) {
        if (allowed.includes(method)) continue;
        for (const { headers, body } of method === 'POST' || method === 'PUT' ? BODIES : BODIES.slice(0, 1)) {
          const answer = await world.ask({
            method,
            path,
            headers: { ...headers, 'x-canary': 'never-echoed' },
            ...(body === undefined ? {} : { body }),
          });
          const hint = `${method} ${path}`;
          if (method === 'HEAD') assert.equal(answer.status, 405, hint);
          else assert.equal(assertError(answer, 405, hint).code, 'method_not_allowed', hint);
          assert.deepEqual(answer.headers.allow?.split(', ').sort(), [...allowed].sort(), hint);
          assert.ok(!answer.text.includes('never-echoed'), hint);
        }
      }
    }
    assert.equal(world.upstream.chats.length, 0);
  });

  test('and of every path that the documents list', async () => {
    const { json } = await world.ask({ path: '/openapi.json' });
    const { paths } = json as { paths: Record<string, Record<string, unknown>> };
    assert.ok(Object.keys(paths).length > 10);
    for (const [template, operations] of Object.entries(paths)) {
      const path = template.replaceAll(/\{\w+\}/g, 'x');
      const declared = Object.keys(operations).map((method) => method.toUpperCase());
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
        if (declared.includes(method)) continue;
        const answer = await world.ask({ method, path });
        assertError(answer, 405, `${method} ${path}`);
        const allow = answer.headers.allow?.split(', ') ?? [];
        for (const each of declared) assert.ok(allow.includes(each), `${method} ${path}: ${allow}`);
      }
    }
  });

  test('every method of a path that does not exist: 404', async () => {
    for (const path of ['/v1/nothing', '/v1/chat', '/nothing', '/docs/nothing', '/api/mock/nothing', '/a/b/c/d/e']) {
      for (const method of [...METHODS, ...FOREIGN]) {
        for (const { headers, body } of method === 'POST' ? BODIES : BODIES.slice(0, 1)) {
          const answer = await world.ask({ method, path, headers, ...(body === undefined ? {} : { body }) });
          if (method === 'HEAD') assert.equal(answer.status, 404, path);
          else assert.equal(assertError(answer, 404, `${method} ${path}`).code, 'not_found', path);
        }
      }
    }
  });

  test('no method at all', async () => {
    for (const line of ['FOO / HTTP/1.1', 'get / HTTP/1.1', '/ HTTP/1.1', 'GET HTTP/1.1', 'GET / HTTP/9.9']) {
      const { text } = await talk(world.gateway.origin, `${line}\r\nhost: localhost\r\n\r\n`);
      assert.match(text, /^(HTTP\/1\.1 4\d\d [\s\S]*"code"|$)/, line);
    }
    const { text } = await talk(world.gateway.origin, 'CONNECT 127.0.0.1:80 HTTP/1.1\r\nhost: localhost\r\n\r\n');
    assert.doesNotMatch(text, / 200 /);
    await world.isWell();
  });
});

describe('queries', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  test('a parameter twice, or as something else than text', async () => {
    for (const [query, field] of [
      ['', 'prompt'],
      ['prompt', 'prompt'],
      ['prompt=', 'prompt'],
      ['prompt=a&prompt=b', 'prompt'],
      ['prompt[]=a', 'prompt'],
      ['prompt[0]=a', 'prompt'],
      ['prompt.x=a', 'prompt'],
      ['prompt=a&model=b&model=c', 'model'],
      ['prompt=a&provider=mock&provider=mock', 'provider'],
      ['prompt=a&filter_markdown=true&filter_markdown=true', 'filter_markdown'],
      ['prompt=a&cache=1&cache=2', 'cache'],
      [`prompt=a&filter_markdown=${'x'.repeat(1_001)}`, 'filter_markdown'],
    ] as const) {
      const { param } = assertError(await world.ask({ path: `${CREATE}?${query}` }), 400, query);
      assert.equal(param, field, query);
    }
    for (const query of ['format=x', 'format=list&format=list', 'format=']) {
      assert.equal(assertError(await world.ask({ path: `/backend-api/v2/models?${query}` }), 400).param, 'format');
    }
    assert.equal(world.upstream.chats.length, 0);
  });

  test('what cannot be read as a query is safe', async () => {
    for (const query of [
      '%',
      '%zz=%zz',
      '%ff=%ff',
      '=',
      '==',
      '&&&',
      '=&=&=',
      '?',
      '??',
      'a[b][c][d]=e',
      '%00=%00',
      '+',
      '%5B%5D=1',
      'cache[]=1',
      Array.from({ length: 1_000 }, (_, index) => `p${index}`).join('&'),
    ]) {
      assert.equal((await world.ask({ path: `/backend-api/v2/version?${query}` })).status, 200, query);
      const answer = await world.ask({ path: `${CREATE}?prompt=Hi&${query}` });
      assert.equal(answer.text, 'Hello from the upstream.', query);
    }
    assert.equal((await world.ask({ path: '/backend-api/v2/version?cache=1&cache=2' })).status, 200);
    for (const prompt of ['%', '%ff', '%zz', '%00', '%E0%A4%A', 'a%0d%0ax-evil:1', '%ed%a0%80']) {
      const answer = await world.ask({ path: `${CREATE}?prompt=${prompt}` });
      assert.equal(answer.text, 'Hello from the upstream.', prompt);
      assert.equal(world.last.headers['x-evil'], undefined);
    }
  });

  test('a filter is a list of words, not a pattern', async () => {
    for (const filter of ['(a%2B)%2B%24', '.*', '%5B', '(', '**', '%5C', '(?=a)', '[^]', '%00']) {
      const answer = await world.ask({ path: `${CREATE}?prompt=Hi&filter_markdown=${filter}` });
      assert.deepEqual([answer.status, answer.text], [200, ''], filter);
    }
  });

  test('on the other paths they mean nothing', async () => {
    for (const { path } of CHATS) {
      const answer = await world.ask({ path: `${path}?stream=true&provider=evil&messages[]=1`, body: HI });
      assert.equal(answer.status, 200, answer.text);
    }
  });
});
