import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI from 'openai';
import { audioFacts } from '../support/audio.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';

let gateway: Gateway;
let client: OpenAI;

async function post(body: unknown, path = '/v1/audio/speech') {
  const response = await fetch(gateway.origin + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, response, bytes: Buffer.from(await response.arrayBuffer()) };
}

describe('POST /v1/audio/speech', () => {
  before(async () => {
    gateway = await startGateway(`
embedded: { enabled: true }
aliases: { narrator: [flite/flite] }
providers: { mute: { kind: anthropic, baseUrl: 'http://127.0.0.1:9', apiKey: no-key, models: [quiet] } }
`);
    client = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
  });
  after(() => gateway.close());

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
    ['an unknown form of stream', { input: 'a', stream_format: 'webm' }, 422, 'invalid_field'],
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

  test('a format that was left open is the usual one', async () => {
    const usual = await post({ input: 'Yes.' });
    const open = await post({ input: 'Yes.', response_format: '' });
    assert.equal(open.status, 200, open.bytes.toString());
    assert.deepEqual(audioFacts(open.bytes), audioFacts(usual.bytes));
    assert.equal((await post({ input: 'Yes.', response_format: 'webm' })).status, 422);
  });

  test('a text that is too long, or says nothing, is named as the field that it is', async () => {
    for (const input of ['a'.repeat(10_001), ' \n']) {
      const { bytes } = await post({ input });
      const { error } = JSON.parse(bytes.toString()) as { error: { message: string; param: string } };
      assert.equal(error.param, 'input');
      assert.match(error.message, /^'input' (has more than 10000 characters, which is a fixed limit|is empty)\.$/);
    }
  });

  test('events hold the audio in pieces, and say what it cost', async () => {
    const { response, bytes } = await post({ input: 'One. Two.', response_format: 'wav', stream_format: 'sse' });
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
    assert.equal(response.headers.get('x-sluice-provider'), 'flite');
    const events = bytes
      .toString()
      .split('\n\n')
      .filter((event) => event.startsWith('data: '))
      .map((event) => JSON.parse(event.slice(6)) as { type: string; audio?: string; usage?: { total_tokens: number } });
    const last = events.pop();
    assert.equal(last?.type, 'speech.audio.done');
    assert.ok((last.usage?.total_tokens ?? 0) > 0);
    assert.ok(events.every(({ type }) => type === 'speech.audio.delta'));
    const audio = Buffer.concat(events.map((event) => Buffer.from(event.audio ?? '', 'base64')));
    const { format, seconds } = audioFacts(audio);
    assert.ok(format === 'wav' && seconds > 0.3);
  });

  test('who speaks is told, and another one takes over where the first cannot', async () => {
    const { status, response, bytes } = await post({
      input: 'Yes.',
      response_format: 'wav',
      provider: 'mute flite',
      model: 'flite',
    });
    assert.equal(status, 200);
    assert.equal(audioFacts(bytes).format, 'wav');
    const { headers } = response;
    assert.deepEqual(
      ['provider', 'model', 'attempts'].map((name) => headers.get(`x-sluice-${name}`)),
      ['flite', 'flite', '2'],
    );
  });

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
