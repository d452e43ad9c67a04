import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { startBedrockUpstream } from '../support/bedrock-upstream.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { startGeminiUpstream } from '../support/gemini-upstream.ts';
import { ask } from '../support/raw-http.ts';
import type { VendorUpstream } from '../support/vendor-server.ts';
import { assertError, CHATS, CREATE, codeInForm, HI, openWorld, type World } from './edge-world.ts';

/** Names with letters that no name has: refused wherever they stand. */
const UNPRINTABLE: readonly string[] = [
  'a\r\nx-evil: 1',
  'a\r\n\r\nGET /evil HTTP/1.1\r\n\r\n',
  'a\nx-evil: 1',
  'a\rx-evil: 1',
  'a\tb',
  '\0',
  'test-model\0.png',
  'a\u0007b',
  'a\u007fb',
  'a\u0085b',
  'a\u001b[31mb',
  'a\u2028b',
  'a\u2029b',
  'a\u202eb',
  'a\u2066b',
  'a\u200bb',
  'a\ufeffb',
  'a\u{e0041}b',
  '\ud800',
  'a\udfffb',
  'm'.repeat(257),
  'm'.repeat(10_240),
];

/** Names that mean something elsewhere, and nothing here. */
const STRANGE: readonly string[] = [
  '..',
  '.',
  '../../etc/passwd',
  '/etc/passwd',
  '..\\..\\windows',
  'C:\\windows\\win.ini',
  '..%2f..%2fetc%2fpasswd',
  '%2e%2e%2f',
  '%00',
  '%0d%0ax-evil:1',
  'a/../../b',
  '..;/admin',
  'a?stream=false',
  'a#fragment',
  'http://169.254.169.254/latest/meta-data',
  '//evil.example/v1',
  'evil.example:80/x',
  'user@evil.example',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'null',
  'undefined',
  'NaN',
  "'; DROP TABLE models;--",
  '" OR ""="',
  '{{7*7}}',
  '\u0024{7*7}',
  '<%= 7*7 %>',
  '<script>alert(1)</script>',
  '"onload="x',
  '$(id)',
  '`id`',
  '; id',
  '| id',
  '&& id',
  '*',
  '%',
  '%s%n',
  'mоck',
  'ｍｏｃｋ',
  'mock.',
  'mock\u00a0',
  '🤖',
  'Ω'.repeat(256),
];

/** Names that the network's far end must never see as anything but a value of its JSON. */
const HEADERS = ['accept', 'connection', 'content-length', 'content-type', 'host'];

