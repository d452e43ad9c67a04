import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fileName } from '../support/image-vendors.ts';
import { dataUri } from '../support/pictures.ts';

import { base64, blue, openWorld, ROWS, type Row, red } from './image-vendors-world.ts';

describe('pictures to work on', { timeout: 60_000 }, () => {
  const at = (id: string): Row => {
    const row = ROWS.find((each) => each.id === id);
    assert.ok(row !== undefined);
    return row;
  };
  const body = {
    prompt: 'Make it blue',
    image: dataUri(red),
    mask: { image_url: dataUri(blue) },
    response_format: 'b64_json',
  };
  const edits = '/v1/images/edits';

  test('fal and Replicate take them inline', async (context) => {
    const fal = await openWorld(context, at('fal'), { pictures: [blue] });
    assert.deepEqual((await fal.ask({ model: 'fal-ai/flux/dev', ...body }, edits)).json.data, [base64(blue)]);
    const [first] = fal.upstream.at('/fal-ai/flux/dev');
    assert.deepEqual([first?.json.image_url, first?.json.mask_url], [dataUri(red), dataUri(blue)]);
    await fal.ask({ model: 'fal-ai/flux/dev', prompt: 'x', image: [dataUri(red), dataUri(blue)] }, edits);
    assert.deepEqual(fal.upstream.at('/fal-ai/flux/dev').at(-1)?.json.image_urls, [dataUri(red), dataUri(blue)]);

    const replicate = await openWorld(context, at('replicate'), { pictures: [blue] });
    const model = 'black-forest-labs/flux-kontext-pro';
    assert.deepEqual((await replicate.ask({ model, ...body }, edits)).json.data, [base64(blue)]);
    const { input } = replicate.upstream.calls[0]?.json ?? {};
    assert.deepEqual([input.image, input.mask], [dataUri(red), dataUri(blue)]);
  });

  test('Luma takes them by address only, and no mask', async (context) => {
    const luma = await openWorld(context, at('luma'), { pictures: [blue] });
    const inline = await luma.ask({ model: 'photon-1', prompt: 'x', image: dataUri(red) }, edits);
    assert.deepEqual([inline.status, inline.json.error.code], [501, 'not_supported']);
    const masked = await luma.ask({ model: 'photon-1', ...body }, edits);
    assert.deepEqual([masked.status, masked.json.error.param], [501, 'mask']);
    const url = 'https://pictures.example/red.png';
    assert.equal((await luma.ask({ model: 'photon-1', prompt: 'x', image: url }, edits)).status, 200);
    assert.deepEqual(luma.upstream.calls[0]?.json.image, [{ url, weight: 0.85 }]);
  });

  test('Stability changes a whole picture, or a part', async (context) => {
    const stability = await openWorld(context, at('stability'), { pictures: [blue] });
    const { mask: _, ...whole } = body;
    assert.deepEqual((await stability.ask({ model: 'sd3.5-large', ...whole }, edits)).json.data, [base64(blue)]);
    const [call] = stability.upstream.at('/v2beta/stable-image/generate/sd3');
    assert.deepEqual([call?.form?.get('mode'), call?.form?.get('strength')], ['image-to-image', '0.7']);
    const file = call?.form?.get('image') as File;
    assert.deepEqual(Buffer.from(await file.arrayBuffer()), red);
    await stability.ask({ model: 'sd3.5-large', ...body }, edits);
    assert.ok(stability.upstream.at('/v2beta/stable-image/edit/inpaint')[0]?.form?.get('mask') instanceof File);
    const core = await stability.ask({ model: 'stable-image-core', ...whole }, edits);
    assert.equal(core.status, 501);
  });

  test('AUTOMATIC1111 by img2img, without what would write files there', async (context) => {
    const world = await openWorld(context, at('automatic1111'), { pictures: [blue] }, { entry: '' });
    const fields = {
      model: 'sd_xl_base_1.0',
      strength: 0.4,
      sampler_name: 'Euler a',
      save_images: true,
      script_name: 'x',
    };
    const { json, headers } = await world.ask({ ...fields, ...body }, edits);
    assert.deepEqual(json.data, [base64(blue)]);
    assert.deepEqual(headers.get('x-sluice-dropped')?.split(', ').sort(), ['save_images', 'script_name']);
    const sent = world.upstream.at('/sdapi/v1/img2img')[0]?.json;
    assert.deepEqual(sent.init_images, [red.toString('base64')]);
    assert.deepEqual(
      [sent.mask, sent.denoising_strength, sent.sampler_name],
      [blue.toString('base64'), 0.4, 'Euler a'],
    );
    assert.deepEqual([sent.save_images, sent.script_name], [undefined, undefined]);
  });

  test('ComfyUI gets them uploaded', async (context) => {
    const world = await openWorld(context, at('comfyui'), { pictures: [blue] }, { entry: '' });
    assert.deepEqual((await world.ask({ model: 'a.safetensors', ...body }, edits)).json.data, [base64(blue)]);
    const names = world.upstream.at('/upload/image').map(fileName);
    const { prompt } = world.upstream.at('/prompt')[0]?.json ?? {};
    assert.deepEqual([prompt.picture.inputs.image, prompt.region.inputs.image], names);
    assert.equal(prompt.encoded.class_type, 'VAEEncodeForInpaint');
  });

  test('Imagen draws from words alone', async (context) => {
    const world = await openWorld(context, at('gemini'), { pictures: [blue] });
    const { status } = await world.ask({ model: 'imagen-4.0-generate-001', prompt: 'x', image: dataUri(red) }, edits);
    assert.equal(status, 501);
  });
});
