import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { assertError, CHATS, HI, openWorld, type World } from './edge-world.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const text = JSON.stringify(HI);

describe('keys of prototypes', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  const KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'];
  const assertClean = (): void => {
    const plain = {} as Record<string, unknown>;
    assert.equal(plain['polluted'], undefined);
    assert.equal(Object.keys(Object.prototype).length, 0);
    assert.equal(typeof plain.toString, 'function');
  };

  for (const { dialect, path } of CHATS) {
    test(`in bodies to ${dialect}`, async () => {
      for (const key of KEYS) {
        const evil = `{"polluted":"yes","prototype":{"polluted":"yes"},"text":"no","type":"text"}`;
        for (const body of [
          text.replace('{', `{"${key}":${evil},`),
          text.replace('"role"', `"${key}":${evil},"role"`),
          text.replace('"Hi"', `[{"${key}":${evil},"type":"text","text":"Hi"}]`),
          text.replace('{', `{"conversation":{"${key}":${evil},"mock":{"${key}":${evil}}},`),
          text.replace('{', `{"api_key":{"${key}":"yes"},`),
          text.replace('{', `{"extra_body":{"${key}":${evil}},`),
          text.replace('{', `{"tools":[{"${key}":${evil},"function":{"name":"f","parameters":{"${key}":${evil}}}}],`),
          text.replace('{', `{"response_format":{"${key}":${evil},"type":"text"},`),
        ]) {
          const answer = await world.ask({ path, method: 'POST', headers: JSON_TYPE, body });
          assert.equal(answer.status, 200, `${body}: ${answer.text}`);
          assert.equal(world.last.model, 'test-model');
          assert.equal(world.last.prompt, 'Hi');
          assertClean();
        }
      }
      await world.isWell();
    });
  }

  test('instead of what is required', async () => {
    for (const { path, wrongField } of CHATS) {
      for (const body of [
        `{"__proto__":${text}}`,
        `{"__proto__":{"messages":[{"role":"user","content":"Hi"}]},"model":"test-model"}`,
        `{"messages":[{"__proto__":{"role":"user","content":"Hi"}}],"model":"test-model"}`,
      ]) {
        assertError(await world.ask({ path, method: 'POST', headers: JSON_TYPE, body }), wrongField, body);
      }
    }
  });

  test('as names of models and providers', async () => {
    for (const key of KEYS) {
      for (const { path } of CHATS) {
        assertError(await world.ask({ path, body: { ...HI, provider: key } }), 404, key);
        const answer = await world.ask({ path, body: { ...HI, model: key } });
        assert.match(answer.text, /model_not_found/, key);
      }
      for (const path of [`/v1/models/${key}`, `/v1/providers/${key}`, `/api/${key}/models`, `/${key}`]) {
        assertError(await world.ask({ path }), 404, path);
      }
      assertError(await world.ask({ path: `/backend-api/v2/models/${key}` }), 404, key);
      assertError(await world.ask({ path: `/api/${key}/chat/completions`, body: HI }), 404, key);
    }
  });

  test('as fields that a provider has no place for, which are told by the names that the client gave them', async (context) => {
    const claude = await startAnthropicUpstream(() => ({ text: ['Hello.'] }));
    context.after(() => claude.close());
    await using other = await openWorld({
      yaml: `  claude: { kind: anthropic, baseUrl: '${claude.baseUrl}', apiKey: claude-key }`,
    });
    for (const [path, body] of [
      ['/v1/responses', { input: 'Hi', model: 'claude/test-model' }],
      ['/v1/chat/completions', { ...HI, model: 'claude/test-model' }],
      ['/v1beta/models/claude%2Ftest-model:generateContent', { contents: [{ parts: [{ text: 'Hi' }] }] }],
    ] as const) {
      for (const key of KEYS) {
        const fields = JSON.stringify(body).replace('{', `{"${key}":"x",`);
        const answer = await other.ask({ path, method: 'POST', headers: JSON_TYPE, body: fields });
        assert.equal(answer.status, 200, `${path} ${key}: ${answer.text}`);
        // Gemini's own decoder leaves this one out before anybody asks what it is for.
        const isLeftOut = key === '__proto__' && path.startsWith('/v1beta');
        assert.equal(answer.headers['x-sluice-dropped'], isLeftOut ? undefined : key, path);
        assertClean();
      }
    }
  });

  test('in queries and headers', async () => {
    for (const key of KEYS) {
      const query = `prompt=Hi&${key}=x&${key}[polluted]=yes&${key}.polluted=yes&constructor[prototype][polluted]=yes`;
      const answer = await world.ask({ path: `/backend-api/v2/create?${query}` });
      assert.equal(answer.text, 'Hello from the upstream.', key);
      const headers = { [key]: 'yes', [`x-${key}`]: 'yes', cookie: `${key}=yes` };
      const named = await world.ask({ path: '/v1/chat/completions', headers, body: HI });
      assert.equal(named.status, 200, named.text);
      assert.ok(!Object.hasOwn(world.last.headers, key.toLowerCase()), key);
      assertClean();
    }
  });
});
