import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { startGeminiUpstream } from '../support/gemini-upstream.ts';
import { type ImageUpstream, startImageUpstream } from '../support/image-upstream.ts';
import {
  automatic1111Vendor,
  comfyVendor,
  falVendor,
  fileName,
  googleVendor,
  lumaVendor,
  pollinationsVendor,
  replicateVendor,
  stabilityVendor,
  type Vendor,
  type VendorPlay,
} from '../support/image-vendors.ts';
import { dataUri, picture } from '../support/pictures.ts';

/** Pictures of vendors with wire formats of their own: what was asked arrives, what was drawn comes back. */

interface World {
  readonly gateway: Gateway;
  readonly upstream: ImageUpstream;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  ask(body: object, path?: string): Promise<{ status: number; json: any; headers: Headers }>;
}

async function openWorld(
  context: TestContext,
  { id, vendor, suffix = '' }: { readonly id: string; readonly vendor: Vendor; readonly suffix?: string },
  play: VendorPlay,
  { entry = 'apiKey: key-of-the-operator', yaml = '' } = {},
): Promise<World> {
  const upstream = await startImageUpstream(context, vendor(play));
  const gateway = await startGateway(
    `providers:\n  ${id}: { baseUrl: '${upstream.origin}${suffix}'${entry === '' ? '' : `, ${entry}`} }\n${yaml}`,
  );
  context.after(() => void gateway.close());
  return {
    gateway,
    upstream,
    async ask(body, path = '/v1/images/generations') {
      const response = await fetch(gateway.origin + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ provider: id, ...body }),
      });
      return { status: response.status, json: await response.json(), headers: response.headers };
    },
  };
}

const red = await picture('#ff0000');
const blue = await picture('#0000ff');
const base64 = (bytes: Buffer): { b64_json: string } => ({ b64_json: bytes.toString('base64') });

interface Row {
  readonly id: string;
  readonly vendor: Vendor;
  readonly suffix?: string;
  readonly entry?: string;
  readonly model: string;
  /** The header that carries the key. */
  readonly header?: readonly [name: string, value: string];
  /** Where the request goes, and what it says of `BODY`. */
  readonly path: string;
  readonly sent: object;
  readonly dropped?: readonly string[];
  /** How a refusal looks. */
  readonly refusal: object;
  /** Its jobs take time, and are called off so. */
  readonly calledOff?: readonly [method: string, path: string];
  /** How a failed job looks to the client. */
  readonly failure?: readonly [said: string, status: number];
}

const BODY = {
  prompt: 'A red boat',
  aspect_ratio: '16:9',
  seed: 7,
  negative_prompt: 'rain',
  response_format: 'b64_json',
};
const SAID = 'The picture of a boat is not allowed.';

