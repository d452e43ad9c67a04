import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { ask, dial, listen, pour, statusesIn, talk } from '../support/raw-http.ts';
import { assertError, CHATS, HI, openWorld, type World } from './edge-world.ts';

const MB = 1024 * 1024;
const head = (path: string, ...headers: readonly string[]): string =>
  [`POST ${path} HTTP/1.1`, 'host: localhost', 'content-type: application/json', ...headers, '', ''].join('\r\n');
const saying = (size: number): Buffer =>
  Buffer.from(JSON.stringify({ ...HI, messages: [{ role: 'user', content: 'a'.repeat(size) }] }));

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

  test('are refused in words that a client finds who sends on and reads late', async () => {
    const socket = await dial(world.gateway.origin);
    socket.pause();
    socket.write(head(CHATS[1].path, `content-length: ${1024 * MB}`));
    const poured = pour(socket, Buffer.alloc(MB, ' '), 1024 * MB);
    for (let before = -1; before !== socket.bytesWritten && !socket.destroyed; await sleep(300)) {
      before = socket.bytesWritten;
    }
    const heard = listen(socket, 10_000);
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

describe('memory', () => {
  const [A, B] = CHATS;
  const big = 'a'.repeat(5 * MB);
  const answered = { ...HI, messages: [{ role: 'user', content: big }] };
  const cases = [
    { name: 'answered in A', path: A.path, body: JSON.stringify(answered), status: 200 },
    { name: 'answered in B', path: B.path, body: JSON.stringify(answered), status: 200 },
    { name: 'refused', path: B.path, body: JSON.stringify({ ...answered, model: 1 }), status: 422 },
    { name: 'broken', path: A.path, body: JSON.stringify(answered).slice(0, -1), status: 400 },
  ];
  for (const { name, path, body, status } of cases) {
    test(`of 40 requests with 5 MB at once, ${name}`, async () => {
      await using upstream = await startOpenAiUpstream();
      await using gateway = await startGatewayProcess(
        `providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}', models: [test-model] } }`,
      );
      const bytes = Buffer.from(body);
      const headers = { 'content-type': 'application/json' };
      const post = (what: string | Buffer) => ask(gateway.origin, { method: 'POST', path, headers, body: what });
      assert.equal((await post(JSON.stringify(HI))).status, 200);
      const { now } = await gateway.memory();
      const answers = await Promise.all(Array.from({ length: 40 }, () => post(bytes)));
      for (const answer of answers) assert.equal(answer.status, status, answer.text.slice(0, 300));
      const { peak } = await gateway.memory();
      const growth = Math.round((peak - now) / MB);
      assert.ok(growth < 300, `${growth} MB`);
    });
  }

  test('of bodies that never end', async () => {
    await using gateway = await startGatewayProcess('providers: {}');
    const { now } = await gateway.memory();
    const piece = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 'a'), Buffer.from('\r\n')]);
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const socket = await dial(gateway.origin);
        const heard = listen(socket, 20_000);
        socket.write(head(CHATS[1].path, 'transfer-encoding: chunked'));
        await pour(socket, piece, 200 * MB);
        assert.deepEqual(statusesIn((await heard).text), [413]);
      }),
    );
    const { peak } = await gateway.memory();
    const growth = Math.round((peak - now) / MB);
    assert.ok(growth < 300, `${growth} MB`);
  });
});

describe('slow clients', { concurrency: true }, () => {
  let world: World;
  before(async () => {
    world = await openWorld({ yaml: 'limits: { clientHeaderMs: 4000, clientBodyIdleMs: 3000, keepAliveMs: 300 }' });
  });
  after(() => world.close());

  const HALVES = {
    nothing: '',
    'half a line': 'POST /v1/cha',
    'half a header': head(CHATS[1].path, 'content-length: 100').slice(0, -30),
    'a header without its end': head(CHATS[1].path, 'content-length: 100').slice(0, -2),
    'no body': head(CHATS[1].path, 'content-length: 100'),
    'half a body': `${head(CHATS[1].path, 'content-length: 100')}{"model":`,
    'half a chunk': `${head(CHATS[1].path, 'transfer-encoding: chunked')}100\r\n{"model":`,
    'chunks without their end': `${head(CHATS[0].path, 'transfer-encoding: chunked')}2\r\n{}\r\n`,
  };

  test('300 of them are cut, and others are answered meanwhile', async () => {
    const slow = await Promise.all(
      Array.from({ length: 304 }, async (_, index) => {
        const [name, start] = Object.entries(HALVES)[index % 8] ?? ['', ''];
        const socket = await dial(world.gateway.origin);
        const heard = listen(socket, 30_000);
        socket.write(start);
        return { name, heard };
      }),
    );
    let cut = 0;
    for (const { heard } of slow) void heard.then(() => (cut += 1));
    for (let round = 0; round < 5; round += 1) await world.isWell();
    assert.ok(cut < 304, 'the test was too slow to see them side by side');
    for (const { name, heard } of slow) {
      const { text, closed } = await heard;
      assert.ok(closed, name);
      assert.deepEqual(statusesIn(text), [408], `${name}: ${text}`);
      assert.match(
        text,
        /\{"error":\{"message":"[^"]+","type":"invalid_request_error","code":"request_timeout","param":null\}\}$/,
      );
    }
  });

  test('whose large bodies stand still hold no other large one up', async (context) => {
    const patient = await openWorld({ yaml: 'limits: { clientBodyIdleMs: 12000 }' });
    context.after(() => patient.close());
    const start = head(CHATS[1].path, `content-length: ${9 * MB}`);
    const slow = await Promise.all(
      Array.from({ length: 16 }, async (_, index) => {
        const socket = await dial(patient.gateway.origin);
        const heard = listen(socket, 60_000);
        socket.write(index % 2 === 0 ? start : `${start}{"model":`);
        return { heard };
      }),
    );
    let cut = 0;
    for (const { heard } of slow) void heard.then(() => (cut += 1));
    const path = CHATS[1].path;
    const headers = { 'content-type': 'application/json' };
    const answer = await patient.ask({ method: 'POST', path, headers, body: saying(2 * MB) });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(cut, 0, 'it had to wait for them');
    for (const { heard } of slow) {
      const { text, closed } = await heard;
      assert.ok(closed);
      assert.deepEqual(statusesIn(text), [408], text);
    }
  });

  test('that never stop quite are served', async () => {
    const body = JSON.stringify(HI);
    const socket = await dial(world.gateway.origin);
    const heard = listen(socket, 10_000);
    socket.write(head(CHATS[1].path, `content-length: ${body.length}`, 'connection: close'));
    // Longer in all than it may be silent.
    for (let at = 0; at < body.length; at += 5) {
      socket.write(body.slice(at, at + 5));
      await sleep(300);
    }
    const { text } = await heard;
    assert.deepEqual(statusesIn(text), [200], text);
  });

  test('that say nothing after an answer are closed without a word', async () => {
    const socket = await dial(world.gateway.origin);
    socket.write('GET /backend-api/v2/version HTTP/1.1\r\nhost: localhost\r\n\r\n');
    const { text, closed } = await listen(socket, 10_000);
    assert.deepEqual(statusesIn(text), [200]);
    assert.ok(closed);
  });

  test('whose body nobody wants are not waited for', async () => {
    const socket = await dial(world.gateway.origin);
    socket.write('GET /backend-api/v2/version HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n');
    const { text, closed } = await listen(socket, 10_000);
    assert.deepEqual(statusesIn(text), [200]);
    assert.ok(closed);
  });
});
