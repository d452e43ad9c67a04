import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { dial, listen, statusesIn } from '../support/raw-http.ts';
import { AMBIGUOUS, BODY, CHAT, chunk, get, HOST, post } from './edge-requests.ts';
import { HI, openWorld, type World } from './edge-world.ts';

// Connections that have had an answer before: what comes on them is read in another way than the first request.

const MODELS = get('/v1/models');
const say = (prompt: string, more: object = {}): string => {
  const body = JSON.stringify({ ...HI, messages: [{ role: 'user', content: prompt }], ...more });
  return post(`content-length: ${Buffer.byteLength(body)}\r\n`, body);
};

/** Sends a request and waits for the whole of its answer, which has a length. */
async function exchange(socket: Socket, request: string | readonly string[]): Promise<string> {
  for (const part of [request].flat()) {
    socket.write(part);
    // Each part is a read of its own.
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (let text = ''; ; ) {
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    text += bytes.toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    const length = Number(/^content-length: (\d+)\r$/im.exec(text)?.[1]);
    if (end !== -1 && text.length >= end + 4 + length) return text;
  }
}

/** Waits until the other side has closed. */
async function ended(socket: Socket): Promise<void> {
  if (!socket.closed) await new Promise<void>((resolve) => socket.once('close', () => resolve()));
}

/** A connection that has had a few answers. */
async function kept(origin: string): Promise<Socket> {
  const socket = await dial(origin);
  for (const request of [MODELS, say('one'), say('two'), MODELS]) {
    assert.deepEqual(statusesIn(await exchange(socket, request)), [200]);
  }
  return socket;
}

describe('kept connections', () => {
  let world: World;
  before(async () => {
    world = await openWorld({
      script: ({ prompt }) =>
        prompt === 'slow' ? { text: ['a', 'b', 'c'], stallAfter: 3 } : { text: [`echo ${prompt} of the upstream.`] },
      yaml: 'limits: { clientHeaderMs: 3000, clientBodyIdleMs: 3000 }',
    });
  });
  after(() => world.close());

  test('every request is answered as the first one is', async () => {
    const socket = await kept(world.gateway.origin);
    const large = 'a'.repeat(40_000);
    const huge = 'b'.repeat(1_500_000);
    for (const [request, status, words] of [
      [say('short'), 200, /echo short of/],
      [say('grüße 😀'), 200, /echo gr/],
      [say(large), 200, /echo aaa/],
      [say('after the large one'), 200, /echo after the large one/],
      [say(huge), 200, /echo bbb/],
      [say('after the huge one'), 200, /echo after the huge one/],
      [post('content-length: 1\r\n', '{'), 400, /not valid JSON/],
      [post('content-length: 0\r\n', ''), 400, /The body is empty/],
      [post('content-length: 2\r\n', '{}'), 422, /"param":"messages"/],
      [get('/v1/nothing'), 404, /\/v1\/nothing/],
      [get(CHAT), 405, /POST/],
      [post(`content-length: ${BODY.length}\r\ncontent-encoding: gzip\r\n`, BODY), 415, /Compressed/],
      [MODELS.replace('host: localhost', 'host: evil.example'), 403, /evil\.example/],
      [MODELS.replace(HOST, `${HOST}${HOST}`), 400, /exactly one valid Host/],
      [MODELS.replace(HOST, ''), 400, /exactly one valid Host/],
      [MODELS.replace(HOST, `${HOST}origin: https://evil.example\r\n`), 403, /another origin/],
      [post('transfer-encoding: chunked\r\n', `${chunk(BODY)}0\r\n\r\n`), 200, /echo Hi of/],
      [say('at the end'), 200, /echo at the end of/],
    ] as const) {
      const text = await exchange(socket, request);
      const hint = `${request.slice(0, 200)}\n${text}`;
      assert.deepEqual(statusesIn(text), [status], hint);
      assert.match(text, words, hint);
    }
    socket.destroy();
  });

  test('forms and bytes that come with their head are read to their end', async () => {
    const socket = await kept(world.gateway.origin);
    const form = '--x\r\ncontent-disposition: form-data; name="files"; filename="a.txt"\r\n\r\nHello\r\n--x--\r\n';
    const head = (path: string, type: string, body: string): string =>
      `POST ${path} HTTP/1.1\r\n${HOST}content-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    for (const [request, status, words] of [
      [head('/backend-api/v2/files/kept', 'multipart/form-data; boundary=x', form), 200, /a\.txt/],
      [head('/backend-api/v2/files/kept', 'multipart/form-data; boundary=x', form.slice(0, -9)), 400, /"error"/],
      [
        head('/upload/v1beta/files', 'text/plain\r\nx-goog-upload-protocol: raw', 'some bytes'),
        200,
        /"sizeBytes":"10"/,
      ],
      [head('/v1/nothing', 'text/plain', 'of no interest'), 404, /nothing/],
      [say('at the end'), 200, /echo at the end of/],
    ] as const) {
      const text = await exchange(socket, request);
      assert.deepEqual(statusesIn(text), [status], text);
      assert.match(text, words);
    }
    socket.destroy();
  });

  test('each of these makes the next one no other', async () => {
    for (const between of [
      say('whole'),
      [say('in halves').slice(0, 30), say('in halves').slice(30)],
      [say('body apart').split('{', 1)[0] as string, say('body apart').slice(say('body apart').indexOf('{'))],
      MODELS.replace(HOST, `${HOST}connection: Keep-Alive, x-own\r\nx-own: 1\r\n`),
      MODELS.replace(HOST, `${HOST}upgrade-insecure-requests: 1\r\nx-own: \u00fc\r\n`),
      get('/v1/models?x=%20'),
    ]) {
      const socket = await kept(world.gateway.origin);
      assert.deepEqual(statusesIn(await exchange(socket, between)), [200]);
      const { length } = world.upstream.chats;
      assert.match(await exchange(socket, say('next')), /echo next of the upstream/);
      assert.deepEqual(
        world.upstream.chats.slice(length).map(({ prompt }) => prompt),
        ['next'],
      );
      socket.destroy();
    }
  });

  test('the same length written with more digits ends where it says', async () => {
    const socket = await kept(world.gateway.origin);
    const { length } = world.upstream.chats;
    const whole = say('padded');
    for (const digits of ['00$1', '$1', '0$1', '$1'])
      assert.match(
        await exchange(socket, whole.replace(/(?<=content-length: )(\d+)/, digits)),
        /echo padded of/,
        digits,
      );
    assert.equal(world.upstream.chats.length, length + 4);
    socket.destroy();
  });

  test('a head beyond the limit is refused where that is a small one, too', async () => {
    await using narrow = await openWorld({ yaml: 'limits: { headerBytes: 1024 }' });
    const socket = await kept(narrow.gateway.origin);
    const long = get('/v1/models', `x-long: ${'a'.repeat(2_000)}\r\n`);
    assert.deepEqual(statusesIn(await exchange(socket, long)), [431]);
    await ended(socket);
  });

  test(`${Object.keys(AMBIGUOUS).length} forms of no request get one refusal, and the end of the connection`, async () => {
    const { origin } = world.gateway;
    const sockets = await Promise.all(Object.keys(AMBIGUOUS).map(() => kept(origin)));
    const { length } = world.upstream.chats;
    for (const [name, bytes] of Object.entries(AMBIGUOUS)) {
      const socket = sockets.pop() as Socket;
      const heard = listen(socket, 2_000);
      socket.write(Buffer.from(bytes, 'latin1'));
      const { text, closed } = await heard;
      const [status, ...more] = statusesIn(text);
      assert.ok(status !== undefined && status >= 400 && status < 500, `${name}: ${text}`);
      assert.deepEqual([more, closed], [[], true], `${name}: ${text}`);
    }
    assert.equal(world.upstream.chats.length, length);
  });

  test('what comes in one read, or while an answer runs, is answered in its order', async () => {
    for (const reads of [
      [say('first') + say('second') + MODELS + say('third')],
      [say('first'), say('second') + MODELS.slice(0, 20), MODELS.slice(20), say('third')],
      [say('first'), say('second'), MODELS, say('third')],
    ]) {
      const socket = await kept(world.gateway.origin);
      const heard = listen(socket, 500, 4);
      for (const read of reads) {
        socket.write(read);
        await new Promise((resolve) => setImmediate(resolve));
      }
      const { text } = await heard;
      assert.deepEqual(statusesIn(text), [200, 200, 200, 200]);
      assert.deepEqual(
        [...text.matchAll(/echo (\w+) of|"object":"(list)"/g)].map((match) => match[1] ?? match[2]),
        ['first', 'second', 'list', 'third'],
      );
    }
  });

  test('a client that leaves, or says that nothing more comes, ends its answer upstream', async () => {
    for (const stream of [true, false]) {
      for (const how of ['destroy', 'resetAndDestroy', 'end'] as const) {
        const socket = await kept(world.gateway.origin);
        const { length } = world.upstream.chats;
        const begun = stream ? once(socket, 'data') : undefined;
        socket.write(say('slow', { stream }));
        await eventually('it is asked', () => world.upstream.chats.length === length + 1);
        await begun;
        socket[how]();
        await eventually(`nothing is open (${how}, ${stream})`, () => world.upstream.open === 0);
        socket.destroy();
      }
    }
    await world.isWell();
  });

  test('half a body reaches nobody', async () => {
    for (const how of ['destroy', 'resetAndDestroy', 'end'] as const) {
      for (const apart of [0, 5]) {
        const socket = await kept(world.gateway.origin);
        const { length } = world.upstream.chats;
        const request = say('half of this');
        const head = request.indexOf('{') + apart;
        socket.write(request.slice(0, head));
        await new Promise((resolve) => setImmediate(resolve));
        socket.write(request.slice(head, -3));
        const heard = listen(socket, 200, 0);
        socket[how]();
        const { text } = await heard;
        assert.doesNotMatch(text, /HTTP\/1\.1 [25]/);
        await world.isWell();
        assert.ok(world.upstream.chats.slice(length).every(({ prompt }) => prompt === 'Hi'));
      }
    }
  });

  test('what stops in the middle is cut', async () => {
    for (const start of [
      'POST /v1/cha',
      say('half').slice(0, 60),
      post('content-length: 100\r\n', '{"model":'),
      post('transfer-encoding: chunked\r\n', '100\r\n{"model":'),
    ]) {
      const socket = await kept(world.gateway.origin);
      const heard = listen(socket, 30_000);
      socket.write(start);
      const { text, closed } = await heard;
      assert.deepEqual([statusesIn(text), closed], [[408], true], text);
    }
  });

  test('one that says nothing more is closed without a word, and not while an answer runs', async () => {
    await using brief = await openWorld({
      script: ({ prompt }) => (prompt === 'slow' ? { text: ['at ', 'last'], delayMs: 700 } : { text: ['quick'] }),
      yaml: 'limits: { keepAliveMs: 300 }',
    });
    const socket = await kept(brief.gateway.origin);
    assert.match(await exchange(socket, say('slow')), /at last/);
    const { text, closed } = await listen(socket, 10_000);
    assert.deepEqual([text, closed], ['', true]);
  });

  test('one that is older than a head may take to arrive is served on', async () => {
    await using hasty = await openWorld({ yaml: 'limits: { clientHeaderMs: 1000 }' });
    const socket = await kept(hasty.gateway.origin);
    const end = performance.now() + 3_500;
    while (performance.now() < end) {
      assert.deepEqual(statusesIn(await exchange(socket, MODELS)), [200]);
      await sleep(100);
    }
    socket.destroy();
  });

  test('a request in another protocol is the last one', async () => {
    const socket = await kept(world.gateway.origin);
    const heard = listen(socket, 10_000);
    socket.write(get('/backend-api/v2/version', 'upgrade: h2c\r\nconnection: upgrade\r\n') + MODELS);
    const { text, closed } = await heard;
    assert.deepEqual([statusesIn(text), closed], [[200], true], text);
    const tunnel = await kept(world.gateway.origin);
    tunnel.write(`CONNECT localhost:1 HTTP/1.1\r\n${HOST}\r\n`);
    await ended(tunnel);
  });

  test('a shutdown waits for the answer that runs, and closes those that wait', async () => {
    await using slow = await openWorld({
      script: ({ prompt }) => (prompt === 'slow' ? { text: ['at ', 'last'], delayMs: 500 } : { text: ['quick'] }),
    });
    const [idle, busy] = [await kept(slow.gateway.origin), await kept(slow.gateway.origin)];
    const { length } = slow.upstream.chats;
    const answer = exchange(busy, say('slow'));
    await eventually('it is asked', () => slow.upstream.chats.length === length + 1);
    const closing = slow.gateway.close();
    assert.match(await answer, /at last/);
    await Promise.all([idle, busy].map(ended));
    await closing;
  });
});
