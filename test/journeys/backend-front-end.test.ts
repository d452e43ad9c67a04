import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { at, converse, form, type KeptWorld, openKept, postJson, told } from './kept-world.ts';

/** What the front end sends beside conversations, as it sends it. */
describe('requests of the front end', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  before(async () => {
    world = await openKept();
  });
  after(() => world.close());

  test('is anybody there?', async () => {
    const { status, json } = await told(fetch(at(world, 'version?cache=true')));
    assert.equal(status, 200);
    assert.equal(json.latest_version, json.version);
  });

  test('a provider that has answered says so in the listing', async () => {
    const live = async (): Promise<number> => {
      const { json } = await told(fetch(at(world, 'providers')));
      return json.find(({ name }: { name: string }) => name === 'acme').live;
    };
    const before = await live();
    world.answers({ text: ['Hello'] });
    for (const more of [1, 2]) {
      await converse(world, {});
      assert.equal(await live(), before + more);
    }
  });

  test('what only some servers have is not found, in a form that it can show', async () => {
    for (const [path, method] of [
      ['backend-api/v2/public-key', 'GET'],
      ['backend-api/v2/public-key', 'POST'],
      ['backend-api/v2/quota/acme', 'GET'],
      ['backend-api/v2/oauth/acme', 'GET'],
      ['pa/providers', 'GET'],
    ] as const) {
      const answer = await told(fetch(`${world.origin}/${path}`, { method }));
      assert.equal(answer.status, 404, path);
      assert.ok(answer.message.length > 0, path);
    }
  });

  test('every error that is no chunk is JSON with a message', async () => {
    for (const [body, status] of [
      [{ messages: [] }, 400],
      [{ messages: 'Hi' }, 400],
      [{ provider: 'nobody', messages: [{ role: 'user', content: 'Hi' }] }, 404],
      ['{', 400],
    ] as const) {
      const answer = await told(postJson(at(world, 'conversation'), body));
      assert.equal(answer.status, status, JSON.stringify(body));
      assert.ok(answer.message.length > 0);
    }
  });

  test('models of a provider, with the names that it must not use', async () => {
    const headers = { 'x-ignored': 'other', 'x-api-key': '', 'x-user': 'ada' };
    const { status, json } = await told(fetch(at(world, 'models/acme?ignored=other+third'), { headers }));
    assert.equal(status, 200);
    assert.deepEqual(
      json.map(({ id }: { id: string }) => id),
      ['test-model', 'other-model'],
    );
  });

  test('models by provider: an object whose entries have ids', async () => {
    const { json } = await told(fetch(at(world, 'models')));
    assert.ok(!Array.isArray(json));
    assert.deepEqual(
      json.acme.map(({ id }: { id: string }) => id),
      ['test-model', 'other-model'],
    );
  });

  test('an upload that says which language is spoken; its answer has both lists', async () => {
    const response = await fetch(at(world, 'files/b-1'), {
      method: 'POST',
      headers: { 'x-recognition-language': 'en-US', 'x-user': 'ada' },
      body: form([['notes.txt', 'High water is at noon.']]),
    });
    const { status, json } = await told(response);
    assert.equal(status, 200);
    assert.deepEqual([json.files.length, json.media.length], [1, 0]);
  });

  test('an error chunk is reported whole, with the provider object', async () => {
    world.answers({ text: ['Half'], errorAfter: 1 });
    const events = await converse(world, {});
    const error = events.find(({ type }) => type === 'error');
    assert.ok(error !== undefined);
    const provider = events.find(({ type }) => type === 'provider')?.['provider'];
    const { status, json } = await told(postJson(at(world, 'log'), { ...error, provider }));
    assert.deepEqual([status, json], [200, {}]);
    world.answers({ text: ['Hello'] });
  });

  test('usage that it counted itself', async () => {
    const counted = {
      model: 'test-model',
      provider: 'acme',
      label: 'acme',
      prompt_tokens: 3,
      completion_tokens: 4,
      total_tokens: 7,
    };
    const { status, json } = await told(postJson(at(world, 'usage'), counted, { 'x-user': 'ada' }));
    assert.deepEqual([status, json], [200, {}]);
  });

  test('stop: the provider is called off at once', async () => {
    world.answers({ text: ['Hello', ' world'], stallAfter: 1 });
    const controller = new AbortController();
    const response = await fetch(at(world, 'conversation'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ provider: 'acme', action: 'next', messages: [{ role: 'user', content: 'Hi' }] }),
      signal: controller.signal,
    });
    const reader = response.body?.getReader();
    let text = '';
    while (!text.includes('Hello')) text += Buffer.from((await reader?.read())?.value ?? []).toString();
    controller.abort();
    assert.equal(await world.upstream.chats.at(-1)?.closed, 'aborted');
    world.answers({ text: ['Hello'] });
  });
});
