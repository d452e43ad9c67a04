import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import { type ImageUpstream, startImageUpstream } from '../support/image-upstream.ts';
import { dataUri, picture } from '../support/pictures.ts';

import { post, told, type World } from './images-world.ts';

describe('who draws', { timeout: 60_000 }, () => {
  test('a target that cannot makes place for the next; silence has an end', async (context: TestContext) => {
    const red = await picture('#ff0000');
    const silent = await startImageUpstream(context, () => () => ({ silent: true }));
    const chatOnly = await startImageUpstream(context, () => () => ({ status: 404, json: { error: 'Not Found' } }));
    const able = await startImageUpstream(context, () => () => ({
      json: { created: 1, data: [{ b64_json: red.toString('base64') }] },
    }));
    const row = (name: string, { origin }: ImageUpstream) =>
      `  ${name}: { kind: openai, baseUrl: '${origin}/v1', models: [dall-e-3] }\n`;
    const gateway = await startGateway(
      `providers:\n${row('one', silent)}${row('two', chatOnly)}${row('three', able)}limits: { imageMs: 300 }\n`,
    );
    context.after(() => void gateway.close());
    const world = { gateway } as World;
    const answer = await told(post(world, '/v1/images/generations', { prompt: 'x', model: 'dall-e-3' }));
    assert.equal(answer.status, 200, JSON.stringify(answer.json));
    assert.deepEqual([answer.json.provider, answer.headers.get('x-sluice-attempts')], ['three', '3']);
    const alone = await told(post(world, '/v1/images/generations', { prompt: 'x', provider: 'one' }));
    assert.deepEqual([alone.status, alone.json.error.code], [504, 'upstream_timeout']);
    assert.equal(await silent.calls.at(-1)?.closed, 'aborted');
  });

  test('one that draws and changes nothing: 501, in these words', async (context: TestContext) => {
    const red = await picture('#ff0000');
    const drawn = { json: { created: 1, data: [{ b64_json: red.toString('base64') }] } };
    const upstream = await startImageUpstream(context, () => ({ path }) => {
      return path === '/v1/images/generations' ? drawn : { status: 404, json: { error: 'Not Found' } };
    });
    const gateway = await startGateway(
      `providers: { one: { kind: openai, label: First One, baseUrl: '${upstream.origin}/v1', models: [dall-e-3] } }`,
    );
    context.after(() => void gateway.close());
    const ask = (path: string, body: object) =>
      told(post({ gateway } as World, `/v1/images/${path}`, { model: 'dall-e-3', ...body }));
    assert.equal((await ask('generations', { prompt: 'x' })).status, 200);
    for (const [path, words] of [
      ['edits', 'First One has no API to edit images.'],
      ['variations', 'First One has no API for variations of images.'],
    ] as const) {
      const { status, json } = await ask(path, { prompt: 'x', image: dataUri(red) });
      assert.deepEqual([status, json.error.message], [501, `NotSupportedError: ${words}`]);
    }
  });

  test('a default provider that only talks leaves pictures to whoever has the model', async (context: TestContext) => {
    const red = await picture('#ff0000');
    const talking = await startImageUpstream(context, () => () => ({ json: {} }));
    const drawing = await startImageUpstream(context, () => () => ({
      json: { created: 1, data: [{ b64_json: red.toString('base64') }] },
    }));
    const gateway = await startGateway(
      `defaultProvider: talker
providers:
  talker: { kind: anthropic, baseUrl: '${talking.origin}', apiKey: k, models: [claude-sonnet-4-5] }
  artist: { kind: openai, baseUrl: '${drawing.origin}/v1', models: [dall-e-3] }
`,
    );
    context.after(() => void gateway.close());
    for (const model of ['dall-e-3', 'artist/dall-e-3']) {
      const { status, json } = await told(post({ gateway } as World, '/v1/images/generations', { prompt: 'x', model }));
      assert.deepEqual([status, json.provider, json.model], [200, 'artist', 'dall-e-3'], JSON.stringify(json));
    }
    assert.deepEqual(talking.calls, []);
  });

  test('one that only talks is not asked: 501', async (context: TestContext) => {
    const upstream = await startImageUpstream(context, () => () => ({ json: {} }));
    const gateway = await startGateway(
      `providers: { talker: { kind: anthropic, baseUrl: '${upstream.origin}', apiKey: k, models: [claude-sonnet-4-5] } }`,
    );
    context.after(() => void gateway.close());
    const body = { prompt: 'x', model: 'talker/claude-sonnet-4-5' };
    const { status, json } = await told(post({ gateway } as World, '/v1/images/generations', body));
    assert.deepEqual([status, json.error.code], [501, 'not_supported']);
    assert.deepEqual(upstream.calls, []);
  });

  test('nobody who draws, and no model named: 501, with what to do', async (context: TestContext) => {
    const upstream = await startImageUpstream(context, () => () => ({ json: {} }));
    const gateway = await startGateway(
      `providers: { talker: { kind: anthropic, baseUrl: '${upstream.origin}', apiKey: k, models: [claude-sonnet-4-5] } }`,
    );
    context.after(() => void gateway.close());
    const { status, json } = await told(post({ gateway } as World, '/v1/images/generations', { prompt: 'x' }));
    assert.deepEqual([status, json.error.code], [501, 'not_supported']);
    assert.match(json.error.message, /makes pictures.*OPENAI_API_KEY/);
  });

  test('no model named, and none listed: 404 that names the provider, as for every task', async (context: TestContext) => {
    const upstream = await startImageUpstream(context, () => () => ({ json: { object: 'list', data: [] } }));
    const gateway = await startGateway(
      `providers: { p2: { kind: openai, label: Second, baseUrl: '${upstream.origin}/v1' } }`,
    );
    context.after(() => void gateway.close());
    for (const [path, fields] of [
      ['/v1/images/generations', { prompt: 'x' }],
      ['/v1/embeddings', { input: 'x' }],
      ['/v1/chat/completions', { messages: [{ role: 'user', content: 'x' }] }],
    ] as const) {
      const { status, json } = await told(post({ gateway } as World, path, { ...fields, provider: 'p2' }));
      const message = 'ModelNotFoundError: Second lists no model for this; name one in the request.';
      const { error } = json;
      assert.deepEqual([status, error.message, error.param, json.provider], [404, message, 'model', 'p2'], path);
    }
  });

  test('a chat model that draws is asked in a chat', async (context: TestContext) => {
    const red = await picture('#ff0000');
    const data = dataUri(red);
    const upstream = await startImageUpstream(context, () => ({ path }) => {
      if (path !== '/v1/chat/completions') return undefined;
      const chunk = { choices: [{ index: 0, delta: { images: [{ type: 'image_url', image_url: { url: data } }] } }] };
      const last = {
        choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
        usage: { prompt_tokens: 3, completion_tokens: 9, total_tokens: 12 },
      };
      return {
        write(response) {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.end(`data: ${JSON.stringify(chunk)}\n\ndata: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`);
        },
      };
    });
    const gateway = await startGateway(
      `providers: { router: { kind: openai, baseUrl: '${upstream.origin}/v1', models: [google/gemini-2.5-flash-image] } }`,
    );
    context.after(() => void gateway.close());
    const body = { prompt: 'A boat', n: 2, aspect_ratio: '16:9', response_format: 'b64_json' };
    const { status, json } = await told(post({ gateway } as World, '/v1/images/generations', body));
    assert.equal(status, 200, JSON.stringify(json));
    assert.deepEqual(json.data, Array(2).fill({ b64_json: red.toString('base64') }));
    assert.deepEqual([json.usage.input_tokens, json.usage.output_tokens, json.usage.total_tokens], [6, 18, 24]);
    const [call] = upstream.at('/v1/chat/completions');
    assert.deepEqual(call?.json.modalities, ['image', 'text']);
    assert.deepEqual(call?.json.image_config, { aspect_ratio: '16:9' });
  });
});
