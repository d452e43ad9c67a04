import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, test } from 'node:test';
import OpenAI from 'openai';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import type { Gateway } from '../support/gateway.ts';
import { startGeminiUpstream } from '../support/gemini-upstream.ts';
import { type SeenRequest, startOpenAiUpstream } from '../support/openai-upstream.ts';
import { startGatewayBefore } from './gateway-before.ts';

type Json = Record<string, unknown>;

/** What OpenAI's format lists, and what is known or guessed of it. */
const ACME_MODELS = [
  { id: 'text-embedding-3-small' },
  { id: 'org/model-x', context_length: 32_000, supported_parameters: ['tools', 'reasoning'] },
  {
    id: 'seeing',
    name: 'Seeing One',
    architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
  },
  { id: 'painting', architecture: { input_modalities: ['text'], output_modalities: ['image'] } },
  { id: 'shared-model' },
];
const KEY = 'the-clients-own-key';

interface World {
  readonly gateway: Gateway;
  close(): Promise<void>;
}

async function openWorld(): Promise<World> {
  const acme = await startOpenAiUpstream(undefined, { models: ACME_MODELS });
  const second = await startOpenAiUpstream(undefined, { models: ['shared-model', 'painting-video'] });
  // Lists its models to holders of a key only.
  const locked = await startOpenAiUpstream(undefined, {
    models: ['locked-model'],
    handle(request: SeenRequest, response: ServerResponse) {
      if (request.headers.authorization === `Bearer ${KEY}`) return false;
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'Invalid key' } }));
      return true;
    },
  });
  const claude = await startAnthropicUpstream(() => ({ text: ['Hi'] }));
  const gemini = await startGeminiUpstream(() => ({ text: ['Hi'] }));
  return startGatewayBefore(
    [acme, second, locked, claude, gemini],
    `
providers:
  acme: { kind: openai, label: Acme Models, baseUrl: '${acme.baseUrl}', defaultModel: seeing }
  second: { kind: openai, baseUrl: '${second.baseUrl}' }
  groq: { label: Locked, baseUrl: '${locked.baseUrl}' }
  claude: { kind: anthropic, baseUrl: '${claude.baseUrl}', apiKey: k }
  gemini: { kind: google, baseUrl: '${gemini.baseUrl}', apiKey: k }
  fixed: { kind: openai, baseUrl: '${acme.baseUrl}', models: [one, two] }
aliases:
  fast: acme/org/model-x
  best: [claude/claude-sonnet-4-5, seeing]
`,
  );
}

