import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import OpenAI from 'openai';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { makeTinyGguf, TINY_SENTENCE } from '../support/tiny-gguf.ts';

describe('embeddings by the models folder, without any network', { timeout: 120_000 }, () => {
  let gateway: Gateway;
  let client: OpenAI;
  before(async () => {
    gateway = await startGateway('embedded: { enabled: true, modelsDir: models, threads: 1 }\nlimits: { attempts: 1 }');
    const folder = path.join(gateway.folder, 'models');
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'tiny-embed.gguf'), makeTinyGguf({ says: TINY_SENTENCE, contextLength: 64 }));
    writeFileSync(path.join(folder, 'broken-embed.gguf'), 'no model');
    client = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
  });
  after(() => gateway.close());

  test('an embedding model is one by its name', async () => {
    const response = await fetch(`${gateway.origin}/api/embedded/models`);
    const { data } = (await response.json()) as { data: { id: string; type: string }[] };
    assert.deepEqual(
      data.filter(({ type }) => type === 'embedding').map(({ id }) => id),
      ['broken-embed', 'tiny-embed'],
    );
  });

  test('the same text has the same vector, another one another', async () => {
    const input = ['Hello! This tiny', 'model always', 'Hello! This tiny'];
    const { data, usage } = await client.embeddings.create({ model: 'tiny-embed', input });
    const [first, second, third] = data.map(({ embedding }) => embedding);
    assert.equal(first?.length, 64);
    assert.ok(first?.every(Number.isFinite) && first.some((value) => value !== 0));
    assert.deepEqual(first, third);
    assert.notDeepEqual(first, second);
    assert.ok(usage.total_tokens >= 6);
    const raw = { model: 'tiny-embed', input: input[0] ?? '', encoding_format: 'float' } as const;
    const numbers = await client.embeddings.create(raw);
    assert.deepEqual(numbers.data[0]?.embedding, first);
  });

  test('a text that is too long says how long one may be', async () => {
    await assert.rejects(client.embeddings.create({ model: 'tiny-embed', input: 'Hello! '.repeat(100) }), {
      status: 400,
      message: /tokens; this model reads 62/,
    });
  });

  test('a file that is no model', async () => {
    await assert.rejects(client.embeddings.create({ model: 'embedded/broken-embed', input: 'a' }), (error) => {
      assert.ok(error instanceof OpenAI.APIError);
      assert.match(error.message, /'broken-embed.gguf' is damaged/);
      assert.doesNotMatch(error.message, new RegExp(gateway.folder));
      return true;
    });
    const { data } = await client.embeddings.create({ model: 'tiny-embed', input: 'model' });
    assert.equal(data.length, 1);
  });

  test('a client that leaves takes nothing from the next', async () => {
    const controller = new AbortController();
    const input = Array.from({ length: 2_000 }, (_, index) => `Hello! ${index % 10}`);
    const left = client.embeddings.create({ model: 'tiny-embed', input }, { signal: controller.signal });
    setTimeout(() => controller.abort(), 30);
    await assert.rejects(left, OpenAI.APIUserAbortError);
    const { data } = await client.embeddings.create({ model: 'tiny-embed', input: ['model', 'always'] });
    assert.equal(data.length, 2);
  });
});