describe('hostile names', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  /** What arrived is an ordinary call, with this name as a value. */
  function assertPlain(model: string): void {
    const { last } = world;
    assert.equal(last.method, 'POST');
    assert.equal(last.path, '/v1/chat/completions');
    assert.deepEqual(Object.keys(last.headers).sort(), HEADERS, model);
    assert.equal(last.model, model);
  }

  for (const { dialect, path, wrongField } of CHATS) {
    test(`a model's name to ${dialect}`, async () => {
      for (const model of UNPRINTABLE) {
        for (const provider of [undefined, 'mock']) {
          const answer = await world.ask({ path, body: { ...HI, model, provider } });
          assertError(answer, wrongField, JSON.stringify(model).slice(0, 50));
        }
      }
      for (const model of STRANGE) {
        const automatic = await world.ask({ path, body: { ...HI, model } });
        if (dialect === 'B') assertError(automatic, 404, model);
        else assert.match(automatic.text, /"error":"ModelNotFoundError"/, model);
      }
      assert.equal(world.upstream.chats.length, 0);
    });
  }

  test('a strange model of a named provider arrives as it is', async () => {
    for (const model of STRANGE) {
      for (const { path } of CHATS) {
        const answer = await world.ask({ path, body: { ...HI, model, provider: 'mock' } });
        assert.equal(answer.status, 200, answer.text);
        assertPlain(model);
        const told = answer.headers['x-sluice-model'];
        assert.equal(typeof told === 'string' && decodeURI(told), model);
        assert.equal(answer.headers['x-evil'], undefined);
      }
    }
  });

  test("a provider's name", async () => {
    const { length } = world.upstream.chats;
    for (const provider of [...UNPRINTABLE, ...STRANGE]) {
      // A list is separated by spaces: the first name that nobody has ends it.
      for (const { path } of CHATS) {
        assertError(await world.ask({ path, body: { ...HI, provider } }), [400, 404, 422], provider);
      }
      if (!provider.isWellFormed()) continue;
      const name = encodeURIComponent(provider);
      assertError(await world.ask({ path: `/api/${name}/chat/completions`, body: HI }), [400, 404, 414, 431], name);
      assertError(await world.ask({ path: `${CREATE}?prompt=Hi&provider=${name}` }), [400, 404, 414, 431], name);
      for (const path of [`/v1/providers/${name}`, `/api/${name}/models`, `/backend-api/v2/models/${name}`]) {
        assertError(await world.ask({ path }), [400, 404, 414, 431], path);
      }
    }
    assert.equal(world.upstream.chats.length, length);
  });

  test("a model's name in a path or query", async () => {
    const { length } = world.upstream.chats;
    for (const model of [...UNPRINTABLE, ...STRANGE].filter((name) => name.isWellFormed())) {
      const name = encodeURIComponent(model);
      for (const path of [`/v1/models/${name}`, `${CREATE}?prompt=Hi&model=${name}`]) {
        assertError(await world.ask({ path }), [400, 404, 414, 431], path);
      }
    }
    assert.equal(world.upstream.chats.length, length);
  });

  test("a model's name before a method of the Gemini API", async () => {
    const { length } = world.upstream.chats;
    for (const model of UNPRINTABLE.filter((name) => name.isWellFormed() && name.length < 1_000)) {
      for (const method of ['generateContent', 'streamGenerateContent', 'countTokens', 'embedContent']) {
        const path = `/v1beta/models/${encodeURIComponent(`mock/${model}`)}:${method}`;
        const text = { parts: [{ text: 'Hi' }] };
        const body = method === 'embedContent' ? { content: text } : { contents: [text] };
        assert.equal(codeInForm('Gemini API', await world.ask({ path, body }), 400, path), 'invalid_request');
      }
    }
    assert.equal(world.upstream.chats.length, length);
  });

  test('separators around a name', async () => {
    for (const model of ['mock:', 'mock/', ':test-model', '/test-model', ':', '/', 'mock:test-model:', ' test-model']) {
      const answer = await world.ask({ path: '/v1/chat/completions', body: { ...HI, model } });
      assert.ok(answer.status === 404 || answer.status === 200, answer.text);
      if (answer.status === 200) assertPlain(world.last.model);
    }
    for (const provider of ['MOCK', ' mock ', '', ' ']) {
      const answer = await world.ask({ path: '/v1/chat/completions', body: { ...HI, provider } });
      assert.equal(answer.status, 200, answer.text);
      assertPlain('test-model');
    }
  });

  test('keys that would be headers of their own', async () => {
    await using other = await openWorld({ yaml: '  openai: { baseUrl: "http://127.0.0.1:9/v1" }\n' });
    const keys = ['key\r\nx-evil: 1', 'key\nx-evil: 1', 'key\0', 'key\u0100', '\ud800', 'key\u007f'];
    for (const key of keys) {
      for (const { path, wrongField } of CHATS) {
        for (const provider of ['openai', 'mock']) {
          for (const api_key of [key, { [provider]: key }]) {
            const answer = await other.ask({ path, body: { ...HI, provider, api_key } });
            assertError(answer, wrongField, JSON.stringify(key));
            assert.ok(!answer.text.includes('evil'));
          }
        }
      }
    }
    assert.equal(other.upstream.chats.length, 0);
  });
});

describe("names in the paths of vendors' libraries", () => {
  const vendors: Record<string, VendorUpstream> = {};
  let gateway: Gateway;
  before(async () => {
    vendors['google'] = await startGeminiUpstream(() => ({ text: ['Hi'] }));
    vendors['bedrock'] = await startBedrockUpstream(() => ({ text: ['Hi'] }));
    vendors['anthropic'] = await startAnthropicUpstream(() => ({ text: ['Hi'] }));
    const rows = Object.entries(vendors).map(
      ([kind, { baseUrl }]) => `  ${kind}: { kind: ${kind}, baseUrl: '${baseUrl}', apiKey: planted-key }`,
    );
    gateway = await startGateway(`providers:\n${rows.join('\n')}`);
  });
  after(async () => {
    await gateway.close();
    for (const vendor of Object.values(vendors)) await vendor.close();
  });

  test('a name never changes the path', async () => {
    for (const [provider, vendor] of Object.entries(vendors)) {
      for (const model of [...STRANGE, ...UNPRINTABLE]) {
        for (const { path } of CHATS) {
          const answer = await ask(gateway.origin, { path, body: { ...HI, model, provider } });
          const hint = `${provider} ${JSON.stringify(model).slice(0, 60)}: ${answer.status}`;
          assert.ok(answer.status < 500, hint);
        }
      }
      for (const { path: seen, headers } of vendor.requests) {
        const { pathname, search } = new URL(seen, 'http://upstream');
        const allowed = /^\/(v1beta\/models\/[^/]+:streamGenerateContent|model\/[^/]+\/converse-stream|v1\/messages)$/;
        assert.match(pathname, allowed, provider);
        assert.ok(search === '' || search === '?alt=sse', seen);
        assert.equal(headers['x-evil'], undefined);
      }
    }
  });
});

