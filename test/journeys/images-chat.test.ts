import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import OpenAI from 'openai';
import { eventually } from '../support/eventually.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type ImageUpstream, startImageUpstream } from '../support/image-upstream.ts';
import { comfyVendor, falVendor } from '../support/image-vendors.ts';
import { dataUri, picture } from '../support/pictures.ts';
import { plainServer } from '../support/plain-server.ts';
import { converse, type Event, upload } from './kept-world.ts';

/** Models that draw, asked in a chat: whoever asks need not know that they do not talk. */

const FOUND = readFileSync(new URL('../fixtures/search/searxng.json', import.meta.url), 'utf8');
const red = await picture('#ff0000', 640, 360);

interface World {
  readonly gateway: Gateway;
  readonly origin: string;
  readonly openai: ImageUpstream;
  readonly fal: ImageUpstream;
}

async function openWorld(context: TestContext, yaml = ''): Promise<World> {
  const openai = await startImageUpstream(context, () => ({ path }) => {
    if (path === '/v1/models') return { json: { data: [{ id: 'talker' }, { id: 'painter', type: 'image' }] } };
    if (!path.startsWith('/v1/images/')) return undefined;
    const usage = { input_tokens: 5, output_tokens: 200, total_tokens: 205 };
    return { json: { created: 1, data: [{ b64_json: red.toString('base64'), revised_prompt: 'Revised' }], usage } };
  });
  const fal = await startImageUpstream(context, falVendor({ pictures: [red] }));
  const gateway = await startGateway(
    `providers:\n  acme: { kind: openai, baseUrl: '${openai.origin}/v1' }\n  fal: { apiKey: k, baseUrl: '${fal.origin}' }\n${yaml}`,
  );
  context.after(() => void gateway.close());
  return { gateway, origin: gateway.origin, openai, fal };
}

const mediaOf = (events: readonly Event[]): Event | undefined =>
  events.find((event) => event.type === 'content' && event['urls'] !== undefined);

