import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { type Answer, ask, statusesIn, talk } from '../support/raw-http.ts';
import { assertError, CHATS, CREATE, codeInForm, type ErrorForm, HI, openWorld, type World } from './edge-world.ts';

/** Everything that means something in a header, a cookie, an address or JSON. */
const KEY = `Open;Sesame=%41+&"1"'\\,/?#`;
const ENCODED = encodeURIComponent(KEY);
const BEARER = { authorization: `Bearer ${KEY}` };
const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

const PATHS = [
  '/',
  '/index.html',
  '/app.js',
  '/docs',
  '/docs/',
  '/docs/swagger-ui.css',
  '/favicon.ico',
  '/openapi.json',
  '/v1/models',
  '/v1/models/test-model',
  '/v1/providers',
  '/v1/providers/mock',
  '/api/mock/models',
  '/backend-api/v2/models',
  '/backend-api/v2/models/mock',
  '/backend-api/v2/providers',
  '/backend-api/v2/version',
  '/backend-api/v2/files/bucket',
  '/backend-api/v2/memory/user',
  '/backend-api/v2/streams/id',
  '/files/bucket/media/picture.png',
  '/search/picture',
  '/metrics',
  `${CREATE}?prompt=Hi`,
  '/nothing',
  '/v1/nothing',
];

