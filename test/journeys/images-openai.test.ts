import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateImage } from 'ai';
import { eventually } from '../support/eventually.ts';
import { base64, blue, CREATED, post, red, setWorld, told, USAGE } from './images-world.ts';

describe('OpenAI’s images API', { timeout: 60_000 }, () => {
  const world = setWorld();

  test('a link to this server, from where the picture and its thumbnail can be had', async () => {
    const answer = await world.client.images.generate({ model: 'gpt-image-1', prompt: 'A red barn', n: 1 });
    const url = answer.data?.[0]?.url ?? '';
    assert.match(url, new RegExp(`^${world.gateway.origin}/media/\\d+_gpt-image-1\\+A_red_barn_[0-9a-f]{16}\\.png$`));
    assert.deepEqual(Buffer.from(await (await fetch(url)).arrayBuffer()), red);
    const small = await fetch(url.replace('/media/', '/thumbnail/'));
    assert.equal(small.headers.get('content-type'), 'image/webp');
    await small.arrayBuffer();
    assert.deepEqual(Object.keys(answer.data?.[0] ?? {}), ['url']);
    const { created, usage, size, quality } = answer;
    assert.deepEqual(
      { created, usage, size, quality },
      { created: CREATED, usage: USAGE, size: '1024x1024', quality: 'high' },
    );
    const [call] = world.upstream.at('/v1/images/generations').slice(-1);
    assert.equal(call?.headers.authorization, 'Bearer key-of-the-operator');
    assert.deepEqual(call?.json, { model: 'gpt-image-1', prompt: 'A red barn', n: 1 });
  });

  test('base64, whichever of the two the upstream gives', async () => {
    const inline = await world.client.images.generate({ model: 'dall-e-3', prompt: 'a', response_format: 'b64_json' });
    assert.deepEqual(inline.data, [{ b64_json: red.toString('base64') }]);
    world.script = ({ path }) =>
      path === '/made/1.png'
        ? { bytes: blue, type: 'image/png' }
        : {
            json: { created: 1, data: [{ url: `${world.upstream.origin}/made/1.png`, revised_prompt: 'A blue one' }] },
          };
    const fetched = await world.client.images.generate({ model: 'dall-e-3', prompt: 'a', response_format: 'b64_json' });
    assert.deepEqual(fetched.data, [{ b64_json: blue.toString('base64'), revised_prompt: 'A blue one' }]);
    const linked = await world.client.images.generate({ model: 'dall-e-3', prompt: 'a' });
    assert.match(linked.data?.[0]?.url ?? '', /\/media\/.*\.png$/);
    assert.equal(linked.data?.[0]?.revised_prompt, 'A blue one');
    const theirs = await told(
      post(world, '/v1/images/generations', { model: 'dall-e-3', prompt: 'a', download_media: false }),
    );
    assert.equal(theirs.json.data[0].url, `${world.upstream.origin}/made/1.png`);
  });

  test('the AI SDK gets the bytes it reads, which it seldom asks for', async () => {
    const baseURL = `${world.gateway.origin}/v1`;
    const openai = createOpenAI({ baseURL, apiKey: 'secret' });
    const compatible = createOpenAICompatible({ name: 'sluice', baseURL });
    for (const model of [openai.image('gpt-image-1'), compatible.imageModel('dall-e-3')]) {
      const drawn = await generateImage({ model, prompt: 'A red barn', maxRetries: 0 });
      assert.deepEqual(Buffer.from(drawn.image.uint8Array), red);
      const changed = await generateImage({ model, prompt: { text: 'Redder', images: [blue] }, maxRetries: 0 });
      assert.deepEqual(Buffer.from(changed.image.uint8Array), red);
    }
    // A word that it does say counts.
    const linked = await told(
      fetch(`${baseURL}/images/generations`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'ai-sdk/openai/9.9.9' },
        body: JSON.stringify({ model: 'dall-e-3', prompt: 'a', response_format: 'url' }),
      }),
    );
    assert.deepEqual(Object.keys(linked.json.data[0]), ['url']);
  });

  test('an empty response_format is like none, and no upstream sees it', async () => {
    const asked = await told(
      post(world, '/v1/images/generate', { model: 'dall-e-3', prompt: 'a', response_format: '' }),
    );
    assert.equal(asked.status, 200, JSON.stringify(asked.json));
    assert.match(asked.json.data[0].url, /\/media\/.*\.png$/);
    assert.deepEqual(world.upstream.at('/v1/images/generations').at(-1)?.json, { model: 'dall-e-3', prompt: 'a' });
  });

  test('all its names, by path, body and alias', async () => {
    for (const [path, body] of [
      ['/v1/images/generate', { model: 'gpt-image-1' }],
      ['/v1/images/generations', { model: 'acme/gpt-image-1' }],
      ['/v1/media/generate', { model: 'acme:gpt-image-1' }],
      ['/v1/images/generate', { provider: 'acme' }],
      ['/api/acme/images/generations', {}],
      ['/api/acme/images/generate', { model: 'gpt-image-1' }],
      ['/v1/images/generate', {}],
    ] as const) {
      const { status, json, headers } = await told(post(world, path, { prompt: 'A boat', ...body }));
      assert.equal(status, 200, `${path} ${JSON.stringify(json)}`);
      assert.deepEqual([json.provider, json.model], ['acme', 'gpt-image-1'], path);
      assert.deepEqual([headers.get('x-sluice-provider'), headers.get('x-sluice-model')], ['acme', 'gpt-image-1']);
    }
  });

  test('values arrive as they were sent; what is ours, or has no place, does not', async () => {
    const sent =
      '{ "prompt": "Zahl",  "model":"chatty", "seed":12345678901234567890, "guidance":7.50, "nested":{"a":[1, 2]},' +
      '"api_key":"key-of-the-client", "provider":"acme", "download_media":true, "base_url":"http://x", "size":"nonsense", "aspect_ratio":"16:9"}';
    const answer = await told(post(world, '/v1/images/generations', sent));
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.headers.get('x-sluice-dropped')?.split(', ').sort(), ['base_url', 'size']);
    const call = world.upstream.calls.at(-1);
    assert.equal(
      call?.raw.toString(),
      '{"prompt":"Zahl","model":"chatty","seed":12345678901234567890,"guidance":7.50,"nested":{"a":[1, 2]},"aspect_ratio":"16:9"}',
    );
    assert.equal(call?.headers.authorization, 'Bearer key-of-the-client');
  });

  test('every field of a picture that is not Sluice’s own reaches it', async () => {
    const fields = {
      ...{
        prompt: 'x',
        model: 'chatty',
        n: 2,
        width: 640,
        height: 480,
        aspect_ratio: '4:3',
        resolution: '1k',
        seed: 7,
      },
      ...{ negative_prompt: 'rain', guidance_scale: 7.5, num_inference_steps: 20, audio: true },
    };
    const { status, headers } = await told(post(world, '/v1/images/generations', fields));
    assert.deepEqual([status, headers.get('x-sluice-dropped')], [200, null]);
    assert.deepEqual(world.upstream.calls.at(-1)?.json, { ...fields, size: '640x480' });
  });

  test('a size goes upstream where it is one, or a word that upstreams have for one', async () => {
    for (const size of ['0x0', '0x512', '99999x1', '1024x', '1024', 'large']) {
      const answer = await post(world, '/v1/images/generate', { model: 'chatty', prompt: 'x', size });
      assert.deepEqual([answer.status, answer.headers.get('x-sluice-dropped')], [200, 'size'], size);
      assert.deepEqual(world.upstream.calls.at(-1)?.json, { model: 'chatty', prompt: 'x' });
    }
    for (const size of ['1x16384', '512*512', '640 x 480', 'auto', '2K']) {
      await post(world, '/v1/images/generate', { model: 'chatty', prompt: 'x', size });
      assert.deepEqual(world.upstream.calls.at(-1)?.json, { model: 'chatty', prompt: 'x', size });
    }
  });

  test('OpenAI’s own models get no field that they refuse', async () => {
    const body = {
      model: 'gpt-image-1',
      prompt: 'x',
      aspect_ratio: '9:16',
      negative_prompt: 'rain',
      response_format: 'url',
    };
    const answer = await told(post(world, '/v1/images/generations', body));
    assert.equal(answer.headers.get('x-sluice-dropped'), 'negative_prompt');
    assert.deepEqual(world.upstream.calls.at(-1)?.json, { model: 'gpt-image-1', prompt: 'x', size: '1024x1536' });
    const before = world.upstream.calls.length;
    const strict = await told(post(world, '/v1/images/generations', { ...body, strict: true }));
    assert.deepEqual([strict.status, strict.json.error.param], [400, 'negative_prompt']);
    assert.equal(world.upstream.calls.length, before);
    await post(world, '/v1/images/generations', { model: 'chatty', prompt: 'x', width: 640, height: 480 });
    assert.deepEqual(world.upstream.calls.at(-1)?.json, {
      model: 'chatty',
      prompt: 'x',
      width: 640,
      height: 480,
      size: '640x480',
    });
  });

  test('an upstream that refuses response_format is asked without', async () => {
    world.script = ({ json }) =>
      'response_format' in json
        ? {
            status: 400,
            json: { error: { message: "Unknown parameter: 'response_format'.", type: 'invalid_request_error' } },
          }
        : base64(red);
    const body = { model: 'chatty', prompt: 'x', response_format: 'b64_json' };
    const { json } = await told(post(world, '/v1/images/generations', body));
    assert.equal(json.data[0].b64_json, red.toString('base64'));
  });

  test('usage is counted', async () => {
    await post(world, '/v1/images/generations', { prompt: 'x', model: 'gpt-image-1', user: 'painter' }).then((r) =>
      r.text(),
    );
    await eventually('it is counted', async () => {
      const response = await fetch(`${world.gateway.origin}/backend-api/v2/stats?user=painter`);
      const text = await response.text();
      return text.includes('gpt-image-1') && text.includes('286');
    });
  });
});
