import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ApiError, GoogleGenAI } from '@google/genai';
import { MethodAnswer } from '../../src/http/gemini/wire.ts';
import { startEmbeddingUpstream } from '../support/embedding-upstream.ts';
import { eventually } from '../support/eventually.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import type { OpenAiUpstream } from '../support/openai-upstream.ts';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';
import { usageLines } from '../support/usage.ts';

type Json = Record<string, unknown>;

const valuesOf = (request: unknown): { values: number[] } => {
  const { content } = request as { content: { parts: { text: string }[] } };
  return { values: [content.parts.map(({ text }) => text).join('').length, 0.25] };
};

describe('vectors by the Gemini API', { timeout: 60_000 }, () => {
  let acme: OpenAiUpstream;
  let google: ScriptedServer;
  let gateway: Gateway;
  let client: GoogleGenAI;
  before(async () => {
    acme = await startEmbeddingUpstream();
    google = await startScriptedServer(({ path, json }) => {
      if (path.endsWith(':embedContent')) return { body: { embedding: valuesOf(json) } };
      if (path.endsWith(':batchEmbedContents'))
        return { body: { embeddings: (json['requests'] as unknown[]).map(valuesOf) } };
      const name = 'models/gemini-embedding-001';
      return { body: { models: [{ name, supportedGenerationMethods: ['embedContent'] }] } };
    });
    gateway = await startGateway(`
providers:
  acme: { kind: openai, baseUrl: '${acme.baseUrl}', apiKey: k }
  gemini: { baseUrl: '${google.origin}', apiKey: key-of-google }
aliases: { vectors: acme/text-embedding-test }
limits: { attempts: 1 }
`);
    client = new GoogleGenAI({ apiKey: 'secret', httpOptions: { baseUrl: gateway.origin } });
  });
  after(async () => {
    await gateway.close();
    await google.close();
    await acme.close();
  });

  const post = async (path: string, body: unknown): Promise<{ status: number; dropped: string | null; json: Json }> => {
    const answer = await fetch(`${gateway.origin}/v1beta/models/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return {
      status: answer.status,
      dropped: answer.headers.get('x-sluice-dropped'),
      json: (await answer.json()) as Json,
    };
  };
  const text = (...texts: string[]): Json => ({ parts: texts.map((each) => ({ text: each })) });

  for (const model of ['text-embedding-test', 'acme/text-embedding-test', 'vectors']) {
    test(`the official client gets one for each text (${model})`, async () => {
      const { embeddings } = await client.models.embedContent({ model, contents: ['a', 'bcd'] });
      assert.deepEqual(
        embeddings?.map(({ values }) => values),
        [
          [1, 0.5, -1],
          [3, 0.5, -1],
        ],
      );
      assert.partialDeepStrictEqual(acme.requests.at(-1)?.body, { input: ['a', 'bcd'] });
    });
  }

  test('before Google it keeps its settings', async () => {
    const config = { taskType: 'RETRIEVAL_QUERY', outputDimensionality: 768 };
    const { embeddings } = await client.models.embedContent({
      model: 'gemini-embedding-001',
      contents: ['ab', 'c'],
      config,
    });
    assert.deepEqual(
      embeddings?.map(({ values }) => values),
      [
        [2, 0.25],
        [1, 0.25],
      ],
    );
    const { path, headers, json } = google.requests.at(-1) ?? assert.fail();
    assert.ok(path.endsWith('/models/gemini-embedding-001:batchEmbedContents'), path);
    assert.equal(headers['x-goog-api-key'], 'key-of-google');
    for (const request of json['requests'] as Json[]) assert.partialDeepStrictEqual(request, config);
  });

  test('one content is one vector, with what it cost', async () => {
    const body = { content: text('ab', 'cd'), output_dimensionality: 3, provider: 'acme', user: 'counted' };
    const { status, json, dropped } = await post('text-embedding-test:embedContent', body);
    assert.equal(status, 200, JSON.stringify(json));
    assert.deepEqual(json, { embedding: { values: [5, 0.5, -1] }, usageMetadata: { promptTokenCount: 2 } });
    assert.equal(dropped, null);
    assert.ok(MethodAnswer.safeParse(json).success, 'it is what the document describes');
    assert.partialDeepStrictEqual(acme.requests.at(-1)?.body, { input: 'ab\ncd', dimensions: 3 });
    await eventually('the cost is in the statistics', async () => {
      const record = (await usageLines(gateway.origin)).find((line) => line.includes('"counted"'));
      return record?.includes('"prompt_tokens":2') === true;
    });
  });

  test('what only Google knows reaches nobody else, and is named as the client calls it', async () => {
    const settings = { taskType: 'CLUSTERING', title: 'A', newField: 1 };
    const body = { requests: [{ model: 'models/x', content: text('a'), embedContentConfig: settings }] };
    const { status, json, dropped } = await post('vectors:batchEmbedContents', body);
    assert.deepEqual([status, json['embeddings']], [200, [{ values: [1, 0.5, -1] }]]);
    assert.deepEqual(dropped?.split(', ').sort(), ['newField', 'taskType', 'title']);
    const sent = acme.requests.at(-1) ?? assert.fail();
    assert.deepEqual(Object.keys(sent.body as Json).sort(), ['input', 'model']);
    const strict = await post('vectors:batchEmbedContents', { ...body, strict: true });
    assert.equal(strict.status, 400, JSON.stringify(strict.json));
    assert.match(JSON.stringify(strict.json), /'taskType'/);
  });

  test('the list of models says who can, and it is so', async () => {
    const able: string[] = [];
    for await (const { name = '', supportedActions } of await client.models.list()) {
      if (supportedActions?.includes('embedContent') !== true) continue;
      able.push(name);
      const { embeddings } = await client.models.embedContent({ model: name, contents: 'x' });
      assert.equal(embeddings?.length, 1, name);
    }
    assert.deepEqual(able.sort(), ['models/gemini-embedding-001', 'models/text-embedding-test', 'models/vectors']);
  });

  test('says what is wrong in the form of Google', async () => {
    const image = { parts: [{ text: 'a' }, { inlineData: { mimeType: 'image/png', data: 'AA==' } }] };
    const [a, b] = [{ content: text('a') }, { content: text('b'), taskType: 'CLUSTERING' }];
    for (const [path, body, param] of [
      ['vectors:embedContent', {}, 'content'],
      ['vectors:embedContent', { content: 5 }, 'content'],
      ['vectors:embedContent', { content: {} }, 'content'],
      ['vectors:embedContent', { content: text('') }, 'content'],
      ['vectors:embedContent', { content: image }, 'content.parts[1]'],
      ['vectors:embedContent', { content: text('a'), outputDimensionality: 0 }, 'outputDimensionality'],
      ['vectors:batchEmbedContents', {}, 'requests'],
      ['vectors:batchEmbedContents', { requests: [] }, 'requests'],
      ['vectors:batchEmbedContents', { requests: [a, { content: image }] }, 'requests[1].content.parts[1]'],
      ['vectors:batchEmbedContents', { requests: [a, a, b] }, 'requests[2]'],
    ] as const) {
      const { status, json } = await post(path, body);
      assert.equal(status, 400, `${path} ${JSON.stringify(body)}`);
      const { error } = json as { error: { status: string; details: Json[] } };
      assert.equal(error.status, 'INVALID_ARGUMENT');
      const [, violation] = error.details as [Json, { fieldViolations: { field: string }[] }];
      assert.equal(violation.fieldViolations[0]?.field, param, JSON.stringify(error));
    }
    await assert.rejects(
      client.models.embedContent({ model: 'nobody', contents: 'a' }),
      (error) => error instanceof ApiError && error.status === 404,
    );
  });
});
