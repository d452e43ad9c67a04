import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dataUri } from '../support/pictures.ts';
import { post, red, setWorld, told } from './images-world.ts';

describe('OpenAI’s images API, failures', { timeout: 60_000 }, () => {
  const world = setWorld();

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

  test('a picture or a mask that is not here: the field is named', async () => {
    const image = dataUri(red);
    for (const [param, body] of [
      ['image', { image: '/media/gone.png' }],
      ['mask', { image, mask: '/media/gone.png' }],
    ] as const) {
      const { status, json } = await told(post(world, '/v1/images/edits', { prompt: 'x', ...body }));
      assert.deepEqual([status, json.error.param], [404, param]);
    }
  });

  test('a picture or a mask that is none: the field is named', async () => {
    const [image, text] = [dataUri(red), dataUri(Buffer.from('text'))];
    for (const [param, body] of [
      ['image', { image: text }],
      ['mask', { image, mask: text }],
    ] as const) {
      const asked = { prompt: 'x', model: 'gpt-image-1', ...body };
      const { status, json } = await told(post(world, '/v1/images/edits', asked));
      assert.deepEqual([status, json.error.param], [400, param]);
    }
  });

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

  test('what cannot be had comes with whose picture it was, as every failure of a provider', async () => {
    world.script = ({ path }) =>
      path === '/x.png'
        ? { status: 404, json: {} }
        : { json: { created: 1, data: [{ url: `${world.upstream.origin}/x.png` }] } };
    const asked = { prompt: 'x', model: 'dall-e-3', response_format: 'b64_json' };
    const { status, json } = await told(post(world, '/v1/images/generate', asked));
    assert.deepEqual([status, json.model, json.provider], [502, 'dall-e-3', 'acme']);
    assert.match(json.error.message, /^Response\w*Error: '\S+\/x\.png' answered 404/);
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
