import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { after, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { plainServer, unusedPort } from '../../test/support/plain-server.ts';
import { defaultLimits } from '../config/defaults.ts';
import { open, type UpstreamResponse } from './body.ts';
import { createUpstreamClient, type UpstreamHandler } from './upstream.ts';

const client = createUpstreamClient(() => defaultLimits);
after(() => client.close());

async function get(
  context: TestContext,
  listener: RequestListener,
  signal = new AbortController().signal,
): Promise<UpstreamResponse> {
  const { url } = await plainServer(context, listener);
  return open(client, { origin: url, path: '/', method: 'GET', headers: {} }, signal);
}

/** What the server has sent is read within the next turns of the event loop, however busy the machine is. */
async function turns(): Promise<void> {
  for (let count = 0; count < 10; count += 1) await new Promise((done) => setImmediate(done));
}

/** A body whose upstream does what the test says; `done` is what becomes of the exchange. */
async function byHand(signal = new AbortController().signal) {
  const done: string[] = [];
  const handlers: UpstreamHandler[] = [];
  const note = (what: string) => () => void done.push(what);
  const opening = open(
    {
      send: (_request, handler) => {
        handlers.push(handler);
        return { isSent: true, pause: note('pause'), resume: note('resume'), abort: note('abort') };
      },
      close: async () => {},
    },
    { origin: '', path: '/', method: 'GET', headers: {} },
    signal,
  );
  const [upstream = assert.fail('nobody is asked')] = handlers;
  upstream.onHead(200, {});
  return { body: (await opening).body, upstream, done };
}

/** Starts a body that goes on until the other side closes; `closed` settles then. */
function endless(): { listener: RequestListener; closed: Promise<unknown>; written(): number } {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  let written = 0;
  const listener = async (_request: unknown, response: ServerResponse): Promise<void> => {
    response.once('close', resolve);
    const block = Buffer.alloc(64 * 1024, 'x');
    while (!response.destroyed) {
      written += block.length;
      if (!response.write(block)) await Promise.race([once(response, 'drain'), promise]);
    }
  };
  return { listener: (request, response) => void listener(request, response), closed: promise, written: () => written };
}

describe('open', () => {
  test('resolves with the head; the body follows in order', async (context) => {
    const response = await get(context, async (_request, answer) => {
      answer.writeHead(418, { 'x-own': '1' });
      for (const piece of ['a', 'b', 'c']) {
        answer.write(piece);
        await sleep(20);
      }
      answer.end();
    });
    assert.equal(response.status, 418);
    assert.equal(response.headers['x-own'], '1');
    // As many bytes as are allowed, exactly.
    assert.equal((await response.body.collect(3)).toString(), 'abc');
  });

  test('rejects when there is no head to be had', async () => {
    const request = {
      origin: `http://127.0.0.1:${await unusedPort()}`,
      path: '/',
      method: 'GET',
      headers: {},
    } as const;
    await assert.rejects(open(client, request, new AbortController().signal), { code: 'upstream_unreachable' });
    await assert.rejects(open(client, request, AbortSignal.abort(new Error('left'))), { message: 'left' });
  });

  test('a signal before the head rejects with its reason, and closes the connection', async (context) => {
    const { promise: isClosed, resolve } = Promise.withResolvers<void>();
    const controller = new AbortController();
    const opening = get(
      context,
      (request) => {
        request.socket.once('close', () => resolve());
        controller.abort(new Error('left'));
      },
      controller.signal,
    );
    await assert.rejects(opening, { message: 'left' });
    await isClosed;
  });
});

describe('Body', () => {
  test('what waits to be taken is not overwritten by what comes to another', async (context) => {
    const bodies = await Promise.all(
      [...'abc'].map((letter) =>
        get(context, async (_request, answer) => {
          for (let part = 0; part < 4; part += 1) {
            answer.write(letter.repeat(1_000));
            await sleep(10);
          }
          answer.end();
        }),
      ),
    );
    await sleep(100);
    const texts = await Promise.all(bodies.map(async ({ body }) => (await body.collect(10_000)).toString()));
    assert.deepEqual(
      texts,
      [...'abc'].map((letter) => letter.repeat(4_000)),
    );
  });

  test('what has arrived comes before the failure', async (context) => {
    const { body } = await get(context, (_request, response) => {
      response.write('begun');
      setTimeout(() => response.destroy(), 50);
    });
    await sleep(200);
    assert.equal((await body.next()).value?.toString(), 'begun');
    await assert.rejects(body.next(), { code: 'upstream_cut' });
    await assert.rejects(body.next(), { code: 'upstream_cut' }, 'again and again');
  });

  test('all that has arrived is one step', async (context) => {
    const { promise: sent, resolve } = Promise.withResolvers<void>();
    const { body } = await get(context, async (_request, response) => {
      response.once('finish', resolve);
      for (const piece of ['a', 'b', 'c']) {
        response.write(piece);
        await sleep(20);
      }
      response.end();
    });
    await sent;
    await turns();
    assert.equal((await body.next()).value?.toString(), 'abc');
    assert.equal((await body.next()).done, true);
  });

  test('an upstream that nobody reads is held back', async (context) => {
    const flood = endless();
    const { body } = await get(context, flood.listener);
    for (let before = -1; before !== flood.written(); ) {
      before = flood.written();
      await sleep(300);
    }
    assert.ok(flood.written() < 32 * 1024 * 1024, `${flood.written()} bytes`);
    const stood = flood.written();
    for (let read = 0; read < stood + 1024 * 1024; ) read += (await body.next()).value?.length ?? 0;
    assert.ok(flood.written() > stood, 'it goes on once somebody reads');
    await body.return();
    await flood.closed;
  });

  test('leaving a loop closes the connection', async (context) => {
    const flood = endless();
    const { body } = await get(context, flood.listener);
    for await (const _piece of body) break;
    await flood.closed;
    assert.equal((await body.next()).done, true);
  });

  test('more than the limit is refused, and the connection closed', async (context) => {
    const flood = endless();
    const { body } = await get(context, flood.listener);
    await assert.rejects(body.collect(1_000_000), { code: 'upstream_invalid' });
    await flood.closed;
  });

  test('a signal rejects who waits, and closes the connection', async (context) => {
    const { promise: isClosed, resolve } = Promise.withResolvers<void>();
    const controller = new AbortController();
    const { body } = await get(
      context,
      (_request, response) => {
        response.once('close', () => resolve());
        response.writeHead(200).flushHeaders();
      },
      controller.signal,
    );
    const waiting = body.next();
    controller.abort(new Error('left'));
    await assert.rejects(waiting, { message: 'left' });
    await isClosed;
  });

  test('released, a body that ends soon leaves its connection to the next request', async (context) => {
    // The time that it has for its end does not pass, however long a busy machine takes for it.
    context.mock.timers.enable({ apis: ['setTimeout'] });
    let connections = 0;
    let begun: ServerResponse | undefined;
    const { url, server } = await plainServer(context, (request, response) => {
      request.resume();
      response.write('all');
      begun = response;
    });
    server.on('connection', () => {
      connections += 1;
    });
    for (let round = 0; round < 3; round += 1) {
      const { body } = await open(
        client,
        { origin: url, path: '/', method: 'GET', headers: {} },
        new AbortController().signal,
      );
      await body.next();
      body.release();
      await new Promise<void>((resolve) => begun?.end('rest', resolve));
      await turns();
    }
    assert.equal(connections, 1);
  });

  test('released, a body that goes on is closed', async (context) => {
    const flood = endless();
    const { body } = await get(context, flood.listener);
    await body.next();
    await sleep(300); // so that it is paused
    body.release();
    await flood.closed;
  });

  test('released while it is held back, it runs on, whatever comes', async () => {
    const { body, upstream, done } = await byHand();
    upstream.onData(Buffer.alloc(1_000_000));
    assert.deepEqual(done, ['pause']);
    body.release();
    upstream.onData(Buffer.alloc(1_000_000));
    assert.deepEqual(done, ['pause', 'resume'], 'and is not held back again, since nobody reads it');
    await body.return();
    assert.deepEqual(done, ['pause', 'resume'], 'nor does leaving it close it');
    const other = await byHand();
    other.body.release();
    other.upstream.onData(Buffer.alloc(1_000_000));
    assert.deepEqual(other.done, []);
  });

  test('one that is over is left alone, and knows nobody any more', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    for (const isReleasedFirst of [true, false]) {
      const controller = new AbortController();
      const { body, upstream, done } = await byHand(controller.signal);
      assert.equal(getEventListeners(controller.signal, 'abort').length, 1);
      if (isReleasedFirst) body.release();
      upstream.onEnd();
      if (!isReleasedFirst) body.release();
      assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
      context.mock.timers.tick(60_000);
      controller.abort();
      assert.deepEqual(done, []);
    }
  });

  test('what was taken does not count for what waits', async () => {
    const { body, upstream, done } = await byHand();
    for (let round = 0; round < 5; round += 1) {
      upstream.onData(Buffer.alloc(200_000));
      assert.equal((await body.next()).value?.length, 200_000);
    }
    assert.deepEqual(done, []);
  });
});
