import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ask, converse, type Name, openWorld, type SelectionWorld } from './selection-world.ts';

describe('who answers', { timeout: 60_000 }, () => {
  let world: SelectionWorld;
  before(async () => {
    world = await openWorld(`
aliases:
  fast: free/only-free
  bare: only-keyed
  several: [nobody-has-this, other/tagged:7b]
  free-too: free
`);
  });
  after(() => world[Symbol.asyncDispose]());

  /** Asks, and checks who answered with which model, by everything that tells. */
  async function expectAnswer(
    body: object,
    at: Name,
    model: string,
    options: { path?: string; headers?: Record<string, string> } = {},
  ): Promise<void> {
    const answer = await ask(world, body, options);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.text, at);
    const [arrival, ...others] = world.arrived();
    assert.deepEqual(others, []);
    assert.equal(arrival?.at, at);
    assert.equal(arrival?.model, model);
    assert.equal(answer.provider, at === 'asking' ? 'groq' : at);
    assert.equal(answer.model, model);
    assert.equal(answer.attempts, '1');
  }

  async function expectFailure(body: object, status: number, code: string, path?: string): Promise<string> {
    const answer = await ask(world, body, path === undefined ? {} : { path });
    assert.equal(answer.status, status, answer.text);
    assert.equal(answer.code, code);
    assert.deepEqual(world.arrived(), []);
    return answer.text;
  }

  describe('by path', () => {
    test('beats everything else', async () => {
      const path = '/api/free/chat/completions';
      await expectAnswer({ provider: 'keyed', model: 'anything' }, 'free', 'anything', { path });
      await expectAnswer({ provider: 'nobody', model: 'other' }, 'free', 'other', { path });
      await expectAnswer({ model: 'other/shared' }, 'free', 'other/shared', { path });
    });

    test('takes a conversation too', async () => {
      await expectAnswer({ model: 'x' }, 'other', 'x', { path: '/api/other/chat-1/chat/completions' });
    });

    test('takes names in any case, and labels', async () => {
      await expectAnswer({ model: 'x' }, 'free', 'x', { path: '/api/FREE/chat/completions' });
      await expectAnswer({ model: 'x' }, 'free', 'x', { path: '/api/Free%20Upstream/chat/completions' });
    });

    test('answers 404 for nobody', async () => {
      const text = await expectFailure({}, 404, 'provider_not_found', '/api/nobody/chat/completions');
      assert.match(text, /nobody/);
    });

    test('without a model gives the default one', async () => {
      await expectAnswer({}, 'other', 'org/nested', { path: '/api/other/chat/completions' });
      // The first chat model of the listing; what comes before it embeds.
      await expectAnswer({ model: '' }, 'free', 'only-free', { path: '/api/free/chat/completions' });
      await expectAnswer({ model: null }, 'keyed', 'only-keyed', { path: '/api/keyed/chat/completions' });
    });
  });

  describe('by the field provider', () => {
    test('takes the exact name, whatever the case', async () => {
      await expectAnswer({ provider: 'free', model: 'x' }, 'free', 'x');
      await expectAnswer({ provider: 'Free', model: 'x' }, 'free', 'x');
    });

    test('takes the label, spaces included, whatever the case', async () => {
      await expectAnswer({ provider: 'Free Upstream', model: 'x' }, 'free', 'x');
      await expectAnswer({ provider: 'keyed one', model: 'x' }, 'keyed', 'x');
    });

    test('takes no beginnings of names', async () => {
      await expectFailure({ provider: 'fre', model: 'x' }, 404, 'provider_not_found');
    });

    test('beats what the model says, and hands it on as it is', async () => {
      await expectAnswer({ provider: 'free', model: 'keyed' }, 'free', 'keyed');
      await expectAnswer({ provider: 'free', model: 'only-keyed' }, 'free', 'only-keyed');
      await expectAnswer({ provider: 'free', model: 'keyed/only-keyed' }, 'free', 'keyed/only-keyed');
      await expectAnswer({ provider: 'free', model: 'free/only-free' }, 'free', 'only-free');
    });

    test('empty or null is no wish', async () => {
      await expectAnswer({ provider: '', model: 'only-keyed' }, 'keyed', 'only-keyed');
      await expectAnswer({ provider: null, model: 'only-keyed' }, 'keyed', 'only-keyed');
    });

    test('several names are tried in order', async () => {
      await expectAnswer({ provider: 'other free', model: 'x' }, 'other', 'x');
      await expectAnswer({ provider: 'Free Upstream other', model: 'x' }, 'free', 'x');
      await expectAnswer({ provider: '  other   Free Upstream ', model: 'x' }, 'other', 'x');
    });

    test('answers 404 for nobody, also in a list, and says where the dialect lists who there is', async () => {
      for (const provider of ['nobody', 'free nobody', 'nobody free']) {
        const text = await expectFailure({ provider, model: 'x' }, 404, 'provider_not_found');
        assert.equal(text, "Provider 'nobody' not found. GET /v1/providers lists what there is.");
      }
      const { json } = await converse(world, { provider: 'nobody', model: 'x' });
      const { error } = json as { error: { message: string } };
      assert.match(error.message, /'nobody' not found\. GET \/backend-api\/v2\/providers lists/);
    });
  });

  describe('by the model', () => {
    test("a provider's name means its default model", async () => {
      await expectAnswer({ model: 'other' }, 'other', 'org/nested');
      await expectAnswer({ model: 'FREE' }, 'free', 'only-free');
      await expectAnswer({ model: 'Keyed One' }, 'keyed', 'only-keyed');
    });

    test('provider:model and provider/model', async () => {
      await expectAnswer({ model: 'free:shared' }, 'free', 'shared');
      await expectAnswer({ model: 'Free/shared' }, 'free', 'shared');
      await expectAnswer({ model: 'keyed/not-listed' }, 'keyed', 'not-listed');
      await expectAnswer({ model: 'other/org/nested' }, 'other', 'org/nested');
      await expectAnswer({ model: 'other:org/nested' }, 'other', 'org/nested');
      await expectAnswer({ model: 'other/tagged:7b' }, 'other', 'tagged:7b');
      await expectAnswer({ model: 'other:tagged:7b' }, 'other', 'tagged:7b');
      await expectAnswer({ model: 'Free Upstream/shared' }, 'free', 'shared');
    });

    test('a model that one provider knows', async () => {
      await expectAnswer({ model: 'only-keyed' }, 'keyed', 'only-keyed');
      await expectAnswer({ model: 'org/nested' }, 'other', 'org/nested');
      await expectAnswer({ model: 'tagged:7b' }, 'other', 'tagged:7b');
    });

    test('a model whose name begins like that of a provider without a key', async () => {
      await expectAnswer({ model: 'mistral:latest' }, 'other', 'mistral:latest');
      await expectAnswer({ model: 'openai/gpt-oss' }, 'other', 'openai/gpt-oss');
    });

    test('a provider without a key, when nobody offers a model of that name', async () => {
      await expectFailure({ model: 'groq/asked' }, 401, 'missing_credentials');
      await expectFailure({ model: 'groq' }, 401, 'missing_credentials');
      const headers = { authorization: 'Bearer own-key' };
      await expectAnswer({ model: 'groq/asked' }, 'asking', 'asked', { headers });
      await expectAnswer({ model: 'claude' }, 'claude', 'claude-sonnet-4-5', { headers });
    });

    test('a provider without a key takes no part otherwise, also after somebody has looked at it', async () => {
      await expectFailure({ model: 'asked' }, 404, 'model_not_found');
      assert.equal((await fetch(`${world.origin}/v1/providers/groq`)).status, 200);
      await expectFailure({ model: 'asked' }, 404, 'model_not_found');
    });

    test('a model that several know: those without key needs first', async () => {
      await expectAnswer({ model: 'shared' }, 'free', 'shared');
    });

    test('a model that nobody knows', async () => {
      for (const model of ['nothing', 'nobody/only-free', 'nobody:only-free', 'only-fre']) {
        const text = await expectFailure({ model }, 404, 'model_not_found');
        assert.ok(text.includes(`'${model}'`), text);
      }
    });

    test('an alias, also beside a provider', async () => {
      await expectAnswer({ model: 'fast' }, 'free', 'only-free');
      await expectAnswer({ model: 'bare' }, 'keyed', 'only-keyed');
      await expectAnswer({ model: 'free-too' }, 'free', 'only-free');
      await expectAnswer({ provider: 'free', model: 'fast' }, 'free', 'only-free');
    });

    test('an alias passes over what nobody offers', async () => {
      await expectAnswer({ model: 'several' }, 'other', 'tagged:7b');
    });

    test('no model at all means the first provider that is ready', async () => {
      await expectAnswer({}, 'keyed', 'only-keyed');
      await expectAnswer({ model: '' }, 'keyed', 'only-keyed');
      await expectAnswer({ model: null }, 'keyed', 'only-keyed');
    });
  });

  describe('without the ignored', () => {
    test('the others are chosen from', async () => {
      await expectAnswer({ model: 'shared', ignored: ['free'] }, 'other', 'shared');
      await expectAnswer({ model: 'shared', ignored: ['Free Upstream', 'OTHER'] }, 'keyed', 'shared');
      await expectAnswer({ ignored: ['keyed'] }, 'free', 'only-free');
    });

    test('nobody may be left', async () => {
      const ofModel = await expectFailure({ model: 'only-keyed', ignored: ['keyed'] }, 404, 'model_not_found');
      assert.match(ofModel, /The request ignores all providers that offer the model 'only-keyed'\./);
      const ofAny = await expectFailure({ ignored: ['keyed', 'free', 'other'] }, 404, 'model_not_found');
      assert.match(ofAny, /The request ignores all providers that could answer\./);
    });

    test('an explicit wish counts more', async () => {
      await expectAnswer({ provider: 'free', model: 'x', ignored: ['free'] }, 'free', 'x');
    });
  });
});

