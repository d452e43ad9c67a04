import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI from 'openai';
import { audioFacts } from '../support/audio.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';

let gateway: Gateway;
let client: OpenAI;

before(async () => {
  gateway = await startGateway('embedded: { enabled: true }\naliases: { narrator: [flite/flite] }');
  client = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
});
after(() => gateway.close());

async function post(body: unknown, path = '/v1/audio/speech') {
  const response = await fetch(gateway.origin + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, response, bytes: Buffer.from(await response.arrayBuffer()) };
}

describe('POST /v1/audio/speech', () => {
  test('the official client gets a sound file', async () => {
    const answer = await client.audio.speech.create({ model: 'flite', voice: 'rms', input: 'Hello there.' });
    assert.equal(answer.headers.get('content-type'), 'audio/mpeg');
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    const { format, seconds } = audioFacts(Buffer.from(await answer.arrayBuffer()));
    assert.ok(format === 'mp3' && seconds > 0.5 && seconds < 3);
  });

  for (const [name, body, path] of [
    ['nobody: whoever speaks', {}, undefined],
    ['the provider', { provider: 'flite' }, undefined],
    ['the provider in the path', {}, '/api/flite/audio/speech'],
    ['the embedded provider', { provider: 'embedded' }, undefined],
    ['provider/model', { model: 'flite/flite' }, undefined],
    ['provider:model', { model: 'embedded:flite' }, undefined],
    ['an alias', { model: 'narrator' }, undefined],
  ] as const) {
    test(`asked of ${name}`, async () => {
      const asked = { input: 'Yes.', response_format: 'wav', voice: { id: 'slt' }, ...body };
      const { status, bytes } = await post(asked, path);
      assert.equal(status, 200);
      assert.equal(audioFacts(bytes).format, 'wav');
    });
  }

  for (const [name, body, status, code] of [
    ['no input', {}, 422, 'invalid_field'],
    ['an empty input', { input: '' }, 422, 'invalid_field'],
    ['a number', { input: 1 }, 422, 'invalid_field'],
    ['events instead of audio', { input: 'a', stream_format: 'sse' }, 422, 'invalid_field'],
    ['too fast', { input: 'a', speed: 5 }, 422, 'invalid_field'],
    ['more than 10,000 characters', { input: 'a'.repeat(10_001) }, 413, 'too_large'],
    ['an unknown model', { input: 'a', model: 'gpt' }, 404, 'model_not_found'],
    ['an unknown provider', { input: 'a', provider: 'nobody' }, 404, 'provider_not_found'],
    ['an unknown voice', { input: 'a', voice: 'alloy', model: 'flite' }, 400, 'invalid_request'],
    ['a format that the voice lacks', { input: 'a', response_format: 'aac', model: 'flite' }, 501, 'not_supported'],
  ] as const) {
    test(`${name}: ${status}`, async () => {
      const answer = await post(body);
      const { error } = JSON.parse(answer.bytes.toString()) as { error: { code: string } };
      assert.deepEqual({ status: answer.status, code: error.code }, { status, code });
    });
  }

  test('10,000 characters are read, the first of them before the last is spoken', async () => {
    const input = 'One two three. '.repeat(666);
    const response = await fetch(`${gateway.origin}/v1/audio/speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input, response_format: 'pcm', voice: 'kal16' }),
    });
    assert.equal(response.status, 200);
    const reader = response.body?.getReader();
    assert.ok(((await reader?.read())?.value?.length ?? 0) > 0);
    await reader?.cancel();
  });
});
