import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { dial, listen, statusesIn, talk } from '../support/raw-http.ts';
import { AMBIGUOUS, BODY, CHAT, chunk, get, HOST, post, SMUGGLED } from './edge-requests.ts';
import { assertError, CHATS, HI, openWorld, type World } from './edge-world.ts';

describe('bytes that are no request', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  test(`${Object.keys(AMBIGUOUS).length} forms get one refusal, and the end of their connection`, async () => {
    for (const [name, bytes] of Object.entries(AMBIGUOUS)) {
      const { text, closed } = await talk(world.gateway.origin, Buffer.from(bytes, 'latin1'), { quietMs: 2_000 });
      const [status, ...more] = statusesIn(text);
      assert.deepEqual(more, [], `${name}: ${text}`);
      assert.ok(status !== undefined && status >= 400 && status < 500, `${name}: ${text}`);
      assert.ok(closed, name);
      assert.match(text, /^connection: close\r$/im, name);
      assert.match(text, /content-type: application\/json/i, name);
      assert.match(
        text,
        /\r\n\r\n\{"error":\{"message":"[^"]+","type":"[a-z_]+","code":"[a-z_]+","param":null\}\}$/,
        name,
      );
    }
    assert.equal(world.upstream.chats.length, 0);
    await world.isWell();
  });

  test('chunks in HTTP/1.0, which does not know them, end the connection', async () => {
    const request = post('transfer-encoding: chunked\r\n', `${chunk(BODY)}0\r\n\r\n${SMUGGLED}`);
    const { text, closed } = await talk(world.gateway.origin, request.replace('HTTP/1.1', 'HTTP/1.0'));
    assert.equal(statusesIn(text).length, 1, text);
    assert.ok(closed);
    assert.ok(world.upstream.chats.every(({ prompt }) => prompt !== 'smuggled'));
  });

  test('what is encoded below its chunks is refused as every packed body', async () => {
    const { length } = world.upstream.chats;
    for (const encoding of [
      'transfer-encoding: gzip, chunked\r\n',
      'transfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n',
    ]) {
      const request = post(`${encoding}connection: close\r\n`, `${chunk(BODY)}0\r\n\r\n`);
      const { text } = await talk(world.gateway.origin, Buffer.from(request), { quietMs: 2_000 });
      assert.deepEqual(statusesIn(text), [415], text);
      assert.match(text, /Compressed request bodies/);
    }
    assert.equal(world.upstream.chats.length, length);
  });

  test('headers that are too large or too many', async () => {
    const { origin } = world.gateway;
    for (const [name, headers] of Object.entries({
      'one of 64 KB': `x-a: ${'a'.repeat(65_536)}\r\n`,
      'a name of 64 KB': `${'a'.repeat(65_536)}: x\r\n`,
      'one of 20 KB': `cookie: ${'a'.repeat(20_000)}\r\n`,
      '3,000 short ones': 'a:b\r\n'.repeat(3_000),
      '3,000 longer ones': Array.from({ length: 3_000 }, (_, index) => `x-${index}: ${index}\r\n`).join(''),
      '500 of them': 'x-a: b\r\n'.repeat(500),
    })) {
      const { text, closed } = await talk(origin, get('/v1/models', headers), { quietMs: 2_000 });
      assert.deepEqual(statusesIn(text), [431], `${name}: ${text.slice(0, 300)}`);
      assert.match(text, /"code":"header_too_large"/, name);
      assert.ok(closed, name);
    }
    // Node 24 passes over what is beyond its limit, so a guard at the end would not be seen.
    const hidden = `${'x-a: b\r\n'.repeat(250)}origin: https://evil.example\r\n`;
    assert.deepEqual(statusesIn((await talk(origin, get('/v1/models', hidden))).text), [431]);
    // The last that Node may take is refused, since there may have been more.
    for (const [count, status] of [
      [199, 200],
      [200, 431],
    ] as const) {
      const others = get('/v1/models', 'connection: close\r\n').match(/^[\w-]+:/gm)?.length ?? 0;
      const many = get('/v1/models', `${'x-a: b\r\n'.repeat(count - others)}connection: close\r\n`);
      assert.deepEqual(statusesIn((await talk(origin, many)).text), [status], `${count}`);
    }
  });

  test('expectations and upgrades are passed over', async () => {
    const { origin } = world.gateway;
    for (const headers of [
      'upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n',
      'upgrade: h2c\r\nconnection: upgrade, http2-settings\r\nhttp2-settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n',
      'upgrade: TLS/1.0\r\nconnection: upgrade\r\n',
      'expect: 200-maybe\r\nconnection: close\r\n',
      'connection: close, x-evil\r\nx-evil: 1\r\n',
      'connection: close\r\nconnection: keep-alive\r\n',
      'te: trailers, deflate\r\nconnection: close, te\r\n',
    ]) {
      const { text } = await talk(origin, get('/backend-api/v2/version', headers), { quietMs: 300 });
      assert.deepEqual(statusesIn(text), [200], `${headers}: ${text}`);
    }
    const upgrade = get('/backend-api/v2/version', 'upgrade: h2c\r\nconnection: upgrade\r\n');
    const two = await talk(origin, upgrade + get('/backend-api/v2/version'), { quietMs: 2_000 });
    assert.deepEqual([statusesIn(two.text), two.closed], [[200], true]);
    assert.match(two.text, /^connection: close\r$/im, 'who sent a second one knows that it is lost');
    for (const [path, status] of [
      ['/v1/nothing', 404],
      ['/v1/chat/completions', 405],
      ['/backend-api/v2/files/-', 400],
    ] as const) {
      const refused = get(path, 'upgrade: h2c\r\nconnection: upgrade\r\n');
      const { text, closed } = await talk(origin, refused + get('/backend-api/v2/version'), { quietMs: 2_000 });
      assert.deepEqual([statusesIn(text), closed], [[status], true], text);
      assert.match(text, /^connection: close\r$/im, 'so do those who are refused');
    }
    const expecting = post(`content-length: ${BODY.length}\r\nexpect: 100-continue\r\nconnection: close\r\n`, BODY);
    assert.deepEqual(statusesIn((await talk(origin, expecting)).text), [100, 200]);
  });

  test('who asks before sending a body is told to go on only where it is wanted', async (context) => {
    const locked = await openWorld({ yaml: 'key: the-access-key\nlimits: { chatBodyBytes: 10000 }\n' });
    context.after(() => locked.close());
    const { origin } = locked.gateway;
    const head = (path: string, ...headers: readonly string[]): string =>
      [`POST ${path} HTTP/1.1`, 'expect: 100-continue', ...headers, '', ''].join('\r\n');
    const [host, key, json] = [
      'host: localhost',
      'authorization: Bearer the-access-key',
      'content-type: application/json',
    ];
    const form = 'content-type: multipart/form-data; boundary=x';
    await Promise.all(
      (
        [
          [401, head(CHAT, host, json, 'content-length: 100')],
          [401, head(CHAT, host, json, 'transfer-encoding: chunked')],
          [403, head(CHAT, 'host: evil.example', key, json, 'content-length: 100')],
          [404, head('/v1/nothing', host, key, json, 'content-length: 100')],
          [400, head('/v1/%zz', host, key, json, 'content-length: 100')],
          [413, head(CHAT, host, key, json, 'content-length: 10001')],
          [413, head(CHATS[0].path, host, key, form, 'content-length: 100000')],
          [415, head(CHAT, host, key, 'content-type: text/csv', 'content-length: 100')],
          [415, head(CHAT, host, key, json, 'content-encoding: gzip', 'content-length: 100')],
        ] as const
      ).map(async ([status, request]) => {
        const { text, closed } = await talk(origin, request, { quietMs: 30_000 });
        assert.deepEqual([statusesIn(text), closed], [[status], true], `${request}${text}`);
      }),
    );
    const part = `--x\r\ncontent-disposition: form-data; name="json"\r\n\r\n${BODY}\r\n--x--\r\n`;
    for (const [path, type, body] of [
      [CHAT, json, BODY],
      [CHATS[0].path, form, part],
    ] as const) {
      const socket = await dial(origin);
      socket.write(head(path, host, key, type, `content-length: ${body.length}`, 'connection: close'));
      const [first] = (await once(socket, 'data')) as [Buffer];
      assert.equal(first.toString(), 'HTTP/1.1 100 Continue\r\n\r\n', path);
      const heard = listen(socket, 30_000);
      socket.write(body);
      assert.deepEqual(statusesIn((await heard).text), [200], path);
    }
  });

  test('a refusal never breaks into an answer that has begun', async () => {
    await using slow = await openWorld({
      script: () => ({ text: ['one ', 'two ', 'of the upstream.'], delayMs: 150 }),
    });
    for (const [name, garbage] of Object.entries({
      'no request': '\0\0\0\r\n\r\n',
      'half a request': 'GET / HTT\0',
      'a header with NUL': get('/', 'x: \0\r\n'),
    })) {
      const body = JSON.stringify({ ...HI, stream: true });
      const socket = await dial(slow.gateway.origin);
      socket.write(post(`content-length: ${body.length}\r\n`, body));
      await once(socket, 'readable');
      socket.write(garbage);
      const { text } = await listen(socket, 2_000);
      assert.deepEqual(statusesIn(text).slice(0, 1), [200], name);
      const answer = text.indexOf('HTTP/1.1 400');
      const end = text.indexOf('\r\n0\r\n\r\n');
      assert.ok(answer === -1 || (end !== -1 && answer > end), `${name}: ${text}`);
    }
    await slow.isWell();
  });

  test('good requests before it are answered first, and it is still refused', async () => {
    await using slow = await openWorld({ script: () => ({ text: ['late'], delayMs: 200 }) });
    const good = post(`content-length: ${BODY.length}\r\n`, BODY);
    const page = get('/backend-api/v2/version');
    const overflow = get('/v1/models', `x-a: ${'a'.repeat(65_536)}\r\n`);
    for (const [requests, expected] of [
      [
        [good, '\0\0\0\r\n\r\n'],
        [200, 400],
      ],
      [
        [good, overflow],
        [200, 431],
      ],
      [
        [page, overflow],
        [200, 431],
      ],
      [
        [good, page, good, '\0\0\0\r\n\r\n'],
        [200, 200, 200, 400],
      ],
      [[get('/backend-api/v2/version', 'connection: close\r\n'), overflow], [200]],
    ] as const) {
      const { text, closed } = await talk(slow.gateway.origin, requests.join(''), { quietMs: 3_000 });
      assert.deepEqual(statusesIn(text), expected, text);
      assert.equal(text.includes('"content":"late"'), requests.includes(good as never));
      assert.ok(closed);
    }
  });
});

