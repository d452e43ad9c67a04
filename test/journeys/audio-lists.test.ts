import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import { plainServer } from '../support/plain-server.ts';

interface Entry {
  readonly id: string;
  readonly name: string;
  readonly providers: readonly string[];
}

/** As Open WebUI asks, which fills its fields for a model and a voice with the answers. */
describe('GET audio/models and audio/voices', () => {
  let upstream: OpenAiUpstream;
  let gateway: Gateway;
  let closeSilent = (): void => {};
  let askedOfSilent = 0;
  before(async () => {
    const models = ['gpt-4o-mini', 'tts-1', 'gpt-4o-mini-tts', 'kokoro-82m', 'gpt-realtime'];
    upstream = await startOpenAiUpstream(undefined, { models });
    const keep = (done: () => void): void => {
      closeSilent = done;
    };
    const silent = await plainServer({ after: keep }, () => {
      askedOfSilent += 1;
    });
    gateway = await startGateway(`
embedded: { enabled: true }
providers:
  up: { kind: openai, baseUrl: '${upstream.baseUrl}', apiKey: test }
  older: { kind: openai, baseUrl: '${upstream.baseUrl}', apiKey: test, models: [tts-1] }
  mute: { kind: anthropic, baseUrl: 'http://127.0.0.1:9', apiKey: test, models: [tts-1] }
  silent: { kind: anthropic, baseUrl: '${silent.url}', apiKey: test }
  groq: { baseUrl: '${upstream.baseUrl}' }
  gone: { kind: openai, baseUrl: 'http://127.0.0.1:9', apiKey: test }
  elevenlabs: { baseUrl: 'http://127.0.0.1:9', models: [eleven_v3, scribe_v2] }
`);
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
    closeSilent();
  });

  async function listed(path: string, init?: RequestInit): Promise<Record<'models' | 'voices', readonly Entry[]>> {
    const response = await fetch(gateway.origin + path, init);
    assert.equal(response.status, 200, path);
    return (await response.json()) as Record<'models' | 'voices', readonly Entry[]>;
  }

  test('the models are those that read texts aloud, with whoever offers them', async () => {
    const { models } = await listed('/v1/audio/models');
    assert.deepEqual(models, [
      { id: 'tts-1', name: 'tts-1', providers: ['up', 'older'] },
      { id: 'gpt-4o-mini-tts', name: 'gpt-4o-mini-tts', providers: ['up'] },
      { id: 'kokoro-82m', name: 'kokoro-82m', providers: ['up'] },
      { id: 'flite', name: 'Embedded voice (Flite)', providers: ['flite'] },
    ]);
  });

  test('the voices are those that are known, with whoever has them', async () => {
    const { voices } = await listed('/v1/audio/voices');
    const byId = Object.fromEntries(voices.map(({ id, providers }) => [id, providers]));
    assert.equal(voices.length, 13 + 4);
    assert.deepEqual(byId['alloy'], ['up', 'older']);
    assert.deepEqual(byId['marin'], ['up']);
    assert.equal(byId['rms']?.includes('flite'), true);
    assert.equal(voices.find(({ id }) => id === 'rms')?.name, 'RMS (male, American English)');
  });

  test('one provider tells its own', async () => {
    assert.deepEqual(
      (await listed('/api/flite/audio/voices')).voices.map(({ id }) => id),
      ['slt', 'rms', 'awb', 'kal16'],
    );
    assert.deepEqual(
      (await listed('/api/older/audio/models')).models.map(({ id }) => id),
      ['tts-1'],
    );
    assert.deepEqual((await listed('/api/mute/audio/voices')).voices, []);
    // The other model that it is configured for listens.
    const headers = { authorization: 'Bearer of-the-client' };
    assert.deepEqual(
      (await listed('/api/elevenlabs/audio/models', { headers })).models.map(({ id }) => id),
      ['eleven_v3'],
    );
    assert.equal((await fetch(`${gateway.origin}/api/nobody/audio/voices`)).status, 404);
  });

  test('nobody asks, and waits for, a provider that cannot speak', async () => {
    for (const path of ['/v1/audio/models', '/v1/audio/voices']) await listed(path);
    assert.deepEqual((await listed('/api/silent/audio/models')).models, []);
    assert.deepEqual((await listed('/api/silent/audio/voices')).voices, []);
    assert.equal(askedOfSilent, 0);
  });

  test('one provider tells them to the holder of a key, and why it cannot tell any', async () => {
    const headers = { authorization: 'Bearer of-the-client' };
    const { models } = await listed('/api/groq/audio/models', { headers });
    assert.deepEqual(
      models.map(({ id }) => id),
      ['tts-1', 'gpt-4o-mini-tts', 'kokoro-82m'],
    );
    const { requests } = upstream;
    assert.equal(requests.at(-1)?.headers['authorization'], headers.authorization);
    assert.equal((await fetch(`${gateway.origin}/api/groq/audio/voices`)).status, 401);
    assert.equal((await fetch(`${gateway.origin}/api/gone/audio/voices`)).status, 502);
  });

  test('each voice that the embedded model is said to have can be asked for', async () => {
    const { voices } = await listed('/api/flite/audio/voices');
    for (const { id } of voices) {
      const response = await fetch(`${gateway.origin}/v1/audio/speech`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'flite', input: 'Yes.', voice: id, response_format: 'wav' }),
      });
      assert.equal(response.status, 200, id);
      await response.arrayBuffer();
    }
  });
});