describe('a server with an access key', () => {
  let world: World;
  const answers: Answer[] = [];
  const send = async (what: Parameters<World['ask']>[0]): Promise<Answer> => {
    const answer = await world.ask(what);
    answers.push(answer);
    return answer;
  };
  before(async () => {
    world = await openWorld({
      headers: BEARER,
      yaml: ({ baseUrl }) =>
        `  openai: { baseUrl: '${baseUrl}', models: [test-model] }\nkey: '${KEY.replaceAll("'", "''")}'\n`,
    });
  });
  after(() => world.close());

  /** 401 in the one form of all errors, and the way in for browsers. */
  function assertLocked(answer: Answer, hint: string, form: ErrorForm = 'OpenAI'): void {
    assert.equal(codeInForm(form, answer, 401, hint), 'unauthorized', hint);
    if (form === 'OpenAI') assert.equal(assertError(answer, 401, hint).type, 'authentication_error', hint);
    assert.match(answer.headers['www-authenticate'] ?? '', /^Basic realm="[^"]+"/, hint);
    assert.equal(answer.headers['set-cookie'], undefined, hint);
  }

  const WRONG: readonly Record<string, string>[] = [
    {},
    { authorization: '' },
    { authorization: 'Bearer' },
    { authorization: 'Bearer ' },
    { authorization: 'Bearer wrong' },
    { authorization: `Bearer ${KEY}x` },
    { authorization: `Bearer ${KEY.slice(0, -1)}` },
    { authorization: `Bearer ${KEY.toLowerCase()}` },
    { authorization: `Bearer wrong ${KEY}` },
    { authorization: `Bearer "${KEY}"` },
    { authorization: `Bearer ${ENCODED}` },
    { authorization: KEY },
    { authorization: `Token ${KEY}` },
    { authorization: `Basic ${KEY}` },
    { authorization: 'Basic' },
    { authorization: 'Basic %%%' },
    { authorization: basic(KEY) },
    { authorization: basic(`${KEY}:`) },
    { authorization: basic(`${KEY}:x`) },
    { authorization: basic('user:wrong') },
    { authorization: basic(`user:${KEY}x`) },
    { authorization: basic(`user:x:${KEY}`) },
    { authorization: basic(`user:${KEY}`).replace('Basic', 'Bearer') },
    { cookie: 'sluice_key=' },
    { cookie: 'sluice_key' },
    { cookie: 'sluice_key=wrong' },
    { cookie: 'sluice_key=%' },
    { cookie: 'sluice_key=%zz; sluice_key=%ff' },
    { cookie: `sluice_keys=${ENCODED}` },
    { cookie: `Sluice_Key=${ENCODED}` },
    { cookie: `x=sluice_key=${ENCODED}` },
    { cookie: `sluice_key=${ENCODED}x` },
    { cookie: ';;;=;=;' },
    { 'x-api-key': KEY },
    { 'api-key': KEY },
    { 'x-sluice-key': KEY },
    { key: KEY },
    { 'proxy-authorization': `Bearer ${KEY}` },
    { referer: `http://localhost/?key=${ENCODED}` },
    { 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1' },
  ];

  test('is closed without it, everywhere', async () => {
    for (const path of PATHS) {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'TRACE']) {
        assertLocked(await send({ method, path }), `${method} ${path}`);
      }
      const head = await send({ method: 'HEAD', path });
      assert.deepEqual([head.status, head.text], [401, ''], path);
    }
    // `<img>` cannot send it, and the names cannot be guessed.
    for (const method of ['GET', 'HEAD'])
      assert.equal((await send({ method, path: '/media/1_image_0123456789abcdef.png' })).status, 404, method);
    assertLocked(await send({ method: 'DELETE', path: '/media/1_image_0123456789abcdef.png' }), 'DELETE');
    for (const path of ['/api/mock/chat/completions', ...CHATS.map((chat) => chat.path)]) {
      assertLocked(await send({ path, body: HI }), path);
      assertLocked(await send({ method: 'POST', path, headers: { 'content-type': 'text/plain' }, body: '{' }), path);
    }
    for (const path of ['/%76%31/models', '/media/../v1/models', '/images/%2e%2e/v1/models', '//v1/models', '/%']) {
      const answer = await send({ path });
      assert.ok([400, 401, 404].includes(answer.status), path);
      assert.ok(!answer.text.includes('test-model'), path);
    }
    assert.equal(world.upstream.requests.length, 0);
  });

  test(`is closed to ${WRONG.length} wrong ones`, async () => {
    for (const headers of WRONG) {
      const hint = JSON.stringify(headers);
      for (const path of ['/', '/v1/models', `${CREATE}?prompt=Hi`]) assertLocked(await send({ path, headers }), hint);
      for (const { path } of CHATS) assertLocked(await send({ path, headers, body: HI }), hint);
    }
    for (const query of [
      'key=',
      'key=wrong',
      `Key=${ENCODED}`,
      `key[]=${ENCODED}`,
      `key=wrong&key=${ENCODED}`,
      'key=%',
      '%=%',
    ]) {
      assertLocked(await send({ path: `/?${query}` }), query);
    }
    // The address is for people who open a page; elsewhere it would end up in logs.
    for (const { path } of CHATS) assertLocked(await send({ path: `${path}?key=${ENCODED}`, body: HI }), path);
    assert.equal((await send({ method: 'HEAD', path: `/?key=${ENCODED}` })).status, 401);
    // What clients of Google's API send counts on its paths only.
    const ofGoogle = { 'x-goog-api-key': KEY };
    for (const path of ['/', '/v1/providers', `${CREATE}?prompt=/v1beta/`])
      assertLocked(await send({ path, headers: ofGoogle }), path);
    assertLocked(await send({ path: '/v1/modelsx', headers: ofGoogle }), '/v1/modelsx', 'Gemini API');
    for (const { path } of CHATS)
      for (const query of ['', `?x=/v1beta/&key=${ENCODED}`, `?x=/v1/models&key=${ENCODED}`])
        assertLocked(await send({ path: path + query, headers: ofGoogle, body: HI }), path + query);
    assertLocked(await send({ path: CHATS[1].path, body: { ...HI, key: KEY, api_key: KEY } }), 'body');
    assert.equal(world.upstream.requests.length, 0);
  });

  test('takes only one Authorization header, the first', async () => {
    const right = `authorization: Bearer ${KEY}\r\n`;
    const wrong = 'authorization: Bearer wrong\r\n';
    for (const [lines, status] of [
      [wrong + right, 401],
      [right, 200],
    ] as const) {
      const request = `GET /v1/models HTTP/1.1\r\nhost: localhost\r\n${lines}connection: close\r\n\r\n`;
      assert.deepEqual(statusesIn((await talk(world.gateway.origin, request)).text), [status]);
    }
  });

  test('opens to it as a Bearer token, a password or a cookie', async () => {
    for (const headers of [
      BEARER,
      { authorization: `bearer ${KEY}` },
      { authorization: `BEARER   ${KEY}  ` },
      { authorization: basic(`:${KEY}`) },
      { authorization: basic(`anybody:${KEY}`) },
      { authorization: basic(`anybody:${KEY}`).replace('Basic', 'basic') },
      { cookie: `sluice_key=${ENCODED}` },
      { cookie: `a=b; sluice_key=${ENCODED}; c=d` },
      { cookie: `sluice_key=${ENCODED}`, authorization: 'Bearer wrong' },
    ]) {
      const hint = JSON.stringify(headers);
      for (const path of PATHS) {
        const answer = await send({ path, headers });
        assert.ok([200, 301, 404].includes(answer.status), `${hint} ${path}: ${answer.text}`);
      }
      for (const { path } of CHATS) {
        const answer = await send({ path, headers, body: { ...HI, provider: 'mock' } });
        assert.equal(answer.status, 200, answer.text);
        assert.equal(world.last.headers['authorization'], undefined);
        assert.equal(world.last.headers['cookie'], undefined);
      }
    }
    await world.isWell();
  });

  test('moves it from the printed address into a cookie', async () => {
    for (const [path, location] of [
      [`/?key=${ENCODED}`, '/'],
      [`/?a=b&key=${ENCODED}&c=d`, '/?a=b&c=d'],
      [`/?a=%20b?c&k%65y=${ENCODED}`, '/?a=%20b?c'],
      [`/docs/?key=${ENCODED}`, '/docs/'],
      [`//evil.example/x?key=${ENCODED}`, '/evil.example/x'],
      [`///evil.example?key=${ENCODED}`, '/evil.example'],
      [`/\\evil.example?key=${ENCODED}`, '/evil.example'],
      [`/\\/evil.example?key=${ENCODED}`, '/evil.example'],
      [`/https://evil.example?key=${ENCODED}`, '/https://evil.example'],
    ] as const) {
      const answer = await world.ask({ path });
      assert.deepEqual([answer.status, answer.headers.location, answer.text], [303, location, ''], path);
      const [cookie = '', ...more] = answer.headers['set-cookie'] ?? [];
      assert.deepEqual(more, []);
      const [pair = '', ...attributes] = cookie.split('; ');
      assert.deepEqual(attributes.slice(0, 3).sort(), ['HttpOnly', 'Path=/', 'SameSite=Strict']);
      assert.equal((await send({ path: '/v1/models', headers: { cookie: pair } })).status, 200);
    }
    for (const headers of [{ origin: 'https://evil.example' }, { host: 'evil.example' }]) {
      const answer = await world.ask({ path: `/?key=${ENCODED}`, headers });
      assertError(answer, 403);
      assert.equal(answer.headers['set-cookie'], undefined);
    }
  });

  test('hands a second word on as the key of the provider, and never the first', async () => {
    for (const { path } of CHATS) {
      const chosen = { ...HI, provider: 'openai' };
      const headers = { authorization: `Bearer ${KEY} key-of-the-provider` };
      const answer = await send({ path, headers, body: chosen });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(world.last.headers['authorization'], 'Bearer key-of-the-provider');
      // Without one the provider's key is missing: nothing that this server's key would help with.
      const { length } = world.upstream.chats;
      const missing = await send({ path, headers: BEARER, body: chosen });
      assert.match(missing.text, /"code":"missing_credentials"/);
      assert.equal(missing.headers['www-authenticate'], undefined);
      assert.equal(world.upstream.chats.length, length);
    }
    for (const { rawBody, headers } of world.upstream.requests) {
      assert.ok(!rawBody.includes(KEY) && !inspect(headers).includes(KEY));
    }
  });

  test('lets preflights of its own pages pass, which cannot carry it', async () => {
    const headers = { origin: 'http://localhost:3000', 'access-control-request-method': 'POST' };
    assert.equal((await send({ method: 'OPTIONS', path: CHATS[1].path, headers })).status, 200);
    const locked = await send({ path: CHATS[1].path, headers: { origin: headers.origin }, body: HI });
    assertLocked(locked, 'after a preflight');
    assert.equal(locked.headers['access-control-allow-origin'], headers.origin);
    const foreign = { ...headers, origin: 'https://evil.example' };
    assertError(await send({ method: 'OPTIONS', path: CHATS[1].path, headers: foreign }), 403);
  });

  test('never tells it', async () => {
    for (const ask of [
      { path: `/${ENCODED}` },
      { path: `/v1/models/${ENCODED}` },
      { path: `/v1/providers/${ENCODED}` },
      { path: `/api/${ENCODED}/models` },
      { path: CHATS[0].path, body: { ...HI, model: KEY } },
      { path: CHATS[0].path, body: { ...HI, provider: KEY } },
      { path: CHATS[1].path, body: { ...HI, model: KEY } },
      { path: CHATS[1].path, body: { ...HI, [KEY]: 1, messages: 1 } },
      { path: CHATS[1].path, body: { ...HI, api_key: { [KEY]: 1 } } },
    ]) {
      await send({ ...ask, headers: BEARER });
    }
    const spellings = [KEY, ENCODED, JSON.stringify(KEY).slice(1, -1), basic(`:${KEY}`).slice(10, -4)];
    for (const { status, headers, text } of answers) {
      for (const spelling of spellings) {
        assert.ok(!text.includes(spelling), `${status} ${text}`);
        assert.ok(!inspect(headers).includes(spelling), `${status} ${inspect(headers)}`);
      }
    }
    const logged = inspect(world.gateway.log.lines, { depth: null });
    for (const spelling of spellings) assert.ok(!logged.includes(spelling), logged);
  });

  test('it is no key for a provider, wherever it stands', async () => {
    for (const [headers, more] of [
      [{ 'x-api-key': KEY }, {}],
      [{ x_api_key: KEY }, {}],
      [{}, { api_key: KEY }],
      [{}, { api_key: { openai: KEY } }],
    ] as const) {
      for (const { path } of CHATS) {
        const answer = await send({
          path,
          headers: { ...BEARER, ...headers },
          body: { ...HI, provider: 'openai', ...more },
        });
        assert.notEqual(answer.status, 500, answer.text);
      }
    }
    for (const request of world.upstream.requests) {
      assert.ok(!JSON.stringify([request.headers, request.body]).includes('Sesame'), request.path);
    }
  });
});

