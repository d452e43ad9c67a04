import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import { WAYS } from '../support/ways.ts';
import { askConversation, type Json, QUESTION, readConversation } from '../support/wire-answers.ts';

// What is asked reaches the upstream as it was asked.

describe('requests', { concurrency: 4 }, () => {
  let upstream: OpenAiUpstream;
  let gateway: Gateway;

  before(async () => {
    upstream = await startOpenAiUpstream();
    gateway = await startGateway(
      `providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}', apiKey: key-of-mock } }\naliases: { best: [mock/real-model] }`,
    );
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  /** Posts these very bytes, and returns what the upstream got. */
  async function relayed(text: string): Promise<string> {
    const response = await fetch(`${gateway.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: text,
    });
    assert.equal(response.status, 200, await response.clone().text());
    await response.arrayBuffer();
    return upstream.chats.findLast(({ rawBody }) => rawBody.includes(marker(text)))?.rawBody.toString() ?? '';
  }
  const marker = (text: string): string => /"tag": ?"[^"]*"/.exec(text)?.[0] ?? '';

  test('200 KB of prompt reach the upstream byte for byte', { timeout: 30_000 }, async () => {
    const prompt = 'Grüße "und" \\ 世界 🌍\n'.repeat(8_000);
    const messages = `[{"role":"user","content":${JSON.stringify(prompt)}, "x" : 1e0}]`;
    const got = await relayed(`{"model":"mock/m","tag":"prompt","messages":${messages}}`);
    assert.ok(got.includes(messages));
    assert.equal((JSON.parse(got) as Json)['model'], 'm');
  });

  test('unknown fields and figures beyond what JavaScript counts to are kept as they are', {
    timeout: 30_000,
  }, async () => {
    const fields =
      '"seed":12345678901234567890,"x_new":{"a":[1.0,1e2,0.10000000000000000001]},"top_a":0.50,"user":"ann"';
    const got = await relayed(
      `{"model":"mock/m","tag":"fields",${fields},"messages":[{"role":"user","content":"Hi"}]}`,
    );
    assert.ok(got.includes(fields), got);
  });

  test('fields of our own stay here; what they mean is done', { timeout: 30_000 }, async () => {
    const own: Json = {
      provider: 'mock',
      ignored: ['other'],
      api_key: 'key-of-client',
      web_search: false,
      download_media: false,
      conversation: { id: 1 },
      conversation_id: 'c',
      timeout: 10,
      stream_timeout: 10,
      image_name: 'a.png',
      raw: true,
      base_url: 'http://attacker.example',
      api_base: 'http://attacker.example',
      proxy: 'http://attacker.example',
      headers: { 'x-evil': '1' },
      extra_headers: { 'x-evil': '1' },
      extra_body: { from_extra: 1, provider: 'evil', base_url: 'http://attacker.example' },
    };
    const got = await relayed(JSON.stringify({ model: 'm', tag: 'own', messages: QUESTION, ...own }));
    assert.deepEqual(JSON.parse(got), { model: 'm', tag: 'own', messages: QUESTION, from_extra: 1 });
    const seen = upstream.chats.findLast(({ rawBody }) => rawBody.toString() === got);
    assert.equal(seen?.headers.authorization, 'Bearer key-of-client');
    assert.equal(seen?.headers['x-evil'], undefined);

    const tagged = { ...own, model: 'm', messages: QUESTION, tag: 'typed' };
    readConversation(await askConversation(gateway.origin, tagged));
    const typed = upstream.chats.findLast(({ body }) => (body as Json)['tag'] === 'typed');
    // Dialect A has no fields of these names, so they are the provider's.
    const { image_name: _name, raw: _raw, extra_body: _extra, ...shared } = own;
    for (const name of Object.keys(shared)) assert.ok(!Object.hasOwn(typed?.body as object, name), name);
  });

  test('an alias becomes the upstream’s name of the model, everywhere', { timeout: 30_000 }, async () => {
    for (const way of Object.values(WAYS)) {
      const received = await way.ask(gateway.origin, { model: 'best' });
      way.read(received);
      assert.equal(received.headers['x-sluice-model'], 'real-model');
    }
    const asked = upstream.chats.filter(({ model }) => model === 'real-model');
    assert.equal(asked.length, Object.keys(WAYS).length);
  });

  test('names of models that no header can hold', { timeout: 30_000 }, async () => {
    for (const model of ['模型/ü', "a'b c%20d", '🌍']) {
      for (const way of Object.values(WAYS)) {
        const received = await way.ask(gateway.origin, { provider: 'mock', model });
        way.read(received);
        assert.equal(decodeURI(String(received.headers['x-sluice-model'])), model);
      }
    }
  });
});
