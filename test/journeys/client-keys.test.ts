import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import type { VendorScript } from '../support/vendor-script.ts';
import { startGatewayBefore } from './gateway-before.ts';

/** The key of a client, which is meant for one provider, though the request may not say which. */
const OWN = 'sk-of-a-client-for-somebody';

describe('a key that came with a request', () => {
  let broken: OpenAiUpstream;
  let second: OpenAiUpstream;
  let third: OpenAiUpstream;
  let keyless: OpenAiUpstream;
  let world: Awaited<ReturnType<typeof startGatewayBefore>>;
  before(async () => {
    const refusing: VendorScript = ({ model }) => (model.startsWith('refused') ? { status: 429 } : { text: ['Hello'] });
    broken = await startOpenAiUpstream(refusing, {
      handle({ method }, response) {
        if (method !== 'GET') return false;
        response.writeHead(500).end();
        return true;
      },
    });
    second = await startOpenAiUpstream(undefined, { models: ['second-model', 'shared'] });
    third = await startOpenAiUpstream(undefined, { models: ['third-model', 'shared'] });
    keyless = await startOpenAiUpstream();
    const provider = ({ baseUrl }: OpenAiUpstream): string =>
      `{ kind: openai, baseUrl: '${baseUrl}', apiKey: configured }`;
    world = await startGatewayBefore(
      [broken, second, third, keyless],
      `
providers:
  broken: ${provider(broken)}
  second: ${provider(second)}
  third: ${provider(third).replace('{', '{ label: Number Three,')}
  groq: { baseUrl: '${keyless.baseUrl}' }
aliases: { some: [broken, second, third], cheap: [groq/m, third/m] }
`,
    );
  });
  after(() => world.close());

  /** The paths at which the key arrived. */
  const arriving = async (send: () => Promise<unknown>): Promise<readonly string[]> => {
    const upstreams = { broken, second, third, keyless };
    const seen = Object.entries(upstreams).map(([name, { requests }]) => ({ name, requests, from: requests.length }));
    await send();
    return seen.flatMap(({ name, requests, from }) =>
      requests
        .slice(from)
        .filter(({ headers }) => JSON.stringify(headers).includes(OWN))
        .map(({ path }) => name + path),
    );
  };

  const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(world.gateway.origin + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const CHAT = { messages: [{ role: 'user', content: 'Hi' }] };
  const ask = (fields: object): Promise<readonly string[]> =>
    arriving(() => post('/v1/chat/completions', { ...CHAT, ...fields }));

  test('reaches nobody where the request says neither a provider nor a model', async () => {
    assert.deepEqual(await ask({ api_key: OWN }), []);
  });

  test('reaches nobody of an alias for several, not even for their listings', async () => {
    assert.deepEqual(await ask({ model: 'some', api_key: OWN }), []);
  });

  test('reaches whom the request names, and nobody else', async () => {
    assert.deepEqual(await ask({ provider: 'second', model: 'm', api_key: OWN }), ['second/v1/chat/completions']);
    assert.deepEqual(await ask({ model: 'third/m', api_key: OWN }), ['third/v1/chat/completions']);
    assert.deepEqual(await ask({ model: 'third', api_key: OWN }), ['third/v1/models', 'third/v1/chat/completions']);
    assert.deepEqual(await ask({ model: 'second-model', api_key: OWN }), ['second/v1/chat/completions']);
    assert.deepEqual(await ask({ api_key: { second: OWN } }), ['second/v1/models', 'second/v1/chat/completions']);
    const byLabel = { 'Number three': OWN, SECOND: 'sk-of-somebody-else' };
    assert.deepEqual(await ask({ model: 'third/m', api_key: byLabel }), ['third/v1/chat/completions']);
  });

  test('reaches whom the request names, and not who takes over', async () => {
    const refused = ['broken/v1/chat/completions'];
    for (const models of [['third-model'], ['second/m', 'third/m'], ['shared'], ['some']])
      assert.deepEqual(await ask({ model: `broken/refused-${models}`, models, api_key: OWN }), refused, models.join());
    assert.deepEqual(await ask({ provider: 'broken third', model: 'refused-of-list', api_key: OWN }), refused);
    assert.deepEqual(await ask({ model: 'shared', api_key: OWN }), []);
    const each = { broken: OWN, third: OWN };
    const both = [...refused, 'third/v1/chat/completions'];
    assert.deepEqual(await ask({ model: 'broken/refused-by-each', models: ['third/m'], api_key: each }), both);
  });

  test('reaches as a Bearer token whom the request names and who has no other, and nobody else', async () => {
    const bearer = (model: string) =>
      arriving(() => post('/v1/chat/completions', { ...CHAT, model }, { authorization: `Bearer ${OWN}` }));
    assert.deepEqual(await bearer('groq/m'), ['keyless/v1/chat/completions']);
    for (const model of ['cheap', 'third/m', 'shared']) assert.deepEqual(await bearer(model), [], model);
    // Google's clients have a header of their own for it.
    const body = { contents: [{ parts: [{ text: 'Hi' }] }] };
    assert.deepEqual(
      await arriving(() => post('/v1beta/models/groq%2Fm:generateContent', body, { 'x-goog-api-key': OWN })),
      ['keyless/v1/chat/completions'],
    );
  });

  test('is for the provider that answers the first of several choices, and for no other', async () => {
    // Further choices of a model that two have are asked of whoever gave the first, with the operator's key.
    const body = { contents: [{ parts: [{ text: 'Hi' }] }], generationConfig: { candidateCount: 3 } };
    assert.deepEqual(
      await arriving(() => post('/v1beta/models/shared:generateContent', body, { 'x-api-key': OWN })),
      [],
    );
  });

  test('is not for the default provider where a task names neither it nor a model that it alone has', async () => {
    const main = await startOpenAiUpstream(undefined, { models: ['text-embedding-3-small', 'gpt-image-1'] });
    const { gateway, close } = await startGatewayBefore(
      [main],
      `
defaultProvider: main
providers: { main: { kind: openai, baseUrl: '${main.baseUrl}', apiKey: configured } }
`,
    );
    try {
      const keyFor = async (path: string, fields: object): Promise<string | undefined> => {
        const from = main.requests.length;
        await fetch(gateway.origin + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ input: 'Hi', prompt: 'Hi', api_key: OWN, ...fields }),
        });
        const asked = main.requests.slice(from).find((each) => each.method === 'POST');
        return asked?.headers.authorization;
      };
      for (const path of ['/v1/embeddings', '/v1/images/generations'])
        assert.equal(await keyFor(path, {}), 'Bearer configured', path);
      assert.equal(await keyFor('/v1/embeddings', { model: 'nobody-lists-it' }), 'Bearer configured');
      assert.equal(await keyFor('/v1/embeddings', { model: 'text-embedding-3-small' }), `Bearer ${OWN}`);
      assert.equal(await keyFor('/v1/embeddings', { model: 'main/nobody-lists-it' }), `Bearer ${OWN}`);
    } finally {
      await close();
    }
  });
});
