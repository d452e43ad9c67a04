import assert from 'node:assert/strict';
import { Resolver } from 'node:dns/promises';
import { describe, type TestContext, test } from 'node:test';
import type { Batch, Chunk } from '../../src/core/chunk.ts';
import { SluiceError } from '../../src/core/errors.ts';
import { mediaStep } from '../../src/enrich/media.ts';
import { webSearchStep } from '../../src/enrich/web-search.ts';
import { createMediaStore } from '../../src/media/store.ts';
import type { Resolve } from '../../src/outbound/address.ts';
import { createGuardedFetch, readAll } from '../../src/outbound/guarded-fetch.ts';
import { createPages } from '../../src/outbound/pages.ts';
import { defaultSearch } from '../../src/search/config.ts';
import { createWebSearch } from '../../src/search/search.ts';
import { testCall } from '../support/call.ts';
import { chatRequest } from '../support/chat-request.ts';
import { forbiddenAddresses, startCanaries } from '../support/forbidden-addresses.ts';
import { startNameServer } from '../support/name-server.ts';
import { plainServer } from '../support/plain-server.ts';
import { temporaryFiles } from '../support/stores.ts';
import { CHATS, openWorld } from './edge-world.ts';

/** Addresses from outside must not reach this machine or its network, whichever way they come in. */

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const END: Batch = [{ type: 'finish', finish: 'stop' }];

describe('names whose addresses change (DNS rebinding)', () => {
  async function world(context: TestContext, answer: (name: string, nth: number) => readonly string[]) {
    const names = await startNameServer(context, answer);
    const resolver = new Resolver();
    resolver.setServers([names.address]);
    const resolve: Resolve = (host) => resolver.resolve4(host);
    const paths: string[] = [];
    const { port } = await plainServer(context, (request, response) => {
      paths.push(request.url ?? '');
      if (request.url === '/moved') response.writeHead(302, { location: '/again' });
      response.end('reached');
    });
    // 127.0.0.1 plays the public Internet; what lies behind 127.0.0.2 is private.
    const fetch = createGuardedFetch({ resolve, isPublic: (address) => address === '127.0.0.1' });
    return { names, paths, port, fetch };
  }

  test('the connection goes where the one answer said', async (context) => {
    const { names, port, fetch } = await world(context, (_name, nth) => [nth === 0 ? '127.0.0.1' : '127.0.0.2']);
    const fetched = await fetch(`http://changing.example:${port}/`);
    assert.equal((await readAll(fetched)).toString(), 'reached');
    assert.deepEqual(names.questions, ['changing.example']);
  });

  test('the next fetch asks anew, and is refused', async (context) => {
    const { names, paths, port, fetch } = await world(context, (_name, nth) => [nth === 0 ? '127.0.0.1' : '127.0.0.2']);
    await readAll(await fetch(`http://changing.example:${port}/`));
    await assert.rejects(fetch(`http://changing.example:${port}/`), /public Internet/);
    assert.deepEqual([names.questions.length, paths], [2, ['/']]);
  });

  test('so does a redirect', async (context) => {
    const { paths, port, fetch } = await world(context, (_name, nth) => [nth === 0 ? '127.0.0.1' : '127.0.0.2']);
    await assert.rejects(fetch(`http://changing.example:${port}/moved`), /redirects to an address/);
    assert.deepEqual(paths, ['/moved']);
  });

  test('one private address among public ones is enough', async (context) => {
    const { paths, port, fetch } = await world(context, () => ['127.0.0.1', '127.0.0.2']);
    await assert.rejects(fetch(`http://mixed.example:${port}/`), /public Internet/);
    assert.deepEqual(paths, []);
  });
});

test('media of an answer: nothing private is fetched, the addresses stay, each with a reason', async (context) => {
  const { ports, hits } = await startCanaries(context);
  const { url: own } = await plainServer(context, (_request, response) => {
    response.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
  });
  const media = createMediaStore(temporaryFiles(context), createGuardedFetch());
  const step = mediaStep({ media, originsOf: (provider) => (provider === 'own' ? [own] : []) });
  const answerOf = async (provider: string, urls: readonly string[]): Promise<readonly Chunk[]> => {
    const source = (async function* (): AsyncGenerator<Batch> {
      yield [{ type: 'provider', provider: { id: provider, label: provider, url: null, model: 'm' } }];
      for (const url of urls) yield [{ type: 'media', media: { kind: 'image', url } }];
      yield END;
    })();
    const { chunks } = await step.enrich(chatRequest('draw', { downloadMedia: true }), testCall());
    return (await Array.fromAsync(chunks?.(source) ?? source)).flat();
  };

  for (const port of ports) {
    // Paths of ours and inline media are no addresses.
    const urls = forbiddenAddresses(port).filter((url) => !/^\/(?!\/)|^data:/.test(url));
    for (let at = 0; at < urls.length; at += 90) {
      const some = urls.slice(at, at + 90);
      const chunks = await answerOf('own', some);
      assert.deepEqual(
        chunks.flatMap((chunk) => (chunk.type === 'media' ? [chunk.media.url] : [])),
        some,
      );
      assert.equal(chunks.filter(({ type }) => type === 'log').length, some.length);
    }
  }
  assert.deepEqual(hits, []);

  // The provider's own origin may be anywhere, for its own answers only.
  const [, kept] = await answerOf('own', [`${own}/a.png`]);
  assert.ok(kept?.type === 'media' && kept.media.url.startsWith('/media/'));
  const [, foreign] = await answerOf('other', [`${own}/b.png`]);
  assert.ok(foreign?.type === 'media' && foreign.media.url === `${own}/b.png`);
});