describe('a server without an access key', () => {
  test('asks nobody for one, and hands a Bearer token to a provider that needs it', async () => {
    await using world = await openWorld({
      yaml: ({ baseUrl }) => `  openai: { baseUrl: '${baseUrl}', models: [test-model] }\n`,
    });
    for (const path of PATHS) {
      for (const headers of [
        {},
        { authorization: 'Bearer secret' },
        { authorization: basic('a:b') },
        { cookie: 'sluice_key=%' },
      ]) {
        const { status } = await ask(world.gateway.origin, { path, headers });
        assert.ok([200, 301, 404].includes(status), path);
      }
      assert.notEqual((await world.ask({ path: `${path.split('?')[0]}?key=x` })).status, 303);
    }
    const key = 'key-of-the-client';
    for (const { path } of CHATS) {
      const send = (headers: Record<string, string>, more: object) =>
        world.ask({ path, headers, body: { ...HI, ...more } });
      for (const [headers, more] of [
        [{ authorization: `Bearer ${key}` }, {}],
        [{ 'x-api-key': key }, {}],
        [{ x_api_key: key }, {}],
        [{ authorization: `Bearer ${key}`, 'x-api-key': 'secret' }, {}],
        [{}, { api_key: key }],
        [{ 'x-api-key': 'another' }, { api_key: key }],
        [{}, { api_key: { OpenAI: key, mock: 'another' } }],
      ] as const) {
        const hint = JSON.stringify([headers, more]);
        assert.equal((await send(headers, { ...more, provider: 'openai' })).status, 200, hint);
        assert.equal(world.last.headers['authorization'], `Bearer ${key}`, hint);
      }
      assert.equal((await send({ authorization: `Bearer ${key}` }, { provider: 'mock' })).status, 200);
      assert.equal(world.last.headers['authorization'], undefined);
      // A password is none, nor is the word that some libraries need to be content.
      const { length } = world.upstream.chats;
      for (const authorization of [basic('user:password'), 'Bearer secret', 'Bearer']) {
        const refused = await send({ authorization }, { provider: 'openai' });
        assert.match(refused.text, /"code":"missing_credentials"/, authorization);
      }
      assert.equal(world.upstream.chats.length, length);
    }
  });
});
