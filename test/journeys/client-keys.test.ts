import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import { startGatewayBefore } from './gateway-before.ts';

/** The key of a client, which is meant for one provider, though the request may not say which. */
const OWN = 'sk-of-a-client-for-somebody';

describe('a key that came with a request', () => {
  let broken: OpenAiUpstream;
  let second: OpenAiUpstream;
  let third: OpenAiUpstream;
  let world: Awaited<ReturnType<typeof startGatewayBefore>>;
  before(async () => {
    broken = await startOpenAiUpstream(undefined, {
      handle({ method }, response) {
        if (method !== 'GET') return false;
        response.writeHead(500).end();
        return true;
      },
    });
    second = await startOpenAiUpstream(undefined, { models: ['second-model'] });
    third = await startOpenAiUpstream(undefined, { models: ['third-model'] });
    const provider = ({ baseUrl }: OpenAiUpstream): string =>
      `{ kind: openai, baseUrl: '${baseUrl}', apiKey: configured }`;
    world = await startGatewayBefore(
      [broken, second, third],
      `
providers:
  broken: ${provider(broken)}
  second: ${provider(second)}
  third: ${provider(third)}
aliases: { some: [broken, second, third] }
`,
    );
  });
  after(() => world.close());

  /** The paths at which the key arrived. */
  const ask = async (fields: object): Promise<readonly string[]> => {
    const upstreams = { broken, second, third };
    const seen = Object.entries(upstreams).map(([name, { requests }]) => ({ name, requests, from: requests.length }));
    await fetch(`${world.gateway.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], ...fields }),
    });
    return seen.flatMap(({ name, requests, from }) =>
      requests
        .slice(from)
        .filter(({ headers }) => JSON.stringify(headers).includes(OWN))
        .map(({ path }) => name + path),
    );
  };

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
  });
});
