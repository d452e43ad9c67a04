import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import OpenAI from 'openai';
import { startGateway } from '../support/gateway.ts';
import { ACME_MODELS, type Json, KEY, setListings } from './listings-world.ts';

describe('listings of dialect B', { timeout: 60_000 }, () => {
  const listings = setListings();
  const { get, ok, fails } = listings;
  let client: OpenAI;
  before(() => {
    client = new OpenAI({ baseURL: `${listings.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
  });

  test('GET /v1: a page whose links lead somewhere', async () => {
    const response = await fetch(`${listings.origin}/v1`);
    assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
    const links = [...(await response.text()).matchAll(/href="([^"]+)"/g)].map(([, path]) => String(path));
    assert.equal(links.length, 4);
    for (const path of links) assert.equal((await fetch(listings.origin + path)).status, 200, path);
  });

  test('GET /v1/models: every model once, then aliases, then providers', async () => {
    const { object, data } = await ok<{ object: string; data: Json[] }>('/v1/models');
    assert.equal(object, 'list');
    const ids = data.map((model) => model['id']);
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual(ids, [
      ...ACME_MODELS.map((model) => model.id),
      'painting-video',
      'claude-sonnet-4-5',
      'claude-3-haiku-20240307',
      'gemini-2.5-flash',
      'gemini-2.5-flash-image',
      'gemini-embedding-001',
      'gemini-2.5-flash-preview-tts',
      'one',
      'two',
      'fast',
      'best',
      'acme',
      'second',
      'claude',
      'gemini',
      'fixed',
    ]);
    for (const model of data) {
      assert.equal(model['object'], 'model');
      assert.equal(model['created'], 0);
      assert.equal(typeof model['owned_by'], 'string');
      for (const field of ['provider', 'image', 'vision']) assert.equal(typeof model[field], 'boolean', field);
    }
    const find = (id: string) => data.find((model) => model['id'] === id);
    assert.partialDeepStrictEqual(find('seeing'), { owned_by: 'acme', vision: true, image: false, provider: false });
    assert.partialDeepStrictEqual(find('painting'), { image: true, type: 'image' });
    assert.partialDeepStrictEqual(find('text-embedding-3-small'), { type: 'embedding' });
    assert.partialDeepStrictEqual(find('org/model-x'), { tools: true, reasoning: true, context_length: 32_000 });
    assert.deepEqual(find('shared-model')?.['providers'], ['acme', 'second']);
    assert.partialDeepStrictEqual(find('acme'), { provider: true, image: true, vision: true });
    assert.partialDeepStrictEqual(find('best'), { provider: false, image: false, vision: true });
    assert.deepEqual(find('best')?.['alias_of'], ['claude/claude-sonnet-4-5', 'seeing']);
  });

  test('the official client lists them', async () => {
    const listed: string[] = [];
    for await (const model of client.models.list()) listed.push(model.id);
    assert.ok(listed.includes('org/model-x'));
    assert.ok(listed.includes('claude-sonnet-4-5'));
  });

  for (const [id, expected, owner] of [
    ['seeing', 'seeing', 'acme'],
    ['acme/seeing', 'seeing', 'acme'],
    ['acme:seeing', 'seeing', 'acme'],
    ['ACME/seeing', 'seeing', 'acme'],
    ['org/model-x', 'org/model-x', 'acme'],
    ['acme/org/model-x', 'org/model-x', 'acme'],
    ['second/shared-model', 'shared-model', 'second'],
    ['claude/claude-sonnet-4-5', 'claude-sonnet-4-5', 'claude'],
    ['gemini/gemini-2.5-flash', 'gemini-2.5-flash', 'gemini'],
    ['fast', 'fast', 'sluice'],
    ['acme', 'acme', 'Acme Models'],
    ['groq', 'groq', 'Locked'],
  ] as const) {
    test(`GET and POST /v1/models/${id}`, async () => {
      const retrieved = await client.models.retrieve(id);
      assert.equal(retrieved.id, expected);
      assert.equal(retrieved.object, 'model');
      assert.equal(retrieved.owned_by, owner);
      const posted = await get(`/v1/models/${id}`, {}, 'POST');
      assert.equal(posted.status, 200);
      assert.deepEqual(posted.json, { ...retrieved });
    });
  }

  test('a model that is not there', async () => {
    for (const id of ['nothing', 'acme/nothing', 'nobody/seeing', 'acme/', 'second/seeing', 'groq/locked-model']) {
      await assert.rejects(client.models.retrieve(id), OpenAI.NotFoundError);
      assert.equal((await get(`/v1/models/${id}`, {}, 'POST')).status, 404);
    }
  });

  test('GET /api/<provider>/models', async () => {
    const { object, data } = await ok<{ object: string; data: Json[] }>('/api/acme/models');
    assert.equal(object, 'list');
    assert.deepEqual(
      data.map((model) => model['id']),
      ACME_MODELS.map((model) => model.id),
    );
    for (const model of data) {
      assert.partialDeepStrictEqual(model, { object: 'model', created: 0, owned_by: 'acme' });
      for (const field of ['image', 'vision', 'audio', 'video']) assert.equal(typeof model[field], 'boolean');
      assert.equal(typeof model['type'], 'string');
      assert.equal(typeof model['count'], 'number');
    }
    assert.deepEqual(await ok('/api/Acme%20Models/models'), { object, data });
    await fails('/api/nobody/models', 404, 'provider_not_found');
  });

  test('GET /api/<provider>/models with the key of the client', async () => {
    await fails('/api/groq/models', 401, 'missing_credentials');
    for (const headers of [{ authorization: `Bearer ${KEY}` }, { 'x-api-key': KEY }, { x_api_key: KEY }]) {
      const { data } = await ok<{ data: Json[] }>('/api/groq/models', headers as Record<string, string>);
      assert.deepEqual(
        data.map((model) => model['id']),
        ['locked-model'],
      );
    }
    // Nobody else sees it for that.
    await fails('/api/groq/models', 401, 'missing_credentials');
  });

  test('GET /v1/providers', async () => {
    const providers = await ok<Json[]>('/v1/providers');
    assert.deepEqual(
      providers.slice(0, 5).map((provider) => provider['id']),
      ['acme', 'second', 'claude', 'gemini', 'fixed'],
    );
    assert.ok(providers.some((provider) => provider['id'] === 'groq'));
    for (const provider of providers) {
      assert.equal(provider['object'], 'provider');
      assert.equal(provider['created'], 0);
      assert.equal(typeof provider['label'], 'string');
      assert.ok(provider['url'] === null || typeof provider['url'] === 'string');
    }
  });

  test('GET /v1/providers/<provider>', async () => {
    const acme = await ok<Json>('/v1/providers/acme');
    assert.deepEqual(acme, {
      id: 'acme',
      object: 'provider',
      created: 0,
      url: null,
      label: 'Acme Models',
      models: ['org/model-x', 'seeing', 'shared-model'],
      image_models: ['painting'],
      vision_models: ['seeing'],
      params: acme['params'],
    });
    assert.ok(Array.isArray(acme['params']) && acme['params'].includes('model') && acme['params'].includes('messages'));
    assert.deepEqual(await ok('/v1/providers/acme%20models'), acme);
    assert.equal((await ok<Json>('/v1/providers/claude'))['label'], 'claude');
    await fails('/v1/providers/nobody', 404, 'provider_not_found');
  });
});

test('models of a vendor that the operator lists can what their names say', { timeout: 60_000 }, async (context) => {
  const models = ['gemini-2.5-flash', 'gemini-2.5-flash-image', 'gemini-embedding-001', 'gemini-2.5-flash-preview-tts'];
  const gateway = await startGateway(
    [
      'providers:',
      '  mine: { kind: anthropic, baseUrl: "http://127.0.0.1:9", apiKey: k, models: [claude-sonnet-4-5, my-own] }',
      `  gem: { kind: google, baseUrl: "http://127.0.0.1:9", apiKey: k, models: [${models.join(', ')}] }`,
    ].join('\n'),
  );
  context.after(() => gateway.close());
  const listed = async (provider: string) => {
    const { data } = (await (await fetch(`${gateway.origin}/api/${provider}/models`)).json()) as { data: Json[] };
    return data;
  };
  assert.partialDeepStrictEqual(await listed('mine'), [
    { id: 'claude-sonnet-4-5', type: 'chat', vision: true, tools: true, reasoning: true },
    { id: 'my-own', type: 'chat', vision: false, tools: false, reasoning: false },
  ]);
  assert.partialDeepStrictEqual(await listed('gem'), [
    { type: 'chat', vision: true, tools: true },
    { image: true, vision: true },
    { type: 'embedding', vision: false },
    { type: 'speech', audio: true, vision: false },
  ]);
});
