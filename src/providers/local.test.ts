import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { unusedPort } from '../../test/support/plain-server.ts';
import type { ProviderConfig } from '../config/config.ts';
import { detectLocal, type LocalOptions, watchLocal } from './local.ts';
import type { UpstreamId } from './openai/upstreams.ts';

/** Long enough for a busy machine; tests of silence choose a short one. */
const PATIENT = 20_000;
const OWN_PORT = 1;

const open: { server: Server; sockets: Set<Socket> }[] = [];

async function closeAll(): Promise<void> {
  for (const { server, sockets } of open.splice(0)) {
    for (const socket of sockets) socket.destroy();
    server.close();
    if (server.listening) await once(server, 'close');
  }
}

/** On a port that nobody else gets from the system once it is closed, to listen there again. */
async function listen(server: Server, port?: number): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  open.push({ server, sockets });
  server.listen(port ?? (await unusedPort()), '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function close(port: number): Promise<void> {
  const found = open.find(({ server }) => (server.address() as AddressInfo | null)?.port === port);
  for (const socket of found?.sockets ?? []) socket.destroy();
  found?.server.close();
  if (found) await once(found.server, 'close');
}

const serve = (listener: RequestListener, port?: number) => listen(createHttpServer(listener), port);

/** A server that answers these paths with JSON and others with 404. */
function pages(answers: Readonly<Record<string, unknown>>, seen: IncomingMessage[] = []): RequestListener {
  return (request, response) => {
    seen.push(request);
    const answer = answers[request.url ?? ''];
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { error: 'not found' }));
  };
}

function listing(...data: object[]): object {
  return { object: 'list', data };
}

/** The answers of real servers, cut down to what matters and a little more. */
const real = {
  ollama: {
    '/api/version': { version: '0.12.3' },
    '/api/tags': { models: [{ name: 'llama3.2:1b', model: 'llama3.2:1b' }] },
    '/v1/models': listing({ id: 'llama3.2:1b', object: 'model', created: 1, owned_by: 'library' }),
  },
  lmstudio: {
    '/v1/models': listing({ id: 'qwen3-4b', object: 'model', owned_by: 'organization_owner' }),
    '/api/v0/models': listing({
      id: 'qwen3-4b',
      object: 'model',
      type: 'llm',
      state: 'not-loaded',
      max_context_length: 32768,
    }),
  },
  llamacpp: {
    '/v1/models': { models: [], ...listing({ id: 'file.gguf', object: 'model', owned_by: 'llamacpp', meta: {} }) },
    '/props': { default_generation_settings: { n_ctx: 4096 }, total_slots: 1, chat_template: '' },
  },
  vllm: {
    '/v1/models': listing({ id: 'org/model', object: 'model', owned_by: 'vllm', max_model_len: 8192 }),
    '/version': { version: '0.11.0' },
  },
  localai: {
    '/v1/models': listing({ id: 'gpt-4', object: 'model' }),
    '/version': { version: 'v3.6.0 (abcdef)' },
    '/system': { backends: ['llama-cpp'], loaded_models: null },
  },
  jan: {
    '/v1/models': listing({ id: 'jan-v3-4b', object: 'model' }),
    '/openapi.json': { openapi: '3.1.0', info: { title: '👋Jan API', version: '0.3.14' } },
  },
} as const satisfies { readonly [id in UpstreamId]?: Readonly<Record<string, unknown>> };

const ids = Object.keys(real) as (keyof typeof real)[];

function options(port: number, more: Partial<LocalOptions> = {}): LocalOptions {
  return {
    ownPort: OWN_PORT,
    timeoutMs: PATIENT,
    ports: Object.fromEntries(ids.map((id) => [id, [port]])),
    ...more,
  };
}

const idsOf = (configs: readonly ProviderConfig[]) => configs.map((config) => config.id).sort();

