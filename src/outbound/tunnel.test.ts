import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.ts';
import { startForwardProxy } from '../../test/support/forward-proxy.ts';
import { plainServer, unusedPort } from '../../test/support/plain-server.ts';
import { type SecureServer, secureServer, trustSecureServer } from '../../test/support/secure-server.ts';
import type { Limits } from '../config/config.ts';
import { defaultLimits } from '../config/defaults.ts';
import { type ProxyConfig, resolveProxy } from '../config/proxy.ts';
import type { SluiceError } from '../core/errors.ts';
import { createUpstreamClient, type Exchange, type UpstreamClient } from './upstream.ts';

/** To whom only a proxy leads. */
const FARAWAY = 'https://upstream.example';

function clientFor(context: TestContext, proxies: ProxyConfig, limits: Partial<Limits> = {}): UpstreamClient {
  const client = createUpstreamClient(() => ({ ...defaultLimits, ...limits }), proxies);
  context.after(() => client.close());
  return client;
}

function through(port: number, { login = '', scheme = 'http' } = {}): ProxyConfig {
  const address = `${scheme}://${login}localhost:${port}`;
  return resolveProxy({ HTTPS_PROXY: address, HTTP_PROXY: address }, []);
}

interface Asked {
  readonly exchange: Exchange;
  /** The status and the body. */
  readonly answer: Promise<string>;
}

function send(client: UpstreamClient, origin: string, body: Buffer, onData = (): void => {}): Asked {
  let exchange: Exchange | undefined;
  const answer = new Promise<string>((resolve, reject: (error: SluiceError) => void) => {
    let told = '';
    exchange = client.send(
      { origin, path: '/a?b=c', method: 'POST', headers: { 'x-own': '1' }, body },
      {
        onHead: (status) => {
          told += `${status} `;
        },
        onData: (bytes) => {
          told += bytes.toString('latin1');
          onData();
        },
        onEnd: () => resolve(told),
        onError: reject,
      },
    );
  });
  return { exchange: exchange ?? assert.fail(), answer };
}

async function ask(client: UpstreamClient, origin: string, body = Buffer.from('hello')): Promise<string> {
  return send(client, origin, body).answer;
}

function portOf(origin: string): number {
  return Number(new URL(origin).port);
}

async function faraway(
  context: TestContext,
  listener: RequestListener,
): Promise<{ to: number } & Omit<SecureServer, 'origin'>> {
  trustSecureServer(context);
  const { origin, ...seen } = await secureServer(context, listener, { isFaraway: true });
  return { to: portOf(origin), ...seen };
}

/** A proxy that says something else. */
async function oddProxy(context: TestContext, speak: (socket: Socket) => void): Promise<number> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.once('data', () => speak(socket));
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  context.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