describe('a conversation with a model that draws', { timeout: 60_000 }, () => {
  test('the last message is the prompt; the picture is kept and shown small', async (context) => {
    const world = await openWorld(context);
    const messages = [
      { role: 'system', content: 'You are a painter.' },
      { role: 'user', content: 'A house' },
      { role: 'assistant', content: 'Here it is.' },
      { role: 'user', content: 'A red boat' },
    ];
    const body = {
      provider: 'fal',
      model: 'fal-ai/flux/dev',
      messages,
      aspect_ratio: '16:9',
      seed: 7,
      negative_prompt: 'rain',
    };
    const events = await converse(world, body);
    assert.equal(events[0]?.type, 'provider');
    const media = mediaOf(events);
    assert.match(String(media?.['urls']), /^\/media\/\d+_fal-ai_flux_dev\+16_9\+A_red_boat_[0-9a-f]{16}\.png/);
    assert.match(String(media?.['content']), /<img src="\/thumbnail\//);
    assert.match(String(media?.['content']), /alt="A red boat"/);
    assert.deepEqual(
      events.slice(-2).map(({ type }) => type),
      ['usage', 'finish'],
    );
    const [call] = world.fal.at('/fal-ai/flux/dev');
    assert.deepEqual(call?.json, {
      prompt: 'A red boat',
      seed: 7,
      image_size: 'landscape_16_9',
      num_images: 1,
      negative_prompt: 'rain',
    });
  });

  test('a picture is named after the question, not after files or what a web search found', async (context) => {
    const engine = await plainServer(context, (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(FOUND);
    });
    const world = await openWorld(context, `search: { engine: searxng, url: '${engine.url}', pages: 0 }`);
    await upload(world, 'private', ['diary.txt', 'Nobody shall read this.']);
    const content = [
      { bucket_id: 'private', url: '/files/private' },
      { type: 'text', text: 'Paint the mood of this' },
    ];
    const model = 'fal-ai/flux/dev';
    const body = { provider: 'fal', model, messages: [{ role: 'user', content }], web_search: true };
    const media = mediaOf(await converse(world, body));
    assert.match(JSON.stringify(world.fal.at(`/${model}`)[0]?.json), /Nobody shall read this\..*<search-results /);
    assert.equal(media?.['alt'], 'Paint the mood of this');
    assert.match(String(media?.['urls']), /^\/media\/\d+_fal-ai_flux_dev\+Paint_the_mood_of_this_[0-9a-f]{16}\.png/);
    assert.doesNotMatch(JSON.stringify(media), /Nobody|search-results/);
  });

  test('a prompt in parts is its text', async (context) => {
    const world = await openWorld(context);
    const file = { bucket_id: 'b', url: '/files/b', name: 'a.txt', text: 'Not this.' };
    const prompt = [{ type: 'text', text: 'A barn' }, file, { type: 'text', text: 'at night' }];
    await converse(world, { provider: 'fal', model: 'fal-ai/flux/dev', prompt });
    assert.equal(world.fal.at('/fal-ai/flux/dev')[0]?.json.prompt, 'A barn\nat night');
  });

  test('prompt, width, height and n reach it', async (context) => {
    const world = await openWorld(context);
    const body = { provider: 'fal', prompt: 'A barn', aspect_ratio: '16:9', width: 640, height: 480, n: 2 };
    const events = await converse(world, body);
    const calls = world.fal.calls.filter(({ method, path }) => method === 'POST' && !path.includes('/requests/'));
    assert.deepEqual(
      calls.map(({ json }) => [json.prompt, json.image_size]),
      Array(2).fill(['A barn', { width: 640, height: 480 }]),
    );
    // Without a model it is the first of the listing.
    assert.equal(calls[0]?.path, '/fal-ai/flux/schnell');
    const shown = events.filter((event) => event['urls'] !== undefined);
    assert.deepEqual(
      shown.map(({ content }) => /alt="([^"]*)"/.exec(String(content))?.[1]),
      ['#1 A barn', '#2 A barn'],
    );
  });

  test('an attached picture is what shall change', async (context) => {
    const world = await openWorld(context);
    const content = [
      { type: 'image_url', image_url: { url: dataUri(red) } },
      { type: 'text', text: 'Make it blue' },
    ];
    const events = await converse(world, {
      provider: 'acme',
      model: 'gpt-image-1',
      messages: [{ role: 'user', content }],
    });
    assert.ok(mediaOf(events) !== undefined, JSON.stringify(events));
    const form = world.openai.at('/v1/images/edits')[0]?.form;
    assert.deepEqual([form?.get('prompt'), form?.get('model')], ['Make it blue', 'gpt-image-1']);
    assert.ok(form?.get('image') instanceof File);
  });

  test('what is known of a model decides: by the listing, or by its name', async (context) => {
    const world = await openWorld(context);
    await (await fetch(`${world.origin}/v1/models`)).text();
    for (const model of ['painter', 'acme/gpt-image-1']) {
      const events = await converse(world, { provider: model.includes('/') ? '' : 'acme', model });
      assert.ok(mediaOf(events) !== undefined, JSON.stringify(events));
      const usage = events.find(({ type }) => type === 'usage')?.['usage'] as { total_tokens: number };
      assert.equal(usage.total_tokens, 205);
    }
    assert.deepEqual(world.openai.at('/v1/chat/completions'), []);
    // All others are asked to talk.
    await assert.rejects(converse(world, { provider: 'acme', model: 'talker' }));
    assert.equal(world.openai.at('/v1/chat/completions').length > 0, true);
  });

  test('download_media: false leaves it where it is', async (context) => {
    const world = await openWorld(context);
    const events = await converse(world, { provider: 'fal', download_media: false });
    assert.equal(mediaOf(events)?.['urls'], `${world.fal.origin}/results/job-1.png`);
  });

  test('nothing to draw: 400 before anything is sent', async (context) => {
    const world = await openWorld(context);
    const messages = [{ role: 'system', content: 'You draw.' }];
    await assert.rejects(converse(world, { provider: 'fal', messages }), /400.*does not say what to draw/);
    assert.deepEqual(world.fal.calls, []);
  });

  test('create leads to the picture', async (context) => {
    const world = await openWorld(context);
    const url = `${world.origin}/backend-api/v2/create?provider=fal&prompt=A+red+boat`;
    const response = await fetch(url, { redirect: 'manual' });
    assert.equal(response.status, 302, await response.text());
    const file = await fetch(world.origin + response.headers.get('location'));
    assert.deepEqual(Buffer.from(await file.arrayBuffer()), red);
  });

  test('the client leaves: the job is called off', async (context) => {
    const studio = await startImageUpstream(context, comfyVendor({ pictures: [red], endless: true }));
    const gateway = await startGateway(`providers: { comfyui: { baseUrl: '${studio.origin}' } }`);
    context.after(() => void gateway.close());
    const gone = new AbortController();
    const asked = fetch(`${gateway.origin}/backend-api/v2/conversation`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ provider: 'comfyui', model: 'a', messages: [{ role: 'user', content: 'x' }] }),
      signal: gone.signal,
    });
    await eventually('the job runs', () => studio.calls.length >= 3);
    gone.abort();
    await assert.rejects(asked);
    await eventually('it is called off', () => studio.at('/interrupt').length > 0);
    assert.equal(studio.at('/interrupt').length, 1);
  });

  test('drawing may take longer than words may be silent', async (context) => {
    const slow = await startImageUpstream(context, () => async ({ path }) => {
      if (path !== '/v1/images/generations') return undefined;
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      return { json: { created: 1, data: [{ b64_json: red.toString('base64') }] } };
    });
    const gateway = await startGateway(
      `providers: { acme: { kind: openai, baseUrl: '${slow.origin}/v1', models: [gpt-image-1] } }\nlimits: { firstByteMs: 4000, idleMs: 4000 }\n`,
    );
    context.after(() => void gateway.close());
    const events = await converse({ origin: gateway.origin }, { model: 'gpt-image-1' });
    assert.ok(mediaOf(events) !== undefined, JSON.stringify(events));
  });
});

