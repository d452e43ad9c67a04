import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/load.ts';
import { testLogger } from '../support/call.ts';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import { converse } from './selection-world.ts';

/** The file that people are shown first. */
const EXAMPLE = `
bind: 127.0.0.1:1337
dataDir: ./data
providers:
  mock:
    kind: openai                      # any OpenAI-compatible upstream
    label: Mock
    baseUrl: http://127.0.0.1:18080/v1
    apiKey: \${MOCK_KEY}
    models: [mock-fast]
aliases:
  fast: mock/mock-fast
limits:
  connectMs: 10000
  firstByteMs: 120000
  idleMs: 60000
`;

describe('the example of a configuration', { timeout: 60_000 }, () => {
  let upstream: OpenAiUpstream;
  let origin: string;
  let stop: (() => Promise<void>) | undefined;
  before(async () => {
    upstream = await startOpenAiUpstream();
    const folder = mkdtempSync(path.join(tmpdir(), 'sluice-example-'));
    // Word for word, but for the upstream's port; our own is overridden as the command line would do it.
    writeFileSync(path.join(folder, 'sluice.yaml'), EXAMPLE.replace('http://127.0.0.1:18080', upstream.origin));
    const { config } = await loadConfig({
      directory: folder,
      environment: { MOCK_KEY: 'the-mock-key' },
      flags: { bind: '127.0.0.1:0' },
    });
    const app = await createApp(config, testLogger());
    const { host, port } = await app.listen();
    origin = `http://${host}:${port}`;
    stop = async () => {
      await app.drain();
      rmSync(folder, { recursive: true, force: true });
    };
  });
  after(async () => {
    await stop?.();
    await upstream.close();
  });

  for (const body of [
    { model: 'fast' },
    { model: 'mock-fast' },
    { model: 'mock/mock-fast' },
    { model: 'mock' },
    { provider: 'Mock' },
    {},
  ]) {
    test(`answers ${JSON.stringify(body)} in both dialects`, async () => {
      const before = upstream.chats.length;
      const { status, events } = await converse({ origin }, body);
      assert.equal(status, 200);
      assert.deepEqual(events[0], {
        type: 'provider',
        provider: { name: 'mock', label: 'Mock', url: null, model: 'mock-fast' },
      });
      const told = events.flatMap((event) => (event.type === 'content' ? [event['content']] : []));
      assert.equal(told.join(''), 'Hello from the upstream.');
      assert.equal(events.at(-1)?.type, 'finish');

      for (const stream of [false, true]) {
        const response = await fetch(`${origin}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: 'Bearer secret' },
          body: JSON.stringify({ ...body, messages: [{ role: 'user', content: 'Hi' }], stream }),
        });
        const text = await response.text();
        assert.equal(response.status, 200, text);
        assert.equal(response.headers.get('x-sluice-provider'), 'mock');
        assert.equal(response.headers.get('x-sluice-model'), 'mock-fast');
        const said = stream
          ? text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [pieceOf(JSON.parse(line.slice(6)))] : []))
          : [(JSON.parse(text) as Completion).choices[0]?.message.content];
        assert.equal(said.join(''), 'Hello from the upstream.');
      }
      const arrived = upstream.chats.slice(before);
      assert.equal(arrived.length, 3);
      for (const { model, headers } of arrived) {
        assert.equal(model, 'mock-fast');
        assert.equal(headers.authorization, 'Bearer the-mock-key');
      }
    });
  }

  test('lists the model and its other name', async () => {
    const { data } = (await (await fetch(`${origin}/v1/models`)).json()) as { data: { id: string }[] };
    const ids = data.map((model) => model.id);
    for (const id of ['mock-fast', 'fast', 'mock']) assert.ok(ids.includes(id), id);
  });

  test('names the variable when it is missing', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'sluice-example-'));
    writeFileSync(path.join(folder, 'sluice.yaml'), EXAMPLE);
    try {
      await assert.rejects(loadConfig({ directory: folder, environment: {} }), /MOCK_KEY/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

interface Completion {
  readonly choices: readonly { readonly message: { readonly content: string } }[];
}

function pieceOf(chunk: { readonly choices: readonly { readonly delta: { readonly content?: string } }[] }): string {
  return chunk.choices[0]?.delta.content ?? '';
}
