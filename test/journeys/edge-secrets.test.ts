import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { temporaryFolder } from '../support/config-folder.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { type Answer, type Ask, ask } from '../support/raw-http.ts';
import { startSluice } from '../support/run-sluice.ts';
import type { VendorAnswer, VendorRequest } from '../support/vendor-script.ts';
import { assertError, CHATS, CREATE, HI, openWorld, type World } from './edge-world.ts';

/** Long and odd enough to be found wherever they turn up. */
const PROVIDER_KEY = 'sk-planted-provider-key/0123456789+abc=';
const PROVIDER_HEADER = 'planted-header-value-0123456789';
const CLIENT_KEY = 'sk-planted-client-key-0123456789';
const COOKIE = 'planted-client-cookie-0123456789';
const INTERNAL = 'planted-internal-0123456789';
const SECRETS = [PROVIDER_KEY, PROVIDER_HEADER, CLIENT_KEY, COOKIE, INTERNAL];

/** Spellings in which an upstream may quote. */
const BASE64 = (text: string): string => Buffer.from(text).toString('base64');
const PERCENT = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
/** All secrets that reached the upstream, in its own words. */
const quoted = ({ headers }: VendorRequest): string => {
  const key = `${headers.authorization}`;
  return `Incorrect API key provided: ${key} and ${headers['x-planted-token']}, ${BASE64(key)} or ${PERCENT(key)}.`;
};
/** What of the secrets would be found in any of these. */
const TRACES = SECRETS.flatMap((secret) => [
  secret,
  PERCENT(secret.slice(0, 12)),
  BASE64(`Bearer ${secret}`).slice(12, 28),
]);
const json = (body: unknown): string => JSON.stringify(body);

/** What the upstream says, by the model that is asked for. */
const FAILURES: Readonly<Record<string, (request: VendorRequest) => VendorAnswer>> = {
  'status-400': (request) => ({ status: 400, errorMessage: quoted(request) }),
  'status-401': (request) => ({ status: 401, errorMessage: quoted(request) }),
  'status-403': (request) => ({ status: 403, errorMessage: quoted(request) }),
  'status-404': (request) => ({ status: 404, errorMessage: quoted(request) }),
  'status-422': (request) => ({ status: 422, raw: json({ detail: [{ loc: ['header'], msg: quoted(request) }] }) }),
  'status-429': (request) => ({ status: 429, errorMessage: quoted(request), headers: { 'retry-after': '40' } }),
  'status-500': (request) => ({ status: 500, errorMessage: quoted(request), headers: { 'retry-after': '40' } }),
  'status-503': (request) => ({
    status: 503,
    raw: json({ message: quoted(request) }),
    headers: { 'retry-after': '40' },
  }),
  html: (request) => ({
    status: 502,
    raw: `<html><body>${quoted(request)}</body></html>`,
    headers: { 'retry-after': '40' },
  }),
  // Some name the wrong field by what was in it.
  'wrong-field': (request) => ({
    status: 400,
    raw: json({
      error: { message: quoted(request), param: `${request.headers.authorization}`, code: quoted(request) },
    }),
  }),
  long: (request) => ({ status: 400, errorMessage: 'x'.repeat(1_962) + quoted(request) }),
  'error-in-200': (request) => ({ raw: json({ error: { message: quoted(request), code: 400 } }) }),
  'error-first': (request) => ({ raw: `data: ${json({ error: { message: quoted(request), code: 400 } })}\n\n` }),
  'error-later': (request) => ({ text: ['one ', 'two ', 'three '], errorAfter: 2, errorMessage: quoted(request) }),
  'error-later-long': (request) => ({
    text: ['one ', 'two ', 'three '],
    errorAfter: 2,
    errorMessage: 'x'.repeat(1_945) + quoted(request),
  }),
  'error-event': (request) => ({
    raw:
      'data: {"choices":[{"index":0,"delta":{"content":"one "},"finish_reason":null}]}\n\n' +
      `event: error\ndata: ${json({ error: quoted(request) })}\n\n`,
  }),
};

/** What paces clients, in all forms that vendors have for it. */
const PACE = {
  'x-ratelimit-limit-requests': '5000',
  'x-ratelimit-remaining-requests': '4999',
  'x-ratelimit-remaining-tokens': '149984',
  'x-ratelimit-remaining-requests-day': '33011.382867097855',
  'x-ratelimit-reset-requests': '12ms',
  'x-ratelimit-reset-tokens': '2m59.56s',
  'x-ratelimit-limit-tokens': '100, 1000;w=3600',
  'anthropic-ratelimit-requests-reset': '2026-01-31T23:59:59Z',
  'x-ratelimit-reset': 'Sat, 31 Jan 2026 23:59:59 GMT',
};

