import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { eventually } from '../support/eventually.ts';
import { dial, listen, statusesIn, talk } from '../support/raw-http.ts';
import { assertError, CHATS, HI, openWorld, type World } from './edge-world.ts';

const KEY = 'the-access-key';
const PAGE = 'https://page.example';
const SETTINGS = `key: ${KEY}\nallowedOrigins: ['${PAGE}']\n`;
const AUTHORIZED = { authorization: `Bearer ${KEY}` };
/** Paths that are none. */
const MALFORMED = ['/%', '/v1/models/%zz', '/v1/models/%c0%af', '/%e0%a4%a'];
/** What is read by GET and says nothing of caches itself. */
const READ = [
  ...['/v1/models', '/v1/files', '/v1/responses/none', '/v1beta/models', '/api/tags', '/openapi.json', '/v1/nothing'],
  ...['/backend-api/v2/stats', '/backend-api/v2/memory/user-1'],
];
const REQUEST_ID = /^[\da-f-]{36}$/;

describe('what stands above every answer', () => {
  let world: World;
  before(async () => {
    world = await openWorld({ yaml: SETTINGS, headers: AUTHORIZED });
  });
  after(() => world.close());

  test('an id, and who may read it, also where the path is none', async () => {
    for (const path of ['/v1/models', '/v1/nothing', ...MALFORMED]) {
      const answer = await world.ask({ path, headers: { ...AUTHORIZED, origin: PAGE } });
      if (MALFORMED.includes(path)) assertError(answer, 400, path);
      assert.match(String(answer.headers['x-request-id']), REQUEST_ID, path);
      assert.equal(answer.headers['access-control-allow-origin'], PAGE, path);
      assert.match(String(answer.headers['access-control-expose-headers']), /x-request-id/, path);
      assert.equal(answer.headers['x-content-type-options'], 'nosniff', path);
      assert.equal(answer.headers['vary'], 'Origin', path);
    }
  });

  test('that no cache may keep what was read, unless it says what else caches shall do', async () => {
    // A key in such a header tells caches nothing, other than one in Authorization (RFC 9111 §3.5).
    const authorized = { 'x-api-key': KEY, 'anthropic-version': '2023-06-01' };
    for (const method of ['GET', 'HEAD']) {
      for (const path of [...READ, ...MALFORMED]) {
        const { headers } = await world.ask({ method, path, headers: authorized });
        assert.equal(headers['cache-control'], 'no-store', `${method} ${path}`);
      }
      const tagged = await world.ask({ method, path: '/backend-api/v2/models', headers: authorized });
      assert.deepEqual([tagged.status, tagged.headers['cache-control']], [200, 'no-cache']);
    }
    const { headers } = await world.ask({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: AUTHORIZED,
      body: HI,
    });
    assert.equal(headers['cache-control'], undefined);
  });

  test('nobody learns more of a path that is none than of any other', async () => {
    for (const path of ['/v1/models', ...MALFORMED]) {
      assertError(await world.ask({ path }), 401, path);
      assertError(await world.ask({ path, headers: { ...AUTHORIZED, host: 'evil.example' } }), 403, path);
      const foreign = await world.ask({ path, headers: { ...AUTHORIZED, origin: 'https://evil.example' } });
      assertError(foreign, 403, path);
      assert.equal(foreign.headers['access-control-allow-origin'], undefined, path);
      assert.match(String(foreign.headers['x-request-id']), REQUEST_ID, path);
    }
  });

  test('the id again under the name in which clients of Anthropic look for it', async () => {
    const client = (apiKey: string) => new Anthropic({ baseURL: world.gateway.origin, apiKey, maxRetries: 0 });
    const { messages, models, beta } = client(KEY);
    const hi = {
      model: 'test-model',
      max_tokens: 9,
      messages: HI.messages,
    } as unknown as Anthropic.MessageCreateParams;
    const answers = [
      await messages.create({ ...hi, stream: false }).withResponse(),
      await messages.create({ ...hi, stream: true }).withResponse(),
      await messages.countTokens({ model: hi.model, messages: hi.messages }).withResponse(),
      await models.retrieve('test-model').withResponse(),
      await models.list().withResponse(),
      await beta.files.list().withResponse(),
    ];
    for (const { data, response, request_id: id } of answers) {
      assert.match(String(id), REQUEST_ID, response.url);
      assert.equal(id, response.headers.get('x-request-id'), response.url);
      if ('_request_id' in data) assert.equal(data._request_id, id, response.url);
    }
    const whole = await messages.create({ ...hi, stream: false });
    assert.match(String(whole._request_id), REQUEST_ID);
    for (const [status, fail] of [
      [401, () => client('another').messages.create({ ...hi, stream: false })],
      [401, () => client('another').models.list()],
      [400, () => messages.create({ ...hi, max_tokens: 'many' as unknown as number, stream: false })],
      [404, () => models.retrieve('unknown-model')],
      [404, () => beta.files.retrieveMetadata('file_unknown')],
      [404, () => client(KEY).get('/v1/nothing')],
      [400, () => client(KEY).get('/v1/%zz')],
    ] as const) {
      const failure = await fail().then(
        () => assert.fail('it was answered'),
        (error: unknown) => error,
      );
      assert.ok(failure instanceof Anthropic.APIError, String(failure));
      assert.equal(failure.status, status);
      assert.match(String(failure.requestID), REQUEST_ID, failure.message);
      assert.equal(failure.requestID, failure.headers?.get('x-request-id'), failure.message);
    }
    // With no word of who asks, the path says it.
    const plain = await world.ask({ path: '/v1/messages', headers: { ...AUTHORIZED, origin: PAGE }, body: {} });
    assert.equal(plain.status, 400);
    assert.equal(plain.headers['request-id'], plain.headers['x-request-id']);
    assert.match(String(plain.headers['access-control-expose-headers']), /(^|, )request-id(,|$)/);
    const other = await world.ask({ path: '/v1/models', headers: AUTHORIZED });
    assert.equal(other.headers['request-id'], undefined);
  });

  test('the end of a connection that was to be another one', async () => {
    const head = `host: localhost\r\nauthorization: Bearer ${KEY}\r\n`;
    const upgrade = `GET /% HTTP/1.1\r\n${head}upgrade: h2c\r\nconnection: upgrade\r\n\r\n`;
    const next = `GET /v1/models HTTP/1.1\r\n${head}\r\n`;
    const { text, closed } = await talk(world.gateway.origin, upgrade + next, { quietMs: 2_000 });
    assert.deepEqual([statusesIn(text), closed], [[400], true], text);
    assert.match(text, /^connection: close\r$/im);
  });
});

