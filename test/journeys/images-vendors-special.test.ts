import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { startGateway } from '../support/gateway.ts';
import { startGeminiUpstream } from '../support/gemini-upstream.ts';
import { startImageUpstream } from '../support/image-upstream.ts';
import {
  comfyVendor,
  falVendor,
  googleVendor,
  lumaVendor,
  pollinationsVendor,
  replicateVendor,
} from '../support/image-vendors.ts';
import { dataUri } from '../support/pictures.ts';
import { BODY, base64, openWorld, red } from './image-vendors-world.ts';

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

  test('a prompt in the path of an address stays one part of it, whatever it says', async (context) => {
    const vendor = { id: 'pollinations', vendor: pollinationsVendor, suffix: '/v1' };
    const world = await openWorld(context, vendor, { pictures: [red] });
    for (const [prompt, path] of [
      ['a\ud800b', '/image/a%EF%BF%BDb'],
      ['..', '/image/..%20'],
      ['.', '/image/.%20'],
      ['../a?b#c', '/image/..%2Fa%3Fb%23c'],
      ['%2e%2e', '/image/%252e%252e'],
    ] as const) {
      const { status, json } = await world.ask({ model: 'flux', prompt });
      assert.deepEqual([status, world.upstream.calls.at(-1)?.path], [200, path], JSON.stringify(json));
    }
  });

  test('a job whose id cannot be part of an address is followed all the same', async (context) => {
    const vendor: typeof comfyVendor = (play) => (origin) => {
      const usual = comfyVendor(play)(origin);
      return (call) => {
        if (call.path === '/prompt') return { json: { prompt_id: 'job-\ud800', number: 3, node_errors: {} } };
        return call.path.startsWith('/history/') ? { status: 404, json: { error: 'no such job' } } : usual(call);
      };
    };
    const world = await openWorld(
      context,
      { id: 'comfyui', vendor },
      { pictures: [] },
      { yaml: 'limits: { attempts: 1 }' },
    );
    const { status, json } = await world.ask({ model: 'sd_xl_base_1.0.safetensors', prompt: 'x' });
    assert.notEqual(json.error?.code, 'internal', JSON.stringify(json));
    assert.equal(status >= 400, true);
    assert.equal(
      world.upstream.calls.some(({ path }) => path === '/history/job-%EF%BF%BD'),
      true,
    );
  });

  test('where one of several jobs fails, the others are called off', async (context) => {
    const isFollowed = Promise.withResolvers<void>();
    const vendor: typeof falVendor = (play) => (origin) => {
      const usual = falVendor(play)(origin);
      return async (call) => {
        if (call.path.endsWith('/job-1/status')) isFollowed.resolve();
        if (!call.path.endsWith('/job-2/status')) return usual(call);
        await isFollowed.promise;
        return { json: { status: 'FAILED', error: 'of no use' } };
      };
    };
    const yaml = 'limits: { attempts: 1 }';
    const world = await openWorld(context, { id: 'fal', vendor }, { pictures: [], endless: true }, { yaml });
    const { status, json } = await world.ask({ model: 'fal-ai/flux/dev', prompt: 'x', n: 2 });
    assert.equal(status, 500);
    assert.match(json.error.message, /of no use/);
    await eventually('it is called off', () =>
      world.upstream.calls.some(({ method, path }) => method === 'PUT' && /job-1\/cancel$/.test(path)),
    );
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

  test('a job that was deleted from its queue is not waited for', async (context) => {
    const play = { pictures: [red], isDeleted: true };
    const world = await openWorld(context, { id: 'comfyui', vendor: comfyVendor }, play, { entry: '' });
    const { status, json } = await world.ask({ model: 'a.safetensors', prompt: 'x', timeout: 5 });
    assert.equal(status, 500);
    assert.match(json.error.message, /ComfyUI did not draw: the job was deleted from its queue/);
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