const ROWS: readonly Row[] = [
  {
    id: 'fal',
    vendor: falVendor,
    model: 'fal-ai/flux/dev',
    header: ['authorization', 'Key key-of-the-operator'],
    path: '/fal-ai/flux/dev',
    sent: { prompt: 'A red boat', seed: 7, image_size: 'landscape_16_9', num_images: 1, negative_prompt: 'rain' },
    refusal: { detail: [{ loc: ['body', 'prompt'], msg: SAID, type: 'value_error' }] },
    calledOff: ['PUT', '/fal-ai/flux/requests/job-1/cancel'],
    failure: [SAID, 422],
  },
  {
    id: 'replicate',
    vendor: replicateVendor,
    suffix: '/v1',
    model: 'black-forest-labs/flux-schnell',
    header: ['authorization', 'Bearer key-of-the-operator'],
    path: '/v1/models/black-forest-labs/flux-schnell/predictions',
    sent: { input: { prompt: 'A red boat', aspect_ratio: '16:9', seed: 7, num_outputs: 1, negative_prompt: 'rain' } },
    refusal: { title: 'Input validation failed', detail: SAID, status: 422 },
    calledOff: ['POST', '/v1/predictions/job-1/cancel'],
    failure: [SAID, 500],
  },
  {
    id: 'luma',
    vendor: lumaVendor,
    model: 'photon-1',
    header: ['authorization', 'Bearer key-of-the-operator'],
    path: '/dream-machine/v1/generations/image',
    sent: { prompt: 'A red boat', aspect_ratio: '16:9', model: 'photon-1' },
    dropped: ['negative_prompt', 'seed'],
    refusal: { detail: SAID },
    calledOff: ['DELETE', '/dream-machine/v1/generations/job-1'],
    failure: [SAID, 500],
  },
  {
    id: 'stability',
    vendor: stabilityVendor,
    model: 'sd3.5-large',
    header: ['authorization', 'Bearer key-of-the-operator'],
    path: '/v2beta/stable-image/generate/sd3',
    sent: {
      prompt: 'A red boat',
      aspect_ratio: '16:9',
      seed: '7',
      negative_prompt: 'rain',
      model: 'sd3.5-large',
      output_format: 'png',
    },
    refusal: { id: '1', name: 'bad_request', errors: [SAID] },
    failure: ['CONTENT_FILTERED', 400],
  },
  {
    id: 'automatic1111',
    vendor: automatic1111Vendor,
    entry: '',
    model: 'sd_xl_base_1.0',
    path: '/sdapi/v1/txt2img',
    sent: {
      prompt: 'A red boat',
      seed: 7,
      negative_prompt: 'rain',
      width: 704,
      height: 384,
      batch_size: 1,
      override_settings: { sd_model_checkpoint: 'sd_xl_base_1.0' },
    },
    refusal: { error: 'ValueError', detail: SAID, body: '', errors: '' },
    calledOff: ['POST', '/sdapi/v1/interrupt'],
  },
  {
    id: 'comfyui',
    vendor: comfyVendor,
    entry: '',
    model: 'sd_xl_base_1.0.safetensors',
    path: '/prompt',
    sent: {},
    refusal: {
      error: {
        type: 'prompt_outputs_failed_validation',
        message: 'Prompt outputs failed validation',
        details: '',
        extra_info: {},
      },
      node_errors: {
        checkpoint: {
          errors: [{ type: 'x', message: SAID, details: 'ckpt_name' }],
          class_type: 'CheckpointLoaderSimple',
        },
      },
    },
    calledOff: ['POST', '/interrupt'],
    failure: [SAID, 500],
  },
  {
    id: 'pollinations',
    vendor: pollinationsVendor,
    suffix: '/v1',
    model: 'flux',
    header: ['authorization', 'Bearer key-of-the-operator'],
    path: '/image/A%20red%20boat',
    sent: {},
    refusal: { success: false, error: { message: SAID, code: 'BAD_REQUEST' } },
  },
  {
    id: 'gemini',
    vendor: googleVendor,
    suffix: '/v1beta',
    model: 'imagen-4.0-generate-001',
    header: ['x-goog-api-key', 'key-of-the-operator'],
    path: '/v1beta/models/imagen-4.0-generate-001:predict',
    sent: { instances: [{ prompt: 'A red boat' }], parameters: { sampleCount: 1, aspectRatio: '16:9' } },
    dropped: ['negative_prompt', 'seed'],
    refusal: { error: { code: 400, message: SAID, status: 'INVALID_ARGUMENT' } },
    failure: [SAID, 400],
  },
];

