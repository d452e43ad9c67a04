import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { startGatewayBefore } from './gateway-before.ts';

type Json = Record<string, unknown>;

describe('listings when upstreams misbehave', { timeout: 60_000 }, () => {
  /** A way in which a listing fails. */
  const FAULTS: Record<string, (response: ServerResponse) => void> = {
    failing: (response) => json(response, 500, '{"error":{"message":"The database is gone"}}'),
    forbidding: (response) => json(response, 403, '{"error":{"message":"No listing for you"}}'),
    missing: (response) => json(response, 404, 'not here'),
    garbled: (response) => json(response, 200, '{"data":[{"id":"half'),
    binary: (response) => json(response, 200, Buffer.from([0xff, 0xfe, 0x00, 0x7b])),
    html: (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Log in</html>'),
    empty: (response) => json(response, 200, ''),
    other: (response) => json(response, 200, '"hello"'),
    nothing: (response) => json(response, 200, 'null'),
    odd: (response) => json(response, 200, '{"data":[null,7,[],{},{"id":""},{"id":{"a":1}},{"id":"good"}]}'),
    redirecting: (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    cut: (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 }).write('{"data":[');
      setTimeout(() => response.destroy(), 20);
    },
    stalled: () => {},
    halting: (response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"data":[');
    },
  };

  let world: Awaited<ReturnType<typeof startGatewayBefore>>;
  before(async () => {
    const good = await startOpenAiUpstream();
    const upstreams = [good];
    const rows: string[] = [];
    for (const [name, answer] of Object.entries(FAULTS)) {
      const upstream = await startOpenAiUpstream(undefined, {
        handle(request, response) {
          if (request.method !== 'GET') return false;
          answer(response);
          return true;
        },
      });
      upstreams.push(upstream);
      rows.push(`  x-${name}: { kind: openai, baseUrl: '${upstream.baseUrl}' }`);
    }
    world = await startGatewayBefore(
      upstreams,
      `
providers:
${rows.join('\n')}
  unreachable: { kind: openai, baseUrl: 'http://127.0.0.1:1/v1' }
  claude: { kind: anthropic, baseUrl: 'http://127.0.0.1:1/v1', apiKey: k }
  good: { kind: openai, baseUrl: '${good.baseUrl}' }
`,
    );
  });
  after(() => world.close());

  test('they list nothing, and the others everything', async () => {
    const { origin } = world.gateway;
    // All at once: the silent ones are waited for.
    const [byProvider, list, models, providers] = (await Promise.all(
      ['/backend-api/v2/models', '/backend-api/v2/models?format=list', '/v1/models', '/backend-api/v2/providers'].map(
        async (path) => {
          const response = await fetch(origin + path);
          assert.equal(response.status, 200);
          return response.json();
        },
      ),
    )) as [Record<string, Json[]>, Json[], { data: Json[] }, Json[]];
    for (const name of [...Object.keys(FAULTS).map((fault) => `x-${fault}`), 'unreachable', 'claude']) {
      const ids = byProvider[name]?.map((entry) => entry['id']);
      if (name === 'x-odd') assert.ok(ids?.includes('good'));
      else assert.deepEqual(ids, [], name);
      assert.ok(providers.some((provider) => provider['name'] === name));
    }
    assert.deepEqual(
      byProvider['good']?.map((entry) => entry['id']),
      ['test-model'],
    );
    assert.ok(list.some((entry) => entry['id'] === 'test-model'));
    assert.ok(models.data.some((model) => model['id'] === 'test-model'));
    // Each is told of once, by name.
    const told = world.gateway.log.lines.filter(({ message }) => message === 'a provider did not list its models');
    const names = told.map(({ fields }) => (fields as { provider: string }).provider);
    assert.deepEqual(new Set(names).size, names.length);
    assert.ok(names.includes('x-stalled') && names.includes('unreachable') && names.includes('claude'));
  });

  test('asked alone, they say why', async () => {
    for (const [name, status] of [
      ['x-failing', 500],
      ['x-garbled', 502],
      ['x-stalled', 504],
      ['x-halting', 504],
      ['unreachable', 502],
      ['claude', 502],
    ] as const) {
      for (const path of [`/backend-api/v2/models/${name}`, `/api/${name}/models`]) {
        const response = await fetch(world.gateway.origin + path);
        assert.equal(response.status, status, path);
        assert.equal(typeof ((await response.json()) as { error: { message: unknown } }).error.message, 'string');
      }
    }
  });

  test('they still answer by name', async () => {
    const response = await fetch(`${world.gateway.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'x-stalled/any-model', messages: [{ role: 'user', content: 'Hi' }] }),
    });
    assert.equal(response.status, 200);
  });

  test('a model of the others is found at once', async () => {
    const response = await fetch(`${world.gateway.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'test-model', messages: [{ role: 'user', content: 'Hi' }] }),
    });
    assert.equal(response.headers.get('x-sluice-provider'), 'good');
  });
});

test('an old listing is better than none', async (context) => {
  let isGone = false;
  const upstream = await startOpenAiUpstream(undefined, {
    handle(request, response) {
      if (request.method !== 'GET' || !isGone) return false;
      json(response, 500, '{"error":{"message":"The database is gone"}}');
      return true;
    },
  });
  const yaml = `providers: { acme: { kind: openai, baseUrl: '${upstream.baseUrl}' } }`;
  const { gateway, close } = await startGatewayBefore([upstream], yaml);
  try {
    const listings = async () =>
      Promise.all(
        ['/api/acme/models', '/v1/models', '/backend-api/v2/models', '/backend-api/v2/models/acme'].map(
          async (path) => {
            const response = await fetch(gateway.origin + path);
            return { path, status: response.status, text: await response.text() };
          },
        ),
      );
    const hasFailed = (): boolean =>
      gateway.log.lines.some(({ message }) => message === 'a provider did not list its models');
    for (const { path, text } of await listings()) assert.match(text, /test-model/, path);
    // Ten minutes later it fails, which shows only after the old listing was served once more.
    const now = performance.now.bind(performance);
    context.mock.method(performance, 'now', () => now() + 600_000);
    isGone = true;
    await listings();
    await eventually('the listing fails', hasFailed);
    for (const { path, status, text } of await listings()) {
      assert.equal(status, 200, path);
      assert.match(text, /test-model/, path);
    }
  } finally {
    await close();
  }
});

function json(response: ServerResponse, status: number, body: string | Buffer): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}