describe('who answers when the first one fails', { timeout: 60_000 }, () => {
  test('the next one that knows the model', async () => {
    await using world = await openWorld();
    world.answers.free = { status: 500 };
    const answer = await ask(world, { model: 'shared' });
    assert.equal(answer.text, 'other');
    assert.equal(answer.provider, 'other');
    assert.equal(answer.attempts, '2');
    assert.deepEqual(
      world.arrived().map(({ at }) => at),
      ['free', 'other'],
    );
  });

  test('the next one of a list', async () => {
    for (const failure of [{ status: 503 }, { status: 404 }, { status: 401 }, { cutAfter: 0 }]) {
      await using world = await openWorld();
      world.answers.other = { text: ['never'], ...failure };
      const answer = await ask(world, { provider: 'other free', model: 'x' });
      assert.equal(answer.text, 'free');
      assert.equal(answer.attempts, '2');
      assert.deepEqual(
        world.arrived().map(({ at }) => at),
        ['other', 'free'],
      );
    }
  });

  test('the next one of an alias, with its own name for the model', async () => {
    await using world = await openWorld('aliases: { best: [keyed/only-keyed, free/only-free] }');
    world.answers.keyed = { status: 429, headers: { 'retry-after': '60' } };
    const answer = await ask(world, { model: 'best' });
    assert.equal(answer.provider, 'free');
    assert.equal(answer.model, 'only-free');
    assert.equal(answer.attempts, '2');
    assert.deepEqual(
      world.arrived().map(({ at, model }) => [at, model]),
      [
        ['keyed', 'only-keyed'],
        ['free', 'only-free'],
      ],
    );
  });

  test('nobody when the request itself is wrong', async () => {
    await using world = await openWorld();
    world.answers.free = { status: 400, errorMessage: 'such a thing cannot be asked' };
    const answer = await ask(world, { model: 'shared' });
    assert.equal(answer.status, 400);
    assert.match(answer.text, /such a thing cannot be asked/);
    assert.equal(world.arrived().length, 1);
  });

  test('nobody when it was the only one named', async () => {
    await using world = await openWorld('limits: { attempts: 1 }');
    world.answers.free = { status: 500 };
    assert.equal((await ask(world, { provider: 'free', model: 'shared' })).status, 500);
    assert.deepEqual(
      world.arrived().map(({ at }) => at),
      ['free'],
    );
  });
});