for (const row of ROWS) {
  const { id, model, entry = 'apiKey: key-of-the-operator' } = row;
  describe(id, { timeout: 60_000 }, () => {
    test('what was asked arrives, what was drawn comes back', async (context) => {
      const world = await openWorld(context, row, { pictures: [red] }, { entry });
      const { status, json, headers } = await world.ask({ model, ...BODY });
      assert.equal(status, 200, JSON.stringify(json));
      assert.deepEqual(json.data, [base64(red)]);
      assert.deepEqual([json.provider, json.model], [id, model]);
      assert.deepEqual(headers.get('x-sluice-dropped')?.split(', ').sort(), row.dropped);
      const [call] = world.upstream.at(row.path);
      assert.ok(call !== undefined, world.upstream.calls.map(({ path }) => path).join(' '));
      if (row.header !== undefined) assert.equal(call.headers[row.header[0]], row.header[1]);
      const sent = call.form === undefined ? call.json : Object.fromEntries(call.form.entries());
      for (const [name, value] of Object.entries(row.sent)) assert.deepEqual(sent[name], value, name);
    });

    test('as a link to this server', async (context) => {
      const world = await openWorld(context, row, { pictures: [red] }, { entry });
      const { json } = await world.ask({ model, prompt: 'A red boat' });
      const [{ url }] = json.data;
      assert.ok(url.startsWith(`${world.gateway.origin}/media/`), url);
      assert.deepEqual(Buffer.from(await (await fetch(url)).arrayBuffer()), red);
    });

    test('without a model, the first that it lists', async (context) => {
      const world = await openWorld(context, row, { pictures: [red] }, { entry });
      const { status, json } = await world.ask({ prompt: 'A red boat' });
      assert.equal(status, 200, JSON.stringify(json));
      const listing = (await (await fetch(`${world.gateway.origin}/api/${id}/models`)).json()) as {
        data: { id: string; type: string; image: boolean }[];
      };
      const first = listing.data.find(({ type }) => type === 'image');
      assert.deepEqual([json.model, first?.image], [first?.id, true]);
    });

    test('several', async (context) => {
      const world = await openWorld(context, row, { pictures: [red, blue] }, { entry });
      const { status, json } = await world.ask({ model, prompt: 'x', n: 2, response_format: 'b64_json' });
      assert.equal(status, 200, JSON.stringify(json));
      // ComfyUI's history shows the one file of the script.
      assert.equal(json.data.length, id === 'comfyui' ? 1 : 2);
    });

    test('a refusal in its own words, without the key', async (context) => {
      const text = JSON.stringify(row.refusal).replaceAll(SAID, `${SAID} key-of-the-operator`);
      const play = { pictures: [], refusal: { status: 400, json: JSON.parse(text) } };
      const world = await openWorld(context, row, play, { entry });
      const { status, json } = await world.ask({ model, prompt: 'x' });
      assert.deepEqual([status, json.error.code], [400, 'invalid_request'], JSON.stringify(json));
      assert.ok(json.error.message.includes(SAID), json.error.message);
      if (entry !== '') assert.doesNotMatch(json.error.message, /key-of-the-operator/);
    });

    for (const [name, status, code] of [
      ['a wrong key', 401, 'missing_credentials'],
      ['too many requests', 429, 'rate_limited'],
    ] as const) {
      test(`${name}: ${status}`, async (context) => {
        const play = { pictures: [], refusal: { status, json: { detail: 'no' }, headers: { 'retry-after': '99' } } };
        const world = await openWorld(context, row, play, { entry });
        const answer = await world.ask({ model, prompt: 'x' });
        assert.deepEqual([answer.status, answer.json.error.code], [status, code], JSON.stringify(answer.json));
      });
    }

    test('what is no JSON, and a redirect', async (context) => {
      for (const refusal of [
        { bytes: Buffer.from('<html>'), type: 'text/html' },
        { status: 307, json: {}, headers: { location: 'http://127.0.0.1:1/' } },
      ]) {
        const world = await openWorld(context, row, { pictures: [], refusal }, { entry });
        const { status } = await world.ask({ model, prompt: 'x' });
        assert.equal(status, 502);
      }
    });

    const { calledOff, failure } = row;
    if (failure !== undefined) {
      test('a job that fails', async (context) => {
        const world = await openWorld(context, row, { pictures: [], failure: failure[0] }, { entry });
        const { status, json } = await world.ask({ model, prompt: 'x' });
        assert.equal(status, failure[1], JSON.stringify(json));
        assert.match(json.error.message, failure[0] === SAID ? /not allowed/ : /filtered/);
      });
    }

    if (calledOff !== undefined) {
      test('nobody waits any more: the job is called off', async (context) => {
        const world = await openWorld(context, row, { pictures: [red], endless: true }, { entry });
        const gone = new AbortController();
        const asked = fetch(`${world.gateway.origin}/v1/images/generations`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ provider: id, model, prompt: 'x' }),
          signal: gone.signal,
        });
        const isFollowed = (): boolean => world.upstream.calls.length >= (id === 'automatic1111' ? 1 : 3);
        await until(isFollowed);
        gone.abort();
        await assert.rejects(asked);
        const [method, path] = calledOff;
        await until(() => world.upstream.at(path).some((call) => call.method === method));
        const [call] = world.upstream.at(path);
        if (row.header !== undefined) assert.equal(call?.headers[row.header[0]], row.header[1]);
        if (id === 'comfyui') assert.deepEqual(call?.json, { prompt_id: 'job-1' });
      });

      test('its time is over: 504, and the job is called off', async (context) => {
        const world = await openWorld(context, row, { pictures: [red], endless: true }, { entry });
        const { status, json } = await world.ask({ model, prompt: 'x', timeout: 1 });
        assert.deepEqual([status, json.error.code], [504, 'upstream_timeout']);
        await until(() => world.upstream.at(calledOff[1]).length > 0);
      });
    }
  });
}

