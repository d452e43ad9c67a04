import assert from 'node:assert/strict';
import { createSecureServer as createHttp2Server } from 'node:http2';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import os from 'node:os';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { eventually } from '../../test/support/eventually.ts';
import { forbiddenAddresses, startCanaries } from '../../test/support/forbidden-addresses.ts';
import { plainServer, unusedPort } from '../../test/support/plain-server.ts';
import { secureIdentity, secureServer, trustSecureServer } from '../../test/support/secure-server.ts';
import { SluiceError } from '../core/errors.ts';
import { checkPublicAddress, isPublicAddress } from './address.ts';
import { createGuardedFetch, defaultGuardedLimits, type GuardedSettings, readAll } from './guarded-fetch.ts';

/** A world in which 127.0.0.1 is the public Internet and everything else is not. */
const WORLD = { isPublic: (address: string) => address === '127.0.0.1' };

function guarded(settings: GuardedSettings = {}, limits: Partial<typeof defaultGuardedLimits> = {}) {
  return createGuardedFetch({ ...WORLD, limits: () => ({ ...defaultGuardedLimits, ...limits }), ...settings });
}

function failsWith(code: string, words: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof SluiceError, `${error}`);
    assert.match(error.message, words);
    assert.equal(error.code, code);
    return true;
  };
}