describe('who answers by the operator’s wish', { timeout: 60_000 }, () => {
  test('the default provider, before anything that the model says', async () => {
    await using world = await openWorld('defaultProvider: free\naliases: { best: other/tagged:7b }');
    for (const [body, at, model] of [
      [{}, 'free', 'only-free'],
      [{ model: 'shared' }, 'free', 'shared'],
      [{ model: 'only-keyed' }, 'free', 'only-keyed'],
      [{ model: 'nobody-knows' }, 'free', 'nobody-knows'],
      [{ model: 'free/only-free' }, 'free', 'only-free'],
      [{ provider: 'keyed', model: 'x' }, 'keyed', 'x'],
      // Aliases are the operator's wish too, and the more exact one.
      [{ model: 'best' }, 'other', 'tagged:7b'],
    ] as const) {
      const answer = await ask(world, body);
      assert.deepEqual([answer.text, answer.model], [at, model], JSON.stringify(body));
    }
    assert.equal((await ask(world, { model: 'x' }, { path: '/api/other/chat/completions' })).text, 'other');
  });

  test('not the default provider for fallbacks of the request that name theirs', async () => {
    await using world = await openWorld('defaultProvider: free');
    world.answers.free = { status: 429 };
    const answer = await ask(world, { model: 'free/m', models: ['keyed', 'other/m2'] });
    assert.deepEqual([answer.text, answer.model], ['keyed', 'only-keyed']);
    world.answers.keyed = { status: 429 };
    const next = await ask(world, { model: 'free/n', models: ['keyed', 'other/m2'] });
    assert.deepEqual([next.text, next.model], ['other', 'm2']);
    // Where it names no model, the first of them is a fallback, too.
    assert.equal((await ask(world, { models: ['other/m2'] })).text, 'other');
  });

  test('and asks nobody twice for the same because a fallback is there twice, or is the model', async () => {
    await using world = await openWorld();
    world.answers.free = { status: 429 };
    const answer = await ask(world, { model: 'free/m', models: ['Free:m', 'other/m2', 'free/m'] });
    assert.deepEqual([answer.text, answer.attempts], ['other', '2']);
    assert.deepEqual(
      world.arrived().map(({ at }) => at),
      ['free', 'other'],
    );
  });

  test('nobody whom the client ignores, unless it names them', async () => {
    for (const yaml of ['defaultProvider: free', 'defaultModel: free/only-free', 'defaultModel: best']) {
      await using world = await openWorld(`${yaml}\naliases: { best: free/only-free, some: [free/m, other/m2] }`);
      const expect = async (body: object, text: string): Promise<void> =>
        assert.equal((await ask(world, body)).text, text, `${yaml}: ${JSON.stringify(body)}`);
      await expect({}, 'free');
      await expect({ ignored: ['FREE'] }, 'keyed');
      await expect({ ignored: ['Free Upstream', 'keyed'] }, 'other');
      await expect({ model: 'shared', ignored: ['free', 'keyed'] }, 'other');
      await expect({ model: 'some', ignored: ['free'] }, 'other');
      await expect({ model: 'free/only-free', ignored: ['free'] }, 'free');
      await expect({ provider: 'free', ignored: ['free'] }, 'free');
      const nobody = await ask(world, { model: 'only-free', ignored: ['free'] });
      assert.deepEqual([nobody.status, world.arrived().at(-1)?.at], [404, 'free'], yaml);
    }
  });

  test('the default model, where the client names none', async () => {
    for (const [wish, at, model] of [
      ['other/tagged:7b', 'other', 'tagged:7b'],
      ['only-free', 'free', 'only-free'],
      ['best', 'other', 'org/nested'],
    ] as const) {
      await using world = await openWorld(`defaultModel: ${wish}\naliases: { best: other/org/nested }`);
      for (const body of [{}, { model: '' }, { model: null }]) {
        const answer = await ask(world, body);
        assert.deepEqual([answer.text, answer.model], [at, model]);
      }
      assert.equal((await ask(world, { model: 'only-keyed' })).text, 'keyed');
      assert.equal((await ask(world, { provider: 'keyed' })).model, 'only-keyed');
      // It is a chat model: who makes embeddings is another question. This upstream has none in truth.
      const { text } = await ask(world, { input: 'Hi' }, { path: '/v1/embeddings' });
      assert.match(text, /Free Upstream does not make embeddings/);
    }
  });

  test('somebody else than the default provider for a task for which it lists no model', async () => {
    await using world = await openWorld('defaultProvider: keyed');
    // This upstream has none in truth.
    const { text } = await ask(world, { input: 'Hi' }, { path: '/v1/embeddings' });
    assert.match(text, /Free Upstream does not make embeddings/);
  });

  test('nobody in place of a default model that nobody has', async () => {
    await using world = await openWorld('defaultModel: of-nobody');
    const { status, code } = await ask(world, {});
    assert.deepEqual([status, code, world.arrived()], [404, 'model_not_found', []]);
    // Nor does it matter that the request ignores somebody for a model that it names.
    assert.equal((await ask(world, { ignored: ['free'], model: 'only-keyed' })).text, 'keyed');
  });
});

