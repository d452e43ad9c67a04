import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI, { AuthenticationError, AzureOpenAI, toFile } from 'openai';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import { picture } from '../support/pictures.ts';
import type { SeenRequest } from '../support/seen-request.ts';
import { WAV } from './audio-world.ts';

const KEY = 'access-key-of-the-test';
const HI = [{ role: 'user' as const, content: 'Hi' }];
const HELLO = 'Hello from the upstream.';

/** What the upstream answers where it is not asked for a chat. */
const ANSWERS: Readonly<Record<string, object>> = {
  '/v1/embeddings': { object: 'list', model: 'm', data: [{ object: 'embedding', index: 0, embedding: [1, 2] }] },
  '/v1/completions': {
    object: 'text_completion',
    model: 'm',
    choices: [{ index: 0, text: 'on', finish_reason: 'stop' }],
  },
  '/v1/audio/transcriptions': { text: 'heard' },
};

describe('the official client of Azure', { timeout: 60_000 }, () => {
  let upstream: OpenAiUpstream;
  let gateway: Gateway;
  before(async () => {
    const drawn = (await picture('red')).toString('base64');
    const answers: Record<string, object> = {
      ...ANSWERS,
      '/v1/images/generations': { created: 1, data: [{ b64_json: drawn }] },
    };
    upstream = await startOpenAiUpstream(undefined, {
      models: ['gpt-test', 'other/with-slash'],
      handle({ path }: SeenRequest, response) {
        const answer = path === '/v1/audio/speech' ? 'spoken' : answers[path];
        if (answer === undefined) return false;
        response.setHeader('content-type', typeof answer === 'string' ? 'audio/mpeg' : 'application/json');
        response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
        return true;
      },
    });
    gateway = await startGateway(
      `key: ${KEY}\nproviders: { acme: { kind: openai, baseUrl: "${upstream.baseUrl}" } }\naliases: { fast: acme/gpt-test }`,
    );
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });
  const clientOf = (apiKey: string, deployment?: string): AzureOpenAI =>
    new AzureOpenAI({
      endpoint: gateway.origin,
      apiVersion: '2026-10-01-preview',
      apiKey,
      maxRetries: 0,
      ...(deployment === undefined ? {} : { deployment }),
    });
  const last = (): { path: string; model: unknown } => {
    const { path = '', body } = upstream.requests.at(-1) ?? {};
    return { path, model: (body as { model?: unknown } | undefined)?.model };
  };

  test('gets a whole answer and a stream of the model that it calls its deployment', async () => {
    const client = clientOf(KEY);
    for (const [model, sent] of [
      ['gpt-test', 'gpt-test'],
      ['fast', 'gpt-test'],
      ['acme/other/with-slash', 'other/with-slash'],
    ] as const) {
      const answer = await client.chat.completions.create({ model, messages: HI });
      assert.equal(answer.choices[0]?.message.content, HELLO);
      assert.deepEqual(last(), { path: '/v1/chat/completions', model: sent });
      let text = '';
      for await (const { choices } of await client.chat.completions.create({ model, messages: HI, stream: true }))
        text += choices[0]?.delta.content ?? '';
      assert.equal(text, HELLO);
    }
  });

  test('gets it where the body names another model, or none', async () => {
    const answer = await clientOf(KEY, 'fast').chat.completions.create({ model: 'unknown', messages: HI });
    assert.equal(answer.choices[0]?.message.content, HELLO);
    const bare = await fetch(`${gateway.origin}/openai/deployments/fast/chat/completions?api-version=2026-10-01`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'api-key': KEY },
      body: JSON.stringify({ messages: HI }),
    });
    assert.equal(bare.status, 200, await bare.text());
    assert.deepEqual(last(), { path: '/v1/chat/completions', model: 'gpt-test' });
  });

  test('gets everything else that Azure has below a deployment', async () => {
    const client = clientOf(KEY, 'acme/gpt-test');
    const model = 'gpt-test';
    assert.equal((await client.embeddings.create({ model, input: 'a', encoding_format: 'float' })).data.length, 1);
    assert.equal((await client.completions.create({ model, prompt: 'Go' })).choices[0]?.text, 'on');
    assert.equal((await client.images.generate({ model, prompt: 'A cat' })).data?.length, 1);
    const spoken = await client.audio.speech.create({ model, voice: 'alloy', input: 'Hello' });
    assert.equal(await spoken.text(), 'spoken');
    const { text } = await client.audio.transcriptions.create({ model, file: await toFile(WAV, 'a.wav') });
    assert.equal(text, 'heard');
    assert.deepEqual(
      upstream.requests.slice(-5).map(({ path }) => path),
      ['embeddings', 'completions', 'images/generations', 'audio/speech', 'audio/transcriptions'].map(
        (end) => `/v1/${end}`,
      ),
    );
  });

  test('gets what has no deployment: responses, models and files', async () => {
    const client = clientOf(KEY);
    const { id, output_text: text } = await client.responses.create({ model: 'fast', input: 'Hi' });
    assert.equal(text, HELLO);
    assert.equal((await client.responses.retrieve(id)).output_text, HELLO);
    const models = await client.models.list();
    assert.ok(models.data.some((each) => each.id === 'fast'));
    const { id: file } = await client.files.create({
      purpose: 'user_data',
      file: await toFile(Buffer.from('a'), 'a.txt'),
    });
    assert.equal((await client.files.retrieve(file)).bytes, 1);
  });

  test('and OpenAI’s get the same where Azure has no versions of its own', async () => {
    const client = new OpenAI({ baseURL: `${gateway.origin}/openai/v1/`, apiKey: KEY });
    const answer = await client.chat.completions.create({ model: 'fast', messages: HI });
    assert.equal(answer.choices[0]?.message.content, HELLO);
    assert.equal((await client.responses.create({ model: 'fast', input: 'Hi' })).output_text, HELLO);
    assert.ok((await client.models.list()).data.length > 0);
  });

  test('is refused with another key than its own, and with the right one elsewhere', async () => {
    const { length } = upstream.requests;
    await assert.rejects(
      clientOf('wrong').chat.completions.create({ model: 'fast', messages: HI }),
      AuthenticationError,
    );
    for (const path of ['/v1/models', '/v1/openai/', '/openai'])
      assert.equal((await fetch(`${gateway.origin}${path}`, { headers: { 'api-key': KEY } })).status, 401, path);
    assert.equal(upstream.requests.length, length);
  });

  test('is told of a deployment whose name is none', async () => {
    const { length } = upstream.requests;
    const headers = { 'content-type': 'application/json', 'api-key': KEY };
    for (const name of ['a\u0000b', 'a\r\nb', 'x'.repeat(257)]) {
      const url = `${gateway.origin}/openai/deployments/${encodeURIComponent(name)}/chat/completions`;
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ messages: HI }) });
      assert.equal(answer.status, 400, await answer.text());
    }
    assert.equal(upstream.requests.length, length);
  });
});
