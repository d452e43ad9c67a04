import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import OpenAI from 'openai';
import { startGateway } from '../support/gateway.ts';
import { type ScriptedServer, type ServerScript, startScriptedServer } from '../support/scripted-server.ts';
import { entryOf } from './observe-world.ts';

interface Here {
  readonly server: ScriptedServer;
  readonly origin: string;
  post(path: string, body: unknown): Promise<{ status: number; headers: Headers; text: string; json: Answer }>;
}

type Answer = Readonly<Record<string, unknown>> & { readonly error?: { code: string; message: string } };

/** A gateway with one upstream; `entry` is what its configuration says beside address and key. */
async function withUpstream(
  id: string,
  script: ServerScript,
  run: (here: Here) => Promise<void>,
  { base = '/v1', entry = '' } = {},
): Promise<void> {
  const server = await startScriptedServer(script);
  const gateway = await startGateway(`
providers:
  ${id}: { baseUrl: '${server.origin}${base}', apiKey: key-of-the-vendor${entry} }
  claude: { kind: anthropic, baseUrl: 'http://127.0.0.1:9', apiKey: no-key, models: [claude-test] }
limits: { attempts: 1 }
`);
  try {
    await run({
      server,
      origin: gateway.origin,
      async post(path, body) {
        const response = await fetch(gateway.origin + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        const text = await response.text();
        return { status: response.status, headers: response.headers, text, json: JSON.parse(text) as Answer };
      },
    });
  } finally {
    await gateway.close();
    await server.close();
  }
}

const OPENAI = { entry: ', kind: openai' };
const listing = (...ids: string[]) => ({ body: { object: 'list', data: ids.map((id) => ({ id, object: 'model' })) } });

describe('POST /v1/moderations', () => {
  const answer = {
    id: 'modr-1',
    model: 'omni-moderation-latest',
    results: [{ flagged: true, categories: { violence: true }, category_scores: { violence: 0.9, hate: 1.5e-7 } }],
  };
  const script: ServerScript = ({ path }) =>
    path === '/v1/models' ? listing('gpt-test', 'omni-moderation-latest') : { body: answer };

  test('an answer that has no usage is none that failed to the log of requests', () =>
    withUpstream(
      'acme',
      script,
      async (here) => {
        const { status, headers } = await here.post('/v1/moderations', { input: 'Hello' });
        const { provider, error, operation } = await entryOf(here, headers.get('x-request-id') ?? '');
        assert.deepEqual([status, provider, operation, error], [200, 'acme', 'moderation', null]);
      },
      OPENAI,
    ));

  test('the official client', () =>
    withUpstream(
      'acme',
      script,
      async ({ origin, server }) => {
        const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: 'secret', maxRetries: 0 });
        const { results } = await client.moderations.create({ input: ['I kill you', 'Hello'] });
        assert.equal(results[0]?.flagged, true);
        assert.equal(results[0]?.category_scores.hate, 1.5e-7);
        const { path, json, headers } = server.requests.at(-1) ?? {};
        assert.equal(path, '/v1/moderations');
        assert.equal(headers?.authorization, 'Bearer key-of-the-vendor');
        // Nobody named a model; the one that is listed for this is.
        assert.deepEqual(json, { input: ['I kill you', 'Hello'], model: 'omni-moderation-latest' });
      },
      OPENAI,
    ));

  test('pictures, and fields that nobody here knows', () =>
    withUpstream(
      'acme',
      script,
      async ({ post, server }) => {
        const input = [{ type: 'image_url', image_url: { url: 'https://a.example/a.png' } }];
        const { status, text, headers } = await post('/api/acme/moderations', { model: 'm', input, x: 1, timeout: 9 });
        assert.equal(status, 200);
        assert.equal(text, JSON.stringify(answer));
        assert.equal(headers.get('x-sluice-model'), 'm');
        assert.deepEqual(server.requests.at(-1)?.json ?? {}, { model: 'm', input, x: 1 });
      },
      OPENAI,
    ));

  for (const [name, body, status, code] of [
    ['no input', {}, 422, 'invalid_field'],
    ['an empty list', { input: [] }, 422, 'invalid_field'],
    ['numbers', { input: [1] }, 422, 'invalid_field'],
    ['a provider that does not', { input: 'a', provider: 'claude' }, 501, 'not_supported'],
    ['an upstream that does not', { input: 'a', model: 'acme/x' }, 501, 'not_supported'],
    ['nobody that does', { input: 'a' }, 501, 'not_supported'],
  ] as const) {
    test(`${name}: ${status}`, () =>
      withUpstream(
        'acme',
        ({ path }) => (path === '/v1/models' ? listing('gpt-test') : { status: 404, body: { detail: 'Not Found' } }),
        async ({ post }) => {
          const { status: got, json } = await post('/v1/moderations', body);
          assert.deepEqual({ status: got, code: json.error?.code }, { status, code }, json.error?.message ?? '');
        },
        OPENAI,
      ));
  }
});

const DOCUMENTS = ['Berlin is in Germany.', { text: 'Paris is in France.' }, 'Rome is in Italy.'];
const QUERY = 'Where is Paris?';
const RANKED = [
  { index: 1, relevance_score: 0.98 },
  { index: 2, relevance_score: 0.2 },
];

