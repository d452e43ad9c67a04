import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { APIError, toFile } from 'openai';
import { base64, blue, CREATED, openWorld, post, red, setWorld, told, USAGE } from './images-world.ts';

describe('OpenAI’s images API, as events', { timeout: 60_000 }, () => {
  const world = setWorld();

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
        response.end(event('image_generation.completed', { ...meta, b64_json: red.toString('base64'), usage: USAGE }));
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

  test('a picture that cannot be kept is there all the same, and only the link to it is not', async (context) => {
    const here = await openWorld(context);
    here.script = () => base64(red, blue);
    const data = path.join(here.gateway.folder, 'data');
    rmSync(data, { recursive: true, force: true });
    writeFileSync(data, 'a file in its place');
    const asked = { model: 'gpt-image-1', prompt: 'x', n: 2, response_format: 'url' } as const;
    const events = await Array.fromAsync(await here.client.images.generate({ ...asked, stream: true }));
    assert.deepEqual(
      events.map((each) => [each.type, each.b64_json, 'url' in each]),
      [red, blue].map((each) => ['image_generation.completed', each.toString('base64'), false]),
    );
    for (const response_format of ['b64_json', 'url'] as const) {
      const { status } = await told(post(here, '/v1/images/generations', { ...asked, response_format }));
      assert.equal(status, response_format === 'url' ? 507 : 200, response_format);
    }
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
