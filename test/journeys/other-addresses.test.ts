import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ask } from '../support/raw-http.ts';
import { assertError, codeInForm } from './edge-world.ts';
import { chat, entryOf, logged, type ObservedWorld, openObserved } from './observe-world.ts';

/** Where clients of other gateways look. */
describe('addresses that are known from elsewhere', { timeout: 60_000 }, () => {
  let world: ObservedWorld;
  before(async () => {
    world = await openObserved();
  });
  after(() => world.close());

  test('/api/logs is the log of requests', async () => {
    const { id } = await chat(world, {}, { 'x-user': 'ann' });
    await entryOf(world, id);
    await chat(world);
    for (const query of ['', '?limit=1', '?user=ann', '?status=5xx']) {
      const { json, headers } = await ask(world.origin, { path: `/api/logs${query}` });
      assert.deepEqual(json, await logged(world, query), query);
      assert.equal(headers['cache-control'], 'no-store');
    }
    assert.equal(assertError(await ask(world.origin, { path: '/api/logs?limit=x' }), 400).param, 'limit');
  });

  test('DELETE /api/logs forgets it, for pages of this server only', async () => {
    const { id } = await chat(world);
    await entryOf(world, id);
    for (const method of ['GET', 'DELETE']) {
      const answer = await ask(world.origin, {
        path: '/api/logs',
        method,
        headers: { origin: 'https://evil.example' },
      });
      assertError(answer, 403);
    }
    const { kept } = await logged(world);
    assert.ok(kept > 0);
    const answer = await ask(world.origin, { path: '/api/logs', method: 'DELETE' });
    assert.deepEqual(answer.json, { count: kept });
    assert.equal((await logged(world)).kept, 0);
    const wrong = await ask(world.origin, { path: '/api/logs', method: 'PUT' });
    assert.equal(assertError(wrong, 405).code, 'method_not_allowed');
    assert.deepEqual(wrong.headers.allow?.split(', ').sort(), ['DELETE', 'GET', 'HEAD']);
  });

  test('pages lead to where they are here', async () => {
    for (const [path, to] of [
      ['/logs', '/#/dashboard/requests'],
      ['/logs?a=b', '/#/dashboard/requests'],
      ['/stats', '/#/dashboard'],
      ['/stats/', '/#/dashboard'],
      ['/redoc', '/docs/'],
    ] as const) {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers, text } = await ask(world.origin, { path, method });
        assert.deepEqual([status, headers.location, text], [302, to, ''], path);
      }
      assertError(await ask(world.origin, { path, headers: { 'sec-fetch-site': 'cross-site' } }), 403);
    }
  });

  test('what is not offered is not found, in a form that front ends can show', async () => {
    for (const path of [
      ...['/pa/providers', '/pa/providers/some', '/pa/files/a/b.txt'],
      ...['/backend-api/v2/public-key', '/backend-api/v2/oauth/acme'],
      ...['/playground/', '/apps/', '/apps/index.html', '/private/', '/dist/', '/chat/'],
      ...['/api/logs/1', '/logs/', '/markitdown', '/api/quota', '/backend-api/v2/quota'],
    ]) {
      for (const method of ['GET', 'POST']) {
        const answer = await ask(world.origin, { path, method, ...(method === 'POST' ? { body: {} } : {}) });
        assert.match(assertError(answer, 404, `${method} ${path}`).message, /^There is nothing at/);
      }
    }
  });

  test('a base URL with a slash or a /v1 too many or too few is told where to look', async () => {
    for (const [method, path, meant, form = 'OpenAI'] of [
      ['POST', '/v1/chat/completions/', '/v1/chat/completions'],
      ['POST', '/v1//chat/completions', '/v1/chat/completions'],
      ['POST', '//v1/chat/completions?a=b', '/v1/chat/completions'],
      ['POST', '/chat/completions', '/v1/chat/completions'],
      ['POST', '/responses', '/v1/responses'],
      ['POST', '/v1/v1/messages', '/v1/messages', 'Anthropic Messages'],
      ['GET', '/v1/', '/v1'],
      ['POST', '/embeddings/', '/v1/embeddings'],
      ['GET', '/v1/v1beta/models', '/v1beta/models', 'Gemini API'],
      ['GET', '/v1beta/v1beta/models', '/v1beta/models', 'Gemini API'],
      ['GET', '/v1beta/v1beta/models/x', '/v1beta/models/x', 'Gemini API'],
      ['POST', '/v1beta/v1beta/models/x:generateContent', '/v1beta/models/x:generateContent', 'Gemini API'],
      ['POST', '//v1beta/v1beta/models/x:generateContent', '/v1beta/models/x:generateContent', 'Gemini API'],
      ['POST', '/v1beta/v1beta/acme/x:countTokens?a=b', '/v1beta/acme/x:countTokens', 'Gemini API'],
      ['GET', '/backend-api/v2/providers/', '/backend-api/v2/providers'],
    ] as const) {
      const answer = await ask(world.origin, { path, method, ...(method === 'POST' ? { body: {} } : {}) });
      assert.equal(codeInForm(form, answer, 404, path), 'not_found');
      const { message } = (answer.json as { error: { message: string } }).error;
      const [written] = path.split('?');
      const hint = `but at ${meant}: look at the base URL`;
      assert.equal(message, `There is nothing at ${method} ${written}, ${hint}. GET /docs lists what there is.`);
    }
    // Under another method it is no place to look.
    const { message } = assertError(await ask(world.origin, { path: '/chat/completions' }), 404);
    assert.equal(message, 'There is nothing at GET /chat/completions. GET /docs lists what there is.');
  });

  test('a base URL with /api/v1, as some vendors have it, is told of the one that it has here', async () => {
    const body = { model: 'gpt-4o', input: 'Hi', messages: [{ role: 'user', content: 'Hi' }] };
    for (const [method, path] of [
      ['POST', '/api/v1/chat/completions'],
      ['POST', '/api/v1/embeddings'],
      ['GET', '/api/v1/models'],
    ] as const) {
      const answer = await ask(world.origin, { path, method, ...(method === 'POST' ? { body } : {}) });
      const { message } = assertError(answer, 404);
      assert.match(message, /^Provider 'v1' not found: the base URL ends with \/v1 here, not with \/api\/v1\. GET /);
    }
  });

  test('a path without the provider that belongs into it is not for any provider', async () => {
    const body = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] };
    const before = world.openai.chats.length;
    for (const name of ['', '%20', '%20%20']) {
      for (const [rest, more, form = 'OpenAI'] of [
        ['chat/completions', {}],
        ['c1/chat/completions', {}],
        ['responses', { input: 'Hi' }],
        ['messages', { max_tokens: 5 }, 'Anthropic Messages'],
        ['embeddings', { input: 'Hi' }],
        ['images/generations', { prompt: 'A cat' }],
      ] as const) {
        const path = `/api/${name}/${rest}`;
        const answer = await ask(world.origin, { path, method: 'POST', body: { ...body, ...more } });
        assert.equal(codeInForm(form, answer, 404, path), 'provider_not_found');
      }
    }
    assert.equal(world.openai.chats.length, before);
    // In a body an empty name says nothing.
    const answer = await ask(world.origin, {
      path: '/v1/chat/completions',
      method: 'POST',
      body: { ...body, provider: '' },
    });
    assert.equal(answer.status, 200);
  });

  test('a provider may be called like one of them', async () => {
    for (const name of ['logs', 'markitdown', 'tags']) {
      const error = assertError(await ask(world.origin, { path: `/api/${name}/models` }), 404);
      assert.equal(error.code, 'provider_not_found');
    }
  });
});

test('with an access key, nothing of it is there without', async () => {
  const key = 'the-access-key-of-this-server';
  const world = await openObserved({}, `key: ${key}`);
  try {
    for (const [method, path] of [
      ['GET', '/api/logs'],
      ['DELETE', '/api/logs'],
      ['GET', '/logs'],
      ['GET', '/stats/'],
      ['GET', '/redoc'],
    ] as const) {
      assert.equal(assertError(await ask(world.origin, { path, method }), 401).code, 'unauthorized', path);
      const { status } = await ask(world.origin, { path, method, headers: { authorization: `Bearer ${key}` } });
      assert.equal(status, path === '/api/logs' ? 200 : 302, path);
    }
  } finally {
    await world.close();
  }
});