/** An answer with all that an upstream might send beside it. */
function tell(request: VendorRequest): VendorAnswer {
  const answer = FAILURES[request.model]?.(request) ?? { text: ['Hello', ' from', ' the', ' upstream.'] };
  const headers = {
    ...answer.headers,
    'set-cookie': `session=${INTERNAL}`,
    'www-authenticate': `Bearer realm="${INTERNAL}"`,
    'x-internal-host': INTERNAL,
    'x-request-id': INTERNAL,
    'x-echo': quoted(request),
    server: INTERNAL,
    via: INTERNAL,
    'x-powered-by': INTERNAL,
    'openai-organization': INTERNAL,
    'alt-svc': INTERNAL,
    link: INTERNAL,
    location: INTERNAL,
    'access-control-allow-origin': '*',
    'access-control-expose-headers': INTERNAL,
    'content-security-policy': INTERNAL,
    ...PACE,
    'x-ratelimit-limit-key': request.headers.authorization?.replace('Bearer ', '') ?? '',
    'x-ratelimit-note': quoted(request),
    'x-ratelimit-policy': `100;w=60;k=${INTERNAL}`,
  };
  return { ...answer, headers };
}

test('no secret in the output of the whole program, at its most talkative', async (context) => {
  const upstream = await startOpenAiUpstream(tell);
  context.after(() => upstream.close());
  const folder = temporaryFolder(context);
  const planted = `baseUrl: '${upstream.baseUrl}', headers: { x-planted-token: '${PROVIDER_HEADER}' }`;
  // Upstreams' own words are logged where contents are kept.
  const yaml = `logLevel: debug
observe: { requestLog: full }
detectLocal: false
embedded: { enabled: false }
limits: { attempts: 1 }
providers:
  mock: { kind: openai, ${planted}, apiKey: '${PROVIDER_KEY}' }
  openai: { ${planted} }
`;
  writeFileSync(path.join(folder, 'sluice.yaml'), yaml);
  const running = startSluice(context, ['--bind', '127.0.0.1:0'], { folder });
  const [, address = ''] = await running.said(/Page +http:\/\/(\S+)\//);
  for (const model of Object.keys(FAILURES)) {
    for (const chat of CHATS) {
      await ask(`http://${address}`, { path: chat.path, body: { ...HI, stream: true, provider: 'mock', model } });
      const body = { ...HI, stream: true, provider: 'openai', model, api_key: CLIENT_KEY };
      await ask(`http://${address}`, { path: chat.path, headers: { cookie: `session=${COOKIE}` }, body });
    }
  }
  running.process.kill('SIGTERM');
  const { stdout, stderr } = await running.ended;
  assert.match(stderr, /Incorrect API key provided/);
  for (const trace of TRACES) assert.ok(!stdout.includes(trace) && !stderr.includes(trace), trace);
  for (const secret of SECRETS) {
    // A quotation may end in the middle of one.
    for (const spelling of [secret, encodeURIComponent(secret), secret.slice(0, 12)]) {
      assert.ok(!stdout.includes(spelling) && !stderr.includes(spelling), `${spelling}: ${stdout}${stderr}`);
    }
  }
});

describe('secrets', () => {
  let world: World;
  const answers: Answer[] = [];
  const send = async (what: Ask): Promise<Answer> => {
    const answer = await world.ask(what);
    answers.push(answer);
    return answer;
  };
  before(async () => {
    world = await openWorld({
      provider: `apiKey: '${PROVIDER_KEY}', headers: { x-planted-token: '${PROVIDER_HEADER}' }, models: [${Object.keys(FAILURES).join(', ')}, test-model]`,
      yaml: ({ baseUrl }) =>
        `  openai: { baseUrl: '${baseUrl}', headers: { x-planted-token: '${PROVIDER_HEADER}' } }\nlimits: { attempts: 1 }\n`,
      script: tell,
    });
  });
  after(() => world.close());

  /** What a client may send besides. */
  const headers = { cookie: `session=${COOKIE}`, 'x-client-secret': COOKIE, 'x-api-key': CLIENT_KEY };

  function assertHidden(): void {
    for (const { status, headers: received, text } of answers) {
      const all = `${inspect(received)}\n${text}`;
      for (const secret of TRACES) assert.ok(!all.includes(secret), `${secret}: ${status} ${all}`);
    }
    const logged = inspect(
      world.gateway.log.lines.filter((line) => line.level !== 'debug'),
      { depth: null },
    );
    for (const secret of TRACES) assert.ok(!logged.includes(secret), logged);
  }

  for (const name of Object.keys(FAILURES)) {
    test(`in an upstream's words: ${name}`, async () => {
      const from = answers.length;
      for (const { path } of CHATS) {
        for (const stream of [true, false]) {
          for (const keys of [{}, { api_key: CLIENT_KEY }, { api_key: { mock: CLIENT_KEY, openai: CLIENT_KEY } }]) {
            for (const provider of ['mock', 'openai']) {
              await send({ path, headers, body: { ...HI, ...keys, provider, stream, model: name } });
              await send({
                path,
                headers: { authorization: `Bearer ${CLIENT_KEY}` },
                body: { ...HI, ...keys, provider, stream, model: name },
              });
            }
          }
        }
      }
      await send({ path: `${CREATE}?prompt=Hi&provider=mock&model=${name}`, headers }).catch(() => {});
      await send({ path: `${CREATE}?prompt=Hi&provider=openai&model=${name}&filter_markdown=true`, headers });
      assertHidden();
      // The test would prove nothing if the upstream had been silent, or its words had been lost altogether.
      const told = answers
        .slice(from)
        .filter(({ text }) => /Incorrect API key provided: |<html>|not a JSON error|xxx/.test(text));
      assert.ok(told.length > 0);
      assert.ok(world.upstream.chats.some((chat) => chat.headers['authorization'] === `Bearer ${PROVIDER_KEY}`));
      assert.ok(world.upstream.chats.some((chat) => chat.headers['authorization'] === `Bearer ${CLIENT_KEY}`));
    });
  }

  test('in listings and descriptions', async () => {
    for (const path of [
      '/v1/models',
      '/v1/providers',
      '/v1/providers/mock',
      '/api/mock/models',
      '/api/openai/models',
      '/backend-api/v2/providers',
      '/backend-api/v2/models',
      '/backend-api/v2/models/mock',
      '/backend-api/v2/models/openai',
      '/openapi.json',
      '/',
    ]) {
      await send({ path });
      await send({ path, headers: { ...headers, authorization: `Bearer ${CLIENT_KEY}` } });
    }
    assertHidden();
  });

  test('in words of the client itself', async () => {
    for (const path of [
      `/${encodeURIComponent(PROVIDER_KEY)}`,
      `/v1/models/${encodeURIComponent(PROVIDER_KEY)}`,
      `/v1/providers/${encodeURIComponent(PROVIDER_KEY)}`,
    ]) {
      assertError(await send({ path }), 404);
    }
    for (const { path, wrongField } of CHATS) {
      assertError(await send({ path, body: { ...HI, provider: PROVIDER_KEY } }), 404);
      assertError(await send({ path, body: { ...HI, api_key: { [PROVIDER_KEY]: 1 } } }), wrongField);
    }
    assertHidden();
  });

  test('of the client do not reach the upstream', async () => {
    const noise = {
      cookie: `session=${COOKIE}`,
      'x-client-secret': COOKIE,
      authorization: `Bearer ${CLIENT_KEY}`,
      'proxy-authorization': `Basic ${COOKIE}`,
      'x-forwarded-for': '10.0.0.1',
      'x-user': 'somebody',
      'x-request-id': 'client-request',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      referer: 'http://localhost/secret',
      origin: 'http://localhost',
      'user-agent': 'client-agent',
      'accept-language': 'de',
      'openai-organization': 'client-organization',
      te: 'trailers',
    };
    for (const { path } of CHATS) {
      for (const stream of [true, false]) {
        const answer = await send({ path, headers: noise, body: { ...HI, provider: 'mock', stream } });
        assert.equal(answer.status, 200, answer.text);
        const { headers: arrived, rawBody } = world.last;
        assert.deepEqual(Object.keys(arrived).sort(), [
          'accept',
          'authorization',
          'connection',
          'content-length',
          'content-type',
          'host',
          'x-planted-token',
        ]);
        assert.equal(arrived['authorization'], `Bearer ${PROVIDER_KEY}`);
        assert.ok(!rawBody.includes(CLIENT_KEY) && !rawBody.includes(COOKIE));
      }
    }
    assertHidden();
  });

  test('of the upstream do not reach the client, and what paces it does', async () => {
    for (const { path } of CHATS) {
      for (const stream of [true, false]) {
        const answer = await send({ path, body: { ...HI, provider: 'mock', stream } });
        assert.equal(answer.status, 200, answer.text);
        const { headers: received } = answer;
        for (const name of ['set-cookie', 'server', 'via', 'x-powered-by', 'openai-organization', 'location', 'link']) {
          assert.equal(received[name], undefined, name);
        }
        assert.equal(received['access-control-allow-origin'], undefined);
        assert.notEqual(received['x-request-id'], INTERNAL);
        const pace = Object.entries(received).filter(([name]) => name.includes('ratelimit'));
        assert.deepEqual(Object.fromEntries(pace), PACE);
      }
      const limited = await send({ path, body: { ...HI, provider: 'mock', model: 'status-429' } });
      assertError(limited, 429);
      assert.equal(limited.headers['retry-after'], '40');
    }
    assertHidden();
  });
});
