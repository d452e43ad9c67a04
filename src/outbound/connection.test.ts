import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import { gzipSync } from 'node:zlib';
import { eventually } from '../../test/support/eventually.ts';
import { plainServer } from '../../test/support/plain-server.ts';
import { allOver, ask, clientFor, rawServer } from '../../test/support/raw-upstream.ts';
import type { SluiceError } from '../core/errors.ts';
import { Connection } from './connection.ts';

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx';

describe('connections to upstreams', () => {
  test('as many as there are requests at a time, and no more', async (context) => {
    const { url, server } = await plainServer(context, async (request, response) => {
      await request.resume().toArray();
      await sleep(20);
      response.end('x');
    });
    let connections = 0;
    server.on('connection', () => {
      connections += 1;
    });
    const client = clientFor(context);
    for (let round = 0; round < 3; round += 1)
      await Promise.all(Array.from({ length: 5 }, () => ask(client, url, Buffer.from('{}'))));
    assert.equal(connections, 5);
  });

  for (const bytes of [1, 16 * 1024, 16 * 1024 + 1, 3 * 1024 * 1024]) {
    test(`a body of ${bytes} bytes arrives as it is`, async (context) => {
      const sent = Buffer.from(Array.from({ length: bytes }, (_, index) => (index * 7) % 256));
      let got: Buffer | undefined;
      const { url } = await plainServer(context, async (request, response) => {
        got = Buffer.concat(await request.toArray());
        response.end('x');
      });
      assert.equal(await ask(clientFor(context), url, sent), '200 x');
      assert.ok(got?.equals(sent));
    });
  }

  for (const [what, speak] of [
    ['something follows the answer', (socket: Socket) => void socket.write(`${ANSWER}HTTP/1.1 200 OK\r\n\r\n`)],
    [
      'the upstream says so',
      (socket: Socket) => void socket.write(ANSWER.replace('\r\n', '\r\nconnection: close\r\n')),
    ],
    [
      'the upstream will leave soon',
      (socket: Socket) => void socket.write(ANSWER.replace('\r\n', '\r\nkeep-alive: timeout=4\r\n')),
    ],
    [
      'something comes while it is idle',
      (socket: Socket) => {
        socket.write(ANSWER);
        setTimeout(() => socket.write(ANSWER), 20);
      },
    ],
    ['the upstream closes it', (socket: Socket) => void socket.end(ANSWER)],
  ] as const) {
    test(`none is used again when ${what}`, async (context) => {
      const { origin, connections } = await rawServer(context, speak);
      // Longer than the test waits: closed only because it had been idle, one would seem to have been given up.
      const client = clientFor(context, { upstreamKeepAliveMs: 3_600_000 });
      for (let round = 1; round <= 3; round += 1) {
        assert.equal(await ask(client, origin), '200 x');
        await sleep(60);
        assert.equal(connections.length, round);
        await allOver(connections);
      }
    });
  }

  for (const [seconds, expected] of [
    [4, 2],
    [30, 1],
  ] as const) {
    test(`the next request, when the upstream keeps one for ${seconds} s, ${expected === 1 ? 'uses it' : 'needs another'}`, async (context) => {
      const { origin, connections } = await rawServer(
        context,
        (socket) => void socket.write(ANSWER.replace('\r\n', `\r\nkeep-alive: max=9, timeout=${seconds}\r\n`)),
      );
      const client = clientFor(context);
      await ask(client, origin);
      await ask(client, origin);
      assert.equal(connections.length, expected);
    });
  }

  test('none is used again in the moment in which it is given up', async (context) => {
    const { origin, connections } = await rawServer(context, (socket) => void socket.write(ANSWER));
    const client = clientFor(context);
    await ask(client, origin);
    const next = new Promise<string>((resolve) => {
      const { mock } = context.mock.method(Socket.prototype, 'destroy', function givenUp(this: Socket) {
        mock.restore();
        resolve(ask(client, origin));
        return this.destroy();
      });
    });
    connections[0]?.write('Nobody asked for this.');
    assert.equal(await next, '200 x');
    assert.equal(connections.length, 2);
  });

  test('none is used again that was idle for too long', async (context) => {
    const { origin, connections } = await rawServer(context, (socket) => void socket.write(ANSWER));
    const client = clientFor(context, { upstreamKeepAliveMs: 60_000 });
    await ask(client, origin);
    await ask(client, origin);
    assert.equal(connections.length, 1);
    const now = performance.now.bind(performance);
    context.mock.method(performance, 'now', () => now() + 60_000);
    await ask(client, origin);
    assert.equal(connections.length, 2);
  });

  test('none is used again that slept with the machine, whose other clock stood still meanwhile', async (context) => {
    const { origin, connections } = await rawServer(context, (socket) => void socket.write(ANSWER));
    const client = clientFor(context, { upstreamKeepAliveMs: 60_000 });
    await ask(client, origin);
    context.mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 });
    await ask(client, origin);
    assert.equal(connections.length, 2);
  });

  test('addresses that were given up too soon have more time with the next attempt', async (context) => {
    const { origin } = await rawServer(
      context,
      (socket) => void socket.end(ANSWER.replace('\r\n', '\r\nconnection: close\r\n')),
    );
    const client = clientFor(context);
    // The time stands still: on a busy machine the way would seem long.
    const now = performance.now();
    context.mock.method(performance, 'now', () => now);
    const patience: unknown[] = [];
    const { connect } = Socket.prototype;
    // As Node reports it where the first address is far away, and the second of a kind that leads nowhere here.
    const given = Object.assign(new Error('connect ETIMEDOUT'), { code: 'ETIMEDOUT' });
    const without = Object.assign(new Error('connect ENETUNREACH'), { code: 'ENETUNREACH' });
    context.mock.method(
      Socket.prototype,
      'connect',
      function connecting(this: Socket, ...options: Parameters<typeof connect>) {
        const [asked] = options.flat() as unknown[] as { autoSelectFamilyAttemptTimeout?: number }[];
        patience.push(asked?.autoSelectFamilyAttemptTimeout);
        if (patience.length <= 2) return this.destroy(new AggregateError([without, given]));
        return connect.apply(this, options);
      },
    );
    for (let round = 1; round <= 2; round += 1) {
      await assert.rejects(ask(client, origin), {
        // Of the kind that is tried again.
        code: 'upstream_unreachable',
        message: "None of the provider's addresses accepted a connection in time.",
      });
    }
    // The way turns out to be short.
    assert.equal(await ask(client, origin), '200 x');
    assert.equal(await ask(client, origin), '200 x');
    // Never so much that there is no time for the other addresses.
    assert.deepEqual(patience, [500, 2_000, 2_500, 500]);
  });

  test('one that the system does not give says so, and not that the provider is away', async (context) => {
    const { origin } = await rawServer(context, (socket) => void socket.end(ANSWER));
    // As it does where all ports are in use.
    const none = Object.assign(new Error('connect EADDRNOTAVAIL'), { code: 'EADDRNOTAVAIL' });
    context.mock.method(Socket.prototype, 'connect', function connecting(this: Socket) {
      return this.destroy(none);
    });
    await assert.rejects(ask(clientFor(context), origin), {
      code: 'upstream_unreachable',
      message: 'The system gives Sluice no further connection to the provider (EADDRNOTAVAIL).',
    });
  });

  test('one whose other side is gone without a word says so, and not that it was never there', async (context) => {
    const { origin } = await rawServer(context, () => {
      // What the system says once nobody answers its probes.
      sockets[0]?.destroy(Object.assign(new Error('read ETIMEDOUT'), { code: 'ETIMEDOUT', syscall: 'read' }));
    });
    const sockets: Socket[] = [];
    const { connect } = Socket.prototype;
    context.mock.method(
      Socket.prototype,
      'connect',
      function connecting(this: Socket, ...options: Parameters<typeof connect>) {
        sockets.push(this);
        return connect.apply(this, options);
      },
    );
    await assert.rejects(ask(clientFor(context), origin), {
      code: 'upstream_timeout',
      message: 'The provider fell silent: its machine, or the way to it, does not answer any more.',
    });
  });

  for (const [what, headers] of [
    ['even if nobody asks again', ''],
    ['also where the upstream would keep them longer', 'keep-alive: timeout=3600\r\n'],
  ]) {
    test(`idle ones are closed after their time, ${what}`, async (context) => {
      const { origin, connections } = await rawServer(
        context,
        (socket) => void socket.write(ANSWER.replace('\r\n', `\r\n${headers}`)),
      );
      const client = clientFor(context, { upstreamKeepAliveMs: 100 });
      // As well after a time without any.
      for (let round = 1; round <= 2; round += 1) {
        await ask(client, origin);
        await allOver(connections);
        assert.equal(connections.length, round);
      }
    });
  }

  test('where one turns out to be closed, the other idle ones are not tried', async (context) => {
    const asked = new Map<Socket, number>();
    const { origin, connections } = await rawServer(context, (socket) => {
      const times = (asked.get(socket) ?? 0) + 1;
      asked.set(socket, times);
      if (times > 1) socket.destroy();
      // Both answers at once, so that there are two connections.
      else if (asked.size !== 1) for (const each of asked.keys()) if (!each.destroyed) each.write(ANSWER);
    });
    const client = clientFor(context);
    await Promise.all([ask(client, origin), ask(client, origin)]);
    await assert.rejects(ask(client, origin), { code: 'upstream_cut' });
    assert.equal(await ask(client, origin), '200 x');
    assert.equal(connections.length, 3);
  });

  for (const [what, waited, expected] of [
    ['for long has said nothing, the other idle ones are not tried', 5_001, 3],
    ['has not said anything yet, the other idle ones are', 100, 2],
  ] as const) {
    test(`where one is given up that ${what}`, async (context) => {
      const asked = new Map<Socket, number>();
      let others = 0;
      const { origin, connections } = await rawServer(context, (socket) => {
        const times = (asked.get(socket) ?? 0) + 1;
        asked.set(socket, times);
        if (times > 1) {
          others += 1;
          if (others > 1) socket.write(ANSWER);
        }
        // Both answers at once, so that there are two connections.
        else if (asked.size === 2) for (const each of asked.keys()) each.write(ANSWER);
        else if (asked.size > 2) socket.write(ANSWER);
      });
      const client = clientFor(context);
      // A busy machine may take longer for all this than is waited.
      let now = performance.now();
      context.mock.method(performance, 'now', () => now);
      await Promise.all([ask(client, origin), ask(client, origin)]);
      const unheard = (): void => assert.fail('it said something');
      const exchange = client.send(
        { origin, path: '/', method: 'GET', headers: {} },
        { onHead: unheard, onData: unheard, onEnd: unheard, onError: unheard },
      );
      await eventually('it is asked', () => others === 1);
      now += waited;
      exchange.abort();
      assert.equal(await ask(client, origin), '200 x');
      assert.equal(connections.length, expected);
    });
  }

  test('where one turns out to be closed, the next attempt gets a new one, whoever has answered meanwhile', async (context) => {
    // The time stands still: a busy machine may take longer for all this than the others are distrusted.
    const now = performance.now();
    context.mock.method(performance, 'now', () => now);
    let asked = 0;
    const { origin, connections } = await rawServer(context, (socket) => {
      asked += 1;
      if (asked === 2) socket.destroy();
      else socket.write(ANSWER);
    });
    const client = clientFor(context);
    assert.equal(await ask(client, origin), '200 x');
    await assert.rejects(ask(client, origin), { code: 'upstream_cut' });
    // Somebody else's, of which the connection is free again before the next attempt, and may be about to be closed.
    assert.equal(await ask(client, origin), '200 x');
    assert.equal(await ask(client, origin), '200 x');
    assert.equal(connections.length, 3);
  });

  test('the time to connect says nothing about an answer that takes longer', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const { origin } = await rawServer(context, (socket) => {
      // By now the connection is there.
      context.mock.timers.runAll();
      socket.write(ANSWER);
    });
    assert.equal(await ask(clientFor(context, { connectMs: 100 }), origin), '200 x');
  });

  test('one that is paused between two reads stays so', async (context) => {
    const { origin } = await rawServer(context, (socket) => void socket.end(endless));
    const endless = Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), Buffer.alloc(16 * 1024 * 1024)]);
    let told = 0;
    const paused = Promise.withResolvers<void>();
    const exchange = clientFor(context).send(
      { origin, path: '/', method: 'GET', headers: {} },
      {
        onHead() {},
        onData(bytes) {
          told += 1;
          // As much as one read takes: there is more.
          if (bytes.length === 256 * 1024) queueMicrotask(() => paused.resolve(exchange.pause()));
          // Slower than what it gets.
          const until = performance.now() + 3;
          while (performance.now() < until);
        },
        onEnd: paused.resolve,
        onError: paused.reject,
      },
    );
    await paused.promise;
    const before = told;
    for (let turn = 0; turn < 100; turn += 1) await nextTurn();
    assert.equal(told, before);
    exchange.abort();
  });

  test('nothing stays in memory of those that are closed', async (context) => {
    const { origin } = await rawServer(
      context,
      (socket) => void socket.end(ANSWER.replace('\r\n', '\r\nconnection: close\r\n')),
    );
    const client = clientFor(context);
    const before = queryObjects(Connection);
    for (let round = 0; round < 5; round += 1) await ask(client, origin);
    await eventually('they are forgotten', () => queryObjects(Connection) <= before);
    assert.equal(await ask(client, origin), '200 x');
  });

  test('idle ones are closed with their client', async (context) => {
    const { origin, connections } = await rawServer(context, (socket) => void socket.write(ANSWER));
    const client = clientFor(context);
    await ask(client, origin);
    await client.close();
    await allOver(connections);
  });

  test('none is used again whose request was not taken whole', async (context) => {
    const { origin, connections } = await rawServer(context, (socket) => {
      socket.pause();
      socket.write(ANSWER.replace('200 OK', '413 Too Large'));
    });
    const client = clientFor(context);
    assert.equal(await ask(client, origin, Buffer.alloc(30 * 1024 * 1024)), '413 x');
    assert.equal(await ask(client, origin), '413 x');
    assert.equal(connections.length, 2);
  });

  test('an answer that ends with the connection is over before its request was taken whole', async (context) => {
    const { origin } = await rawServer(context, (socket) => {
      socket.pause();
      socket.end('HTTP/1.1 413 Too Large\r\n\r\nx');
    });
    assert.equal(await ask(clientFor(context), origin, Buffer.alloc(30 * 1024 * 1024)), '413 x');
  });

  test('gives way to others between two reads, however much is waiting', async (context) => {
    const size = 64 * 1024 * 1024;
    const { origin } = await rawServer(context, (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`);
      socket.end(Buffer.alloc(size));
    });
    let turns = 0;
    const tick = (): void => {
      turns += 1;
      immediate = setImmediate(tick);
    };
    let immediate = setImmediate(tick);
    context.after(() => clearImmediate(immediate));
    let got = 0;
    /** Full reads since the last turn of the event loop. */
    let most = 0;
    let run = 0;
    let last = -1;
    await new Promise<void>((resolve, reject) => {
      clientFor(context).send(
        { origin, path: '/', method: 'GET', headers: {} },
        {
          onHead: () => {},
          onData: (bytes) => {
            got += bytes.length;
            run = turns === last && bytes.length > 200_000 ? run + 1 : 1;
            last = turns;
            most = Math.max(most, run);
            // Slower than what it gets, so that there is always more.
            const until = performance.now() + 3;
            while (performance.now() < until);
          },
          onEnd: resolve,
          onError: reject,
        },
      );
    });
    assert.equal(got, size);
    assert.equal(most, 1, `${most} reads in one turn`);
  });

  test('one that is paused at the end of an answer serves the next', async (context) => {
    const { origin, connections } = await rawServer(context, (socket) => void socket.write(ANSWER));
    const client = clientFor(context);
    await new Promise<void>((resolve, reject) => {
      const exchange = client.send(
        { origin, path: '/', method: 'GET', headers: {} },
        { onHead() {}, onData: () => exchange.pause(), onEnd: resolve, onError: reject },
      );
    });
    assert.equal(await ask(client, origin), '200 x');
    assert.equal(connections.length, 1);
  });

  const words = randomBytes(75_000).toString('base64');
  for (const [how, headers, body] of [
    ['as it is', '', Buffer.from(words)],
    ['in gzip', 'content-encoding: gzip\r\n', gzipSync(words)],
  ] as const) {
    test(`one that is closed behind a large answer ${how} is not used again`, async (context) => {
      const { origin, connections } = await rawServer(context, (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\n${headers}content-length: ${body.length}\r\n\r\n`);
        socket.write(body);
        setTimeout(() => socket.end(), 50);
      });
      const client = clientFor(context);
      for (let round = 1; round <= 2; round += 1) {
        const answer = await new Promise<string>((resolve, reject: (error: SluiceError) => void) => {
          let told = '';
          const exchange = client.send(
            { origin, path: '/', method: 'GET', headers: {} },
            {
              onHead() {},
              // As whoever takes it slowly does.
              onData(bytes) {
                told += bytes.toString('latin1');
                exchange.pause();
                setTimeout(() => exchange.resume(), 5);
              },
              onEnd: () => resolve(told),
              onError: reject,
            },
          );
        });
        assert.ok(answer === words);
        await allOver(connections);
        assert.equal(connections.length, round);
      }
    });
  }

  test('an upstream that accepts nothing is given up in time', async (context) => {
    const { origin } = await rawServer(context, () => {});
    const secure = origin.replace('http:', 'https:');
    const { code } = await ask(clientFor(context, { connectMs: 100 }), secure).then(assert.fail, (error) => error);
    assert.equal(code, 'upstream_timeout');
  });
});
