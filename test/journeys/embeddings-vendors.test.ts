import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { startEmbeddingUpstream } from '../support/embedding-upstream.ts';
import { eventually } from '../support/eventually.ts';
import { startGateway } from '../support/gateway.ts';
import { type ScriptedServer, type ServerScript, startScriptedServer } from '../support/scripted-server.ts';
import { usageLines } from '../support/usage.ts';

interface Here {
  readonly client: OpenAI;
  readonly server: ScriptedServer;
  readonly origin: string;
}

async function withVendor(
  id: string,
  script: ServerScript,
  run: (here: Here) => Promise<void>,
  { base = '', entry = '' } = {},
): Promise<void> {
  const server = await startScriptedServer(script);
  const gateway = await startGateway(`
providers:
  ${id}: { baseUrl: '${server.origin}${base}', apiKey: key-of-the-vendor${entry} }
limits: { attempts: 1 }
`);
  try {
    const client = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
    await run({ client, server, origin: gateway.origin });
  } finally {
    await gateway.close();
    await server.close();
  }
}

/** Texts that are numbers, and the vectors that the scripts below make of them. */
const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index));
const vectorOf = (text: unknown) => [Number(text), 0.25];

async function checkAll(
  { client }: Here,
  model: string,
  count: number,
  more: object = {},
): Promise<OpenAI.CreateEmbeddingResponse> {
  const answer = await client.embeddings.create({ model, input: numbers(count), ...more });
  assert.deepEqual(
    answer.data.map(({ embedding }) => embedding),
    numbers(count).map(vectorOf),
  );
  return answer;
}