describe('POST rerank', () => {
  for (const path of ['/v1/rerank', '/v2/rerank', '/api/jina/rerank']) {
    test(`${path}, by an upstream in the form of Jina`, () =>
      withUpstream(
        'jina',
        () => ({ body: { model: 'jina-reranker-v3', usage: { total_tokens: 40 }, results: RANKED } }),
        async ({ post, server }) => {
          const asked = {
            model: 'jina-reranker-v3',
            query: QUERY,
            documents: DOCUMENTS,
            top_n: 2,
            return_documents: true,
          };
          const { status, json, headers, text } = await post(path, { ...asked, max_chunk: 3 });
          assert.equal(status, 200, text);
          assert.equal(headers.get('x-sluice-provider'), 'jina');
          assert.deepEqual(json['results'], [
            { ...RANKED[0], document: { text: 'Paris is in France.' } },
            { ...RANKED[1], document: { text: 'Rome is in Italy.' } },
          ]);
          assert.deepEqual([json['model'], json['usage']], ['jina-reranker-v3', { total_tokens: 40 }]);
          assert.match(String(json['id']), /^[0-9a-f-]{36}$/);
          const { path: asking, json: sent } = server.requests.at(-1) ?? {};
          assert.equal(asking, '/v1/rerank');
          assert.deepEqual(sent, {
            model: 'jina-reranker-v3',
            query: QUERY,
            documents: ['Berlin is in Germany.', 'Paris is in France.', 'Rome is in Italy.'],
            top_n: 2,
            max_chunk: 3,
          });
        },
      ));
  }

  test('Cohere, by its own API beside the one for chats', () =>
    withUpstream(
      'cohere',
      ({ path }) =>
        path.endsWith('/models')
          ? {
              body: {
                models: [
                  { name: 'command-test', endpoints: ['chat'] },
                  { name: 'rerank-v3.5', endpoints: ['rerank'] },
                ],
              },
            }
          : { body: { id: 'c-1', results: RANKED, meta: { billed_units: { search_units: 1 } } } },
      async ({ post, server }) => {
        const documents = ['a', { title: 'Paris', pages: 3 }, { text: 'c' }];
        const { status, json, text } = await post('/v2/rerank', { query: QUERY, documents, max_tokens_per_doc: 9 });
        assert.equal(status, 200, text);
        assert.deepEqual(json, {
          id: 'c-1',
          model: 'rerank-v3.5',
          results: RANKED,
          meta: { billed_units: { search_units: 1 } },
        });
        const { path, json: sent, headers } = server.requests.at(-1) ?? {};
        assert.equal(path, '/v2/rerank');
        assert.equal(headers?.authorization, 'Bearer key-of-the-vendor');
        assert.deepEqual(sent, {
          model: 'rerank-v3.5',
          query: QUERY,
          documents: ['a', 'title: Paris\npages: 3', 'c'],
          max_tokens_per_doc: 9,
        });
      },
      { base: '/compatibility/v1' },
    ));

  test('Voyage, in words of its own', () =>
    withUpstream(
      'voyage',
      () => ({ body: { object: 'list', data: RANKED, model: 'rerank-2.5', usage: { total_tokens: 26 } } }),
      async ({ post, server }) => {
        const { json } = await post('/v1/rerank', { query: QUERY, documents: DOCUMENTS, top_n: 2 });
        assert.deepEqual(json['results'], RANKED);
        assert.partialDeepStrictEqual(server.requests.at(-1)?.json ?? {}, { model: 'rerank-2.5', top_k: 2 });
      },
    ));

  test('llama.cpp, which answers all in any order', () =>
    withUpstream(
      'llama',
      () => ({
        body: {
          model: 'bge',
          object: 'list',
          usage: { prompt_tokens: 9, total_tokens: 9 },
          results: [0.1, 0.9, 0.5].map((relevance_score, index) => ({ index, relevance_score })),
        },
      }),
      async ({ post }) => {
        const { json } = await post('/v1/rerank', { model: 'llama/bge', query: QUERY, documents: DOCUMENTS, top_n: 2 });
        const results = json['results'] as { index: number }[];
        assert.deepEqual(
          results.map(({ index }) => index),
          [1, 2],
        );
      },
      OPENAI,
    ));

  for (const [name, body, status, code] of [
    ['no documents', { query: 'a', documents: [] }, 422, 'invalid_field'],
    ['no query', { documents: ['a'] }, 422, 'invalid_field'],
    ['an empty query', { query: ' ', documents: ['a'] }, 422, 'invalid_field'],
    ['documents of numbers', { query: 'a', documents: [1] }, 422, 'invalid_field'],
    ['none of the best', { query: 'a', documents: ['a'], top_n: 0 }, 422, 'invalid_field'],
    ['a provider that does not', { query: 'a', documents: ['a'], provider: 'claude' }, 501, 'not_supported'],
    ['an upstream that does not', { query: 'a', documents: ['a'], model: 'acme/x' }, 501, 'not_supported'],
  ] as const) {
    test(`${name}: ${status}`, () =>
      withUpstream(
        'acme',
        ({ path }) => (path === '/v1/models' ? listing('gpt-test') : { status: 404, body: { detail: 'Not Found' } }),
        async ({ post }) => {
          const { status: got, json } = await post('/v1/rerank', body);
          assert.deepEqual({ status: got, code: json.error?.code }, { status, code }, json.error?.message ?? '');
        },
        OPENAI,
      ));
  }

  for (const [name, body] of [
    ['no results', { model: 'x' }],
    ['a document that was not there', { results: [{ index: 7, relevance_score: 1 }] }],
    ['a score in words', { results: [{ index: 0, relevance_score: 'high' }] }],
  ] as const) {
    test(`${name}: 502`, () =>
      withUpstream(
        'acme',
        () => ({ body }),
        async ({ post }) => {
          const { status, json } = await post('/v1/rerank', { model: 'acme/x', query: QUERY, documents: DOCUMENTS });
          assert.deepEqual([status, json.error?.code], [502, 'upstream_invalid']);
        },
        OPENAI,
      ));
  }
});