describe('where a call goes is the business of the configuration', () => {
  let hits = 0;
  const canary = createServer((_request, response) => {
    hits += 1;
    response.end('{}');
  });
  canary.on('connection', () => {
    hits += 1;
  });
  let address = '';
  let world: World;
  before(async () => {
    await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`;
    world = await openWorld();
  });
  after(async () => {
    await world.close();
    canary.close();
    canary.closeAllConnections();
  });

  const OVERRIDES = [
    'base_url',
    'baseURL',
    'baseUrl',
    'api_base',
    'apiBase',
    'api_url',
    'api_type',
    'azure_endpoint',
    'proxy',
    'proxies',
    'http_proxy',
    'https_proxy',
    'headers',
    'extra_headers',
    'default_headers',
    'extra_query',
    'default_query',
  ];

  for (const { dialect, path } of CHATS) {
    test(`fields to ${dialect} neither change it nor arrive`, async () => {
      for (const name of OVERRIDES) {
        for (const value of [address, { http: address, 'x-evil': '1', host: 'evil.example' }]) {
          for (const body of [
            { ...HI, [name]: value },
            { ...HI, provider: 'mock', [name]: value },
            { ...HI, extra_body: { [name]: value } },
            { ...HI, extra_body: { extra_body: { [name]: value } } },
          ]) {
            const answer = await world.ask({ path, body });
            assert.equal(answer.status, 200, answer.text);
            assert.equal(world.last.path, '/v1/chat/completions');
            assert.deepEqual(Object.keys(world.last.headers).sort(), HEADERS);
            const arrived = world.last.rawBody.toString();
            assert.ok(!arrived.includes(name) && !arrived.includes(address), arrived);
          }
        }
      }
      assert.equal(hits, 0);
    });

    test(`headers and queries to ${dialect} neither change it nor arrive`, async () => {
      const { host } = new URL(address);
      const headers = {
        'x-api-base': address,
        'x-base-url': address,
        'x-target-url': address,
        'x-original-url': '/evil',
        'x-rewrite-url': '/evil',
        'x-forwarded-for': '10.0.0.1',
        'x-forwarded-host': host,
        'x-forwarded-proto': 'https',
        'x-forwarded-port': '1',
        'x-forwarded-prefix': '/evil',
        'x-real-ip': '10.0.0.1',
        forwarded: `for=10.0.0.1;host=${host};proto=https`,
        'proxy-authorization': 'Basic ZXZpbA==',
        referer: address,
        'x-http-method-override': 'DELETE',
      };
      const query = `base_url=${encodeURIComponent(address)}&api_base=${encodeURIComponent(address)}&provider=evil`;
      const answer = await world.ask({ path: `${path}?${query}`, headers, body: HI });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(world.last.path, '/v1/chat/completions');
      assert.deepEqual(Object.keys(world.last.headers).sort(), HEADERS);
      assert.equal(hits, 0);
    });

    test(`media of ${dialect} pass on without being fetched`, async () => {
      const url = `${address}/image.png`;
      const answer = await world.ask({
        path,
        body: {
          ...HI,
          messages: [
            {
              role: 'user',
              content: [
                { type: 'text', text: 'What is this?' },
                { type: 'image_url', image_url: { url } },
                { type: 'image_url', image_url: url },
                { type: 'video_url', video_url: { url } },
              ],
            },
          ],
        },
      });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(world.last.images, 2);
      assert.ok(world.last.rawBody.includes(url));
      assert.equal(hits, 0);
    });
  }

  test('the provider that takes an address does not exist', async () => {
    for (const provider of ['Custom', 'custom', 'OpenaiTemplate']) {
      for (const { path } of CHATS) {
        assertError(await world.ask({ path, body: { ...HI, provider, base_url: address } }), 404, provider);
      }
      const answer = await world.ask({
        path: `/backend-api/v2/models/${provider}`,
        headers: { 'x-api-base': address },
      });
      assertError(answer, 404, provider);
    }
    assert.equal(hits, 0);
  });

  test('media by other schemes are refused where we take them', async () => {
    for (const url of ['file:///etc/passwd', '/etc/passwd', 'ftp://127.0.0.1/a', 'javascript:alert(1)', '']) {
      const answer = await world.ask({
        path: '/v1/chat/completions',
        body: { ...HI, media: [[url, 'a.png']] },
      });
      assertError(answer, 422, url);
    }
    assert.equal(hits, 0);
  });
});
