import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingHttpHeaders, RequestListener, ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { after, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, constants, createGzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { plainServer, unusedPort } from '../../test/support/plain-server.ts';
import { defaultLimits } from '../config/defaults.ts';
import type { SluiceError } from '../core/errors.ts';
import type { UpstreamRequest } from './request.ts';
import { createUpstreamClient, type Exchange } from './upstream.ts';

const client = createUpstreamClient(() => ({ ...defaultLimits, inflateBytes: 1024 * 1024 }));

interface Heard {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  body: string;
  /** What was told, in order: head, data, end, error. */
  readonly told: string[];
  error: SluiceError | undefined;
}

/** Sends a request, notes what is told, and hands the exchange to `control` with every piece. */
async function hear(
  request: Pick<UpstreamRequest, 'origin'> & Partial<UpstreamRequest>,
  control: (exchange: Exchange, heard: Heard) => void = () => {},
): Promise<Heard> {
  const heard: Heard = { status: undefined, headers: {}, body: '', told: [], error: undefined };
  const { promise, resolve } = Promise.withResolvers<void>();
  const exchange = client.send(
    { path: '/', method: 'POST', headers: {}, ...request },
    {
      onHead(status, headers) {
        heard.told.push('head');
        Object.assign(heard, { status, headers });
      },
      onData(bytes) {
        if (heard.told.at(-1) !== 'data') heard.told.push('data');
        heard.body += bytes.toString('latin1');
        control(exchange, heard);
      },
      onEnd() {
        heard.told.push('end');
        resolve();
      },
      onError(error) {
        heard.told.push('error');
        heard.error = error;
        resolve();
      },
    },
  );
  await promise;
  // Nothing may follow.
  await sleep(20);
  return heard;
}

/** A server that speaks whatever bytes `speak` writes, once a request has arrived. */
async function rawServer(context: TestContext, speak: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => speak(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return `http://127.0.0.1:${address.port}`;
}

describe('the client towards upstreams', () => {
  after(() => client.close());

  test('sends method, path, headers and body as given, and nothing that was not given', async (context) => {
    let seen: unknown;
    const { url } = await plainServer(context, async (request, response) => {
      const pieces = await request.toArray();
      const { host: _host, ...headers } = request.headers;
      seen = [request.method, request.url, headers, Buffer.concat(pieces).toString()];
      response.end('answer');
    });
    const { told, status, body } = await hear({
      origin: url,
      path: '/v1/x?y=1',
      headers: { 'x-own': 'ü' },
      body: Buffer.from('Grüße'),
    });
    assert.deepEqual(told, ['head', 'data', 'end']);
    assert.deepEqual([status, body], [200, 'answer']);
    assert.deepEqual(seen, [
      'POST',
      '/v1/x?y=1',
      { 'x-own': 'ü', 'content-length': '7', connection: 'keep-alive' },
      'Grüße',
    ]);
  });

  for (const [method, body, length] of [
    ['GET', undefined, undefined],
    ['GET', 'x', '1'],
    ['POST', undefined, '0'],
    ['DELETE', undefined, '0'],
  ] as const) {
    test(`${method} with ${body === undefined ? 'no' : 'a'} body says ${length ?? 'nothing'} for its length`, async (context) => {
      const seen: unknown[] = [];
      const { url } = await plainServer(context, (request, response) => {
        seen.push(request.method, request.headers['content-length'], request.headers['transfer-encoding']);
        response.end();
      });
      await hear({ origin: url, method, ...(body === undefined ? {} : { body }) });
      assert.deepEqual(seen, [method, length, undefined]);
    });
  }

  test('connections are used again', async (context) => {
    const { url, server } = await plainServer(context, (request, response) =>
      request.resume().on('end', () => response.end('x')),
    );
    let connections = 0;
    server.on('connection', () => {
      connections += 1;
    });
    for (let round = 0; round < 10; round += 1) await hear({ origin: url, body: '{}' });
    assert.equal(connections, 1);
  });

  for (const [what, name, compress] of [
    ['gzip', 'gzip', gzipSync],
    ['x-gzip', 'x-gzip', gzipSync],
    ['GZIP', 'GZIP', gzipSync],
    ['deflate', 'deflate', deflateSync],
    ["deflate without zlib's header", 'deflate', deflateRawSync],
    ['br', 'br', brotliCompressSync],
    ['identity', 'identity', (bytes: Buffer) => bytes],
    ['Identity', 'Identity', (bytes: Buffer) => bytes],
  ] as const) {
    test(`unpacks ${what}`, async (context) => {
      const { url } = await plainServer(context, (_request, response) => {
        response.writeHead(200, { 'content-encoding': name }).end(compress(Buffer.from('packed '.repeat(1_000))));
      });
      const { told, body } = await hear({ origin: url });
      assert.equal(body, 'packed '.repeat(1_000));
      assert.deepEqual(told, ['head', 'data', 'end']);
    });
  }

  for (const encoding of ['gzip', 'deflate', 'br']) {
    test(`nothing at all is an empty answer, also in ${encoding}`, async (context) => {
      const { url } = await plainServer(context, (_request, response) => {
        response.writeHead(401, { 'content-encoding': encoding }).end();
      });
      const { told, status, body } = await hear({ origin: url });
      assert.deepEqual(told, ['head', 'end']);
      assert.deepEqual([status, body], [401, '']);
    });
  }

  test('hands out every piece of a compressed stream as it is flushed', async (context) => {
    const { promise: isRead, resolve } = Promise.withResolvers<void>();
    const { url } = await plainServer(context, (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      const gzip = createGzip();
      gzip.pipe(response);
      gzip.write('first');
      gzip.flush(constants.Z_SYNC_FLUSH);
      void isRead.then(() => gzip.end(' second'));
    });
    const { body } = await hear({ origin: url }, (_exchange, heard) => {
      if (heard.body === 'first') resolve();
    });
    assert.equal(body, 'first second');
  });

  for (const [what, encoding, body] of [
    ['a layer that nobody knows', 'x-secret', Buffer.from('x')],
    ['several layers', 'gzip, gzip', gzipSync(gzipSync('x'))],
    ['what is not compressed at all', 'gzip', Buffer.from('x')],
    ['what unpacks to more than the limit', 'gzip', gzipSync(Buffer.alloc(4 * 1024 * 1024))],
    ['what is cut in the middle', 'gzip', gzipSync('x'.repeat(1_000)).subarray(0, 20)],
  ] as const) {
    test(`refuses ${what}`, async (context) => {
      const { url } = await plainServer(context, (_request, response) =>
        response.writeHead(200, { 'content-encoding': encoding }).end(body),
      );
      const { error, body: got } = await hear({ origin: url });
      assert.equal(error?.code, 'upstream_invalid');
      assert.ok(got.length <= 1024 * 1024);
    });
  }

  for (const [what, bytes, code] of [
    ['something else than HTTP', 'SSH-2.0-OpenSSH_9\r\n', 'upstream_invalid'],
    ['a header without end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(200_000)}\r\n\r\n`, 'upstream_invalid'],
    ['a wrong chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nx', 'upstream_invalid'],
    ['an end before any byte', '', 'upstream_cut'],
    ['a body that is too short', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nx', 'upstream_cut'],
  ] as const) {
    test(`${what} is the upstream's fault`, async (context) => {
      const origin = await rawServer(context, (socket) => socket.end(bytes));
      const { error, told } = await hear({ origin });
      assert.equal(error?.code, code, String(error?.message));
      assert.equal(told.at(-1), 'error');
    });
  }

  test('a reset is a cut; what came before it was handed out', async (context) => {
    const origin = await rawServer(context, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n');
      setTimeout(() => socket.resetAndDestroy(), 50);
    });
    const { error, told, body } = await hear({ origin });
    assert.equal(error?.code, 'upstream_cut');
    assert.deepEqual([told, body], [['head', 'data', 'error'], 'x']);
  });

  test('nobody there, and no such name', async () => {
    const refused = await hear({ origin: `http://127.0.0.1:${await unusedPort()}` });
    assert.equal(refused.error?.code, 'upstream_unreachable');
    assert.doesNotMatch(refused.error?.message ?? '', /127\.0\.0\.1/);
    assert.equal((await hear({ origin: 'http://no-such-host.invalid' })).error?.code, 'upstream_unreachable');
  });

  test('what cannot be sent is an error, not an exception, and blames nobody else', async () => {
    for (const request of [
      { headers: { 'x-key': 'a\nb' } },
      { path: 'no slash' },
    ] satisfies Partial<UpstreamRequest>[]) {
      const { error, told } = await hear({ origin: 'http://127.0.0.1:1', ...request });
      assert.deepEqual(told, ['error']);
      assert.equal(error?.code, 'internal');
    }
  });

  test('a client that is closed ends what runs', async (context) => {
    const closed = createUpstreamClient(() => defaultLimits);
    const ask = (origin: string): Promise<SluiceError> =>
      new Promise((resolve, reject) => {
        const told = { onHead() {}, onData() {}, onEnd: () => reject(new Error('it answered')), onError: resolve };
        closed.send({ origin, path: '/', method: 'GET', headers: {} }, told);
      });
    const { promise: isAsked, resolve } = Promise.withResolvers<void>();
    const running = ask(await rawServer(context, () => resolve()));
    await isAsked;
    await closed.close();
    assert.equal((await running).code, 'shutting_down');
  });

  test('redirects are an answer like any other', async (context) => {
    let requests = 0;
    const { url } = await plainServer(context, (_request, response) => {
      requests += 1;
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    assert.equal((await hear({ origin: url })).status, 307);
    assert.equal(requests, 1);
  });

  for (const encoding of ['identity', 'gzip']) {
    test(`a pause holds the upstream back, and nothing is lost after it (${encoding})`, async (context) => {
      const total = 20 * 1024 * 1024;
      const block = Buffer.alloc(64 * 1024, 'x');
      const own = createUpstreamClient(() => ({ ...defaultLimits, inflateBytes: 2 * total }));
      context.after(() => own.close());
      let written = 0;
      const { url } = await plainServer(context, async (_request, response) => {
        response.writeHead(200, { 'content-encoding': encoding });
        const out = encoding === 'gzip' ? createGzip({ level: 0 }) : response;
        if (out !== response) out.pipe(response);
        for (; written < total && !response.destroyed; written += block.length) {
          if (!out.write(block)) await once(out, 'drain');
        }
        out.end();
      });
      let size = 0;
      let paused = false;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const exchange = own.send(
        { origin: url, path: '/', method: 'GET', headers: {} },
        {
          onHead() {},
          onData(bytes) {
            size += bytes.length;
            if (paused) return;
            paused = true;
            exchange.pause();
          },
          onEnd: resolve,
          onError: reject,
        },
      );
      // Until the upstream stands still.
      for (let before = -1; before !== written; ) {
        before = written;
        await sleep(300);
      }
      assert.ok(written < total, 'the upstream was held back');
      assert.ok(size < total / 2);
      exchange.resume();
      await promise;
      assert.equal(size, total);
    });
  }

  test('a pause holds back what the little that has come of a compressed answer unpacks to', async (context) => {
    const text = 'packed '.repeat(100_000);
    const { url } = await plainServer(context, ({ url: path }, response) => {
      if (path === '/other') response.end();
      else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text));
    });
    const isPaused = Promise.withResolvers<void>();
    const isOver = Promise.withResolvers<void>();
    let got = '';
    const exchange = client.send(
      { origin: url, path: '/', method: 'GET', headers: {} },
      {
        onHead() {},
        onData(bytes) {
          if (got === '') exchange.pause();
          got += bytes.toString();
          isPaused.resolve();
        },
        onEnd: isOver.resolve,
        onError: isOver.reject,
      },
    );
    await isPaused.promise;
    const { length } = got;
    assert.ok(length < text.length);
    // Longer than it takes to unpack the rest.
    for (let round = 0; round < 10; round += 1) await hear({ origin: url, path: '/other' });
    assert.equal(got.length, length, 'nothing is told meanwhile');
    exchange.resume();
    await isOver.promise;
    assert.equal(got, text);
  });

  test('a reader who pauses again and again takes in no more of a compressed answer than it unpacks', async (context) => {
    const block = gzipSync(Buffer.alloc(16 * 1024 * 1024));
    const own = createUpstreamClient(() => ({ ...defaultLimits, inflateBytes: 2 ** 30 }));
    context.after(() => own.close());
    const most = 128 * 1024 * 1024;
    let written = 0;
    const { url } = await plainServer(context, (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      const pump = (): void => {
        do written += block.length;
        while (response.write(block) && written < most);
      };
      response.on('drain', pump);
      pump();
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let pieces = 0;
    const exchange = own.send(
      { origin: url, path: '/', method: 'GET', headers: {} },
      {
        onHead() {},
        onData() {
          pieces += 1;
          if (pieces === 2_000) resolve();
          exchange.pause();
          setImmediate(() => exchange.resume());
        },
        onEnd: reject,
        onError: reject,
      },
    );
    await promise;
    exchange.abort();
    // Some 30 KB were unpacked; the rest is on its way, for which the system has room.
    assert.ok(written < most / 4, `${written} bytes`);
  });

  for (const encoding of ['identity', 'gzip']) {
    test(`a pause before the first byte loses nothing either (${encoding})`, async (context) => {
      const text = 'packed '.repeat(1_000);
      const bytes = encoding === 'gzip' ? gzipSync(text) : Buffer.from(text);
      const goesOn = Promise.withResolvers<void>();
      const { url } = await plainServer(context, (_request, response) => {
        response.writeHead(200, { 'content-encoding': encoding });
        // In one piece with the head.
        response.write(bytes.subarray(0, 20));
        void goesOn.promise.then(() => response.end(bytes.subarray(20)));
      });
      const own = createUpstreamClient(() => defaultLimits);
      context.after(() => own.close());
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      let got = '';
      const exchange = own.send(
        { origin: url, path: '/', method: 'GET', headers: {} },
        {
          onHead() {
            exchange.pause();
            setImmediate(() => {
              exchange.resume();
              goesOn.resolve();
            });
          },
          onData(bytes) {
            got += bytes.toString();
          },
          onEnd: resolve,
          onError: reject,
        },
      );
      await promise;
      assert.equal(got, text);
    });
  }

  test('an abort closes the connection and says nothing more', async (context) => {
    const { promise: isClosed, resolve } = Promise.withResolvers<void>();
    const { url } = await plainServer(context, (_request, response: ServerResponse) => {
      response.on('close', resolve);
      response.write('x');
    });
    const told: string[] = [];
    const exchange = client.send(
      { origin: url, path: '/', method: 'GET', headers: {} },
      {
        onHead: () => void told.push('head'),
        onData: () => {
          told.push('data');
          exchange.abort();
        },
        onEnd: () => void told.push('end'),
        onError: () => void told.push('error'),
      },
    );
    await isClosed;
    exchange.abort();
    exchange.resume();
    await sleep(50);
    assert.deepEqual(told, ['head', 'data']);
  });

  test('an abort before anything was sent sends nothing', async (context) => {
    let requests = 0;
    const listener: RequestListener = (_request, response) => {
      requests += 1;
      response.end();
    };
    const { url } = await plainServer(context, listener);
    const fresh = createUpstreamClient(() => defaultLimits);
    context.after(() => fresh.close());
    const handler = { onHead() {}, onData() {}, onEnd() {}, onError: () => assert.fail('told of an error') };
    fresh.send({ origin: url, path: '/', method: 'GET', headers: {} }, handler).abort();
    await sleep(300);
    assert.equal(requests, 0);
  });

  test('whoever has its answer holds back and ends no other one on the same connection', {
    timeout: 60_000,
  }, async (context) => {
    const connections = new Set<unknown>();
    const { url } = await plainServer(context, (request, response) => {
      connections.add(request.socket);
      response.end(`answer to ${request.url}`);
    });
    const ended: Exchange[] = [];
    for (let round = 0; round < 3; round += 1) {
      const { promise: isOver, resolve, reject } = Promise.withResolvers<void>();
      let body = '';
      const exchange = client.send(
        { origin: url, path: `/${round}`, method: 'GET', headers: {} },
        {
          onHead() {},
          onData: (bytes) => {
            body += bytes.toString();
          },
          onEnd: resolve,
          onError: reject,
        },
      );
      for (const each of ended) {
        each.pause();
        each.abort();
      }
      await isOver;
      assert.equal(body, `answer to /${round}`);
      assert.equal(exchange.isSent, true, 'its body may be given back');
      ended.push(exchange);
    }
    assert.equal(connections.size, 1);
  });

  test('compressed answers that arrive at the same time stay apart', { timeout: 60_000 }, async (context) => {
    const texts = Array.from({ length: 16 }, (_, index) => randomBytes(100_000).toString('hex') + index);
    const { url } = await plainServer(context, (request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(texts[Number(request.url?.slice(1))] ?? ''));
    });
    const all = await Promise.all(texts.map((_, index) => hear({ origin: url, method: 'GET', path: `/${index}` })));
    for (const [index, { body, told }] of all.entries()) {
      assert.deepEqual(told, ['head', 'data', 'end']);
      assert.ok(body === texts[index], `${index} is what was sent`);
    }
  });
});