describe('whose key is used', { timeout: 60_000 }, () => {
  let world: SelectionWorld;
  before(async () => {
    world = await openWorld();
  });
  after(() => world[Symbol.asyncDispose]());

  const OWN = 'client-key-1234567890';
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

  /** Asks and gives the key that arrived with the request: undefined when none did, null when nothing arrived. */
  async function keyAt(
    at: Name,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<string | undefined | null> {
    const provider = at === 'asking' ? 'groq' : at;
    await ask(world, { provider, model: 'x', ...body }, { headers });
    const [arrival] = world.arrived();
    if (arrival === undefined) return null;
    assert.equal(arrival.at, at);
    return arrival.key;
  }

  test('a Bearer token goes to a provider that needs a key and has none', async () => {
    assert.equal(await keyAt('asking', {}, bearer(OWN)), OWN);
    assert.equal(await keyAt('claude', { model: 'claude-sonnet-4-5' }, bearer(OWN)), OWN);
    assert.equal(await keyAt('asking', {}, { authorization: `bearer   ${OWN}` }), OWN);
  });

  test('no key goes to whoever has the default model, since nobody chose them', async () => {
    for (const wish of ['keyed/only-keyed', 'only-keyed', 'best']) {
      await using world = await openWorld(`defaultModel: ${wish}\naliases: { best: keyed/only-keyed }`);
      await ask(world, { api_key: OWN });
      assert.deepEqual(
        world.arrived().map(({ at, key }) => [at, key]),
        [['keyed', 'configured-key']],
        wish,
      );
    }
  });

  test('a Bearer token goes nowhere else', async () => {
    assert.equal(await keyAt('keyed', {}, bearer(OWN)), 'configured-key');
    assert.equal(await keyAt('free', {}, bearer(OWN)), undefined);
  });

  test('the placeholder is no key', async () => {
    for (const at of ['asking', 'claude'] as const) {
      assert.equal(await keyAt(at, {}, bearer('secret')), null);
      assert.equal(await keyAt(at, { api_key: 'secret' }), null);
      assert.equal(await keyAt(at, { api_key: '' }, bearer('')), null);
      assert.equal(await keyAt(at, { api_key: { groq: 'secret', claude: 'secret' } }), null);
    }
    assert.equal(await keyAt('keyed', { api_key: 'secret' }), 'configured-key');
    const { status, code } = await ask(world, { provider: 'groq' }, { headers: bearer('secret') });
    assert.equal(status, 401);
    assert.equal(code, 'missing_credentials');
  });

  test('api_key as a text beats the Bearer token and the configuration', async () => {
    assert.equal(await keyAt('asking', { api_key: OWN }, bearer('another-key')), OWN);
    assert.equal(await keyAt('keyed', { api_key: OWN }), OWN);
    assert.equal(await keyAt('claude', { api_key: OWN }), OWN);
    assert.equal(await keyAt('free', { api_key: OWN }), undefined);
    assert.equal(await keyAt('keyed', { api_key: null }), 'configured-key');
  });

  test('api_key by provider serves whom it names', async () => {
    const api_key = { keyed: 'for-keyed', Asking: 'for-asking', CLAUDE: 'for-claude', free: 'for-free', other: null };
    assert.equal(await keyAt('keyed', { api_key }), 'for-keyed');
    assert.equal(await keyAt('asking', { api_key }), 'for-asking');
    assert.equal(await keyAt('claude', { api_key }), 'for-claude');
    assert.equal(await keyAt('free', { api_key }), undefined);
    assert.equal(await keyAt('keyed', { api_key: { claude: 'for-claude' } }), 'configured-key');
    assert.equal(await keyAt('asking', { api_key: { claude: 'for-claude' } }), null);
    // What it says nothing about is left to the token.
    assert.equal(await keyAt('asking', { api_key: { claude: 'for-claude' } }, bearer(OWN)), OWN);
  });

  test('x-api-key is another way to write it, underscores are too', async () => {
    assert.equal(await keyAt('asking', {}, { 'x-api-key': OWN }), OWN);
    assert.equal(await keyAt('asking', {}, { x_api_key: OWN }), OWN);
    assert.equal(await keyAt('asking', { api_key: 'in-the-body' }, { 'x-api-key': OWN }), 'in-the-body');
    assert.equal(await keyAt('keyed', {}, { 'x-api-key': 'secret' }), 'configured-key');
  });

  test("a client's key finds the default model too", async () => {
    // It lists its models to holders of a key only.
    const answer = await ask(world, { provider: 'claude' }, { headers: bearer(OWN) });
    assert.equal(answer.text, 'claude');
    assert.deepEqual(world.arrived(), [{ at: 'claude', model: 'claude-sonnet-4-5', key: OWN }]);
    assert.equal((await ask(world, { provider: 'claude' })).code, 'missing_credentials');
  });

  test('a key for one provider never reaches another that takes over', async () => {
    await using fresh = await openWorld('aliases: { best: [groq/asked, keyed/only-keyed, claude/claude-sonnet-4-5] }');
    fresh.answers.free = { status: 500 };
    fresh.answers.other = { status: 500 };
    await ask(fresh, { model: 'shared', api_key: OWN }, { headers: bearer(OWN) });
    await ask(fresh, { model: 'best', api_key: OWN }, { headers: bearer(OWN) });
    const arrived = fresh.arrived();
    assert.ok(arrived.some(({ at }) => at === 'keyed'));
    assert.deepEqual(
      arrived.filter(({ key }) => key === OWN),
      [],
    );
    // By name they may travel to each.
    await ask(fresh, { model: 'best', api_key: { groq: 'for-groq' } });
    assert.deepEqual(fresh.arrived(), [{ at: 'asking', model: 'asked', key: 'for-groq' }]);
  });

  test('a key does not reach a default provider where the model names another one', async () => {
    await using world = await openWorld('defaultProvider: keyed');
    const keyOf = async (model: string): Promise<string | undefined> => {
      await ask(world, { model, api_key: 'own-key' });
      return world.arrived().at(-1)?.key;
    };
    assert.equal(await keyOf('other/m'), 'configured-key');
    assert.equal(await keyOf('m'), 'own-key');
    assert.equal(await keyOf('keyed/m'), 'own-key');
  });

  test('is not logged, even when an upstream quotes it', async () => {
    await using fresh = await openWorld('limits: { attempts: 1 }');
    fresh.answers.asking = { status: 401, errorMessage: `Incorrect API key provided: ${OWN}` };
    fresh.answers.claude = { text: ['One '], errorAfter: 1, errorMessage: `Your key ${OWN} was revoked` };
    for (const body of [
      { provider: 'groq', api_key: OWN },
      { provider: 'claude', api_key: OWN },
    ]) {
      await ask(fresh, body);
      await converse(fresh, body);
    }
    assert.equal(fresh.arrived().length, 4);
    assert.equal(fresh.logged().includes(OWN), false);
  });

  test('works in dialect A too', async () => {
    await converse(world, { provider: 'groq', model: 'x', api_key: OWN });
    await converse(world, { provider: 'groq', model: 'x', api_key: { groq: OWN } });
    await converse(world, { provider: 'groq', model: 'x' }, bearer(OWN));
    assert.deepEqual(
      world.arrived().map(({ key }) => key),
      [OWN, OWN, OWN],
    );
  });
});

describe('who answers in dialect A', { timeout: 60_000 }, () => {
  let world: SelectionWorld;
  before(async () => {
    world = await openWorld('aliases: { fast: free/only-free }');
  });
  after(() => world[Symbol.asyncDispose]());

  for (const [body, at, model] of [
    [{ provider: 'free', model: 'x' }, 'free', 'x'],
    [{ provider: 'Free Upstream' }, 'free', 'only-free'],
    [{ provider: 'other free', model: 'x' }, 'other', 'x'],
    [{ provider: '', model: 'only-keyed' }, 'keyed', 'only-keyed'],
    [{ provider: null, model: 'fast' }, 'free', 'only-free'],
    [{ model: 'free:shared' }, 'free', 'shared'],
    [{ model: 'other' }, 'other', 'org/nested'],
    [{ model: 'shared', ignored: ['free', 'other'] }, 'keyed', 'shared'],
    [{}, 'keyed', 'only-keyed'],
  ] as const) {
    test(`${JSON.stringify(body)}: ${at}`, async () => {
      const { status, events } = await converse(world, body);
      assert.equal(status, 200);
      const [first] = events;
      assert.equal(first?.type, 'provider');
      const introduced = first?.['provider'] as { name: string; model: string } | undefined;
      assert.deepEqual([introduced?.name, introduced?.model], [at, model]);
      assert.deepEqual(
        world.arrived().map((arrival) => [arrival.at, arrival.model]),
        [[at, model]],
      );
      assert.equal(events.find((event) => event.type === 'content')?.['content'], at);
    });
  }

  test('a model of a provider that waits for a key: how to ask for it', async () => {
    const refused = await ask(world, { model: 'asked', api_key: 'k' });
    assert.deepEqual([refused.status, refused.code], [404, 'model_not_found']);
    assert.match(refused.text, /Ask for 'groq\/asked' and send its key as api_key\./);
    assert.deepEqual(world.arrived(), []);
    const answer = await ask(world, { model: 'groq/asked', api_key: 'k' });
    assert.deepEqual([answer.status, world.arrived()], [200, [{ at: 'asking', model: 'asked', key: 'k' }]]);
  });

  test('an unknown provider is 404 before the stream', async () => {
    const { status, json } = await converse(world, { provider: 'nobody', model: 'x' });
    assert.equal(status, 404);
    assert.match((json as { error: { message: string } }).error.message, /'nobody'/);
  });

  test('an unknown model without a provider is a chunk of a stream', async () => {
    const { status, events } = await converse(world, { model: 'nothing' });
    assert.equal(status, 200);
    assert.equal(events.length, 1);
    assert.equal(events[0]?.type, 'error');
    assert.equal(events[0]?.['error'], 'ModelNotFoundError');
    assert.match(String(events[0]?.['message']), /^ModelNotFoundError: .*'nothing'/);
  });

  test('a missing key is a chunk that asks for it, behind the introduction of whom it is for', async () => {
    for (const [name, body] of [
      ['groq', { provider: 'groq', model: 'x' }],
      ['claude', { model: 'claude/claude-sonnet-4-5' }],
    ] as const) {
      const { status, events } = await converse(world, body);
      assert.equal(status, 200);
      assert.deepEqual(
        events.map((event) => event.type),
        ['provider', 'parameters', 'auth'],
      );
      assert.partialDeepStrictEqual(events[0]?.['provider'], { name });
      assert.equal(events[2]?.['auth'], 'MissingAuthError');
      assert.match(
        String(events[2]?.['message']),
        /^MissingAuthError: (Asking|Claude) needs an API key: .*sluice\.yaml/,
      );
    }
    assert.deepEqual(world.arrived(), []);
  });
});