test('results of a web search: nothing private is fetched, what is left are their snippets', async (context) => {
  const { ports, hits } = await startCanaries(context);
  const pages = createPages(createGuardedFetch());
  context.after(() => pages.close());
  for (const port of ports) {
    const { url } = await plainServer(context, (_request, response) => {
      const results = forbiddenAddresses(port).map((address, at) => ({
        url: address,
        title: `${at}`,
        content: 'words',
      }));
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ results }));
    });
    const config = { targets: [{ engine: 'searxng', url }], ...defaultSearch, results: 500, pages: 500 } as const;
    const search = createWebSearch({ fetch: createGuardedFetch(), pages, config: () => config });
    const { request } = await webSearchStep(search).enrich(chatRequest('q', { webSearch: true }), testCall());
    const text = JSON.stringify(request.messages);
    assert.match(text, /words/);
    assert.doesNotMatch(text, /canary/);
  }
  assert.deepEqual(hits, []);
});

test('a search engine of the configuration may be private, and cannot send us elsewhere', async (context) => {
  const { ports, hits } = await startCanaries(context);
  const { url } = await plainServer(context, (_request, response) => {
    response.writeHead(302, { location: `http://127.0.0.1:${ports[0]}/` }).end();
  });
  const config = { targets: [{ engine: 'searxng', url }], ...defaultSearch } as const;
  const search = createWebSearch({
    fetch: createGuardedFetch(),
    pages: createPages(createGuardedFetch()),
    config: () => config,
  });
  await assert.rejects(search.search('q'), SluiceError);
  assert.deepEqual(hits, []);
});

describe('the whole gateway', () => {
  /** An OpenAI-format answer whose only content are images at these addresses, as image models of that format send them. */
  const imagesAt = (urls: readonly string[]) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'test-model',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Here they are.',
          images: urls.map((url) => ({ type: 'image_url', image_url: { url } })),
        },
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });

  test('an answer full of private addresses: none is fetched, in either dialect', async (context) => {
    const { ports, hits } = await startCanaries(context);
    const urls = ports.flatMap((port) => forbiddenAddresses(port));
    await using world = await openWorld({
      async handle(request, response) {
        if (request.method !== 'POST') return false;
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(imagesAt(urls)));
        return true;
      },
    });
    for (const { path } of CHATS) {
      const body = {
        model: 'test-model',
        provider: 'mock',
        messages: [{ role: 'user', content: 'draw' }],
        download_media: true,
      };
      const answer = await world.ask({ path, body });
      assert.equal(answer.status, 200, answer.text);
      assert.match(answer.text, /Here they are\./);
    }
    assert.deepEqual(hits, []);
  });

  test('images in a question go to the provider as addresses, and are not fetched here', async (context) => {
    const { ports, hits } = await startCanaries(context);
    await using world = await openWorld();
    for (const { path } of CHATS) {
      for (const url of ports.flatMap((port) => [`http://127.0.0.1:${port}/x.png`, `http://[::1]:${port}/x.png`])) {
        const content = [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url } },
        ];
        await world.ask({
          path,
          body: { model: 'test-model', provider: 'mock', messages: [{ role: 'user', content }] },
        });
      }
    }
    assert.deepEqual(hits, []);
  });

  test('no field and no header of a client says where the provider is', async (context) => {
    const { ports, hits } = await startCanaries(context);
    const url = `http://127.0.0.1:${ports[0]}`;
    await using world = await openWorld();
    const fields = {
      ...Object.fromEntries(
        ['base_url', 'baseURL', 'api_base', 'api_url', 'url', 'host', 'endpoint', 'proxy', 'upstream'].map((name) => [
          name,
          url,
        ]),
      ),
      proxies: { http: url },
      extra_headers: { host: `127.0.0.1:${ports[0]}` },
      headers: { host: `127.0.0.1:${ports[0]}` },
      extra_body: { base_url: url },
    };
    const headers = {
      'x-forwarded-host': `127.0.0.1:${ports[0]}`,
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-original-url': url,
      'x-api-base': url,
      'x-base-url': url,
    };
    for (const { path } of CHATS) {
      const body = { model: 'test-model', provider: 'mock', messages: [{ role: 'user', content: 'Hi' }], ...fields };
      const answer = await world.ask({ path, body, headers });
      assert.equal(answer.status, 200, answer.text);
    }
    assert.equal(world.upstream.chats.length, CHATS.length);
    assert.deepEqual(hits, []);
  });
});
