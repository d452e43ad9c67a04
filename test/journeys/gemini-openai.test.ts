import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI, { AuthenticationError } from 'openai';
import { startEmbeddingUpstream } from '../support/embedding-upstream.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';

const KEY = 'access-key-of-the-test';
const HI = [{ role: 'user' as const, content: 'Hi' }];
const HELLO = 'Hello from the upstream.';

describe('OpenAI’s client at the address that Google has for it', { timeout: 60_000 }, () => {
  let upstream: OpenAiUpstream;
  let embedding: OpenAiUpstream;
  let gateway: Gateway;
  before(async () => {
    upstream = await startOpenAiUpstream(undefined, { models: ['gpt-test'] });
    embedding = await startEmbeddingUpstream();
    gateway = await startGateway(`
key: ${KEY}
providers:
  openai: { kind: openai, baseUrl: "${upstream.baseUrl}", apiKey: secret }
  vectors: { kind: openai, baseUrl: "${embedding.baseUrl}" }
`);
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
    await embedding.close();
  });
  const clientOf = (apiKey: string): OpenAI =>
    new OpenAI({ baseURL: `${gateway.origin}/v1beta/openai/`, apiKey, maxRetries: 0 });

  test('gets whole answers and streams', async () => {
    const client = clientOf(KEY);
    const answer = await client.chat.completions.create({ model: 'gpt-test', messages: HI });
    assert.equal(answer.choices[0]?.message.content, HELLO);
    let text = '';
    for await (const { choices } of await client.chat.completions.create({
      model: 'gpt-test',
      messages: HI,
      stream: true,
    }))
      text += choices[0]?.delta.content ?? '';
    assert.equal(text, HELLO);
  });

  test('gets vectors, the models, and one of them', async () => {
    const client = clientOf(KEY);
    const { data } = await client.embeddings.create({ model: 'text-embedding-test', input: ['a', 'b'] });
    assert.equal(data.length, 2);
    assert.ok((await client.models.list()).data.some(({ id }) => id === 'gpt-test'));
    assert.equal((await client.models.retrieve('openai/gpt-test')).object, 'model');
  });

  test('is refused in its own form', async () => {
    await assert.rejects(
      clientOf('wrong').chat.completions.create({ model: 'gpt-test', messages: HI }),
      (error) => error instanceof AuthenticationError && /access key/.test(error.message),
    );
  });

  test('is told in its own form of a method that a path does not have', async () => {
    const answer = await fetch(`${gateway.origin}/v1beta/openai/embeddings`, {
      headers: { authorization: `Bearer ${KEY}` },
    });
    assert.equal(answer.status, 405);
    const { error } = (await answer.json()) as { error: { code: string } };
    assert.equal(error.code, 'method_not_allowed');
  });

  test('leaves the methods of a provider’s models where they were', async () => {
    const answer = await fetch(`${gateway.origin}/v1beta/openai/gpt-test:generateContent`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': KEY },
      body: JSON.stringify({ contents: [{ parts: [{ text: 'Hi' }] }] }),
    });
    assert.match(await answer.text(), /Hello from the upstream\./);
  });
});
