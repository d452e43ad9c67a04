import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Answer, Ask } from '../support/raw-http.ts';
import { openWorld, type World } from './edge-world.ts';

/** What stands before all answers holds of every path that there is, not only of those that ask models. */

const KEY = 'the-access-key-of-this-server';
const OWN = 'http://localhost:3000';

/** What is asked of one path, as `/openapi.json` tells of it. */
interface Described {
  readonly method: string;
  readonly path: string;
  /** Whether it takes JSON or a form, and says so by the content type. */
  readonly isTyped: boolean;
}

interface Operation {
  readonly tags?: readonly string[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
}

async function describedBy(world: World, headers: Ask['headers'] = {}): Promise<readonly Described[]> {
  const { json } = await world.ask({ path: '/openapi.json', headers });
  const { paths } = json as { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };
  const described = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { tags = [], requestBody }]): Described => {
      const types = Object.keys(requestBody?.content ?? {});
      const isTyped = types.length > 0 && !types.includes('application/octet-stream') && !tags.includes('Ollama API');
      // Behind the model stands a method, where there is one.
      const name = path.startsWith('/v1beta/') && method === 'post' ? 'x:generateContent' : 'x';
      return { method: method.toUpperCase(), path: path.replace(/\{\w+\}$/, name).replace(/\{\w+\}/g, 'x'), isTyped };
    }),
  );
  assert.ok(described.length > 80, `${described.length} paths are few`);
  assert.ok(described.filter(({ isTyped }) => isTyped).length > 30);
  return described;
}

/** A request that would be let in, with an empty object where a body is wanted. */
const asked = ({ method, path }: Described, headers: Ask['headers'] = {}): Ask => ({
  method,
  path,
  headers,
  ...(method === 'POST' ? { body: {} } : {}),
});

const allowed = ({ headers }: Answer): unknown => headers['access-control-allow-origin'];

describe('every path', () => {
  let world: World;
  let described: readonly Described[];
  before(async () => {
    world = await openWorld();
    described = await describedBy(world);
  });
  after(() => world.close());

  test('is closed under a foreign name, and to other sites', async () => {
    for (const each of described) {
      for (const headers of [
        { host: 'evil.example' },
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
        { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
      ]) {
        const hint = `${each.method} ${each.path} ${JSON.stringify(headers)}`;
        const answer = await world.ask(asked(each, headers));
        assert.equal(answer.status, 403, hint);
        assert.equal(allowed(answer), undefined, hint);
      }
    }
    assert.equal(world.upstream.requests.length, 0);
  });

  test('names the one origin that may read its answer, and none where nobody asks for it', async () => {
    for (const each of described) {
      const hint = `${each.method} ${each.path}`;
      assert.equal(allowed(await world.ask(asked(each, { origin: OWN }))), OWN, hint);
      assert.equal(allowed(await world.ask(asked(each))), undefined, hint);
    }
  });

  test('that takes JSON or a form takes nothing that a page of another site may send unasked', async () => {
    const { length } = world.upstream.requests;
    for (const { method, path, isTyped } of described) {
      if (!isTyped) continue;
      for (const type of [
        'text/plain',
        'text/plain; application/json',
        'application/x-www-form-urlencoded',
        undefined,
      ]) {
        const headers = type === undefined ? {} : { 'content-type': type };
        const { status, text } = await world.ask({ method, path, body: '{}', headers });
        assert.equal(status, 415, `${method} ${path} ${type}: ${text}`);
      }
    }
    assert.equal(world.upstream.requests.length, length);
  });
});

test('every path asks for the access key, but for what nobody can send it with or everybody may know', async () => {
  await using world = await openWorld({ yaml: `key: ${KEY}\n` });
  const open: string[] = [];
  for (const each of await describedBy(world, { authorization: `Bearer ${KEY}` })) {
    for (const headers of [{}, { authorization: `Bearer ${KEY}x` }, { cookie: `sluice_key=${KEY}x` }]) {
      const { status, headers: received } = await world.ask(asked(each, headers));
      if (status !== 401) open.push(`${each.method} ${each.path}`);
      assert.equal(received['set-cookie'], undefined, each.path);
    }
  }
  assert.deepEqual([...new Set(open)].sort(), [
    'GET /health',
    'GET /images/x',
    'GET /media/x',
    'GET /ready',
    'GET /thumbnail/x',
  ]);
  assert.equal(world.upstream.requests.length, 0);
});