describe('Google', () => {
  const script: ServerScript = ({ path, json }) => {
    const textOf = (request: unknown) =>
      (request as { content: { parts: { text: string }[] } }).content.parts.map(({ text }) => text).join('');
    if (path.endsWith(':embedContent')) return { body: { embedding: { values: vectorOf(textOf(json)) } } };
    if (path.endsWith(':batchEmbedContents')) {
      const requests = json['requests'] as unknown[];
      if (requests.length > 100) return { status: 400, body: { error: { message: 'at most 100 requests' } } };
      return { body: { embeddings: requests.map((request) => ({ values: vectorOf(textOf(request)) })) } };
    }
    const name = 'models/gemini-embedding-001';
    return { body: { models: [{ name, supportedGenerationMethods: ['embedContent'] }] } };
  };

  test('many texts in batches that it takes', () =>
    withVendor('gemini', script, async (here) => {
      await checkAll(here, 'gemini-embedding-001', 230, { dimensions: 768, encoding_format: 'float' });
      const asked = here.server.requests.filter(({ path }) => path.endsWith(':batchEmbedContents'));
      assert.deepEqual(asked.map(({ json }) => (json['requests'] as unknown[]).length).sort(), [100, 100, 30].sort());
      const [first] = (asked[0]?.json['requests'] ?? []) as object[];
      assert.partialDeepStrictEqual(first, { model: 'models/gemini-embedding-001', outputDimensionality: 768 });
      assert.equal(asked[0]?.headers['x-goog-api-key'], 'key-of-the-vendor');
    }));

  test('one text, its purpose, and what it has no place for', () =>
    withVendor('gemini', script, async ({ origin, server }) => {
      const response = await fetch(`${origin}/api/gemini/embeddings`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ input: '7', task_type: 'RETRIEVAL_QUERY', user: 'u', truncate: true }),
      });
      const { data, model } = (await response.json()) as OpenAI.CreateEmbeddingResponse;
      assert.deepEqual([data[0]?.embedding, model], [[7, 0.25], 'gemini-embedding-001']);
      assert.deepEqual(response.headers.get('x-sluice-dropped')?.split(', ').sort(), ['truncate', 'user']);
      assert.equal(server.requests.at(-1)?.json['taskType'], 'RETRIEVAL_QUERY');
    }));

  test('what it does not count is estimated', () =>
    withVendor('gemini', script, async ({ client, origin }) => {
      const { usage } = await client.embeddings.create({ model: 'gemini-embedding-001', input: ['12345678', '1'] });
      assert.deepEqual(usage, { prompt_tokens: 3, total_tokens: 3, estimated: true });
      const line = await eventually('the usage is recorded', async () => (await usageLines(origin))[0]);
      assert.match(line, /"prompt_tokens":3\b/);
    }));

  test('tokens become the text that they stand for', () =>
    withVendor('gemini', script, async ({ client }) => {
      // "42" by cl100k_base, as LangChain's client sends it.
      const { data } = await client.embeddings.create({ model: 'gemini-embedding-001', input: [[2983]] });
      assert.deepEqual(data[0]?.embedding, [42, 0.25]);
    }));

  test('its errors', () =>
    withVendor(
      'gemini',
      () => ({ status: 429, body: { error: { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED' } } }),
      async ({ client }) => {
        await assert.rejects(client.embeddings.create({ model: 'gemini/x', input: 'a' }), {
          status: 429,
          message: /Quota exceeded/,
        });
      },
    ));
});

describe('Bedrock', () => {
  test('Titan takes one text at a time, and counts its tokens', () =>
    withVendor(
      'bedrock',
      ({ json }) => ({ body: { embedding: vectorOf(json['inputText']), inputTextTokenCount: 3 } }),
      async (here) => {
        const { usage } = await checkAll(here, 'amazon.titan-embed-text-v2:0', 6, { dimensions: 256 });
        assert.deepEqual(usage, { prompt_tokens: 18, total_tokens: 18 });
        assert.equal(here.server.requests.length, 6);
        const [{ path, json, headers } = assert.fail()] = here.server.requests;
        assert.equal(decodeURIComponent(path), '/model/amazon.titan-embed-text-v2:0/invoke');
        assert.equal(json['dimensions'], 256);
        assert.equal(headers.authorization, 'Bearer key-of-the-vendor');
      },
    ));

  test('Cohere there takes 96', () =>
    withVendor(
      'bedrock',
      ({ json }) => ({ body: { embeddings: { float: (json['texts'] as string[]).map(vectorOf) } } }),
      async (here) => {
        await checkAll(here, 'cohere.embed-v4:0', 100);
        assert.deepEqual(here.server.requests.map(({ json }) => (json['texts'] as string[]).length).sort(), [4, 96]);
        assert.equal(here.server.requests[0]?.json['input_type'], 'search_document');
      },
    ));
});

describe('Cohere', () => {
  const script: ServerScript = ({ json }) => ({
    body: {
      id: 'e-1',
      embeddings: { float: (json['texts'] as string[]).map(vectorOf) },
      texts: json['texts'],
      meta: { billed_units: { input_tokens: (json['texts'] as string[]).length } },
    },
  });

  test('by its own API, 96 texts at a time', () =>
    withVendor(
      'cohere',
      script,
      async (here) => {
        const { usage, model } = await checkAll(here, 'cohere/embed-v4.0', 200, { dimensions: 512 });
        assert.deepEqual([usage.total_tokens, model], [200, 'embed-v4.0']);
        assert.equal(here.server.requests.length, 3);
        assert.equal(here.server.requests[0]?.path, '/v2/embed');
        assert.partialDeepStrictEqual(here.server.requests[0]?.json, {
          model: 'embed-v4.0',
          input_type: 'search_document',
          embedding_types: ['float'],
          output_dimension: 512,
        });
      },
      { base: '/compatibility/v1' },
    ));

  test('a purpose of the client’s own', () =>
    withVendor(
      'cohere',
      script,
      async ({ client, server }) => {
        const body = { model: 'cohere/embed-v4.0', input: '7', input_type: 'search_query' };
        await client.embeddings.create(body);
        assert.equal(server.requests[0]?.json['input_type'], 'search_query');
      },
      { base: '/compatibility/v1' },
    ));

  test('what is no vector is no answer, in whatever form it is wanted', () => {
    let vector: unknown;
    return withVendor(
      'cohere',
      () => ({ body: { embeddings: { float: [[0.5], vector] } } }),
      async ({ origin }) => {
        for (vector of [null, 7, {}, ['0.5'], [null], [{ toString: 1 }]]) {
          for (const [path, more] of [
            ['/v1/embeddings', { encoding_format: 'float' }],
            ['/v1/embeddings', { encoding_format: 'base64' }],
            ['/api/embed', {}],
          ] as const) {
            const response = await fetch(origin + path, {
              method: 'POST',
              headers: { 'content-type': 'application/json' },
              body: JSON.stringify({ model: 'cohere/embed-v4.0', input: ['a', 'b'], ...more }),
            });
            assert.equal(response.status, 502, `${path} ${JSON.stringify(vector)}: ${await response.text()}`);
          }
        }
      },
      { base: '/compatibility/v1' },
    );
  });
});

describe('Voyage', () => {
  test('numbers are asked for in no words, and dimensions in its own', () =>
    withVendor(
      'voyage',
      ({ json }) => ({
        body: {
          object: 'list',
          data: (json['input'] as string[]).map((text, index) => ({
            object: 'embedding',
            embedding: vectorOf(text),
            index,
          })),
          model: json['model'],
          usage: { total_tokens: 10 },
        },
      }),
      async (here) => {
        const more = { dimensions: 256, encoding_format: 'float' };
        const { usage } = await checkAll(here, 'voyage-4', 130, more);
        assert.deepEqual(usage, { prompt_tokens: 20, total_tokens: 20 });
        const [request] = here.server.requests;
        assert.equal(request?.path, '/v1/embeddings');
        assert.equal(request?.json['output_dimension'], 256);
        assert.equal('encoding_format' in (request?.json ?? {}), false);
      },
      { base: '/v1' },
    ));
});

describe('Ollama’s client', () => {
  async function withOllama(run: (client: Ollama, origin: string) => Promise<void>): Promise<void> {
    const upstream = await startEmbeddingUpstream();
    const gateway = await startGateway(
      `providers: { acme: { kind: openai, baseUrl: '${upstream.baseUrl}', apiKey: k } }`,
    );
    try {
      await run(new Ollama({ host: gateway.origin }), gateway.origin);
    } finally {
      await gateway.close();
      await upstream.close();
    }
  }

  test('embed', () =>
    withOllama(async (client) => {
      const { embeddings, model, prompt_eval_count } = await client.embed({
        model: 'text-embedding-test:latest',
        input: ['a', 'bcd'],
      });
      assert.deepEqual(embeddings, [
        [1, 0.5, -1],
        [3, 0.5, -1],
      ]);
      assert.deepEqual([model, prompt_eval_count], ['text-embedding-test:latest', 4]);
      const single = await client.embed({ model: 'text-embedding-test', input: 'ab' });
      assert.deepEqual(single.embeddings, [[2, 0.5, -1]]);
    }));

  test('embeddings, its older way', () =>
    withOllama(async (client) => {
      const { embedding } = await client.embeddings({ model: 'text-embedding-test', prompt: 'abc' });
      assert.deepEqual(embedding, [3, 0.5, -1]);
    }));

  test('errors, in its words', () =>
    withOllama(async (client, origin) => {
      await assert.rejects(client.embed({ model: 'nobodys', input: 'a' }), /No provider offers the model 'nobodys'/);
      const response = await fetch(`${origin}/api/embed`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"model":"x"}',
      });
      const { error } = (await response.json()) as { error: unknown };
      assert.equal(response.status, 400);
      assert.match(String(error), /input/);
    }));
});