describe('providers behind a proxy', { concurrency: 1 }, () => {
  for (const isSecure of [false, true])
    test(`are reached through a tunnel, which serves again (${isSecure ? 'a proxy by TLS' : 'in clear text'})`, async (context) => {
      const { to, resumed, greeted } = await faraway(context, async (request, response) => {
        const bytes = Buffer.concat(await request.toArray());
        await sleep(20);
        const { host, 'proxy-authorization': login, 'x-own': own } = request.headers;
        response.end(`${request.url} ${host} ${login} ${own} ${bytes.length}`);
      });
      const proxy = await startForwardProxy(context, { to, credentials: 'me:p@ss', isSecure });
      const { port, asked } = proxy;
      const client = clientFor(context, through(port, { login: 'me:p%40ss@', scheme: isSecure ? 'https' : 'http' }));
      for (const body of [Buffer.from('hello'), Buffer.alloc(3_000_000)])
        assert.equal(await ask(client, FARAWAY, body), `200 /a?b=c upstream.example undefined 1 ${body.length}`);
      assert.deepEqual(
        asked.map(({ line, headers }) => [line, headers.host]),
        [['CONNECT upstream.example:443', 'upstream.example:443']],
      );
      await Promise.all([ask(client, FARAWAY), ask(client, FARAWAY)]);
      assert.deepEqual(resumed, [false, true]);
      assert.equal(asked.length, 2);
      assert.deepEqual(greeted, Array(2).fill('upstream.example http/1.1'));
      assert.deepEqual(proxy.greeted, isSecure ? Array(2).fill('localhost http/1.1') : []);
    });

  test('answer at the pace of a slow reader, and no further than that', async (context) => {
    let written = 0;
    const piece = Buffer.alloc(100_000, 'abcdefghij');
    const { to } = await faraway(context, async (_request, response) => {
      for (; written < 30_000_000 && !response.destroyed; written += piece.length)
        if (!response.write(piece)) await once(response, 'drain').catch(() => {});
      response.end();
    });
    const { port, tunnels } = await startForwardProxy(context, { to });
    const client = clientFor(context, through(port));
    // Not what was written: before the proxy the system may hold any number of megabytes.
    const passedOn = (): number =>
      tunnels.reduce((sum, { bytesWritten, writableLength }) => sum + bytesWritten - writableLength, 0);
    let paused = false;
    const { exchange, answer } = send(client, FARAWAY, Buffer.from('x'), () => {
      if (paused) return;
      paused = true;
      exchange.pause();
    });
    await eventually('paused', () => paused);
    let before = -1;
    while (before !== passedOn()) {
      before = passedOn();
      await sleep(300);
    }
    assert.ok(before < 25_000_000, `${before} bytes were taken in`);
    exchange.resume();
    assert.equal((await answer).length, '200 '.length + 30_000_000);
  });

  test('are left when their client leaves', async (context) => {
    let isClosed = false;
    const { to } = await faraway(context, (_request, response) => {
      response.write('a');
      response.on('close', () => {
        isClosed = true;
      });
    });
    const { port } = await startForwardProxy(context, { to });
    let heard = false;
    const { exchange } = send(clientFor(context, through(port)), FARAWAY, Buffer.from('x'), () => {
      heard = true;
    });
    await eventually('it has begun', () => heard);
    exchange.abort();
    await eventually('closed upstream', () => isClosed);
  });

  for (const [what, end] of Object.entries({
    ends: (socket: Socket) => socket.end(),
    breaks: (socket: Socket) => socket.resetAndDestroy(),
  }))
    test(`whose tunnel ${what} in the middle of an answer have not answered`, { timeout: 60_000 }, async (context) => {
      const { to } = await faraway(context, (_request, response) => {
        response.write('a');
      });
      const { port, tunnels } = await startForwardProxy(context, { to });
      const client = clientFor(context, through(port));
      const { answer } = send(client, FARAWAY, Buffer.from('x'), () => {
        for (const tunnel of tunnels) end(tunnel);
      });
      await assert.rejects(answer, { code: 'upstream_cut' });
      await eventually('closed from here too', () => tunnels.every(({ destroyed }) => destroyed));
    });

  test('whose upstream leaves give a slow reader the rest of its answer', { timeout: 60_000 }, async (context) => {
    const { to } = await faraway(context, (_request, response) => {
      response.setHeader('connection', 'close');
      response.end(Buffer.alloc(200_000, 'a'));
    });
    const { port, tunnels } = await startForwardProxy(context, { to });
    const { exchange, answer } = send(clientFor(context, through(port)), FARAWAY, Buffer.from('x'), () => {
      exchange.pause();
      setTimeout(() => exchange.resume(), 20);
    });
    assert.equal((await answer).length, '200 '.length + 200_000);
    await eventually('closed', () => tunnels.every(({ destroyed }) => destroyed));
  });

  test('in clear text, where the proxy is told the whole address', async (context) => {
    const { url: origin, port: to } = await plainServer(context, (request, response) => {
      const { host, 'proxy-authorization': login } = request.headers;
      response.end(`${request.url} ${host} ${login}`);
    });
    const { port, asked } = await startForwardProxy(context, { to, credentials: 'me:' });
    const client = clientFor(context, through(port, { login: 'me@' }));
    for (let count = 0; count < 2; count += 1)
      assert.equal(await ask(client, 'http://upstream.example:81'), '200 /a?b=c upstream.example:81 undefined');
    assert.equal(asked[0]?.line, 'POST http://upstream.example:81/a?b=c');
    assert.equal(await ask(client, origin), `200 /a?b=c ${new URL(origin).host} undefined`);
    assert.equal(asked.length, 2, 'this machine is reached directly');
    await assert.rejects(ask(clientFor(context, through(port)), 'http://upstream.example'), {
      code: 'upstream_unreachable',
      message: /HTTP_PROXY .*wants a name and a password/,
    });
  });

  test('that are addresses are written as HTTP writes them', async (context) => {
    const { port, asked } = await startForwardProxy(context, { to: undefined });
    const client = clientFor(context, through(port));
    for (const origin of ['https://192.0.2.1', 'https://[2001:db8::1]:8443']) await assert.rejects(ask(client, origin));
    assert.deepEqual(
      asked.map(({ line, headers }) => [line, headers.host]),
      [
        ['CONNECT 192.0.2.1:443', '192.0.2.1:443'],
        ['CONNECT [2001:db8::1]:8443', '[2001:db8::1]:8443'],
      ],
    );
  });

  test('may say 407 themselves, which is not their proxy then', async (context) => {
    const { to } = await faraway(context, (_request, response) => response.writeHead(407).end('mine'));
    const { port } = await startForwardProxy(context, { to });
    assert.equal(await ask(clientFor(context, through(port)), FARAWAY), '407 mine');
  });

  test('another name than the certificate has is refused behind a proxy too', async (context) => {
    const { to } = await faraway(context, (_request, response) => response.end());
    const { port } = await startForwardProxy(context, { to });
    await assert.rejects(ask(clientFor(context, through(port)), 'https://other.example'), {
      code: 'upstream_unreachable',
      message: "The provider's certificate is not trusted here (ERR_TLS_CERT_ALTNAME_INVALID).",
    });
  });

  for (const [what, options, message] of [
    ['wants a password', { to: 1, credentials: 'me:other' }, /HTTPS_PROXY .*wants a name and a password/],
    ['refuses', { to: undefined }, /HTTPS_PROXY names does not connect to the provider \(403\)/],
  ] as const)
    test(`a proxy that ${what} is told of, without its password`, async (context) => {
      const { port } = await startForwardProxy(context, options);
      const login = what === 'refuses' ? '' : 'me:secret1@';
      await assert.rejects(ask(clientFor(context, through(port, { login })), FARAWAY), (error: SluiceError) => {
        assert.equal(error.code, 'upstream_unreachable');
        assert.match(error.message, message);
        return !error.message.includes('secret1');
      });
    });

  test('a proxy may say that the way is open in any words, and only that', async (context) => {
    const { to } = await faraway(context, (_request, response) => response.end('hello'));
    const asking = async (...says: string[]): Promise<string> => {
      const { port } = await startForwardProxy(context, { to, says });
      return ask(clientFor(context, through(port)), FARAWAY);
    };
    for (const says of [['HTTP/1.0 200 OK\r\n\r\n'], ['HTTP/1.1 2', '99\r', '\nx: y\r\n\r', '\n']])
      assert.equal(await asking(...says), '200 hello', says.join(''));
    for (const status of [199, 300]) {
      const says = `HTTP/1.1 ${status} No\r\n\r\n`;
      await assert.rejects(asking(says), { code: 'upstream_unreachable', message: new RegExp(`\\(${status}\\)`) });
    }
    await assert.rejects(asking('HTTP/1.1 200 OK\r\n\r\nno TLS'), { code: 'upstream_unreachable' });
  });

  for (const [what, speak] of Object.entries({
    'speaks another protocol': (socket: Socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n\r\n'),
    'speaks another version': (socket: Socket) => socket.end('HTTP/2.0 200 OK\r\n\r\n'),
    'ends in the middle': (socket: Socket) => socket.end('HTTP/1.1 200'),
    'hangs up': (socket: Socket) => socket.destroy(),
    resets: (socket: Socket) => socket.resetAndDestroy(),
    'never comes to an end': (socket: Socket) => socket.write('x'.repeat(100_000)),
  }))
    test(`a proxy that ${what} is no way`, { timeout: 60_000 }, async (context) => {
      const port = await oddProxy(context, speak);
      await assert.rejects(ask(clientFor(context, through(port)), FARAWAY), {
        code: 'upstream_unreachable',
        message: 'The proxy that HTTPS_PROXY names does not answer as one.',
      });
    });

  test('a proxy that says nothing is not waited for longer than for a connection', async (context) => {
    const port = await oddProxy(context, () => {});
    const client = clientFor(context, through(port), { connectMs: 300 });
    await assert.rejects(ask(client, FARAWAY), {
      code: 'upstream_timeout',
      message: 'The proxy that HTTPS_PROXY names made no connection to the provider in time.',
    });
  });

  test('a proxy that is not there is told of', async (context) => {
    const closed = through(await unusedPort());
    for (const [origin, name] of [
      [FARAWAY, 'HTTPS_PROXY'],
      ['http://upstream.example', 'HTTP_PROXY'],
    ] as const)
      await assert.rejects(ask(clientFor(context, closed), origin), {
        code: 'upstream_unreachable',
        message: `The proxy that ${name} names does not answer as one.`,
      });
  });
});