describe('connections', () => {
  let world: World;
  before(async () => {
    world = await openWorld({ script: ({ prompt }) => ({ text: [`echo ${prompt} of the upstream.`] }) });
  });
  after(() => world.close());

  test('requests in one go are answered in their order', async () => {
    const say = (prompt: string): string => {
      const body = JSON.stringify({ ...HI, messages: [{ role: 'user', content: prompt }] });
      return post(`content-length: ${Buffer.byteLength(body)}\r\n`, body);
    };
    const requests = Array.from({ length: 20 }, (_, index) =>
      index % 3 === 1 ? get(`/v1/nothing/${index}`) : say(`#${index}#`),
    );
    const { text } = await talk(world.gateway.origin, requests.join(''), { quietMs: 700, answers: 20 });
    const seen = [...text.matchAll(/echo #(\d+)# |GET \/v1\/nothing\/(\d+)/g)].map((match) =>
      Number(match[1] ?? match[2]),
    );
    assert.deepEqual(
      seen,
      Array.from({ length: 20 }, (_, index) => index),
    );
    assert.equal(statusesIn(text).length, 20);
  });

  test('a refusal says what becomes of its connection, as any other answer does', async () => {
    const asks = {
      200: get('/backend-api/v2/version'),
      404: get('/v1/nothing'),
      405: get(CHAT),
      400: post('content-length: 1\r\n', '{'),
      415: post('content-encoding: gzip\r\ncontent-length: 1\r\n', '{'),
    };
    for (const [status, request] of Object.entries(asks)) {
      for (const [version, asked, told] of [
        ['1.1', '', 'keep-alive'],
        ['1.1', 'connection: keep-alive\r\n', 'keep-alive'],
        ['1.1', 'connection: close\r\n', 'close'],
        ['1.0', '', 'close'],
        ['1.0', 'connection: keep-alive\r\n', 'keep-alive'],
      ] as const) {
        const sent = request.replace('HTTP/1.1\r\n', `HTTP/${version}\r\n${asked}`);
        const { text } = await talk(world.gateway.origin, sent, { quietMs: 50 });
        assert.deepEqual(statusesIn(text), [Number(status)], sent);
        assert.deepEqual(/^connection: (.+)\r$/im.exec(text)?.[1], told, `${sent}${text}`);
      }
    }
  });

  test('bodies in any slices', async () => {
    const { length } = world.upstream.chats;
    for (const size of [1, 7, 50]) {
      const slices = BODY.match(new RegExp(`.{1,${size}}`, 'gs')) ?? [];
      const chunked = post(
        'transfer-encoding: chunked\r\nconnection: close\r\n',
        `${slices.map(chunk).join('')}0\r\n\r\n`,
      );
      const socket = await dial(world.gateway.origin);
      for (let at = 0; at < chunked.length; at += size * 3) {
        socket.write(chunked.slice(at, at + size * 3));
        if (at % 40 === 0) await sleep(1);
      }
      const { text } = await listen(socket, 1_000);
      assert.deepEqual(statusesIn(text), [200], text);
      assert.match(text, /echo Hi/);
    }
    assert.equal(world.upstream.chats.length, length + 3);
  });

  test('half bodies reach nobody', async () => {
    const { length } = world.upstream.chats;
    for (const request of [
      post(`content-length: ${BODY.length + 10}\r\n`, BODY),
      post('content-length: 100000\r\n', BODY.slice(0, 10)),
      post('transfer-encoding: chunked\r\n', chunk(BODY)),
      post('transfer-encoding: chunked\r\n', chunk(BODY).slice(0, -5)),
      post('transfer-encoding: chunked\r\n', `${chunk(BODY)}0\r\n`),
      post(`content-length: ${BODY.length}\r\n`, ''),
      post('content-length: 5\r\n', '').slice(0, 40),
    ]) {
      for (const how of ['end', 'destroy', 'resetAndDestroy'] as const) {
        const socket = await dial(world.gateway.origin);
        socket.write(request);
        await sleep(5);
        const heard = listen(socket, 200, 0);
        socket[how]();
        const { text } = await heard;
        assert.ok(!/HTTP\/1\.1 (2|5)/.test(text), text);
      }
    }
    assert.equal(world.upstream.chats.length, length);
    await world.isWell();
  });

  test('500 dropped connections leave nothing behind', async () => {
    const { origin } = world.gateway;
    const starts = ['', 'G', get('/v1/models').slice(0, -2), post('content-length: 1000\r\n', '{'), get('/v1/models')];
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(
        Array.from({ length: 25 }, async (_, index) => {
          const socket = await dial(origin);
          socket.write(starts[index % starts.length] ?? '');
          if (index % 2 === 0) await sleep(1);
          if (index % 3 === 0) socket.resetAndDestroy();
          else socket.destroy();
          if (!socket.closed) await once(socket, 'close');
        }),
      );
    }
    await world.isWell();
    assert.equal(world.upstream.open, 0);
    const lines = world.gateway.log.lines.filter((line) => line.level === 'error');
    assert.deepEqual(lines, []);
  });

  test('a refused request leaves its connection usable when its body is whole', async () => {
    const bad = `POST ${CHAT} HTTP/1.1\r\n${HOST}content-type: application/json\r\ncontent-length: 1\r\n\r\n{`;
    const { text } = await talk(
      world.gateway.origin,
      `${bad}${get('/backend-api/v2/version', 'connection: close\r\n')}`,
      { answers: 2 },
    );
    assert.deepEqual(statusesIn(text), [400, 200], text);
  });

  test('errors are told to those who ask for the whole of it', async () => {
    assertError(await world.ask({ path: '/v1/nothing', headers: { accept: 'text/html' } }), 404);
    assertError(await world.ask({ path: '/v1/nothing', headers: { 'accept-encoding': 'gzip, br' } }), 404);
    assertError(await world.ask({ path: '/v1/nothing', headers: { 'accept-version': '1.0' } }), 404);
    assert.equal((await world.ask({ path: '/v1/models', headers: { 'accept-version': '1.0' } })).status, 200);
  });
});