describe('whoever comes during a stop', () => {
  test('hears of it, where it may ask at all', async (context) => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const { gateway, upstream } = await openWorld({
      yaml: `${SETTINGS}limits: { drainMs: 60000 }\n`,
      script: () => ({ text: ['a', 'b'], afterPiece: () => gate }),
    });
    context.after(() => upstream.close());
    let came = 0;
    gateway.app.server.server.on('request', () => {
      came += 1;
    });
    const body = JSON.stringify({ ...HI, provider: 'mock', stream: true });
    const running =
      `POST ${CHATS[1].path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${KEY}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const WHO = [
      [`host: localhost\r\nauthorization: Bearer ${KEY}\r\norigin: ${PAGE}`, 503],
      [`host: localhost\r\norigin: ${PAGE}`, 401],
      [`host: evil.example\r\nauthorization: Bearer ${KEY}`, 403],
    ] as const;
    // Connections with an answer under way stay open.
    const lines = await Promise.all(
      WHO.map(async ([who, status]) => {
        const socket = await dial(gateway.origin);
        context.after(() => socket.destroy());
        const heard = listen(socket, 30_000, 2);
        socket.write(running);
        return { socket, who, status, heard };
      }),
    );
    await eventually('all are asked', () => upstream.chats.length === WHO.length);
    const closing = gateway.close();
    for (const { socket, who } of lines) socket.write(`GET /v1/models HTTP/1.1\r\n${who}\r\n\r\n`);
    await eventually('the last ones have come', () => came === 2 * WHO.length);
    open();
    for (const { who, status, heard } of lines) {
      const { text } = await heard;
      assert.deepEqual(statusesIn(text), [200, status], text);
      const last = text.slice(text.lastIndexOf('HTTP/1.1'));
      assert.match(last, /^x-request-id: [\da-f-]{36}\r$/m);
      if (who.includes('origin')) assert.match(last, /^access-control-allow-origin: https:\/\/page\.example\r$/m);
      if (status === 503) assert.match(last, /^retry-after: 5\r\n[\s\S]*"code":"shutting_down"/m);
    }
    await closing;
  });
});
