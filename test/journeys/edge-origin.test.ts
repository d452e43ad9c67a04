import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { statusesIn, talk } from '../support/raw-http.ts';
import { assertError, CHATS, CREATE, HI, openWorld, type World } from './edge-world.ts';

/** One address of each kind: a page, data, cost. */
const PATHS = ['/', '/docs/', '/openapi.json', '/v1/models', '/backend-api/v2/providers', `${CREATE}?prompt=Hi`];

describe('the Host header', () => {
  let world: World;
  before(async () => {
    world = await openWorld({ yaml: 'allowedHosts: [sluice.example, Upper.Example, "fd00::7"]\n' });
  });
  after(() => world.close());

  test('of a foreign name is refused: a page may have bound it to this address', async () => {
    for (const host of [
      'evil.example',
      'evil.example:1337',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '127.0.0.1.nip.io',
      'localhost.',
      'localhostx',
      'xlocalhost',
      'local-host',
      '127.0.0.1x',
      '127.0.0.256',
      '127.1',
      '0x7f000001',
      '2130706433',
      '0.0.0.0',
      '10.0.0.1',
      '192.168.0.1',
      '[::]',
      '[::2]',
      '[fe80::1]',
      '[::ffff:10.0.0.1]',
      'sluice.example.evil.example',
      'xsluice.example',
      'example',
    ]) {
      for (const path of PATHS) {
        const { code } = assertError(await world.ask({ path, headers: { host } }), 403, host);
        assert.equal(code, 'forbidden', host);
      }
      for (const { path } of CHATS) assertError(await world.ask({ path, headers: { host }, body: HI }), 403, host);
    }
    assert.equal(world.upstream.chats.length, 0);
  });

  test('counts beyond loopback where names are listed, or no key is asked for', async () => {
    const ask = async (lines: string, host: string): Promise<number> => {
      await using open = await openWorld({ yaml: `bind: 0.0.0.0:0\n${lines}\n` });
      const headers = { host, authorization: 'Bearer the-access-key' };
      return (await open.ask({ path: '/v1/models', headers })).status;
    };
    const listed = 'allowedHosts: [sluice.example]';
    const withKey = 'key: the-access-key';
    // Nobody outside can bind these to an address of theirs.
    for (const host of [
      '10.0.0.1',
      '[fe80::1]:1337',
      'localhost',
      'mybox',
      'mybox.local',
      'a.b.internal',
      'box.home.arpa',
      'sluice.example',
    ]) {
      assert.equal(await ask(`key: none\n${listed}`, host), 200, host);
    }
    assert.equal(await ask('key: none', 'mybox'), 200);
    for (const host of ['evil.example', 'box.local.evil.example', 'box.notlocal', 'box.home.arpa.'])
      assert.equal(await ask('key: none', host), 403, host);
    assert.equal(await ask(`key: none\n${listed}`, 'evil.example'), 403);
    assert.equal(await ask(`${withKey}\n${listed}`, 'evil.example'), 403);
    // A page of another name has neither the key nor the cookie that holds it.
    assert.equal(await ask(withKey, 'sluice.example'), 200);
  });

  test('that is refused is told with what to do, and cut where it is long', async () => {
    const said = async ({ ask }: World, host: string) =>
      assertError(await ask({ path: '/v1/models', headers: { host } }), 403, host).message;
    const local = await said(world, `${'a'.repeat(100)}.example`);
    assert.match(local, / the name a{100}\. Add it to allowedHosts in sluice\.yaml, or use localhost\.$/);
    await using open = await openWorld({ yaml: 'bind: 0.0.0.0:0\nkey: none\n' });
    assert.match(await said(open, 'evil.example'), /, or use the address of the machine\.$/);
  });

  test('that is none is refused', async () => {
    for (const host of [
      ' ',
      ':1337',
      'localhost:',
      'localhost:x',
      'localhost:123456',
      'localhost:-1',
      'localhost:1337:1',
      'local host',
      'localhost,evil.example',
      'localhost/evil',
      'localhost?x',
      'localhost#x',
      'localhost@evil.example',
      'evil.example@localhost',
      'http://localhost',
      '[::1',
      '::1',
      '[::1]x',
      '[localhost]',
      '[127.0.0.1]x',
      'localhost%00',
      'loc%61lhost',
      'lоcalhost',
      '127。0。0。1',
      '\\localhost',
      '*',
    ]) {
      const answer = await world.ask({ path: '/v1/models', headers: { host: Buffer.from(host).toString('latin1') } });
      assertError(answer, [400, 403], host);
    }
  });

  test('has to be there, once', async () => {
    const { origin } = world.gateway;
    for (const [name, lines] of Object.entries({
      none: '',
      empty: 'host:\r\n',
      twice: 'host: localhost\r\nhost: localhost\r\n',
      'two different': 'host: localhost\r\nhost: evil.example\r\n',
      'two spellings': 'Host: localhost\r\nhOST: localhost\r\n',
      'three, one empty': 'host:\r\nhost: localhost\r\nhost:\r\n',
      'a space before the colon': 'host : localhost\r\n',
      folded: 'x: y\r\n host: localhost\r\n',
      'only forwarded': 'x-forwarded-host: localhost\r\nforwarded: host=localhost\r\n',
    })) {
      for (const version of ['1.1', '1.0']) {
        const request = `GET /v1/models HTTP/${version}\r\n${lines}connection: close\r\n\r\n`;
        const { text } = await talk(origin, request);
        assert.deepEqual(statusesIn(text), [400], `${name}, ${version}: ${text}`);
        assert.match(text, /"error":\{"message":".+","type":"invalid_request_error","code":"invalid_request"/, name);
      }
    }
  });

  test('gives way to no other address', async () => {
    for (const target of [
      'http://localhost/v1/models',
      'http://evil.example/v1/models',
      'https://localhost/v1/models',
      'localhost/v1/models',
      'v1/models',
      '*',
      '?',
      'file:///etc/passwd',
    ]) {
      const request = `GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`;
      const { text } = await talk(world.gateway.origin, request);
      assert.deepEqual(statusesIn(text), [400], `${target}: ${text}`);
      assert.match(text, /"code":"invalid_request"/);
    }
    const { text } = await talk(
      world.gateway.origin,
      'OPTIONS * HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n',
    );
    assert.match(text, /^HTTP\/1\.1 4/);
    const headers = { host: 'localhost', 'x-forwarded-host': 'evil.example', 'x-original-host': 'evil.example' };
    assert.equal((await world.ask({ path: '/v1/models', headers })).status, 200);
  });

  test('of this machine is accepted, in every spelling', async () => {
    for (const host of [
      'localhost',
      'localhost:1337',
      'LOCALHOST',
      'LocalHost:65535',
      'sluice.localhost',
      '127.0.0.1',
      '127.0.0.1:80',
      '127.1.2.3',
      '[::1]',
      '[::1]:1337',
      '[0:0:0:0:0:0:0:1]:1337',
      '[::0001]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]:80',
      'sluice.example',
      'SLUICE.example:443',
      'upper.example',
      '[fd00::7]:1337',
    ]) {
      const answer = await world.ask({ path: '/v1/models', headers: { host } });
      assert.equal(answer.status, 200, `${host}: ${answer.text}`);
    }
    // Only names of headers count as one more, and of those no other with four letters.
    const headers = { host: 'localhost', 'x-word': 'host', from: 'a@b.example' };
    assert.equal((await world.ask({ path: '/v1/models', headers })).status, 200);
    await world.isWell();
  });
});

const FOREIGN = [
  'https://evil.example',
  'http://evil.example:1337',
  'null',
  'http://localhost.evil.example',
  'http://127.0.0.1.evil.example',
  'http://localhost@evil.example',
  'http://evil.example#localhost',
  'http://evil-localhost',
  'http://localhost.',
  'http://localhost:x',
  'http://localhost/',
  'http://localhost/x',
  'http://LOCALHOST',
  'http://localhost http://evil.example',
  'http://localhost, http://evil.example',
  'http://0.0.0.0',
  'http://10.0.0.1',
  'http://2130706433',
  'http://127.1',
  'http://[::]',
  'http://[::ffff:10.0.0.1]',
  'file://',
  'file://localhost',
  'ftp://localhost',
  'ws://localhost',
  'chrome-extension://abcdefghijklmnop',
  'moz-extension://localhost',
  'javascript://localhost',
  'data:text/html,localhost',
  'localhost',
  '//localhost',
  'http:localhost',
  '*',
  '',
  ' ',
  'undefined',
  'https://app.example.evil.example',
  'http://app.example',
  'https://app.example:444',
];

const OWN = [
  'http://localhost',
  'http://localhost:3000',
  'https://localhost:8443',
  'http://app.localhost:3000',
  'http://127.0.0.1',
  'http://127.0.0.1:1',
  'http://127.255.0.1:8080',
  'http://[::1]',
  'http://[::1]:3000',
  'https://app.example',
];

describe('the Origin header', () => {
  let world: World;
  before(async () => {
    world = await openWorld({ yaml: 'allowedHosts: [sluice.example]\nallowedOrigins: ["https://app.example"]\n' });
  });
  after(() => world.close());

  const preflight = (origin: string, path: string, method = 'POST') =>
    world.ask({
      method: 'OPTIONS',
      path,
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'content-type, authorization, x-user',
      },
    });

  test('of a foreign page is refused before any work', async () => {
    for (const origin of FOREIGN) {
      for (const path of [...PATHS, '/nothing']) {
        const answer = await world.ask({ path, headers: { origin } });
        assert.equal(assertError(answer, 403, origin).code, 'forbidden', origin);
        assert.equal(answer.headers['access-control-allow-origin'], undefined, origin);
        assert.equal(answer.headers['access-control-allow-credentials'], undefined, origin);
        assert.match(answer.headers['vary']?.toString() ?? '', /Origin/i);
      }
      for (const { path } of CHATS) {
        for (const [type, body] of [
          ['application/json', JSON.stringify(HI)],
          ['text/plain', JSON.stringify(HI)],
          ['application/x-www-form-urlencoded', `{"model":"test-model","messages":[],"x":"=`],
          [
            'multipart/form-data; boundary=x',
            `--x\r\ncontent-disposition: form-data; name="json"\r\n\r\n${JSON.stringify(HI)}\r\n--x--\r\n`,
          ],
        ] as const) {
          const headers = { origin, 'content-type': type };
          const answer = await world.ask({ method: 'POST', path, headers, body });
          assertError(answer, 403, `${origin} ${type}`);
          assert.equal(answer.headers['access-control-allow-origin'], undefined, origin);
        }
        const answer = await preflight(origin, path);
        assertError(answer, 403, origin);
        for (const name of Object.keys(answer.headers)) assert.ok(!name.startsWith('access-control-'), name);
      }
    }
    assert.equal(world.upstream.chats.length, 0);
  });

  test('of a page of this machine is allowed, with credentials, and named exactly', async () => {
    for (const origin of OWN) {
      for (const { path } of CHATS) {
        const asked = await preflight(origin, path);
        assert.equal(asked.status, 200, asked.text);
        assert.equal(asked.headers['access-control-allow-origin'], origin);
        assert.equal(asked.headers['access-control-allow-credentials'], 'true');
        assert.equal(asked.headers['access-control-allow-methods'], 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
        assert.equal(asked.headers['access-control-allow-headers'], 'content-type, authorization, x-user');
        assert.equal(asked.headers['access-control-max-age'], '600');
        assert.match(asked.headers['vary']?.toString() ?? '', /Origin/i);
        assert.equal(asked.text, '');
        const answer = await world.ask({ path, headers: { origin }, body: HI });
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.headers['access-control-allow-origin'], origin);
        assert.equal(answer.headers['access-control-allow-credentials'], 'true');
        assert.match(answer.headers['vary']?.toString() ?? '', /Origin/i);
      }
      for (const path of [...PATHS, '/nothing']) {
        const answer = await world.ask({ path, headers: { origin } });
        assert.equal(answer.headers['access-control-allow-origin'], origin, path);
      }
    }
  });

  test('of the page itself is allowed, under the name it was opened by', async () => {
    const { host: address } = new URL(world.gateway.origin);
    for (const [host, origin, status] of [
      [address, `http://${address}`, 200],
      ['sluice.example', 'https://sluice.example', 200],
      ['sluice.example:8080', 'http://sluice.example:8080', 200],
      // Another port is another page.
      ['sluice.example:8080', 'http://sluice.example', 403],
      ['sluice.example', 'http://sluice.example:8080', 403],
    ] as const) {
      const answer = await world.ask({ path: CHATS[1].path, headers: { host, origin }, body: HI });
      assert.equal(answer.status, status, `${host} ${origin}: ${answer.text}`);
    }
  });

  test('preflights are harmless', async () => {
    const { length } = world.upstream.chats;
    for (const path of [...PATHS, '/nothing', ...CHATS.map((chat) => chat.path)]) {
      for (const method of ['GET', 'DELETE', 'TRACE', 'EVIL', '*', '']) {
        const answer = await preflight('http://localhost:3000', path, method);
        assert.ok(answer.status === 200 || answer.status === 405, answer.text);
        assert.doesNotMatch(answer.headers['access-control-allow-methods'] ?? '', /TRACE|EVIL|\*/);
      }
      // Without the headers of a preflight it is a method like any other.
      const plain = await world.ask({ method: 'OPTIONS', path, headers: { origin: 'http://localhost:3000' } });
      assertError(plain, [404, 405], path);
    }
    assert.equal(world.upstream.chats.length, length);
    // Nor is another method one with them.
    const headers = { origin: 'http://localhost:3000', 'access-control-request-method': 'GET' };
    assert.match((await world.ask({ path: '/v1/models', headers })).text, /^\{"object":"list"/);
  });

  test('two of them are none', async () => {
    const lines = 'origin: http://localhost\r\norigin: https://evil.example\r\n';
    const body = JSON.stringify(HI);
    const request = `POST ${CHATS[1].path} HTTP/1.1\r\nhost: localhost\r\n${lines}content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;
    for (const text of [
      request,
      request.replace(
        'origin: http://localhost\r\norigin: https://evil.example',
        'origin: https://evil.example\r\norigin: http://localhost',
      ),
    ]) {
      const { length } = world.upstream.chats;
      const answer = await talk(world.gateway.origin, text);
      assert.deepEqual(statusesIn(answer.text), [403], answer.text);
      assert.equal(world.upstream.chats.length, length);
    }
  });
});

describe('requests that a browser sends for another site', () => {
  let world: World;
  before(async () => {
    world = await openWorld({ yaml: 'allowedHosts: [sluice.example]\n' });
  });
  after(() => world.close());

  /** How browsers mark them, without an Origin. */
  const MARKS = {
    'an image': { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
    'a script': { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' },
    'a frame': { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
    'a link': {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
      'sec-fetch-user': '?1',
    },
    'a fetch': { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
  };

  /** The same paths, as the router reads them. */
  const CREATES = [
    CREATE,
    CREATE.replace('create', '%63reate'),
    CREATE.replace('backend-api', '%62ackend%2dapi'),
    CREATE.replace('/v2/', '/%762/'),
  ];

  test('reach no data and cause no cost', async () => {
    for (const [name, headers] of Object.entries(MARKS)) {
      for (const path of [
        ...CREATES.map((create) => `${create}?prompt=Hi`),
        ...['/', '/index.html', '/docs/?'].map((page) => `${CREATE}?prompt=${page}`),
        '/v1/models',
        '/%76%31/models',
        '/v1/providers',
        '/api/mock/models',
        '/%61pi/mock/models',
        '/backend-api/v2/providers',
        '/openapi.json',
        '/%6fpenapi.json',
      ]) {
        assert.equal(assertError(await world.ask({ path, headers }), 403, `${name} ${path}`).code, 'forbidden');
      }
      for (const { path } of CHATS) {
        for (const type of ['text/plain', 'application/json', 'multipart/form-data; boundary=x']) {
          const answer = await world.ask({
            method: 'POST',
            path,
            headers: { ...headers, 'content-type': type },
            body: JSON.stringify(HI),
          });
          assertError(answer, 403, `${name} ${path}`);
        }
      }
    }
    assert.equal(world.upstream.chats.length, 0);
  });

  test('may open the page, and nothing else of it', async () => {
    for (const path of ['/', '/docs/', '/index.html']) {
      for (const method of ['GET', 'HEAD'])
        assert.equal((await world.ask({ method, path, headers: MARKS['a link'] })).status, 200, method);
      assertError(await world.ask({ path, headers: MARKS['an image'] }), 403);
      assertError(await world.ask({ path, headers: MARKS['a fetch'] }), 403);
      assertError(await world.ask({ method: 'POST', path, headers: MARKS['a link'], body: 'a=b' }), 403);
    }
  });

  test('are told from those of the page, of the user and of programs', async () => {
    for (const site of ['same-origin', 'same-site', 'none', '']) {
      const headers: Record<string, string> = site === '' ? {} : { 'sec-fetch-site': site, 'sec-fetch-mode': 'cors' };
      const answer = await world.ask({ path: `${CREATE}?prompt=Hi`, headers });
      assert.equal(answer.text, 'Hello from the upstream.', site);
    }
    // Beyond this machine, another name of the same site may be anybody's: blog.sluice.example.
    for (const [site, status] of [
      ['same-origin', 200],
      ['same-site', 403],
    ] as const) {
      const headers = { 'sec-fetch-site': site, host: 'sluice.example' };
      assert.equal((await world.ask({ path: `${CREATE}?prompt=Hi`, headers })).status, status, site);
    }
    for (const site of ['cross-site, none', 'none, cross-site', 'CROSS-SITE', 'evil']) {
      assertError(await world.ask({ path: `${CREATE}?prompt=Hi`, headers: { 'sec-fetch-site': site } }), 403, site);
    }
  });

  test('as simple POST requests are no JSON', async () => {
    const { length } = world.upstream.chats;
    for (const { path } of CHATS) {
      for (const type of ['text/plain', 'text/plain;charset=UTF-8', 'application/x-www-form-urlencoded']) {
        const headers = { 'content-type': type };
        assertError(await world.ask({ method: 'POST', path, headers, body: JSON.stringify(HI) }), 415, type);
      }
      // `navigator.sendBeacon` and `fetch` without a type.
      assertError(await world.ask({ method: 'POST', path, body: JSON.stringify(HI) }), 415);
    }
    assert.equal(world.upstream.chats.length, length);
  });
});
