import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, GoogleGenAI } from '@google/genai';
import OpenAI, { toFile } from 'openai';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { startGateway } from '../support/gateway.ts';
import { picture } from '../support/pictures.ts';
import { startScriptedServer } from '../support/scripted-server.ts';
import { WAV } from './audio-world.ts';

test('a field that an upstream of tasks refuses is named to the client, in its own words', async (context) => {
  const upstream = await startScriptedServer(({ path }) => {
    if (path === '/v1/models') return { body: { object: 'list', data: [{ id: 'm', object: 'model' }] } };
    const error = { message: 'Not that many.', type: 'invalid_request_error', param: 'dimensions', code: null };
    return { status: 400, body: { error } };
  });
  context.after(() => upstream.close());
  const gateway = await startGateway(
    `providers: { acme: { kind: openai, baseUrl: '${upstream.origin}/v1', apiKey: key } }`,
  );
  context.after(() => gateway.close());
  const client = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
  const model = 'acme/m';
  const image = await toFile(await picture('#ff0000'), 'a.png', { type: 'image/png' });
  const file = await toFile(WAV, 'a.wav');
  const tasks: Readonly<Record<string, () => Promise<unknown>>> = {
    embeddings: () => client.embeddings.create({ model, input: 'a', dimensions: 9 }),
    drawing: () => client.images.generate({ model, prompt: 'a' }),
    edit: () => client.images.edit({ model, prompt: 'a', image }),
    speech: () => client.audio.speech.create({ model, input: 'a', voice: 'alloy' }),
    transcription: () => client.audio.transcriptions.create({ model, file }),
    moderation: () => client.moderations.create({ model, input: 'a' }),
    completion: () => client.completions.create({ model, prompt: 'a' }),
  };
  for (const [name, ask] of Object.entries(tasks)) {
    await assert.rejects(ask, (error) => {
      assert.ok(error instanceof OpenAI.BadRequestError, `${name}: ${error}`);
      assert.deepEqual(
        [error.param, error.code, error.type],
        ['dimensions', 'invalid_request', 'invalid_request_error'],
      );
      return true;
    });
  }
  const google = new GoogleGenAI({ apiKey: 'secret', httpOptions: { baseUrl: gateway.origin } });
  await assert.rejects(
    google.models.embedContent({ model, contents: 'a', config: { outputDimensionality: 9 } }),
    (error) => error instanceof ApiError && error.status === 400 && error.message.includes('"outputDimensionality"'),
  );
});

test('a field that OpenAI’s Responses API refuses is named with its place to its own clients, and without to others', async (context) => {
  const error = {
    message: 'No such tool.',
    type: 'invalid_request_error',
    param: 'tools[0].type',
    code: 'invalid_value',
  };
  const upstream = await startScriptedServer(() => ({ status: 400, body: { error } }));
  context.after(() => upstream.close());
  const gateway = await startGateway(
    `providers: { acme: { kind: openai-responses, baseUrl: '${upstream.origin}/v1', apiKey: key, hostedTools: true } }`,
  );
  context.after(() => gateway.close());
  const client = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
  const model = 'acme/gpt-5.2';
  const refusals: readonly (readonly [() => Promise<unknown>, string])[] = [
    [() => client.responses.create({ model, input: 'a' }), 'tools[0].type'],
    [() => client.responses.create({ model, input: 'a', stream: true }), 'tools[0].type'],
    [() => client.responses.inputTokens.count({ model, input: 'a' }), 'tools[0].type'],
    [() => client.chat.completions.create({ model, messages: [{ role: 'user', content: 'a' }] }), 'tools'],
  ];
  for (const [ask, param] of refusals) {
    await assert.rejects(ask, (thrown) => {
      assert.ok(thrown instanceof OpenAI.BadRequestError, String(thrown));
      assert.equal(thrown.param, param);
      return true;
    });
  }
});

test('what a provider cannot take is named as the client calls it, whatever the refusal', async (context) => {
  const claude = await startAnthropicUpstream(() => ({ text: ['Hi'] }));
  context.after(() => claude.close());
  const gateway = await startGateway(
    `providers: { claude: { kind: anthropic, baseUrl: '${claude.baseUrl}', apiKey: key } }`,
  );
  context.after(() => gateway.close());
  const client = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
  const google = new GoogleGenAI({ apiKey: 'secret', httpOptions: { baseUrl: gateway.origin } });
  const model = 'claude/claude-sonnet-4-5';
  // Claude hears nothing, and a picture in base64 is no address.
  for (const [status, mimeType, data, field] of [
    [501, 'audio/wav', WAV.toString('base64'), 'contents'],
    [400, 'image/png', '!!!', 'contents[0].parts[0].inlineData.data'],
  ] as const) {
    const part =
      status === 501
        ? { type: 'input_audio', input_audio: { data, format: 'wav' } }
        : { type: 'input_image', image_url: `data:${mimeType};base64,${data}`, detail: 'auto' };
    const input = [{ role: 'user', content: [part] }] as unknown as OpenAI.Responses.ResponseInput;
    await assert.rejects(client.responses.create({ model, input }), (thrown) => {
      assert.ok(thrown instanceof OpenAI.APIError, String(thrown));
      assert.deepEqual([thrown.status, thrown.param], [status, 'input']);
      return true;
    });
    const contents = [{ role: 'user', parts: [{ inlineData: { mimeType, data } }] }];
    await assert.rejects(google.models.generateContent({ model, contents }), (thrown) => {
      assert.ok(thrown instanceof ApiError, String(thrown));
      assert.equal(thrown.status, status);
      assert.ok(thrown.message.includes(`"field":"${field}"`), thrown.message);
      return true;
    });
  }
});
