import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { dial, listen, pour, statusesIn, talk } from '../support/raw-http.ts';
import { head, saying } from './edge-requests.ts';
import { assertError, CHATS, HI, holdLinger, openWorld, type World } from './edge-world.ts';

const MB = 1024 * 1024;

describe('bodies that are too large', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  const PATHS = [
    ...CHATS.map(({ path }) => ({ path, size: 20 * MB })),
    { path: '/api/mock/chat/completions', size: 20 * MB },
    { path: '/v1/models/test-model', size: 2 * MB },
    { path: '/v1/models/test-model:latest', size: 2 * MB },
    { path: '/v1/audio/speech', size: 2 * MB },
  ];

  test('are refused by their length, before they are sent', async () => {
    await Promise.all(
      PATHS.map(async ({ path, size }) => {
        const socket = await dial(world.gateway.origin);
        socket.write(head(path, `content-length: ${size}`));
        const { text, closed } = await listen(socket, 5_000);
        assert.deepEqual(statusesIn(text), [413], text);
        assert.match(text, /"code":"too_large"/);
        assert.match(text, /^connection: close\r$/im);
        assert.ok(closed);
      }),
    );
  });

  test('tell those so who send all of them before they listen', async () => {
    for (const { path, size } of PATHS) {
      const body = saying(size);
      const answer = await world.ask({ method: 'POST', path, headers: { 'content-type': 'application/json' }, body });
      assertError(answer, 413, path);
    }
    // What is refused for another reason: its body is as little worth reading.
    for (const headers of [{ 'content-type': 'text/plain' }, { origin: 'https://evil.example' }, { host: 'evil' }]) {
      const answer = await world.ask({ method: 'POST', path: CHATS[1].path, headers, body: saying(8 * MB) });
      assertError(answer, [403, 415]);
    }
    assertError(await world.ask({ method: 'POST', path: '/v1/nothing', body: saying(8 * MB) }), 404);
    assertError(await world.ask({ method: 'PUT', path: '/v1/models', body: saying(8 * MB) }), 405);
  });

  test('without a length or an end are stopped at the limit', async () => {
    const piece = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, ' '), Buffer.from('\r\n')]);
    for (const { path } of PATHS) {
      const socket = await dial(world.gateway.origin);
      const heard = listen(socket, 10_000);
      socket.write(head(path, 'transfer-encoding: chunked'));
      const size = await pour(socket, piece, 1024 * MB);
      assert.ok(size < 100 * MB, `${path} took ${size} bytes`);
      const { text, closed } = await heard;
      assert.deepEqual(statusesIn(text), [413], path);
      assert.ok(closed);
    }
  });

  test('with a false length are stopped too', async () => {
    const socket = await dial(world.gateway.origin);
    const heard = listen(socket, 10_000);
    socket.write(head(CHATS[1].path, `content-length: ${1024 * MB}`));
    const size = await pour(socket, Buffer.alloc(MB, ' '), 1024 * MB);
    assert.ok(size < 100 * MB, `${size} bytes were taken`);
    assert.deepEqual(statusesIn((await heard).text), [413]);
  });

  test('are refused in words that a client finds who sends on and reads late', async (context) => {
    holdLinger(context);
    const socket = await dial(world.gateway.origin);
    socket.pause();
    socket.write(head(CHATS[1].path, `content-length: ${1024 * MB}`));
    const poured = pour(socket, Buffer.alloc(MB, ' '), 1024 * MB);
    for (let before = -1; before !== socket.bytesWritten && !socket.destroyed; await sleep(300)) {
      before = socket.bytesWritten;
    }
    const heard = listen(socket, 500);
    socket.resume();
    assert.deepEqual(statusesIn((await heard).text), [413]);
    assert.ok((await poured) < 100 * MB);
  });

  test('just below the limit are answered', async () => {
    for (const { path } of CHATS) {
      const answer = await world.ask({
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json' },
        body: saying(9.9 * MB),
      });
      assert.equal(answer.status, 200, answer.text.slice(0, 300));
      assert.equal(world.last.prompt.length, 9.9 * MB - ((9.9 * MB) % 1));
    }
  });

  test('are answered with exactly as much as the limit says, and refused with one byte more', async (context) => {
    const most = 10_000;
    const small = await openWorld({ yaml: `limits: { chatBodyBytes: ${most} }` });
    context.after(() => small.close());
    for (const { path } of CHATS) {
      for (const [more, status] of [
        [0, 200],
        [1, 413],
      ] as const) {
        const text = saying(most + more - saying(0).length).toString();
        assert.equal(text.length, most + more);
        for (const [how, body] of [
          [`content-length: ${text.length}`, text],
          ['transfer-encoding: Chunked', `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`],
        ] as const) {
          const request = head(path, how, 'content-encoding: Identity', 'connection: close') + body;
          const answer = await talk(small.gateway.origin, request, { quietMs: 10_000 });
          assert.deepEqual(statusesIn(answer.text), [status], `${path}, ${how}: ${answer.text}`);
        }
      }
    }
  });

  test('are no more welcome behind others on a connection that stays', async (context) => {
    const most = 10_000;
    const small = await openWorld({ yaml: `limits: { chatBodyBytes: ${most} }` });
    context.after(() => small.close());
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    context.after(() => agent.destroy());
    const [{ path }] = CHATS;
    const fitting = saying(most - saying(0).length);
    const send = async (body: Buffer): Promise<[status: number | undefined, isReused: boolean]> => {
      const headers = { 'content-type': 'application/json', 'content-length': body.length };
      const request = httpRequest(small.gateway.origin, { agent, method: 'POST', path, headers }).end(body);
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'close');
      return [response.statusCode, request.reusedSocket];
    };
    assert.deepEqual(await send(fitting), [200, false]);
    assert.deepEqual(await send(fitting), [200, true]);
    assert.deepEqual(await send(Buffer.concat([fitting, Buffer.from(' ')])), [413, true]);
  });

  test('a model may be called with as much as a conversation where its path names a method', async () => {
    const path = '/v1/models/test-model:generateContent';
    const headers = { 'content-type': 'application/json' };
    const of = (size: number): string => JSON.stringify({ contents: [{ parts: [{ text: 'a'.repeat(size) }] }] });
    const answer = await world.ask({ method: 'POST', path, headers, body: of(9 * MB) });
    assert.equal(answer.status, 200, answer.text.slice(0, 300));
    assert.equal(world.last.prompt.length, 9 * MB);
    const refused = await world.ask({ method: 'POST', path, headers, body: of(20 * MB) });
    assert.equal(refused.status, 413);
    assert.match(refused.text, /"status":"INVALID_ARGUMENT".*"reason":"too_large"/);
  });

  test('when compressed are not even unpacked', async () => {
    const { length } = world.upstream.chats;
    const bomb = gzipSync(Buffer.alloc(50 * MB, ' '));
    for (const { path } of PATHS) {
      for (const [encoding, body] of [
        ['gzip', gzipSync(JSON.stringify(HI))],
        ['deflate', deflateSync(JSON.stringify(HI))],
        ['br', brotliCompressSync(JSON.stringify(HI))],
        ['gzip, gzip', gzipSync(gzipSync(JSON.stringify(HI)))],
        ['GZIP', bomb],
        ['x-gzip', bomb],
        ['identity, gzip', bomb],
        ['aes128gcm', JSON.stringify(HI)],
      ] as const) {
        const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
        assertError(await world.ask({ method: 'POST', path, headers, body }), 415, encoding);
      }
    }
    const form = '--x\r\ncontent-disposition: form-data; name="files"; filename="a.txt"\r\n\r\nHi\r\n--x--\r\n';
    for (const path of ['/backend-api/v2/files/packed', '/v1/audio/transcriptions']) {
      const headers = { 'content-type': 'multipart/form-data; boundary=x', 'content-encoding': 'gzip' };
      assertError(await world.ask({ method: 'POST', path, headers, body: gzipSync(form) }), 415, path);
    }
    for (const type of ['application/octet-stream', 'application/json', 'multipart/form-data; boundary=x']) {
      const headers = { 'content-type': type, 'content-encoding': 'gzip' };
      const bytes = await world.ask({ method: 'POST', path: '/upload/v1beta/files', headers, body: gzipSync(form) });
      assert.equal(bytes.status, 415, `${type}: ${bytes.text}`);
    }
    assert.equal(world.upstream.chats.length, length);
    const headers = { 'content-type': 'application/json', 'content-encoding': 'identity' };
    const answer = await world.ask({ method: 'POST', path: CHATS[1].path, headers, body: JSON.stringify(HI) });
    assert.equal(answer.status, 200);
  });
});
