import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { ask } from '../support/raw-http.ts';
import { begin, readError, receive } from '../support/wire-answers.ts';
import { CHATS, HI, openWorld, type World, type WorldOptions } from './edge-world.ts';

/** Addresses of clients, as a proxy in front tells them. */
const ANNA = '203.0.113.7';
const BEN = '2001:db8::17';

async function open(context: TestContext, yaml = '', options: WorldOptions = {}): Promise<World> {
  const world = await openWorld({ ...options, yaml });
  context.after(() => world.close());
  return world;
}

/** What `GET /metrics` answers to whoever asks on behalf of somebody. */
async function metricsFor({ gateway }: World, forwarded?: string): Promise<number> {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return (await ask(gateway.origin, { path: '/metrics', headers })).status;
}

describe('behind a reverse proxy', { timeout: 60_000 }, () => {
  test('somebody elsewhere is not this machine, although the proxy is', async (context) => {
    const world = await open(context);
    assert.equal(await metricsFor(world), 200);
    // As a socket of IPv6 shows it, too.
    for (const forwarded of ['127.0.0.1', '::ffff:127.0.0.1', '::1'])
      assert.equal(await metricsFor(world, forwarded), 200, forwarded);
    for (const forwarded of [
      ANNA,
      `::ffff:${ANNA}`,
      BEN,
      `${ANNA}:4711`,
      `[${BEN}]:4711`,
      'unknown',
      '10.0.0.1',
      'localhost.example',
    ])
      assert.equal(await metricsFor(world, forwarded), 403, forwarded);
  });

  test('whoever says that somebody else sent them is not believed, but by a proxy that is trusted', async (context) => {
    const world = await open(context);
    // The proxy writes the address that it saw behind what it was told.
    assert.equal(await metricsFor(world, `127.0.0.1, ${ANNA}`), 403);
    assert.equal(await metricsFor(world, `::1,${BEN}`), 403);
    assert.equal(await metricsFor(world, `127.0.0.1, 198.51.100.4`), 403);
    const chained = await open(context, 'trustedProxies: [loopback, 198.51.100.0/24]\n');
    assert.equal(await metricsFor(chained, '127.0.0.1, 198.51.100.4'), 200);
    assert.equal(await metricsFor(chained, `${ANNA}, 198.51.100.4`), 403);
  });

  test('where no proxy is trusted, all that counts is who opened the connection', async (context) => {
    const world = await open(context, 'trustedProxies: []\n');
    assert.equal(await metricsFor(world, ANNA), 200);
  });

  for (const { dialect, path } of CHATS) {
    test(`${dialect}: each client has its own share of the places`, async (context) => {
      const options: WorldOptions = { script: () => ({ text: ['a', 'b'], stallAfter: 1 }) };
      const begun: ReturnType<typeof begin>[] = [];
      // Before the gateway is closed, which would wait for them.
      context.after(() => {
        for (const client of begun) client.leave();
      });
      const world = await open(context, 'limits: { streamsPerClient: 2 }\n', options);
      const asked = async (forwarded?: string): Promise<unknown[]> => {
        const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
        const client = begin(world.gateway.origin, path, { ...HI, provider: 'mock', stream: true }, { headers });
        begun.push(client);
        const response = await client.response;
        return response.statusCode === 200 ? [200] : [response.statusCode, readError(await receive(response))['code']];
      };
      // A proxy may say from which port: it is another one with each connection.
      assert.deepEqual(await asked(ANNA), [200]);
      assert.deepEqual(await asked(`${ANNA}:4711`), [200]);
      assert.deepEqual(await asked(`${ANNA}:4712`), [429, 'rate_limited']);
      assert.deepEqual(await asked(BEN), [200]);
      assert.deepEqual(await asked(`[${BEN}]:4711`), [200]);
      assert.deepEqual(await asked(`[${BEN}]`), [429, 'rate_limited']);
      // A public network of IPv6 is one client, which could ask from another address each time; a private one is several.
      for (const address of ['2a00:1450:1:2::1', '2a00:1450:0001:2:ffff::7'])
        assert.deepEqual(await asked(address), [200]);
      assert.deepEqual(await asked('[2a00:1450:1:2:3:4:5:6]:4711'), [429, 'rate_limited']);
      for (const address of ['2a00:1450:1:3::1', 'fd00::1', 'fd00::2', 'fd00::3', 'fe80::1', 'fe80::2', 'fe80::3'])
        assert.deepEqual(await asked(address), [200], address);
      for (let count = 0; count < 3; count += 1) assert.deepEqual(await asked(), [200], 'this machine has no share');
    });
  }

  test('every answer that comes piece by piece tells the proxy not to collect it', async (context) => {
    const world = await open(context, 'aliases: { reader: [flite/flite] }\nembedded: { enabled: true }\n');
    const model = 'mock/test-model';
    const chat = { model, messages: HI.messages, stream: true };
    for (const [path, body] of [
      ['/v1/chat/completions', chat],
      ['/v1/completions', { model, prompt: 'Hi', stream: true }],
      ['/v1/responses', { model, input: 'Hi', stream: true }],
      ['/v1/messages', { ...chat, max_tokens: 9 }],
      ['/v1beta/models/test-model:streamGenerateContent?alt=sse', { contents: [{ parts: [{ text: 'Hi' }] }] }],
      ['/api/chat', chat],
      ['/backend-api/v2/conversation', { ...HI, provider: 'mock' }],
      ['/backend-api/v2/create?provider=mock&model=test-model&prompt=Hi', undefined],
      ['/v1/audio/speech', { model: 'reader', input: 'Yes.', response_format: 'wav' }],
      ['/v1/audio/speech', { model: 'reader', input: 'Yes.', response_format: 'wav', stream_format: 'sse' }],
    ] as const) {
      const response = await begin(world.gateway.origin, path, body).response;
      assert.equal(response.statusCode, 200, path);
      assert.equal(response.headers['x-accel-buffering'], 'no', path);
      await receive(response);
    }
  });

  test('each client has its own share of the files that come piece by piece', async (context) => {
    const { gateway } = await open(context);
    const start = { 'x-goog-upload-protocol': 'resumable', 'x-goog-upload-command': 'start' };
    const path = '/upload/v1beta/files';
    const began = (forwarded: string) =>
      ask(gateway.origin, { method: 'POST', path, headers: { ...start, 'x-forwarded-for': forwarded } });
    const first = await began(ANNA);
    const others = await Promise.all(Array.from({ length: 19 }, () => began(ANNA)));
    for (const each of [first, ...others]) assert.equal(each.status, 200, each.text);
    const refused = await began(`${ANNA}:4711`);
    assert.equal(refused.status, 429, refused.text);
    assert.match(refused.text, /One client sends at most 20 files at once/);
    for (const each of [BEN, BEN, '127.0.0.1']) assert.equal((await began(each)).status, 200, each);
    const finish = { 'x-goog-upload-command': 'upload, finalize', 'x-goog-upload-offset': '0' };
    const at = new URL(String(first.headers['x-goog-upload-url']));
    const done = await ask(gateway.origin, { method: 'POST', path: at.pathname + at.search, headers: finish });
    assert.equal(done.status, 200, done.text);
    assert.doesNotMatch(done.text, new RegExp(RegExp.escape(ANNA)));
    assert.equal((await began(ANNA)).status, 200);
  });

  test('each client has its own share of the answers that can be read again', async (context) => {
    const limits = '{ keptAnswers: 5, keptAnswersPerClient: 1 }';
    const world = await open(context, `limits: ${limits}\n`, { script: () => ({ text: ['a', 'b'], stallAfter: 1 }) });
    const streams: string[] = [];
    const asked = async (forwarded: string): Promise<unknown[]> => {
      const headers = { 'x-forwarded-for': forwarded };
      const body = { ...HI, provider: 'mock', resumable: true };
      const client = begin(world.gateway.origin, '/backend-api/v2/conversation', body, { headers });
      const response = await client.response;
      if (response.statusCode !== 200) return [response.statusCode, readError(await receive(response))['code']];
      streams.push(`/backend-api/v2/streams/${response.headers['x-sluice-stream']}`);
      client.leave();
      return [200];
    };
    assert.deepEqual(await asked(ANNA), [200]);
    assert.deepEqual(await asked(`${ANNA}:4711`), [429, 'rate_limited']);
    assert.deepEqual(await asked(BEN), [200]);
    assert.deepEqual(await asked('127.0.0.1'), [200]);
    assert.deepEqual(await asked('127.0.0.1'), [200], 'this machine has no share');
    for (const path of streams) await world.ask({ method: 'DELETE', path });
    // As soon as it is noticed that its reader has left.
    await eventually('its own that has ended makes way', async () => (await asked(ANNA))[0] === 200);
    assert.equal((await world.ask({ path: streams[0] ?? '' })).status, 404);
    assert.equal((await world.ask({ path: streams[1] ?? '' })).status, 200);
    await world.ask({ method: 'DELETE', path: streams.at(-1) ?? '' });
  });

  test('a browser that came by https keeps its cookies for https', async (context) => {
    const key = 'planted-key-for-cookies';
    const world = await open(context, `key: ${key}\n`, { headers: { authorization: `Bearer ${key}` } });
    const keyed = { path: `/?key=${key}` };
    const { headers } = await world.ask({ ...keyed, headers: { 'x-forwarded-proto': 'https' } });
    assert.match(String(headers['set-cookie']), /^sluice_key=planted-key-for-cookies; .*; Secure$/);
    assert.doesNotMatch(String((await world.ask(keyed)).headers['set-cookie']), /Secure/);

    const shared = await open(context);
    const chat = { path: '/backend-api/v2/chat/a-chat-to-share', body: { messages: [] } };
    const owner = await shared.ask({ ...chat, headers: { 'x-forwarded-proto': 'https' } });
    assert.match(String(owner.headers['set-cookie']), /^sluice_owner=.*; HttpOnly; SameSite=Strict; .*; Secure$/);
  });
});