describe('/v1/chat/completions with a model that draws', { timeout: 60_000 }, () => {
  test('a picture in the answer, streamed or whole, kept or not', async (context) => {
    const world = await openWorld(context);
    const client = new OpenAI({ baseURL: `${world.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'A red boat' }];
    const whole = await client.chat.completions.create({ model: 'fal/fal-ai/flux/dev', messages });
    const [choice] = whole.choices;
    assert.equal(choice?.finish_reason, 'stop');
    const theirs = `${world.fal.origin}/results/job-1.png`;
    assert.equal(choice?.message.content, `![A red boat](${theirs})`);
    const kept = { model: 'acme/gpt-image-1', messages, download_media: true };
    const stream = client.chat.completions.stream({ ...kept, stream: true });
    const final = await stream.finalChatCompletion();
    const message = final.choices[0]?.message as unknown as { images: { image_url: { url: string } }[] } | undefined;
    assert.match(JSON.stringify(message), /\/media\/\d+_gpt-image-1\+A_red_boat_/);
    const response = await client.chat.completions.create({ model: 'acme/gpt-image-1', messages }).asResponse();
    assert.equal(response.headers.get('x-sluice-provider'), 'acme');
    const { choices, usage } = (await response.json()) as {
      choices: { message: { images: { image_url: { url: string } }[] } }[];
      usage: { total_tokens: number };
    };
    assert.equal(choices[0]?.message.images[0]?.image_url.url, dataUri(red));
    assert.equal(usage.total_tokens, 205);
  });

  test('what has no place there is told', async (context) => {
    const world = await openWorld(context);
    const response = await fetch(`${world.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-sluice-strict': '1' },
      body: JSON.stringify({
        model: 'fal/fal-ai/flux/dev',
        messages: [{ role: 'user', content: 'x' }],
        tools: [{ type: 'function', function: { name: 'look' } }],
      }),
    });
    const { error } = (await response.json()) as { error: { param: string } };
    assert.deepEqual([response.status, error.param], [400, 'tools']);
  });
});
