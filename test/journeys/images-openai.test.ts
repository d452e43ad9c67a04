import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { APIError, toFile } from 'openai';
import type { ImageReply } from '../support/image-upstream.ts';
import { dataUri, picture } from '../support/pictures.ts';

import { CREATED, openWorld, post, told, USAGE, type World } from './images-world.ts';

describe('OpenAI’s images API', { timeout: 60_000 }, () => {
  let world: World;
  let red: Buffer;
  let blue: Buffer;
  const ends: (() => void)[] = [];
  before(async () => {
    world = await openWorld({ after: (done) => ends.push(done) });
    [red, blue] = await Promise.all([picture('#ff0000', 500, 300), picture('#0000ff')]);
  });
  after(() => {
    for (const end of ends.reverse()) end();
  });
  const base64 = (...pictures: Buffer[]): ImageReply => ({
    json: {
      created: CREATED,
      background: 'opaque',
      data: pictures.map((each) => ({ b64_json: each.toString('base64') })),
      output_format: 'png',
      quality: 'high',
      size: '1024x1024',
      usage: USAGE,
    },
  });
  beforeEach(() => {
    world.script = () => base64(red);
  });

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

  test('an edit with files goes on as a form', async () => {
    world.script = () => base64(blue);
    const answer = await world.client.images.edit({
      model: 'gpt-image-1',
      prompt: 'Make it blue',
      image: [
        await toFile(red, 'red.png', { type: 'image/png' }),
        await toFile(blue, 'blue.png', { type: 'image/png' }),
      ],
      mask: await toFile(blue, 'mask.png', { type: 'image/png' }),
      size: '1024x1024',
      n: 2,
      input_fidelity: 'high',
    });
    assert.match(answer.data?.[0]?.url ?? '', /\/media\//);
    const form = world.upstream.at('/v1/images/edits').at(-1)?.form;
    assert.deepEqual(
      [...(form?.entries() ?? [])]
        .flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))
        .sort(),
      [
        ['input_fidelity', 'high'],
        ['model', 'gpt-image-1'],
        ['n', '2'],
        ['prompt', 'Make it blue'],
        ['size', '1024x1024'],
      ],
    );
    const files = [...(form?.getAll('image[]') ?? []), ...(form?.getAll('mask') ?? [])] as File[];
    const bytes = await Promise.all(files.map(async (file) => Buffer.from(await file.arrayBuffer())));
    assert.deepEqual(bytes, [red, blue, blue]);
    assert.deepEqual(
      files.map(({ type }) => type),
      ['image/png', 'image/png', 'image/png'],
    );
  });

  test('an edit in JSON: inline, by a path of ours, by a whole address of ours', async () => {
    world.script = () => base64(blue);
    const kept = (await told(post(world, '/v1/images/generate', { model: 'gpt-image-1', prompt: 'To keep' }))).json
      .data[0].url;
    for (const images of [
      [{ image_url: dataUri(blue) }],
      [{ image_url: kept }],
      [{ image_url: new URL(kept).pathname }],
      dataUri(blue),
    ]) {
      const { status, json } = await told(
        post(world, '/v1/images/edits', { model: 'gpt-image-1', prompt: 'x', images }),
      );
      assert.equal(status, 200, JSON.stringify(json));
      const file = world.upstream.at('/v1/images/edits').at(-1)?.form?.get('image') as File;
      assert.deepEqual(Buffer.from(await file.arrayBuffer()), blue);
    }
  });

  test('a variation', async () => {
    world.script = () => base64(blue);
    const image = await toFile(red, 'red.png', { type: 'image/png' });
    const answer = await world.client.images.createVariation({
      model: 'dall-e-2',
      image,
      n: 1,
      response_format: 'b64_json',
    });
    assert.equal(answer.data?.[0]?.b64_json, blue.toString('base64'));
    const form = world.upstream.at('/v1/images/variations').at(-1)?.form;
    assert.deepEqual([form?.get('model'), form?.get('n'), form?.get('prompt')], ['dall-e-2', '1', null]);
    assert.ok(form?.get('image') instanceof File);
  });

  describe('as events', () => {
    const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
    const meta = { created_at: CREATED, size: '1024x1024', quality: 'low', background: 'opaque', output_format: 'png' };

    test('unfinished pictures come as the upstream sends them', async () => {
      const { promise: isSeen, resolve: seen } = Promise.withResolvers<void>();
      world.script = () => ({
        async write(response) {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          const partial = { ...meta, b64_json: blue.toString('base64'), partial_image_index: 0 };
          response.write(event('image_generation.partial_image', partial));
          await isSeen; // the end is not there before the client has the first one
          response.end(
            event('image_generation.completed', { ...meta, b64_json: red.toString('base64'), usage: USAGE }),
          );
        },
      });
      const types: string[] = [];
      const stream = await world.client.images.generate({
        model: 'gpt-image-1',
        prompt: 'x',
        stream: true,
        partial_images: 1,
      });
      for await (const each of stream) {
        types.push(each.type);
        if (each.type === 'image_generation.partial_image') {
          assert.deepEqual([each.partial_image_index, each.b64_json], [0, blue.toString('base64')]);
          seen();
        } else {
          assert.equal(each.b64_json, red.toString('base64'));
          assert.deepEqual([each.usage, each.quality, each.created_at], [USAGE, 'low', each.created_at]);
        }
      }
      assert.deepEqual(types, ['image_generation.partial_image', 'image_generation.completed']);
      const { json } = world.upstream.calls.at(-1) ?? {};
      assert.deepEqual([json.stream, json.partial_images], [true, 1]);
    });

    test('an upstream without events: one at the end, also of an edit', async () => {
      world.script = () => base64(red);
      const stream = await world.client.images.generate({ model: 'chatty', prompt: 'x', stream: true });
      const events = await Array.fromAsync(stream);
      assert.deepEqual(
        events.map(({ type }) => type),
        ['image_generation.completed'],
      );
      assert.equal(events[0]?.b64_json, red.toString('base64'));
      const image = await toFile(red, 'red.png', { type: 'image/png' });
      const edited = await world.client.images.edit({ model: 'chatty', prompt: 'x', image, stream: true });
      assert.deepEqual(
        (await Array.fromAsync(edited)).map(({ type }) => type),
        ['image_edit.completed'],
      );
    });

    test('a failure before the first is a status, one after it the last event', async () => {
      world.script = () => ({
        status: 429,
        json: { error: { message: 'Slow down.' } },
        headers: { 'retry-after': '60' },
      });
      await assert.rejects(
        world.client.images.generate({ model: 'gpt-image-1', prompt: 'x', stream: true }),
        (error) => error instanceof APIError && error.status === 429,
      );
      world.script = () => ({
        write(response) {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(event('image_generation.partial_image', { ...meta, b64_json: blue.toString('base64') }));
          response.end(event('error', { error: { message: 'The safety system with key-of-the-operator says no.' } }));
        },
      });
      const stream = await world.client.images.generate({ model: 'gpt-image-1', prompt: 'x', stream: true });
      await assert.rejects(Array.fromAsync(stream), (error) => {
        assert.match(String(error), /safety system/);
        assert.doesNotMatch(String(error), /key-of-the-operator/);
        return true;
      });
    });
  });

  describe('failures', () => {
    for (const [name, body, param] of [
      ['no prompt', { model: 'gpt-image-1' }, 'prompt'],
      ['an empty prompt', { prompt: '' }, 'prompt'],
      ['an unknown response_format', { prompt: 'x', response_format: 'png' }, 'response_format'],
      ['too many', { prompt: 'x', n: 11 }, 'n'],
      ['a text for a number', { prompt: 'x', n: 'two' }, 'n'],
    ] as const) {
      test(`${name}: 422 that names the field`, async () => {
        const { status, json } = await told(post(world, '/v1/images/generations', body));
        assert.deepEqual([status, json.error.param, json.error.code], [422, param, 'invalid_field']);
        assert.ok(Array.isArray(json.detail));
      });
    }

    for (const [name, json] of [
      ['no data', { created: 1 }],
      ['empty data', { created: 1, data: [] }],
      ['data without pictures', { created: 1, data: [{ revised_prompt: 'x' }, { url: 'ftp://host/x.png' }] }],
    ] as const) {
      test(`${name}: 502`, async () => {
        world.script = () => ({ json });
        const answer = await told(post(world, '/v1/images/generations', { prompt: 'x', model: 'gpt-image-1' }));
        assert.deepEqual([answer.status, answer.json.error.code], [502, 'upstream_invalid']);
      });
    }

    test('what is no picture: 502, as a link and by address as base64', async () => {
      world.script = ({ path }) =>
        path === '/x.png'
          ? { bytes: Buffer.from('<html>'), type: 'image/png' }
          : { json: { created: 1, data: [{ b64_json: Buffer.from('<svg onload="x">').toString('base64') }] } };
      const link = await told(post(world, '/v1/images/generations', { prompt: 'x', model: 'gpt-image-1' }));
      assert.equal(link.status, 502, JSON.stringify(link.json));
      world.script = ({ path }) =>
        path === '/x.png'
          ? { bytes: Buffer.from('<html>'), type: 'image/png' }
          : { json: { created: 1, data: [{ url: `${world.upstream.origin}/x.png` }] } };
      const inline = { prompt: 'x', model: 'dall-e-3', response_format: 'b64_json' };
      assert.equal((await told(post(world, '/v1/images/generations', inline))).status, 502);
    });

    test('an address that leads to a private network is never fetched', async () => {
      for (const url of [
        'http://192.168.7.7/x.png',
        'http://127.0.0.1:9/x.png',
        'http://[::1]/x.png',
        'http://169.254.169.254/',
      ]) {
        world.script = () => ({ json: { created: 1, data: [{ url }] } });
        const body = { prompt: 'x', model: 'dall-e-3' };
        const inline = await told(post(world, '/v1/images/generations', { ...body, response_format: 'b64_json' }));
        assert.deepEqual([inline.status, inline.json.error.code], [502, 'upstream_invalid'], url);
        // As a link it stays what the provider said, unseen.
        const link = await told(post(world, '/v1/images/generations', body));
        assert.deepEqual([link.status, link.json.data[0].url], [200, new URL(url).href]);
      }
    });

    test('inputs that lead there, or are no pictures, are refused', async () => {
      for (const [image, status] of [
        ['http://192.168.7.7/x.png', 400],
        ['http://127.0.0.1:9/x.png', 400],
        ['ftp://host/x.png', 422],
        ['/media/none.png', 404],
        ['/files/none/media/x.png', 404],
        ['/etc/passwd', 422],
        [dataUri(Buffer.from('<html>'), 'image/png'), 400],
        [`data:image/png;base64,${'A'.repeat(1_000)}`, 400],
      ] as const) {
        const before = world.upstream.calls.length;
        const answer = await told(post(world, '/v1/images/edits', { prompt: 'x', model: 'gpt-image-1', image }));
        assert.equal(answer.status, status, `${image.slice(0, 50)} ${JSON.stringify(answer.json)}`);
        assert.equal(world.upstream.calls.length, before);
      }
      const form = new FormData();
      form.append('prompt', 'x');
      form.append('image', new File(['<html>'], 'x.png', { type: 'image/png' }));
      const answer = await told(fetch(`${world.gateway.origin}/v1/images/edits`, { method: 'POST', body: form }));
      assert.deepEqual([answer.status, answer.json.error.param], [422, 'image']);
      const none = await told(post(world, '/v1/images/variations', {}));
      assert.deepEqual([none.status, none.json.error.param], [422, 'image']);
    });

    for (const [status, code, expected] of [
      [400, 'invalid_request', 400],
      [401, 'missing_credentials', 401],
      [404, 'model_not_found', 404],
      [429, 'rate_limited', 429],
      [500, 'provider_failed', 500],
    ] as const) {
      test(`its ${status} comes in its own words`, async () => {
        world.script = () => ({
          status,
          json: { error: { message: `The model says ${status} to key-of-the-operator.` } },
          headers: { 'retry-after': '100' },
        });
        const { status: got, json } = await told(
          post(world, '/v1/images/generations', { prompt: 'x', model: 'gpt-image-1' }),
        );
        assert.deepEqual([got, json.error.code], [expected, code]);
        assert.match(json.error.message, new RegExp(`The model says ${status}`));
        assert.doesNotMatch(json.error.message, /key-of-the-operator/);
      });
    }

    test('no such route upstream: 501', async () => {
      world.script = () => ({ status: 404, json: { error: 'Not Found' } });
      const { status, json } = await told(post(world, '/v1/images/generations', { prompt: 'x', model: 'gpt-image-1' }));
      assert.deepEqual([status, json.error.code], [501, 'not_supported']);
    });

    test('unknown providers and models', async () => {
      const provider = await told(post(world, '/v1/images/generations', { prompt: 'x', provider: 'nobody' }));
      assert.deepEqual([provider.status, provider.json.error.code], [404, 'provider_not_found']);
      const model = await told(post(world, '/v1/images/generations', { prompt: 'x', model: 'no-such-model' }));
      assert.deepEqual([model.status, model.json.error.code], [404, 'model_not_found']);
    });

    test('the client leaves: so does the request upstream', async () => {
      const { promise: arrived, resolve } = Promise.withResolvers<void>();
      world.script = () => {
        resolve();
        return { silent: true };
      };
      const gone = new AbortController();
      const asked = world.client.images.generate({ model: 'gpt-image-1', prompt: 'x' }, { signal: gone.signal });
      await arrived;
      gone.abort();
      await assert.rejects(asked);
      assert.equal(await world.upstream.calls.at(-1)?.closed, 'aborted');
    });
  });

  test('usage is counted', async () => {
    await post(world, '/v1/images/generations', { prompt: 'x', model: 'gpt-image-1', user: 'painter' }).then((r) =>
      r.text(),
    );
    for (let left = 50; left > 0; left -= 1) {
      const response = await fetch(`${world.gateway.origin}/backend-api/v2/stats?user=painter`);
      const text = await response.text();
      if (text.includes('gpt-image-1') && text.includes('286')) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.fail('it never came');
  });
});
