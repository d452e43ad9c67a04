import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { type Answer, type Ask, ask } from '../support/raw-http.ts';
import { type Arrived, type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';
import { assertError } from './edge-world.ts';
import { startGatewayBefore } from './gateway-before.ts';

/** Figures that no number of JavaScript's holds, and a member that is none of an object's own here. */
const TOLD = '{"is_available":true,"left":12345678901234567890.10,"__proto__":{"a":1}}';

const CONFIGURED = 'configured-key-of-a-provider';
const OWN = 'key-that-a-client-brought';
/** Long enough for a busy machine to answer in. */
const LIMITS = 'limits: { firstByteMs: 2000 }';

/** Who tells it, where, and how its key travels. */
const VENDORS = [
  ['openrouter', '/api/v1', '/api/v1/key', 'authorization'],
  ['deepseek', '/v1', '/user/balance', 'authorization'],
  ['moonshot', '/v1', '/v1/users/me/balance', 'authorization'],
  ['vercel', '/v1', '/v1/credits', 'authorization'],
  ['elevenlabs', '', '/v1/user/subscription', 'xi-api-key'],
  ['luma', '', '/dream-machine/v1/credits', 'authorization'],
  ['stability', '', '/v1/user/balance', 'authorization'],
] as const;

/** What an upstream does, by the key that it is asked with; else it tells. */
const FAULTS: Readonly<Record<string, (response: ServerResponse, request: Arrived) => void>> = {
  silent: () => {},
  html: (response) => response.end('<h1>Welcome</h1>'),
  list: (response) => response.end('[{"left":1}]'),
  large: (response) => response.end(`{"left":"${'1'.repeat(100_000)}"}`),
  refused: (response) => fail(response, 401, { error: { message: 'The key refused is not known here' } }),
  limited: (response) => fail(response, 429, { error: { message: 'Too often' } }, { 'retry-after': '7' }),
  broken: (response) => fail(response, 500, { error: { message: 'We are sorry' } }),
  gateway: (response) => response.writeHead(502).end('<h1>Bad gateway</h1>'),
  moved: (response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
  nowhere: (response) => fail(response, 404, { detail: 'Not Found' }),
  cut: (response) => response.destroy(),
  echo: (response, { headers }) => response.end(JSON.stringify({ key: headers.authorization, left: 1 })),
};

function fail(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

describe('what is left of an account', { timeout: 60_000 }, () => {
  let upstream: ScriptedServer;
  let world: Awaited<ReturnType<typeof startGatewayBefore>>;
  before(async () => {
    upstream = await startScriptedServer((request, response) => {
      const key = String(request.headers.authorization ?? '').replace(/^Bearer (\w+).*$/, '$1');
      const fault = FAULTS[key];
      if (fault === undefined) response.end(TOLD);
      else fault(response, request);
      return undefined;
    });
    const { origin } = upstream;
    const rows = VENDORS.map(([id, path]) => `  ${id}: { baseUrl: '${origin}${path}', apiKey: '${CONFIGURED}' }`);
    world = await startGatewayBefore(
      [upstream],
      `
providers:
${rows.join('\n')}
  open: { label: Open Words, kind: openai, baseUrl: '${origin}/v1' }
  own: { kind: openai, baseUrl: '${origin}/v1', apiKey: '${CONFIGURED}', settings: { quotaPath: left?of=me } }
  several: { kind: openai, baseUrl: '${origin}', apiKeys: [the-first-key, the-second-key], settings: { quotaPath: /left } }
  groq: { label: Locked, baseUrl: '${origin}', settings: { quotaPath: /left } }
  echo: { kind: openai, baseUrl: '${origin}', apiKey: 'echo-${CONFIGURED}', settings: { quotaPath: /left } }
${LIMITS}
`,
    );
  });
  after(() => world.close());

  const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> =>
    ask(world.gateway.origin, { path, headers, method } satisfies Ask);
  const pathsOf = (provider: string) => [`/api/${provider}/quota`, `/backend-api/v2/quota/${provider}`];

  for (const [id, , path, header] of VENDORS) {
    test(`${id} is asked at its address, with the key where it belongs, and its object comes as it is`, async () => {
      for (const address of pathsOf(id)) {
        const answer = await get(address, { cookie: 'a=b', 'x-user': 'ada' });
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.text, TOLD);
        assert.match(String(answer.headers['content-type']), /^application\/json/);
        assert.equal(answer.headers['cache-control'], 'no-store');
        const asked = upstream.requests.at(-1);
        assert.deepEqual([asked?.method, asked?.path], ['GET', path]);
        assert.equal(asked?.headers[header], header === 'authorization' ? `Bearer ${CONFIGURED}` : CONFIGURED);
        assert.deepEqual([asked?.headers.cookie, asked?.headers['x-user']], [undefined, undefined]);
      }
    });
  }

  test('a provider is also found by its label, and the path may come from the configuration', async () => {
    assert.equal((await get('/api/DeepSeek/quota')).text, TOLD);
    assert.equal((await get('/api/own/quota')).text, TOLD);
    const asked = upstream.requests.at(-1);
    assert.deepEqual([asked?.path, asked?.query.get('of')], ['/left', 'me']);
  });

  test('of several keys the first one is asked about, and another one by whoever sends it', async () => {
    for (const [headers, key] of [
      [{}, 'the-first-key'],
      [{}, 'the-first-key'],
      [{ 'x-api-key': 'the-second-key' }, 'the-second-key'],
    ] as const) {
      assert.equal((await get('/api/several/quota', headers)).status, 200);
      assert.equal(upstream.requests.at(-1)?.headers.authorization, `Bearer ${key}`);
    }
  });

  test('nobody: 404; who tells nothing: 404 with its name, without being asked', async () => {
    const before = upstream.requests.length;
    for (const [name, code, message] of [
      ['nobody', 'provider_not_found', /'nobody'/],
      ['logs', 'provider_not_found', /'logs'/],
      ['__proto__', 'provider_not_found', /not found/],
      ['open', 'not_found', /^Open Words does not tell/],
    ] as const) {
      for (const path of pathsOf(name)) {
        const error = assertError(await get(path), 404, path);
        assert.deepEqual([error.code, error.param], [code, 'provider']);
        assert.match(error.message, message);
      }
    }
    assert.match(assertError(await get('/api/nobody/quota'), 404).message, /\/v1\/providers/);
    assert.match(assertError(await get('/backend-api/v2/quota/nobody'), 404).message, /\/backend-api\/v2\/providers/);
    assert.equal(upstream.requests.length, before);
  });

  test('without a key 401; with one of the client in either way it is asked about that', async () => {
    const before = upstream.requests.length;
    for (const path of pathsOf('groq')) {
      assert.equal(assertError(await get(path), 401).code, 'missing_credentials');
      assert.equal(assertError(await get(path, { authorization: 'Bearer secret' }), 401).code, 'missing_credentials');
    }
    assert.equal(upstream.requests.length, before);
    for (const path of pathsOf('groq')) {
      for (const headers of [{ 'x-api-key': OWN }, { x_api_key: OWN }, { authorization: `Bearer ${OWN}` }]) {
        assert.equal((await get(path, headers as Record<string, string>)).text, TOLD);
        assert.equal(upstream.requests.at(-1)?.headers.authorization, `Bearer ${OWN}`);
      }
    }
    // Many clients send a Bearer token for form's sake; the configured key stands.
    await get('/api/own/quota', { authorization: `Bearer ${OWN}` });
    assert.equal(upstream.requests.at(-1)?.headers.authorization, `Bearer ${CONFIGURED}`);
  });

  for (const [key, status, code] of [
    ['refused', 401, 'missing_credentials'],
    ['limited', 429, 'rate_limited'],
    ['broken', 500, 'provider_failed'],
    ['gateway', 502, 'upstream_failed'],
    ['moved', 502, 'upstream_invalid'],
    ['html', 502, 'upstream_invalid'],
    ['list', 502, 'upstream_invalid'],
    ['large', 502, 'upstream_invalid'],
    ['cut', 502, 'upstream_cut'],
    ['silent', 504, 'upstream_timeout'],
    ['nowhere', 404, 'not_found'],
  ] as const) {
    test(`an upstream that is ${key}: ${status} ${code}, of this provider`, async () => {
      for (const path of pathsOf('groq')) {
        const answer = await get(path, { 'x-api-key': `${key}-and-secret` });
        assert.equal(assertError(answer, status).code, code);
        assert.equal((answer.json as { provider?: string }).provider, 'groq');
        assert.equal(answer.headers['retry-after'], key === 'limited' ? '7' : undefined);
        assert.ok(!answer.text.includes(`${key}-and-secret`), answer.text);
        const asked = upstream.requests.at(-1);
        assert.notEqual(asked?.path, '/');
        if (key === 'silent') assert.equal(await asked?.closed, 'aborted');
      }
    });
  }

  test('an upstream is left as soon as its client leaves', async () => {
    const controller = new AbortController();
    const before = upstream.requests.length;
    const running = fetch(`${world.gateway.origin}/api/groq/quota`, {
      headers: { 'x-api-key': 'silent' },
      signal: controller.signal,
    });
    const left = assert.rejects(running, { name: 'AbortError' });
    await eventually('the upstream is asked', () => upstream.requests.length > before);
    controller.abort();
    await left;
    assert.equal(await upstream.requests.at(-1)?.closed, 'aborted');
  });

  test('a key that an account comes with stays here', async () => {
    assert.equal((await get('/api/echo/quota')).text, '{"key":"Bearer ***","left":1}');
    const own = await get('/api/groq/quota', { 'x-api-key': 'echo-of-my-own' });
    assert.equal(own.text, '{"key":"Bearer ***","left":1}');
    const log = JSON.stringify(world.gateway.log.lines);
    for (const key of [CONFIGURED, OWN, 'echo-of-my-own', 'and-secret']) assert.ok(!log.includes(key), key);
  });

  test('no other page makes it ask, and HEAD does not either', async () => {
    const before = upstream.requests.length;
    for (const path of pathsOf('deepseek')) {
      for (const headers of [
        { origin: 'https://evil.example' },
        { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
        { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
      ]) {
        assert.equal(assertError(await get(path, headers as Record<string, string>), 403).code, 'forbidden');
      }
      for (const method of ['HEAD', 'POST', 'DELETE']) {
        const answer = await get(path, {}, method);
        assert.deepEqual([answer.status, answer.headers.allow], [405, 'GET'], method);
      }
    }
    assert.equal(upstream.requests.length, before);
  });
});

test('where the server has an access key, it is asked for, and no provider gets it', async () => {
  const upstream = await startScriptedServer((_request, response) => {
    response.end(TOLD);
    return undefined;
  });
  const world = await startGatewayBefore(
    [upstream],
    `
key: the-access-key-of-this-server
providers: { groq: { baseUrl: '${upstream.origin}', settings: { quotaPath: /left } } }
`,
  );
  try {
    for (const path of ['/api/groq/quota', '/backend-api/v2/quota/groq']) {
      const get = (headers: Record<string, string>) => ask(world.gateway.origin, { path, headers });
      assert.equal(assertError(await get({}), 401).code, 'unauthorized');
      const authorization = 'Bearer the-access-key-of-this-server';
      assert.equal(assertError(await get({ authorization }), 401).code, 'missing_credentials');
      assert.equal(
        assertError(await get({ authorization, 'x-api-key': 'the-access-key-of-this-server' }), 401).code,
        'missing_credentials',
      );
      assert.equal((await get({ authorization: `${authorization} ${OWN}` })).text, TOLD);
    }
    const keys = upstream.requests.map(({ headers }) => headers.authorization);
    assert.deepEqual(keys, [`Bearer ${OWN}`, `Bearer ${OWN}`]);
  } finally {
    await world.close();
  }
});