describe('detectLocal', () => {
  afterEach(closeAll);

  for (const id of ids) {
    test(`recognises ${id}, as nothing but itself`, async () => {
      const seen: IncomingMessage[] = [];
      const port = await serve(pages(real[id], seen));
      const found = await detectLocal(options(port));
      assert.deepEqual(idsOf(found), [id]);
      const [config] = found;
      assert.equal(config?.baseUrl, `http://127.0.0.1:${port}/v1`);
      assert.equal(config?.origin, 'local');
      assert.equal(config?.needsKey, false);
      assert.equal(config?.apiKey, undefined);
      for (const request of seen) {
        assert.equal(request.method, 'GET');
        assert.deepEqual(Object.keys(request.headers).sort(), ['accept', 'connection', 'host']);
      }
    });
  }

  test('LM Studio without its old interface', async () => {
    const answers = {
      '/v1/models': real.lmstudio['/v1/models'],
      '/api/v1/models': { models: [{ type: 'llm', key: 'google/gemma-3-4b', loaded_instances: [] }] },
    };
    assert.deepEqual(idsOf(await detectLocal(options(await serve(pages(answers))))), ['lmstudio']);
  });

  test('Ollama without any model', async () => {
    const answers = { ...real.ollama, '/v1/models': { object: 'list', data: null }, '/api/tags': { models: [] } };
    assert.deepEqual(idsOf(await detectLocal(options(await serve(pages(answers))))), ['ollama']);
  });

  test('a router of llama.cpp', async () => {
    const answers = { ...real.llamacpp, '/props': { role: 'router', max_instances: 4 } };
    assert.deepEqual(idsOf(await detectLocal(options(await serve(pages(answers))))), ['llamacpp']);
  });

  test('several at once, each on its port', async () => {
    const ports: Record<string, number[]> = {};
    for (const id of ids) ports[id] = [await serve(pages(real[id]))];
    assert.deepEqual(idsOf(await detectLocal({ ...options(0), ports })), [...ids].sort());
  });

  test('nobody is there', async () => {
    const port = await serve(pages({}));
    await close(port);
    assert.deepEqual(await detectLocal(options(port)), []);
  });

  const strangers: Readonly<Record<string, RequestListener>> = {
    'a page for every path': (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>My app</title>');
    },
    'an empty object for every path': (_request, response) => response.end('{}'),
    'a list for every path': (_request, response) => response.end('[]'),
    'an empty listing for every path': (_request, response) => response.end('{"object":"list","data":[]}'),
    'another gateway that lists models of such servers': pages({
      '/v1/models': listing(
        { id: 'a', owned_by: 'llamacpp' },
        { id: 'b', owned_by: 'vllm' },
        { id: 'c', owned_by: 'ollama' },
      ),
      '/openapi.json': { info: { title: 'Sluice' } },
    }),
    'a llama.cpp that wants a key': (request, response) => {
      if (request.url === '/v1/models') return pages(real.llamacpp)(request, response);
      response.writeHead(401).end('{"error":{"message":"Invalid API Key"}}');
    },
    'a Jan that wants a key': (request, response) => {
      if (request.url === '/openapi.json') return pages(real.jan)(request, response);
      response.writeHead(401).end('Invalid or missing authorization token');
    },
    'a listing with status 500': (_request, response) =>
      response.writeHead(500).end(JSON.stringify(real.vllm['/v1/models'])),
    'no JSON': (_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"object":'),
    'an answer without end': (_request, response) => {
      const send = () => {
        while (response.writable && response.write(' '.repeat(64 * 1024)));
      };
      response.on('drain', send);
      send();
    },
    'half an answer': (_request, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"object":"list"', () => response.destroy());
    },
  };

  for (const [name, listener] of Object.entries(strangers)) {
    test(`does not take for a model server: ${name}`, async () => {
      assert.deepEqual(await detectLocal(options(await serve(listener))), []);
    });
  }

  test('a stranger gets one request per look', async () => {
    const seen: IncomingMessage[] = [];
    const port = await serve(pages({}, seen));
    await detectLocal(options(port));
    assert.deepEqual(
      seen.map((request) => request.url),
      ['/v1/models'],
    );
  });

  test('redirects are not followed', async () => {
    const seen: IncomingMessage[] = [];
    const target = await serve(pages(real.vllm, seen));
    const port = await serve((request, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${target}${request.url}` }).end();
    });
    assert.deepEqual(await detectLocal(options(port)), []);
    assert.equal(seen.length, 0);
  });

  test('what does not speak HTTP is no model server', async () => {
    const port = await listen(createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')));
    assert.deepEqual(await detectLocal(options(port)), []);
  });

  test('silence ends', { timeout: PATIENT }, async () => {
    const port = await listen(createTcpServer(() => {}));
    assert.deepEqual(await detectLocal(options(port, { timeoutMs: 30 })), []);
  });

  test('the own port is never asked', async () => {
    const seen: IncomingMessage[] = [];
    const port = await serve(pages(real.jan, seen));
    assert.deepEqual(await detectLocal(options(port, { ownPort: port })), []);
    assert.equal(seen.length, 0);
  });

  test('an aborted signal ends it', { timeout: PATIENT }, async () => {
    const port = await listen(createTcpServer(() => {}));
    const stop = new AbortController();
    const found = detectLocal(options(port, { timeoutMs: 600_000, signal: stop.signal }));
    stop.abort();
    assert.deepEqual(await found, []);
    assert.deepEqual(await detectLocal(options(port, { timeoutMs: 600_000, signal: stop.signal })), []);
  });
});

describe('watchLocal', () => {
  afterEach(closeAll);

  const never = 2 ** 30;

  test('tells who came and who went, and nothing in between', async () => {
    const changes: string[][] = [];
    let port = await serve(pages(real.llamacpp));
    const watch = watchLocal((present) => changes.push(idsOf(present)), { ...options(port), intervalMs: never });
    try {
      assert.deepEqual(changes, [], 'not before the caller has gone on');
      await watch.refresh();
      await watch.refresh();
      assert.deepEqual(changes, [['llamacpp']]);
      await close(port);
      await watch.refresh();
      assert.deepEqual(changes, [['llamacpp'], []]);
      port = await serve(pages(real.localai), port);
      await watch.refresh();
      assert.deepEqual(changes, [['llamacpp'], [], ['localai']]);
    } finally {
      watch.close();
    }
  });

  test('a server that is too busy to answer stays', async () => {
    const changes: string[][] = [];
    let busy = false;
    const answer = pages(real.ollama);
    const port = await serve((request, response) => {
      if (!busy) answer(request, response);
    });
    const settings = { ...options(port), intervalMs: never };
    const watch = watchLocal((present) => changes.push(idsOf(present)), settings);
    try {
      await watch.refresh();
      busy = true;
      Object.assign(settings, { timeoutMs: 30 }); // the options are read anew in every round
      await watch.refresh();
      assert.deepEqual(changes, [['ollama']]);
    } finally {
      watch.close();
    }
  });

  test('looks by itself, at the start and again', { timeout: PATIENT }, async () => {
    const port = await serve(pages({}));
    await close(port);
    const { promise, resolve } = Promise.withResolvers<void>();
    const watch = watchLocal(() => resolve(), { ...options(port), intervalMs: 20 });
    await serve(pages(real.vllm), port);
    // Nothing of the watch keeps the process alive, and should not.
    const alive = setInterval(() => {}, 1000);
    await promise;
    clearInterval(alive);
    watch.close();
  });

  test('is silent once closed, also about a look under way', async () => {
    const port = await serve(pages(real.vllm));
    let changes = 0;
    const watch = watchLocal(() => changes++, { ...options(port), intervalMs: 5 });
    const look = watch.refresh();
    watch.close();
    await look;
    await watch.refresh();
    await new Promise((resolve) => setTimeout(resolve, 30));
    assert.equal(changes, 0);
  });

  test('survives a listener that throws', async () => {
    const port = await serve(pages(real.vllm));
    const errors: object[] = [];
    const log = { error: (fields: object) => void errors.push(fields) };
    const fail = () => {
      throw new Error('listener');
    };
    const watch = watchLocal(fail, { ...options(port), intervalMs: never, log });
    await watch.refresh();
    watch.close();
    assert.equal(errors.length, 1);
  });
});