describe('listings', { timeout: 60_000 }, () => {
  let world: World;
  let origin: string;
  let client: OpenAI;
  before(async () => {
    world = await openWorld();
    ({ origin } = world.gateway);
    client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: 'secret', maxRetries: 0 });
  });
  after(() => world.close());

  const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(origin + path, { method, headers });
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
    return { status: response.status, headers: response.headers, json: (await response.json()) as unknown };
  };
  const ok = async <T>(path: string, headers: Record<string, string> = {}): Promise<T> => {
    const { status, json } = await get(path, headers);
    assert.equal(status, 200, JSON.stringify(json));
    return json as T;
  };
  const fails = async (path: string, status: number, code: string): Promise<void> => {
    const answer = await get(path);
    assert.equal(answer.status, status);
    const { error } = answer.json as { error: { code: string; message: string } };
    assert.equal(error.code, code);
    assert.equal(typeof error.message, 'string');
  };

  describe('of dialect B', () => {
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
        assert.equal(typeof model['provider'], 'boolean');
      }
      const find = (id: string) => data.find((model) => model['id'] === id);
      assert.partialDeepStrictEqual(find('seeing'), { owned_by: 'acme', vision: true, image: false, provider: false });
      assert.partialDeepStrictEqual(find('painting'), { image: true, type: 'image' });
      assert.partialDeepStrictEqual(find('text-embedding-3-small'), { type: 'embedding' });
      assert.partialDeepStrictEqual(find('org/model-x'), { tools: true, reasoning: true, context_length: 32_000 });
      assert.deepEqual(find('shared-model')?.['providers'], ['acme', 'second']);
      assert.equal(find('acme')?.['provider'], true);
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
      assert.ok(
        Array.isArray(acme['params']) && acme['params'].includes('model') && acme['params'].includes('messages'),
      );
      assert.deepEqual(await ok('/v1/providers/acme%20models'), acme);
      assert.equal((await ok<Json>('/v1/providers/claude'))['label'], 'claude');
      await fails('/v1/providers/nobody', 404, 'provider_not_found');
    });
  });

  describe('of dialect A', () => {
    const base = '/backend-api/v2';
    const MODEL_ENTRY = {
      id: 'string',
      model: 'string',
      name: 'string',
      label: 'string',
      default: 'boolean',
      vision: 'boolean',
      audio: 'boolean',
      video: 'boolean',
      image: 'boolean',
      count: 'number',
      type: 'string',
    };
    function assertEntry(entry: Json): void {
      for (const [field, type] of Object.entries(MODEL_ENTRY)) {
        assert.equal(typeof entry[field], type, `${field} of ${JSON.stringify(entry)}`);
      }
      assert.equal(entry['model'], entry['id']);
      assert.equal(entry['name'], entry['id']);
      for (const list of ['tags', 'providers']) {
        assert.ok(Array.isArray(entry[list]));
        for (const each of entry[list]) assert.equal(typeof each, 'string');
      }
    }

    test('GET models: by provider', async () => {
      const byProvider = await ok<Record<string, Json[]>>(`${base}/models`);
      assert.deepEqual(
        byProvider['acme']?.map((entry) => entry['id']),
        ACME_MODELS.map((model) => model.id),
      );
      assert.deepEqual(byProvider['groq'], []);
      for (const entry of Object.values(byProvider).flat()) assertEntry(entry);
      const shared = byProvider['second']?.find((entry) => entry['id'] === 'shared-model');
      assert.deepEqual(shared?.['providers'], ['acme', 'second']);
      const seeing = byProvider['acme']?.find((entry) => entry['id'] === 'seeing');
      assert.partialDeepStrictEqual(seeing, { label: 'Seeing One', vision: true, image: false, type: 'chat' });
      const painting = byProvider['acme']?.find((entry) => entry['id'] === 'painting');
      assert.partialDeepStrictEqual(painting, { image: true, type: 'image' });
    });

    test('GET models?format=list: each model once', async () => {
      const list = await ok<Json[]>(`${base}/models?format=list`);
      const ids = list.map((entry) => entry['id']);
      assert.equal(new Set(ids).size, ids.length);
      for (const entry of list) assertEntry(entry);
      const byProvider = await ok<Record<string, Json[]>>(`${base}/models`);
      const all = new Set(Object.values(byProvider).flatMap((entries) => entries.map((entry) => entry['id'])));
      assert.deepEqual(new Set(ids), all);
      assert.deepEqual(list.find((entry) => entry['id'] === 'shared-model')?.['providers'], ['acme', 'second']);
    });

    test('GET models?format= of any other word', async () => {
      await fails(`${base}/models?format=table`, 400, 'invalid_request');
    });

    test('GET models/<provider>', async () => {
      const entries = await ok<Json[]>(`${base}/models/acme`);
      for (const entry of entries) assertEntry(entry);
      assert.deepEqual(
        entries.filter((entry) => entry['default']).map((entry) => entry['id']),
        ['seeing'],
      );
      // Without a configured one it is the first that chats.
      const second = await ok<Json[]>(`${base}/models/second`);
      assert.deepEqual(
        second.filter((entry) => entry['default']).map((entry) => entry['id']),
        ['shared-model'],
      );
      assert.deepEqual(await ok(`${base}/models/ACME`), entries);
      assert.deepEqual(await ok(`${base}/models/Acme%20Models`), entries);
      await fails(`${base}/models/nobody`, 404, 'provider_not_found');
      await fails(`${base}/models/acm`, 404, 'provider_not_found');
    });

    test('GET models/<provider> with the key of the client', async () => {
      await fails(`${base}/models/groq`, 401, 'missing_credentials');
      for (const headers of [{ 'x-api-key': KEY }, { x_api_key: KEY }]) {
        const entries = await ok<Json[]>(`${base}/models/groq`, headers as Record<string, string>);
        assert.deepEqual(
          entries.map((entry) => entry['id']),
          ['locked-model'],
        );
        for (const entry of entries) assertEntry(entry);
        assert.deepEqual(entries[0]?.['providers'], ['groq']);
      }
      const wrong = await get(`${base}/models/groq`, { 'x-api-key': 'a-wrong-key' });
      assert.equal(wrong.status, 401);
      assert.deepEqual((await ok<Record<string, Json[]>>(`${base}/models`))['groq'], []);
    });

    test('GET providers: every field of every entry', async () => {
      const providers = await ok<Json[]>(`${base}/providers`);
      const FIELDS: Record<string, readonly string[]> = {
        name: ['string'],
        label: ['string'],
        parent: ['string', 'null'],
        image: ['integer'],
        audio: ['integer'],
        video: ['integer'],
        vision: ['boolean'],
        auth: ['boolean'],
        login_url: ['string', 'null'],
        login: ['boolean'],
        nodriver: ['boolean'],
        hf_space: ['boolean'],
        active_by_default: ['boolean'],
        live: ['integer'],
        origin: ['string'],
        key_variable: ['string', 'null'],
        cookie_domain: ['string', 'null'],
        speech: ['boolean'],
        voices: ['object'],
      };
      for (const provider of providers) {
        for (const [field, types] of Object.entries(FIELDS)) {
          assert.ok(field in provider, `${field} is missing`);
          assert.ok(types.includes(kindOf(provider[field])), `${field} of ${JSON.stringify(provider)}`);
        }
        // Spaces of others are hidden by the front end.
        assert.equal(provider['hf_space'], false);
      }
      const find = (name: string) => providers.find((provider) => provider['name'] === name);
      assert.partialDeepStrictEqual(find('acme'), {
        label: 'Acme Models',
        image: 1,
        vision: true,
        auth: false,
        active_by_default: true,
      });
      assert.partialDeepStrictEqual(find('second'), { label: 'second', vision: false, auth: false });
      assert.partialDeepStrictEqual(find('claude'), { auth: true, vision: true, active_by_default: true });
      assert.partialDeepStrictEqual(find('groq'), { label: 'Locked', auth: true, active_by_default: false });
      assert.match(String(find('groq')?.['login_url']), /^https:/);
      assert.partialDeepStrictEqual(find('groq'), { key_variable: 'GROQ_API_KEY', cookie_domain: null });
    });

    test('GET version', async () => {
      for (const path of [`${base}/version`, `${base}/version?cache=true`, `${base}/version?cache=`]) {
        const { status, headers, json } = await get(path);
        assert.equal(status, 200);
        const { version, latest_version: latest } = json as Json;
        assert.match(String(version), /^\d+\.\d+\.\d+/);
        assert.equal(latest, version);
        assert.equal(headers.get('set-cookie'), null);
      }
    });
  });
});

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
