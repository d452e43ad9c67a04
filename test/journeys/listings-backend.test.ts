import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { startGatewayBefore } from './gateway-before.ts';
import { ACME_MODELS, type Json, KEY, setListings } from './listings-world.ts';

describe('listings of dialect A', { timeout: 60_000 }, () => {
  const listings = setListings();
  const { get, ok, fails } = listings;
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
    assert.equal(shared?.['count'], 2, 'the number of back ends');
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

  test('GET models?format= of no word is like without it', async () => {
    assert.deepEqual(await ok(`${base}/models?format=`), await ok(`${base}/models`));
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

  test('GET models and GET providers: 304 for those who have the present list', async () => {
    for (const path of [`${base}/models`, `${base}/providers`]) {
      const { headers } = await get(path);
      const etag = headers.get('etag') ?? '';
      assert.match(etag, /^"\w+"$/);
      // `get` expects JSON, which a 304 does not have.
      const again = await fetch(`${listings.origin}${path}`, { headers: { 'if-none-match': etag } });
      assert.deepEqual([again.status, await again.text()], [304, '']);
      assert.equal((await get(path, { 'if-none-match': '"other"' })).status, 200);
    }
  });

  test('GET providers: whether this server searches the web', async () => {
    const searching = async (at: string): Promise<readonly unknown[]> => {
      const answer = await fetch(`${at}${base}/providers`);
      return ((await answer.json()) as Json[]).map((each) => each['web_search']);
    };
    const upstream = await startOpenAiUpstream(undefined, { models: ['a'] });
    const yaml = (search: string) => `
providers: { acme: { kind: openai, baseUrl: '${upstream.baseUrl}' } }
search: ${search}`;
    const off = await startGatewayBefore([upstream], yaml('{ engine: none }'));
    try {
      assert.deepEqual(new Set(await searching(off.gateway.origin)), new Set([false]));
    } finally {
      await off.close();
    }
    const all = await ok<Json[]>(`${base}/providers`);
    assert.equal(all.find((each) => each['name'] === 'acme')?.['web_search'], true);
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
      web_search: ['boolean'],
      speech: ['boolean'],
      quota: ['boolean'],
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

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
