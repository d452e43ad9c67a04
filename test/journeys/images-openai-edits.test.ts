import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toFile } from 'openai';
import { dataUri } from '../support/pictures.ts';
import { base64, blue, openWorld, post, red, setWorld, told } from './images-world.ts';

describe('OpenAI’s images API, edits and variations', { timeout: 60_000 }, () => {
  const world = setWorld();

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

  test('an edit of a file that was sent before', async () => {
    world.script = () => base64(blue);
    const { id } = await world.client.files.create({ file: await toFile(blue, 'blue.png'), purpose: 'vision' });
    const { id: text } = await world.client.files.create({
      file: await toFile(Buffer.from('x'), 'x.txt'),
      purpose: 'vision',
    });
    const edit = (fileId: string) =>
      told(
        post(world, '/v1/images/edits', {
          model: 'gpt-image-1',
          prompt: 'x',
          images: [{ file_id: fileId }],
          mask: { file_id: id },
        }),
      );
    assert.equal((await edit(id)).status, 200);
    const form = world.upstream.at('/v1/images/edits').at(-1)?.form;
    for (const name of ['image', 'mask']) {
      const file = form?.get(name) as File;
      assert.deepEqual(Buffer.from(await file.arrayBuffer()), blue, name);
    }
    const ofText = await edit(text);
    assert.deepEqual([ofText.status, ofText.json.error.param], [404, 'image']);
    await world.client.files.delete(id);
    const gone = await edit(id);
    assert.equal(gone.status, 404);
    assert.match(gone.json.error.message, new RegExp(`There is no file '${id}'`));
    assert.equal((await edit('file-abc')).status, 422);
  });

  test('an edit of stored pictures, be it the same one often, of no more bytes than a form may have', async (context) => {
    const small = await openWorld(context, 'limits: { chatBodyBytes: 65536 }');
    small.script = () => base64(blue);
    const bytes = Buffer.concat([blue, Buffer.alloc(150_000)]);
    const { id } = await small.client.files.create({ file: await toFile(bytes, 'blue.png'), purpose: 'vision' });
    const edit = (count: number) =>
      told(
        post(small, '/v1/images/edits', {
          model: 'gpt-image-1',
          prompt: 'x',
          images: Array(count).fill({ file_id: id }),
        }),
      );
    assert.equal((await edit(4)).status, 200);
    const many = await edit(5);
    assert.deepEqual([many.status, many.json.error.param], [413, 'image']);
    assert.match(many.json.error.message, /more than 655360 bytes in all/);
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
});