describe('guarded fetch: where it goes', () => {
  test('none of the forbidden addresses is connected to', async (context) => {
    const { ports, hits } = await startCanaries(context);
    const fetch = createGuardedFetch();
    let tried = 0;
    for (const port of ports) {
      for (const address of forbiddenAddresses(port)) {
        tried += 1;
        await assert.rejects(
          fetch(address, { totalMs: 5_000 }),
          (error) => error instanceof SluiceError && ['invalid_request', 'upstream_unreachable'].includes(error.code),
          JSON.stringify(address),
        );
      }
    }
    assert.ok(tried >= 3 * 76, `${tried} addresses`);
    assert.deepEqual(hits, []);
  });

  test('the canaries would have told: an allowed origin is reached', async (context) => {
    const { ports, hits } = await startCanaries(context);
    const origin = `http://127.0.0.1:${ports[0]}`;
    const fetched = await createGuardedFetch()(`${origin}/x`, { allowedOrigins: [origin] });
    assert.equal((await readAll(fetched)).toString(), 'canary');
    assert.equal(hits.length, 2);
    await assert.rejects(createGuardedFetch()(`http://127.0.0.1:${ports[2]}/x`, { allowedOrigins: [origin] }));
    assert.equal(hits.length, 2, 'another port is another origin');
    const named = `http://localhost:${ports[0]}`;
    await readAll(await createGuardedFetch()(`${named}/x`, { allowedOrigins: [named] }));
    assert.ok(hits.length > 2, 'names are looked up');
  });

  test('a name that leads to a private address is refused, also when others of its addresses are public', async (context) => {
    const { ports, hits } = await startCanaries(context);
    for (const addresses of [
      ['127.0.0.1'],
      ['8.8.8.8', '127.0.0.1'],
      ['::1'],
      ['2606:4700::1111', '::ffff:127.0.0.1'],
      ['fe80::1%lo'],
    ]) {
      const fetch = createGuardedFetch({ resolve: async () => addresses });
      await assert.rejects(
        fetch(`http://innocent.example:${ports[0]}/`),
        failsWith('invalid_request', /public Internet/),
      );
    }
    assert.deepEqual(hits, []);
  });

  test('a name is resolved once and the connection goes there, whatever it means later', async (context) => {
    const { url } = await plainServer(context, (_request, response) => response.end('the checked one'));
    const port = new URL(url).port;
    const answers = [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.3']];
    let asked = 0;
    const fetch = guarded({ resolve: async () => answers[asked++] ?? [] });
    const fetched = await fetch(`http://rebinding.example:${port}/`);
    assert.equal((await readAll(fetched)).toString(), 'the checked one');
    assert.equal(asked, 1);
  });

  test('an address is what it says, whatever it would be as a name', async (context) => {
    const { ports, hits } = await startCanaries(context);
    const fetch = guarded({ resolve: async () => ['127.0.0.1'] });
    for (const host of ['127.0.0.2', '[::1]'])
      await assert.rejects(fetch(`http://${host}:${ports[0]}/`), failsWith('invalid_request', /public Internet/), host);
    assert.deepEqual(hits, []);
  });

  test('all addresses of a name are tried', async (context) => {
    const { port } = await plainServer(context, (_request, response) => response.end('the second'));
    const fetch = guarded({ resolve: async () => ['127.0.0.2', '127.0.0.1'], isPublic: () => true });
    assert.equal((await readAll(await fetch(`http://two.example:${port}/`))).toString(), 'the second');
  });

  test('the host header stays the name, and nothing secret is sent', async (context) => {
    const seen: Record<string, unknown>[] = [];
    const { url } = await plainServer(context, (request, response) => {
      seen.push({ ...request.headers });
      response.setHeader('set-cookie', 'a=b').end();
    });
    const port = new URL(url).port;
    const fetch = guarded({ resolve: async () => ['127.0.0.1'], userAgent: 'Sluice/9' });
    for (const accept of ['text/html', undefined])
      await readAll(await fetch(`http://some.example:${port}/`, accept === undefined ? {} : { accept }));
    assert.equal(seen[0]?.['accept'], 'text/html');
    assert.deepEqual(seen[1], {
      host: `some.example:${port}`,
      'user-agent': 'Sluice/9',
      accept: '*/*',
      'accept-encoding': 'gzip, br',
      connection: 'close',
    });
  });

  test('a long address is cut where it is named', async () => {
    const word = 'a'.repeat(50_000);
    for (const address of [`data:text/plain,${word}`, `http://127.0.0.2/${word}`])
      await assert.rejects(guarded()(address), failsWith('invalid_request', /^'.{200}…' \w.{20,60}$/));
    await assert.rejects(
      guarded()('http://127.0.0.2/'),
      failsWith('invalid_request', /^'http:\/\/127\.0\.0\.2\/' does/),
    );
  });

  test('nobody there, no such name', async () => {
    const port = await unusedPort();
    await assert.rejects(guarded()(`http://127.0.0.1:${port}/`), failsWith('upstream_unreachable', /ECONNREFUSED/));
    const fetch = guarded({ resolve: () => Promise.reject(new Error('ENOTFOUND')) });
    await assert.rejects(fetch('http://nowhere.example/'), failsWith('upstream_unreachable', /could not be resolved/));
  });
});

describe('guarded fetch: redirects', () => {
  test('up to three are followed, relative ones too', async (context) => {
    const { url } = await plainServer(context, (request, response) => {
      const step = Number(request.url?.slice(1));
      if (step === 0) response.end('arrived');
      else response.writeHead([301, 302, 307][step - 1] ?? 308, { location: `/${step - 1}` }).end('elsewhere');
    });
    const fetched = await guarded()(`${url}/3`);
    assert.equal((await readAll(fetched)).toString(), 'arrived');
    assert.equal(fetched.url.href, `${url}/0`);
    await assert.rejects(guarded()(`${url}/4`), failsWith('upstream_invalid', /no more than 3/));
    await assert.rejects(guarded()(`${url}/1`, { redirects: 0 }), failsWith('upstream_invalid', /no more than 0/));
  });

  test('those of each kind are followed, and other statuses are not, though they say where to', async (context) => {
    const { url } = await plainServer(context, (request, response) => {
      const status = Number(request.url?.slice(1));
      response.writeHead(status, { location: '/200' }).end();
    });
    for (const status of [301, 302, 303, 307, 308])
      assert.equal((await guarded()(`${url}/${status}`)).url.href, `${url}/200`, `${status}`);
    assert.equal((await guarded()(`${url}/201`)).url.href, `${url}/201`);
    for (const status of [300, 304, 305, 306, 309])
      await assert.rejects(
        guarded()(`${url}/${status}`),
        failsWith('upstream_failed', new RegExp(`answered ${status}`)),
      );
  });

  test('each hop is judged anew: private addresses, other schemes, credentials', async (context) => {
    const { ports, hits } = await startCanaries(context);
    for (const location of forbiddenAddresses(ports[1] ?? 0)) {
      if (/^\/|^$|^\S*[\n\t]|^127|^http:(127|\/1|\\)/.test(location)) continue; // relative, or no valid header
      const { url } = await plainServer(context, (_request, response) => {
        response.writeHead(302, { location: Buffer.from(location).toString('latin1') }).end();
      });
      const fetch = createGuardedFetch({ resolve: async () => ['127.0.0.1'] });
      const origin = new URL(url).origin;
      await assert.rejects(
        fetch(url, { allowedOrigins: [origin] }),
        (error) => error instanceof SluiceError && ['upstream_invalid', 'upstream_unreachable'].includes(error.code),
        location,
      );
    }
    assert.deepEqual(hits, []);
  });

  test('no hop has credentials in its address', async (context) => {
    const paths: (string | undefined)[] = [];
    const { url } = await plainServer(context, (request, response) => {
      paths.push(request.url);
      response.writeHead(302, { location: url.replace('//', '//user:word@') }).end();
    });
    const fetch = guarded({ isPublic: () => true });
    for (const who of ['user:word@', 'user@', ':word@'])
      await assert.rejects(
        fetch(url.replace('//', `//${who}`)),
        failsWith('invalid_request', /without credentials/),
        who,
      );
    assert.deepEqual(paths, []);
    await assert.rejects(fetch(url), failsWith('upstream_invalid', /redirects to an address .* without credentials/));
    assert.deepEqual(paths, ['/']);
  });

  test('an address of this machine is forbidden, though it be public', async (context) => {
    const address = '93.184.215.14';
    const own = (text: string) =>
      ({ address: text, family: 'IPv4', internal: false, netmask: '', mac: '', cidr: null }) as const;
    context.mock.method(os, 'networkInterfaces', () => ({
      lo: [own('127.0.0.1')],
      eth0: [own('10.0.0.2'), own(address)],
    }));
    syncBuiltinESMExports();
    context.after(() => {
      context.mock.restoreAll();
      syncBuiltinESMExports();
    });
    for (const spelling of [address, `::ffff:${address}`, '64:ff9b::5db8:d70e']) {
      const fetch = createGuardedFetch({ resolve: async () => [spelling] });
      await assert.rejects(fetch('http://own.example:1/'), failsWith('invalid_request', /public Internet/), spelling);
    }
    await assert.rejects(
      checkPublicAddress(`http://${address}/`, 'media_url'),
      failsWith('invalid_request', /public Internet/),
    );
  });

  test('a name whose answer changes between two hops is refused at the second', async (context) => {
    const paths: string[] = [];
    const { url } = await plainServer(context, (request, response) => {
      paths.push(request.url ?? '');
      response.writeHead(302, { location: '/second' }).end();
    });
    const answers = [['127.0.0.1'], ['127.0.0.2']];
    const fetch = guarded({ resolve: async () => answers.shift() ?? [] });
    await assert.rejects(
      fetch(`http://rebinding.example:${new URL(url).port}/first`),
      failsWith('upstream_invalid', /redirects to an address that does not lead to the public Internet/),
    );
    assert.deepEqual(paths, ['/first']);
  });

  test('a loop, a redirect to nowhere', async (context) => {
    const { url } = await plainServer(context, (request, response) => {
      if (request.url === '/loop') response.writeHead(302, { location: '/loop' });
      else response.writeHead(302);
      response.end();
    });
    await assert.rejects(guarded()(`${url}/loop`), failsWith('upstream_invalid', /no more than 3/));
    await assert.rejects(guarded()(`${url}/`), failsWith('upstream_invalid', /without saying where/));
  });

  test('a service gets its headers and JSON; where it redirects to gets neither', async (context) => {
    const seen: string[] = [];
    const { url } = await plainServer(context, async (request, response) => {
      let body = '';
      for await (const bytes of request) body += bytes;
      seen.push(
        `${request.method} ${request.url} ${request.headers['x-key']} ${request.headers['content-type']} ${body}`,
      );
      if (request.url === '/moved') response.writeHead(302, { location: '/new' });
      response.end('{}');
    });
    const headers = { 'x-key': 'secret' };
    await readAll(await guarded()(`${url}/search`, { headers, json: { query: 'q' } }));
    await readAll(await guarded()(`${url}/moved`, { headers }));
    await assert.rejects(guarded()(`${url}/moved`, { headers, json: {} }), failsWith('upstream_invalid', /redirects/));
    assert.deepEqual(seen, [
      'POST /search secret application/json {"query":"q"}',
      'GET /moved secret undefined ',
      'GET /new undefined undefined ',
      'POST /moved secret application/json {}',
    ]);
  });
});

describe('guarded fetch: how much and how long', () => {
  test('an endless body ends at the limit, and the server is told', async (context) => {
    const closed = Promise.withResolvers<number>();
    const { url } = await plainServer(context, (_request, response) => {
      let sent = 0;
      const block = Buffer.alloc(64 * 1024);
      const pump = (): void => {
        while (!response.destroyed && response.write(block)) sent += block.length;
      };
      response.on('drain', pump).on('close', () => closed.resolve(sent));
      pump();
    });
    const fetched = await guarded({}, { bytes: 1024 * 1024 })(url);
    await assert.rejects(readAll(fetched), failsWith('upstream_invalid', /larger than 1048576 bytes/));
    assert.ok((await closed.promise) < 64 * 1024 * 1024);
  });

  test('of an answer that is not wanted no body is waited for, and the server is told', async (context) => {
    let closed = 0;
    const { url } = await plainServer(context, (request, response) => {
      response.on('close', () => (closed += 1));
      const status = Number(request.url?.slice(1));
      response.writeHead(status, { location: '/204', 'content-type': 'text/html' });
      if (status === 204) response.end();
      else response.write('and so on');
    });
    // Nor is it the time for all of it that ends them.
    const fetch = guarded({}, { totalMs: 3_600_000 });
    await readAll(await fetch(`${url}/302`));
    await assert.rejects(fetch(`${url}/500`), failsWith('upstream_failed', /answered 500/));
    await assert.rejects(fetch(`${url}/200`, { types: ['image/'] }), failsWith('upstream_invalid', /not what/));
    await eventually('all four are closed', () => closed === 4);
  });

  test('a length over the limit is refused before the body, one that reaches it is not', async (context) => {
    let encoding: string | undefined;
    const { url } = await plainServer(context, (request, response) => {
      const length = Number(request.url?.slice(1));
      response.writeHead(200, { 'content-length': length, ...(encoding && { 'content-encoding': encoding }) });
      if (length > 1000) response.write('x');
      else response.end('x'.repeat(length));
    });
    const fetch = guarded({}, { bytes: 1000, inflateBytes: 10 });
    await assert.rejects(fetch(`${url}/1001`), failsWith('upstream_invalid', /larger than 1000 bytes/));
    await assert.rejects(
      fetch(`${url}/1001`, { bytes: 5000 }),
      failsWith('upstream_invalid', /larger than 1000 bytes/),
    );
    await assert.rejects(fetch(`${url}/1000`, { bytes: 999 }), failsWith('upstream_invalid', /larger than 999 bytes/));
    assert.equal((await readAll(await fetch(`${url}/1000`))).length, 1000);
    encoding = 'Identity';
    assert.equal((await readAll(await fetch(`${url}/1000`))).length, 1000);
    await assert.rejects(fetch(`${url}/1001`), failsWith('upstream_invalid', /larger than 1000 bytes/));
  });

  test('a gzip bomb is unpacked up to the limit only', async (context) => {
    const { url } = await plainServer(context, (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      const gzip = createGzip();
      gzip.pipe(response);
      const block = Buffer.alloc(1024 * 1024);
      let left = 512;
      const pump = (): void => {
        while (left-- > 0) if (!gzip.write(block)) return void gzip.once('drain', pump);
        gzip.end();
      };
      pump();
    });
    const before = process.memoryUsage().rss;
    const fetched = await guarded({}, { inflateBytes: 8 * 1024 * 1024 })(url);
    let size = 0;
    const read = async (): Promise<void> => {
      for await (const bytes of fetched.body) size += bytes.length;
    };
    await assert.rejects(read(), failsWith('upstream_invalid', /larger than 8388608 bytes/));
    assert.ok(size <= 8 * 1024 * 1024);
    assert.ok(process.memoryUsage().rss - before < 200 * 1024 * 1024);
  });

  test('gzip, deflate and brotli are unpacked; stacked and unknown encodings are refused; broken ones fail', async (context) => {
    const text = 'hello '.repeat(1000);
    const bodies: Record<string, [string, Buffer]> = {
      '/gzip': ['gzip', gzipSync(text)],
      '/deflate': ['deflate', deflateSync(text)],
      '/br': ['br', brotliCompressSync(text)],
      '/shouted': ['GZIP', gzipSync(text)],
      '/identity': ['identity', Buffer.from(text)],
      '/stacked': ['gzip, gzip', gzipSync(gzipSync(text))],
      '/unknown': ['zstd', Buffer.from(text)],
      '/broken': ['gzip', Buffer.from(text)],
      '/broken-br': ['br', Buffer.from(text)],
      '/half': ['gzip', gzipSync(text).subarray(0, 30)],
    };
    const { url } = await plainServer(context, (request, response) => {
      const [encoding, body] = bodies[request.url ?? ''] ?? ['', Buffer.alloc(0)];
      response.writeHead(200, { 'content-encoding': encoding }).end(body);
    });
    for (const path of ['/gzip', '/deflate', '/br', '/shouted', '/identity']) {
      assert.equal((await readAll(await guarded()(url + path))).toString(), text, path);
    }
    await assert.rejects(guarded()(`${url}/stacked`), failsWith('upstream_invalid', /compressed in a way/));
    await assert.rejects(guarded()(`${url}/unknown`), failsWith('upstream_invalid', /compressed in a way/));
    for (const path of ['/broken', '/broken-br', '/half']) {
      await assert.rejects(
        readAll(await guarded()(url + path)),
        failsWith('upstream_invalid', /broken compressed data/),
      );
    }
  });

  test('a slow head, a slow body and a slow lookup end with the total time', { timeout: 60_000 }, async (context) => {
    const { url } = await plainServer(context, async (request, response) => {
      if (request.url === '/head') return;
      response.writeHead(200);
      while (!response.destroyed) {
        response.write('x');
        await sleep(20);
      }
    });
    const fetch = guarded({}, { totalMs: 200 });
    await assert.rejects(fetch(`${url}/head`, { totalMs: 60_000 }), failsWith('upstream_timeout', /within 200 ms/));
    await assert.rejects(fetch(`${url}/head`), failsWith('upstream_timeout', /within 200 ms/));
    await assert.rejects(readAll(await fetch(`${url}/body`)), failsWith('upstream_timeout', /within 200 ms/));
    const lost = guarded({ resolve: () => new Promise(() => {}) }, { totalMs: 200 });
    await assert.rejects(lost('http://slow.example/'), failsWith('upstream_timeout', /within 200 ms/));
    // Nor does a caller who could give up make it longer.
    const { signal } = new AbortController();
    await assert.rejects(fetch(`${url}/head`, { signal }), failsWith('upstream_timeout', /within 200 ms/));
  });

  test('a caller who gives up is obeyed at once, before and within the body', async (context) => {
    let asked = 0;
    let heard = '';
    let closed = 0;
    const { url } = await plainServer(context, (request, response) => {
      asked += 1;
      response.on('close', () => (closed += 1));
      if (request.url === '/body') response.write('x');
    });
    const reason = new SluiceError('cancelled', 'The client closed the connection.');
    for (const [path, isBegun] of [
      ['/head', () => asked === 1],
      ['/body', () => heard !== ''],
    ] as const) {
      const controller = new AbortController();
      const reading = guarded()(url + path, { signal: controller.signal }).then(async ({ body }) => {
        for await (const piece of body) heard += Buffer.from(piece).toString();
      });
      const failing = assert.rejects(reading, reason);
      await eventually(`${path} is begun`, isBegun);
      controller.abort(reason);
      await failing;
    }
    const gone = { signal: AbortSignal.abort(reason) };
    await assert.rejects(guarded()(url, gone), reason);
    await assert.rejects(guarded({ resolve: () => new Promise(() => {}) })('http://slow.example/', gone), reason);
    await eventually('both are closed', () => closed >= 2);
  });

  for (const encoding of ['identity', 'gzip']) {
    test(`a reader who stops early closes the connection (${encoding})`, async (context) => {
      const closed = Promise.withResolvers<void>();
      const { url } = await plainServer(context, (_request, response) => {
        response.on('close', () => closed.resolve());
        response.writeHead(200, { 'content-encoding': encoding });
        const first = Buffer.from('first');
        response.write(encoding === 'gzip' ? gzipSync(first) : first);
      });
      for await (const bytes of (await guarded({}, { totalMs: 3_600_000 })(url)).body) {
        assert.equal(bytes.toString(), 'first');
        break;
      }
      await closed.promise;
    });
  }

  test('whoever gives up without a reason has cancelled', async () => {
    const fetch = guarded({ resolve: () => new Promise(() => {}) });
    const gone = { signal: AbortSignal.abort() };
    await assert.rejects(fetch('http://slow.example/', gone), failsWith('cancelled', /was cancelled/));
  });

  test('by TLS only from whom the certificate names', async (context) => {
    const { origin } = await secureServer(context, (_request, response) => response.end('secure'));
    const fetch = guarded({ resolve: async () => ['127.0.0.1', '::1'], isPublic: () => true });
    const isRefused = failsWith('upstream_unreachable', /no valid certificate/);
    await assert.rejects(fetch(origin), isRefused);
    trustSecureServer(context);
    assert.equal((await readAll(await fetch(origin))).toString(), 'secure');
    await assert.rejects(fetch(origin.replace('localhost', 'other.example')), isRefused);
  });

  test('whoever gives up before there is a connection leaves none behind', { timeout: 60_000 }, async (context) => {
    const accepted = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    // It never says a word of TLS.
    const server = createTcpServer((socket) => {
      accepted.resolve();
      socket.resume().on('error', () => {});
      socket.on('close', () => closed.resolve());
      context.after(() => socket.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    context.after(() => server.close());
    const controller = new AbortController();
    const fetch = guarded({}, { connectMs: 3_600_000, totalMs: 3_600_000 });
    const fetching = fetch(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`, {
      signal: controller.signal,
    });
    const failing = assert.rejects(fetching, failsWith('cancelled', /was cancelled/));
    await accepted.promise;
    controller.abort();
    await failing;
    await closed.promise;
  });

  test('HTTP/2 is not spoken, whose headers have other limits', async (context) => {
    trustSecureServer(context);
    const server = createHttp2Server({ ...secureIdentity, allowHTTP1: true }, (request, response) => {
      response.end(request.httpVersion);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    context.after(() => server.close());
    const fetch = guarded({ resolve: async () => ['127.0.0.1'] });
    const fetched = await fetch(`https://localhost:${(server.address() as AddressInfo).port}/`);
    assert.equal((await readAll(fetched)).toString(), '1.1');
  });

  test('a body that is cut off is no whole body', async (context) => {
    const { url } = await plainServer(context, (request, response) => {
      const length = request.url === '/length' ? { 'content-length': 1000 } : {};
      response.writeHead(200, length).write('some', () => response.destroy());
    });
    for (const path of ['/length', '/chunks'])
      await assert.rejects(readAll(await guarded()(url + path)), failsWith('upstream_cut', /cut off/), path);
  });

  test('garbage and oversized headers', async (context) => {
    const sizes = new Map([
      ['large', 100_000],
      ['some', 2_000],
    ]);
    const server = createTcpServer((socket) => {
      socket.once('data', (bytes) => {
        const [, path = ''] = /^GET \/(\w*)/.exec(bytes.toString()) ?? [];
        const size = sizes.get(path);
        socket.end(
          size === undefined ? 'SSH-2.0-OpenSSH_9.6\r\n' : `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(size)}\r\n\r\n`,
        );
      });
      socket.on('error', () => {});
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    context.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    await assert.rejects(guarded()(`http://127.0.0.1:${port}/`), failsWith('upstream_invalid', /not valid HTTP/));
    await assert.rejects(guarded()(`http://127.0.0.1:${port}/large`), failsWith('upstream_invalid', /not valid HTTP/));
    // Our own limit, which is not always Node's.
    const narrow = guarded({}, { headerBytes: 1_024 });
    await assert.rejects(narrow(`http://127.0.0.1:${port}/some`), failsWith('upstream_invalid', /not valid HTTP/));
    assert.equal((await guarded()(`http://127.0.0.1:${port}/some`)).headers['x']?.length, 2_000);
  });
});

describe('guarded fetch: what it takes', () => {
  test('only welcome types', async (context) => {
    const { url } = await plainServer(context, (request, response) => {
      const type = decodeURIComponent(request.url?.slice(1) ?? '');
      response.writeHead(200, type === '' ? {} : { 'content-type': type }).end('x');
    });
    const take = (type: string) =>
      guarded()(`${url}/${encodeURIComponent(type)}`, { types: ['image/', 'audio/mpeg'] }).then(
        ({ mimeType }) => mimeType,
      );
    assert.equal(await take('Image/PNG; charset=x'), 'image/png');
    assert.equal(await take('audio/mpeg'), 'audio/mpeg');
    for (const type of ['text/html', 'audio/wav', 'audio/mpeg4', 'imagex/png']) {
      await assert.rejects(
        take(type),
        failsWith('upstream_invalid', new RegExp(`is ${type}; that is not what is wanted`)),
      );
    }
    await assert.rejects(take(''), failsWith('upstream_invalid', /is of no type; that is not/));
  });

  test('only answers of success; 429 keeps its Retry-After; the query stays out of the message', async (context) => {
    const { url } = await plainServer(context, (request, response) => {
      const date = request.url?.endsWith('date') ? new Date().toUTCString() : '7';
      response.writeHead(Number(request.url?.slice(1, 4)), { 'retry-after': date }).end('x');
    });
    for (const status of [204, 206]) await readAll(await guarded()(`${url}/${status}`));
    for (const status of [300, 304, 400, 401, 404, 500]) {
      await assert.rejects(guarded()(`${url}/${status}`), {
        code: 'upstream_failed',
        message: new RegExp(`answered ${status}`),
        options: {},
      });
    }
    await assert.rejects(guarded()(`${url}/429?signature=secret`), (error) => {
      assert.ok(error instanceof SluiceError && error.code === 'rate_limited' && error.options.retryAfter === 7);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
    // No number of seconds: nothing that could be told to anybody.
    await assert.rejects(guarded()(`${url}/429?date`), { code: 'rate_limited', options: {} });
  });
});

describe('public addresses', () => {
  test('are told from all others', () => {
    const open = ['8.8.8.8', '93.184.215.14', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '64:ff9b::808:808'];
    for (const address of [...open, '::ffff:8.8.8.8']) assert.equal(isPublicAddress(address), true, address);
    for (const address of ['::808:808', '2002:808:808::1', '2606:4700::1%eth0', '', 'example.com', '4000::1']) {
      assert.equal(isPublicAddress(address), false, address);
    }
  });
});