async function until(isSo: () => boolean): Promise<void> {
  for (let left = 200; left > 0; left -= 1) {
    if (isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  assert.fail('it never came');
}

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

describe('what is special', { timeout: 60_000 }, () => {
  test('fal at its address without a queue', async (context) => {
    const upstream = await startImageUpstream(context, (origin) => ({ path, method }) => {
      if (method === 'GET') return { bytes: red, type: 'image/png' };
      return path === '/fal-ai/nano-banana'
        ? { json: { images: [{ url: `${origin}/1.png` }], description: '' } }
        : undefined;
    });
    const gateway = await startGateway(`providers: { fal: { apiKey: k, baseUrl: '${upstream.origin}' } }`);
    context.after(() => void gateway.close());
    const response = await fetch(`${gateway.origin}/v1/images/generations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'fal-ai/nano-banana', prompt: 'x', response_format: 'b64_json' }),
    });
    assert.deepEqual(((await response.json()) as { data: unknown }).data, [base64(red)]);
  });

  test('a job that is said to be elsewhere does not get the key', async (context) => {
    const thief = await startImageUpstream(context, () => () => ({ json: { status: 'COMPLETED' } }));
    const refusal = {
      json: {
        status: 'IN_QUEUE',
        status_url: `${thief.origin}/s`,
        response_url: `${thief.origin}/r`,
        cancel_url: `${thief.origin}/c`,
      },
    };
    const world = await openWorld(context, { id: 'fal', vendor: falVendor }, { pictures: [], refusal });
    const { status, json } = await world.ask({ model: 'fal-ai/flux/dev', prompt: 'x' });
    assert.deepEqual([status, json.error.code], [502, 'upstream_invalid']);
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual(thief.calls, []);
  });

  test('videos, where a provider makes them', async (context) => {
    // The beginning of an MP4: `ftyp` with the brand isom.
    const film = Buffer.from('000000186674797069736f6d0000020069736f6d69736f32', 'hex');
    const fal = await openWorld(context, { id: 'fal', vendor: falVendor }, { pictures: [film] });
    const theirs = await fal.ask({ model: 'fal-ai/ltx-video', prompt: 'x', download_media: false });
    assert.equal(theirs.json.data[0].url, `${fal.upstream.origin}/results/job-1.mp4`, JSON.stringify(theirs.json));

    const luma = await openWorld(context, { id: 'luma', vendor: lumaVendor }, { pictures: [film] });
    const made = await luma.ask({ model: 'ray-2', prompt: 'x', resolution: '720p' });
    assert.match(made.json.data[0].url, /\.mp4$/);
    assert.deepEqual(luma.upstream.at('/dream-machine/v1/generations')[0]?.json, {
      prompt: 'x',
      model: 'ray-2',
      resolution: '720p',
    });

    const google = await openWorld(
      context,
      { id: 'gemini', vendor: googleVendor, suffix: '/v1beta' },
      { pictures: [film] },
    );
    const veo = await google.ask(
      { model: 'veo-3.1-generate-preview', prompt: 'x', aspect_ratio: '16:9' },
      '/v1/media/generate',
    );
    assert.match(veo.json.data[0].url, /\.mp4$/, JSON.stringify(veo.json));
    const file = await fetch(veo.json.data[0].url);
    assert.equal(file.headers.get('content-type'), 'video/mp4');
    assert.deepEqual(Buffer.from(await file.arrayBuffer()), film);
  });

  test('Gemini’s own pictures, by a chat', async (context) => {
    const upstream = await startGeminiUpstream(() => ({
      text: ['Here it is.'],
      images: [{ mimeType: 'image/png', data: red.toString('base64') }],
    }));
    context.after(() => void upstream.close());
    const gateway = await startGateway(
      `providers: { gemini: { baseUrl: '${upstream.baseUrl}', apiKey: k, models: [gemini-2.5-flash-image] } }`,
    );
    context.after(() => void gateway.close());
    const response = await fetch(`${gateway.origin}/v1/images/generations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'A boat', aspect_ratio: '16:9', response_format: 'b64_json' }),
    });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const { data, usage } = JSON.parse(text) as { data: unknown; usage: unknown };
    assert.deepEqual(data, [{ ...base64(red), revised_prompt: 'Here it is.' }]);
    assert.deepEqual(usage, { input_tokens: 11, output_tokens: 7, total_tokens: 18 });
    const sent = upstream.requests.at(-1)?.body as { generationConfig: Record<string, unknown> };
    assert.deepEqual(sent.generationConfig['imageConfig'], { aspectRatio: '16:9' });
  });

  test('a workflow of the operator’s own', async (context) => {
    const workflow = {
      3: { class_type: 'KSampler', inputs: { seed: '%seed%', steps: '%steps%', cfg: 3.5, model: ['4', 0] } },
      6: {
        class_type: 'CLIPTextEncode',
        inputs: { text: 'masterpiece, %prompt% (%width%x%height%), 100%', clip: ['4', 1] },
      },
    };
    const yaml = `    settings:\n      workflow: |\n        ${JSON.stringify(workflow)}\n`;
    const upstream = await startImageUpstream(context, comfyVendor({ pictures: [red] }));
    const gateway = await startGateway(
      `providers:\n  studio:\n    kind: comfyui\n    baseUrl: '${upstream.origin}'\n    models: [mine]\n${yaml}`,
    );
    context.after(() => void gateway.close());
    const ask = (path: string, fields: object): Promise<Response> =>
      fetch(gateway.origin + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'studio/mine', prompt: 'A "boat" %seed%', ...fields }),
      });
    const response = await ask('/v1/images/generations', { seed: 7, num_inference_steps: 4, size: '640x480' });
    assert.equal(response.status, 200, await response.text());
    assert.deepEqual(upstream.at('/prompt')[0]?.json.prompt, {
      3: { class_type: 'KSampler', inputs: { seed: 7, steps: 4, cfg: 3.5, model: ['4', 0] } },
      6: {
        class_type: 'CLIPTextEncode',
        inputs: { text: 'masterpiece, A "boat" %seed% (640x480), 100%', clip: ['4', 1] },
      },
    });
    const edit = await ask('/v1/images/edits', { image: dataUri(red) });
    assert.equal(edit.status, 501, await edit.text());
  });

  test('the smallest graph draws with a checkpoint', async (context) => {
    const world = await openWorld(context, { id: 'comfyui', vendor: comfyVendor }, { pictures: [red] }, { entry: '' });
    const { headers } = await world.ask({ model: 'a.safetensors', ...BODY, quality: 'high' });
    assert.equal(headers.get('x-sluice-dropped'), 'quality');
    const { prompt } = world.upstream.at('/prompt')[0]?.json ?? {};
    assert.equal(prompt.checkpoint.inputs.ckpt_name, 'a.safetensors');
    assert.deepEqual([prompt.positive.inputs.text, prompt.negative.inputs.text], ['A red boat', 'rain']);
    assert.deepEqual(prompt.latent.inputs, { width: 1344, height: 768, batch_size: 1 });
    assert.deepEqual([prompt.sampler.inputs.seed, prompt.sampler.inputs.denoise], [7, 1]);
  });

  test('keys in the environment switch them on; no chat without a model meets them', async (context) => {
    const environment = { FAL_KEY: 'a1', REPLICATE_API_TOKEN: 'b2', LUMA_API_KEY: 'c3', STABILITY_API_KEY: 'd4' };
    const gateway = await startGateway('', { environment });
    context.after(() => void gateway.close());
    const response = await fetch(`${gateway.origin}/backend-api/v2/providers`);
    const providers = (await response.json()) as { name: string; active_by_default: boolean; image: number }[];
    const on = providers.filter((each) => each.active_by_default);
    assert.deepEqual(on.map(({ name }) => name).sort(), ['fal', 'luma', 'replicate', 'stability']);
    assert.ok(on.every(({ image }) => image > 0));
    const chat = await fetch(`${gateway.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'x' }] }),
    });
    assert.equal(chat.status, 404);
  });

  test('a client may bring a key of its own', async (context) => {
    const world = await openWorld(
      context,
      { id: 'fal', vendor: falVendor },
      { pictures: [red] },
      { entry: 'label: Fal' },
    );
    const without = await world.ask({ model: 'fal-ai/flux/dev', prompt: 'x' });
    assert.deepEqual([without.status, without.json.error.code], [401, 'missing_credentials']);
    const answer = await world.ask({ model: 'fal-ai/flux/dev', prompt: 'x', api_key: 'key-of-the-client' });
    assert.equal(answer.status, 200, JSON.stringify(answer.json));
    assert.equal(world.upstream.calls[0]?.headers.authorization, 'Key key-of-the-client');
  });

  test('names that are paths are no models', async (context) => {
    for (const [id, vendor] of [
      ['fal', falVendor],
      ['replicate', replicateVendor],
      ['luma', lumaVendor],
    ] as const) {
      const world = await openWorld(context, { id, vendor }, { pictures: [red] });
      const { status } = await world.ask({ model: '../../v1/user', prompt: 'x' });
      assert.equal(status, 404);
      assert.deepEqual(world.upstream.calls, []);
    }
  });
});
