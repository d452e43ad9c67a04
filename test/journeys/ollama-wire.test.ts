import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Ollama } from 'ollama';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { ask } from '../support/raw-http.ts';
import { startGatewayBefore } from './gateway-before.ts';
import { assertHolds, FORMATS, openWorld, type World } from './sdk-vendors.ts';

const HI = [{ role: 'user', content: 'Hi' }];

type Json = Record<string, unknown>;

describe("Ollama's API over HTTP", { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld('aliases: { fast: acme/test-model, new: acme/gpt-5-newest }\nlimits: { attempts: 1 }');
  });
  after(() => world.close());

  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${world.origin}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const chat = async (fields: Json, headers: Record<string, string> = {}): Promise<Json> => {
    const asked = { model: 'acme/test-model', messages: HI, stream: false, ...fields };
    const answer = await post('/api/chat', asked, headers);
    const json = (await answer.json()) as Json;
    assert.equal(answer.status, 200, JSON.stringify(json));
    return { ...json, dropped: answer.headers.get('x-sluice-dropped') };
  };

  test('takes a body of any type, and of none', async () => {
    world.seat('openai').answers({ text: ['Hello'] });
    const body = JSON.stringify({ model: 'acme/test-model', messages: HI, prompt: 'Hi', stream: false });
    // What `curl -d`, `fetch` and Python's `requests` and `httpx` send of themselves.
    for (const type of ['application/x-www-form-urlencoded', 'text/plain;charset=UTF-8', undefined]) {
      const headers = type === undefined ? {} : { 'content-type': type };
      for (const path of ['/api/chat', '/api/generate', '/api/show']) {
        const answer = await ask(world.origin, { method: 'POST', path, headers, body });
        assert.equal(answer.status, 200, `${path} ${type}: ${answer.text}`);
      }
      const refused = await ask(world.origin, { method: 'POST', path: '/v1/chat/completions', headers, body });
      assert.equal(refused.status, 415, `others want JSON to be called so, not ${type}`);
      const foreign = { ...headers, origin: 'https://evil.example' };
      const forbidden = await ask(world.origin, { method: 'POST', path: '/api/chat', headers: foreign, body });
      assert.equal(forbidden.status, 403, `a foreign page that sends ${type}`);
    }
  });

  test('streams lines unless told otherwise', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['A', 'B'] });
    for (const path of ['/api/chat', '/api/generate']) {
      const answer = await post(path, { model: 'acme/test-model', messages: HI, prompt: 'Hi' });
      assert.equal(answer.headers.get('content-type'), 'application/x-ndjson');
      const lines = (await answer.text()).split('\n');
      assert.equal(lines.pop(), '');
      const all = lines.map((line) => JSON.parse(line) as Json);
      assertHolds(all.at(-1), { done: true, done_reason: 'stop', prompt_eval_count: 11, eval_count: 7 });
      assert.ok(all.slice(0, -1).every(({ done }) => done === false));
    }
  });

  test('has one line for one to every reader of lines, also to those who know more ends than LF', async () => {
    const odd = 'a\u2028b\u2029c\u0085d';
    world.seat('openai').answers({ reasoning: [odd], text: [odd, odd] });
    const asked = { model: 'acme/test-model', messages: HI, prompt: 'Hi', think: true };
    for (const path of ['/api/chat', '/api/generate']) {
      const text = await (await post(path, asked)).text();
      assert.doesNotMatch(text, /[\x85\u2028\u2029]/, path);
      const all = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      assert.equal(all.map(({ message, response }) => message?.content ?? response).join(''), odd + odd);
    }
  });

  for (const format of FORMATS) {
    test(`tells of a failure in a line of its own, after what was said (${format})`, async () => {
      const seat = world.seat(format);
      seat.answers({ text: ['A', 'B'], errorAfter: 1, errorMessage: 'Overheated.' });
      const answer = await post('/api/chat', { model: seat.model, messages: HI });
      const all = (await answer.text())
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Json);
      assert.match(String(all.at(-1)?.['error']), /Overheated\./);
      assert.ok(all.every(({ done }) => done !== true));
    });
  }

  test('tells the words of a spoken answer, for whose sound there is no place', async () => {
    const delta = (fields: object, finish: string | null = null): string =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: fields, finish_reason: finish }] })}\n\n`;
    const data = Buffer.from('RIFF\x24\0\0\0WAVEfmt ').toString('base64');
    const audio = { id: 'audio_1', transcript: 'Good evening', data };
    world.seat('openai').answers({ raw: `${delta({ audio })}${delta({}, 'stop')}data: [DONE]\n\n` });
    for (const download_media of [false, true]) {
      assertHolds(await chat({ download_media }), { message: { content: 'Good evening' }, done: true });
    }
    const streamed = await post('/api/chat', { model: 'acme/test-model', messages: HI });
    const lines = (await streamed.text()).trimEnd().split('\n');
    const texts = lines.map((line) => (JSON.parse(line) as { message: { content: string } }).message.content);
    assert.equal(texts.join(''), 'Good evening');
  });

  test('gives signed thoughts together with those before them that nobody signed, whole and in lines', async () => {
    const parts = [
      { text: 'Let me think.', thought: true },
      { text: 'Well.' },
      { text: 'Once more.', thought: true, thoughtSignature: 'c2lnbmVk' },
      { text: 'Yes.' },
    ];
    const event = { candidates: [{ content: { parts, role: 'model' }, finishReason: 'STOP', index: 0 }] };
    const seat = world.seat('google');
    seat.answers({ raw: `data: ${JSON.stringify(event)}\r\n\r\n` });
    const asked = { model: seat.model, think: true };
    const { message: whole } = (await chat(asked)) as { message: { thinking_blocks: Json[] } };
    assert.deepEqual(
      whole.thinking_blocks.map(({ thinking, signature }) => [thinking, signature !== undefined]),
      [
        ['Let me think.', false],
        ['Once more.', true],
      ],
    );
    const lines = (await (await post('/api/chat', { ...asked, messages: HI })).text()).trimEnd().split('\n');
    const blocks = lines.flatMap((line) => JSON.parse(line).message.thinking_blocks ?? []);
    assert.deepEqual(blocks, whole.thinking_blocks);
  });

  test('sends pictures with the type that their bytes show', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['Yes'] });
    const pictures = {
      'image/jpeg': [0xff, 0xd8, 0xff, 0xe0],
      'image/png': [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
      'image/gif': [...Buffer.from('GIF89a')],
      'image/webp': [...Buffer.from('RIFF'), 4, 0, 0, 0, ...Buffer.from('WEBP')],
      'image/bmp': [...Buffer.from('BM'), 4, 0, 0, 0],
    };
    for (const [type, bytes] of Object.entries(pictures)) {
      const data = Buffer.from(bytes).toString('base64');
      await chat({ messages: [{ role: 'user', content: 'What is it?', images: [data] }] });
      const picture = { type: 'image_url', image_url: { url: `data:${type};base64,${data}` } };
      assertHolds(seat.last.body, { messages: [{ content: [picture, { type: 'text', text: 'What is it?' }] }] });
    }
  });

  test('sets no limit where `num_predict` says that there is none', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['Yes'] });
    for (const limit of [-1, -2, 0]) {
      await chat({ options: { num_predict: limit } });
      assert.ok(!('max_tokens' in (seat.last.body as Json)), String(limit));
    }
  });

  test('answers what clients send to load and unload a model', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['A'] });
    assertHolds(await chat({ messages: [] }), { done: true, done_reason: 'load', message: { content: '' } });
    assertHolds(await chat({ messages: [], keep_alive: 0 }), { done: true, done_reason: 'unload' });
    assertHolds(await (await post('/api/generate', { model: 'acme/test-model' })).json(), {
      response: '',
      done: true,
      done_reason: 'load',
    });
    assert.equal(seat.arrived.length, 0);
  });

  test('has nothing to pull for a model that is there, also by a name that the list does not have', async () => {
    const client = new Ollama({ host: world.origin });
    const { models } = await client.list();
    for (const model of ['acme/test-model', 'acme/unlisted', 'acme', 'fast', 'test-model:latest']) {
      assert.deepEqual(await client.pull({ model }), { status: 'success' }, model);
      const told: string[] = [];
      for await (const { status } of await client.pull({ model, stream: true })) told.push(status);
      assert.deepEqual(told, ['success'], model);
    }
    assert.deepEqual(
      models.map(({ name }) => name).filter((name) => name.startsWith('acme/')),
      [],
    );
    await assert.rejects(client.pull({ model: 'nobody/some-model' }), /not managed/);
  });

  test('tells which fields have no place, and refuses them where that is asked for', async () => {
    world.seat('openai').answers({ text: ['A'] });
    const fields = {
      options: { num_ctx: 4096, mirostat: 1, temperature: 0, num_predict: -1, low_vram: false },
      think: 'low',
      keep_alive: '5m',
      truncate: true,
      raw: false,
    };
    assert.equal((await chat(fields))['dropped'], 'options.num_ctx, options.mirostat, truncate, think');
    const strict = { model: 'acme/test-model', messages: HI, ...fields };
    for (const [body, headers] of [
      [{ ...strict, strict: true }, {}],
      [strict, { 'x-sluice-strict': '1' }],
    ] as const) {
      const answer = await post('/api/chat', body, headers);
      assert.equal(answer.status, 400);
      assertHolds(await answer.json(), { code: 'unsupported_field', param: 'options.num_ctx' });
    }
    const claude = world.seat('anthropic');
    claude.answers({ text: ['A'] });
    assert.equal((await chat({ model: claude.model, options: { seed: 7 } }))['dropped'], 'options.seed');
  });

  test('tells such fields in a header that can be read, whatever a client calls them and however many', async () => {
    world.seat('openai').answers({ text: ['A'] });
    const names = ['a,b', 'größe', 'line\nfeed', 'x'.repeat(100), `${'y'.repeat(55)}😀`];
    const more = Array.from({ length: 60 }, (_, index) => `more${index}`);
    const options = Object.fromEntries([...names, ...more].map((name) => [name, 1]));
    const told = String((await chat({ options }))['dropped']).split(', ');
    assert.deepEqual(told.slice(0, names.length), [
      'options.a%2Cb',
      'options.gr%C3%B6%C3%9Fe',
      'options.line%0Afeed',
      `options.${'x'.repeat(56)}`,
      `options.${'y'.repeat(55)}%EF%BF%BD`,
    ]);
    assert.equal(told.length, 50);
  });

  test('asks for no thoughts only where there could be some', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['A'] });
    await chat({ think: false });
    assert.equal((seat.last.body as Json)['reasoning_effort'], undefined);
    await chat({ model: 'acme/gpt-5', think: false });
    assert.equal((seat.last.body as Json)['reasoning_effort'], 'minimal', 'its models know none only from 5.1 on');
    for (const [model, effort] of [
      ['gpt-5.1', 'none'],
      ['gpt-6-luna', 'none'],
      ['o3', 'low'],
      ['openai/gpt-oss-20b', 'low'],
      ['gpt-5-codex', 'low'],
    ] as const) {
      await chat({ model: `acme/${model}`, think: false });
      assert.equal((seat.last.body as Json)['reasoning_effort'], effort, model);
    }
    await chat({ model: 'acme/gpt-5', think: true });
    assert.equal((seat.last.body as Json)['reasoning_effort'], 'medium');
  });

  test('shows no thoughts where none were asked for, however that is said', async () => {
    world.seat('openai').answers({ reasoning: ['Hm.'], text: ['A'] });
    assertHolds(await chat({}), { message: { thinking: 'Hm.', content: 'A' } });
    for (const think of [false, 'false', 'none'])
      assert.deepEqual((await chat({ think }))['message'], { role: 'assistant', content: 'A' });
  });

  test('takes instructions of a developer for the system’s', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['A'] });
    await chat({ messages: [{ role: 'developer', content: 'Be brief.' }, ...HI] });
    assertHolds(seat.last.body, { messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user' }] });
  });

  test('says what is wrong in words', async () => {
    for (const [path, body, status, pattern] of [
      ['/api/chat', {}, 400, /model/],
      ['/api/chat', { model: 'acme', messages: [{ role: 'robot', content: 'Hi' }] }, 400, /messages\[0\]\.role/],
      ['/api/chat', { model: 'nobody', messages: HI }, 404, /nobody/],
      ['/api/generate', { model: 'acme', prompt: 5 }, 400, /prompt/],
      ['/api/show', { model: 'nobody' }, 404, /nobody/],
      ['/api/show', { model: 'nobody/some-model' }, 404, /nobody/],
      ['/api/show', {}, 400, /model/],
      ['/api/pull', { model: 'llama3' }, 501, /GET \/api\/tags/],
      ['/api/push', { model: 'llama3' }, 501, /not managed/],
      ['/api/create', { model: 'llama3' }, 501, /not managed/],
      ['/api/copy', { source: 'a', destination: 'b' }, 501, /not managed/],
    ] as const) {
      const answer = await post(path, body);
      assert.equal(answer.status, status, path);
      const { error, code } = (await answer.json()) as { error: string; code: string };
      assert.match(error, pattern);
      assert.equal(typeof code, 'string');
    }
    const deleted = await fetch(`${world.origin}/api/delete`, {
      method: 'DELETE',
      headers: { 'content-type': 'application/json' },
      body: '{"model":"llama3"}',
    });
    assert.equal(deleted.status, 501);
    assert.equal(typeof ((await deleted.json()) as Json)['error'], 'string');
  });

  test('describes models that are not listed, as chats may be asked of them', async () => {
    world.seat('openai').answers({ text: ['Hello'] });
    for (const model of ['acme/gpt-5-newest', 'acme:gpt-5-newest', 'acme/gpt-5-newest:latest', 'new']) {
      await chat({ model });
      const answer = await post('/api/show', { model });
      const shown = (await answer.json()) as Json;
      assert.equal(answer.status, 200, JSON.stringify(shown));
      assert.deepEqual(shown['capabilities'], ['completion', 'vision', 'tools', 'thinking']);
      assertHolds(shown['model_info'], { 'general.basename': 'gpt-5-newest' });
    }
  });

  test('describes the default model of a provider by the provider’s name, as chats may be asked of it', async () => {
    for (const format of ['openai', 'google'] as const) world.seat(format).answers({ text: ['Hello'] });
    for (const model of ['acme', 'acme:latest', 'gemini']) {
      await chat({ model });
      const answer = await post('/api/show', { model });
      const shown = (await answer.json()) as Json;
      assert.equal(answer.status, 200, JSON.stringify(shown));
      const name = model === 'gemini' ? 'gemini-2.5-flash' : 'test-model';
      assert.match(String(shown['modelfile']), new RegExp(`^FROM ${name}$`, 'm'));
    }
  });

  test('lists and describes models as clients expect it', async () => {
    const client = new Ollama({ host: world.origin });
    const { models } = await client.list();
    assert.deepEqual(
      models.map(({ name }) => name),
      [
        'test-model',
        'claude-sonnet-4-5',
        'claude-3-haiku-20240307',
        'gemini-2.5-flash',
        'gemini-2.5-flash-image',
        'gemini-embedding-001',
        'fast',
        'new',
      ],
    );
    for (const { model, name, digest, size, modified_at, details } of models) {
      assert.equal(model, name);
      assert.match(digest, /^[0-9a-f]{64}$/);
      assert.ok(Number.isInteger(size));
      assert.ok(!Number.isNaN(Date.parse(String(modified_at))));
      for (const field of ['family', 'parameter_size', 'quantization_level', 'format'] as const) {
        assert.equal(typeof details[field], 'string');
      }
      assert.deepEqual(details.families, [details.family]);
    }
    assert.equal(models.find(({ name }) => name === 'new')?.details.family, 'gpt');
    const shown = await client.show({ model: 'gemini/gemini-2.5-flash' });
    assert.deepEqual(shown.capabilities, ['completion', 'vision', 'tools', 'thinking', 'audio']);
    assertHolds(shown.model_info, { 'general.architecture': 'gemini', 'gemini.context_length': 1_048_576 });
    assertHolds(await (await post('/api/show', { name: 'fast:latest' })).json(), { capabilities: ['completion'] });
    assert.deepEqual(await client.ps(), { models: [] });
    assert.match((await client.version()).version, /^\d+\.\d+\.\d+$/);
  });

  test('knows a name with the tag that clients add', async () => {
    world.seat('openai').answers({ text: ['A'] });
    for (const model of ['acme/test-model:latest', 'test-model:latest', 'fast:latest', 'fast']) {
      assertHolds(await chat({ model }), { model, message: { content: 'A' } });
    }
  });

  test('keeps the other paths below /api', async () => {
    world.seat('openai').answers({ text: ['A'] });
    const answer = await post('/api/acme/chat/completions', { model: 'test-model', messages: HI });
    assertHolds(await answer.json(), { object: 'chat.completion' });
    assertHolds(await (await fetch(`${world.origin}/api/acme/models`)).json(), { object: 'list' });
  });

  test('says at the root that it runs, to its own clients only', async () => {
    const probe = await fetch(world.origin, { headers: { 'user-agent': 'ollama-python/0.6.1 (x86_64 linux)' } });
    assert.equal(await probe.text(), 'Ollama is running');
    const head = await fetch(world.origin, {
      method: 'HEAD',
      headers: { 'user-agent': 'ollama/0.12.11 (amd64 linux)' },
    });
    assert.equal(head.status, 200);
    const page = await fetch(world.origin, { headers: { accept: 'text/html', 'user-agent': 'Mozilla/5.0' } });
    assert.notEqual(await page.text(), 'Ollama is running');
  });
});

test('a model or an alias whose name really ends in :latest is asked by that name', { timeout: 60_000 }, async () => {
  const upstream = await startOpenAiUpstream(undefined, { models: ['llama3:latest'] });
  const { gateway, close } = await startGatewayBefore(
    [upstream],
    `providers:\n  acme: { kind: openai, baseUrl: '${upstream.baseUrl}', apiKey: acme-key }\n` +
      "aliases: { 'phi3:latest': acme/llama3:latest }\n",
  );
  try {
    const client = new Ollama({ host: gateway.origin });
    for (const model of ['llama3:latest', 'phi3:latest']) {
      await client.chat({ model, messages: HI });
      assert.equal(upstream.chats.at(-1)?.model, 'llama3:latest');
      assertHolds(await client.show({ model }), { capabilities: ['completion'] });
    }
  } finally {
    await close();
  }
});

describe('a model that draws, before clients of Ollama', { timeout: 60_000 }, () => {
  const picture = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64');
  let world: Awaited<ReturnType<typeof startGatewayBefore>>;
  let client: Ollama;
  before(async () => {
    const upstream = await startOpenAiUpstream(undefined, {
      models: ['gpt-image-1'],
      handle({ path, body }, response) {
        if (path !== '/v1/images/generations') return false;
        const { prompt } = body as { prompt: string };
        const data = Array.from({ length: prompt === 'Two cats' ? 2 : 1 }, () => ({ b64_json: picture }));
        response.setHeader('content-type', 'application/json').end(JSON.stringify({ created: 1, data }));
        return true;
      },
    });
    const acme = `providers:\n  acme: { kind: openai, baseUrl: '${upstream.baseUrl}', apiKey: acme-key }\n`;
    world = await startGatewayBefore([upstream], acme);
    client = new Ollama({ host: world.gateway.origin });
  });
  after(() => world.close());

  test('gives its picture where they look for it', async () => {
    const asked = { model: 'acme/gpt-image-1', prompt: 'A cat' };
    const whole = await client.generate(asked);
    assert.equal(whole.image, picture);
    const streamed: string[] = [];
    for await (const { image } of await client.generate({ ...asked, stream: true })) if (image) streamed.push(image);
    assert.deepEqual(streamed, [picture]);
    const several = await client.generate({ ...asked, prompt: 'Two cats' });
    assertHolds(several, { images: [picture, picture] });
  });

  test('is told from one that writes', async () => {
    assertHolds(await client.show({ model: 'acme/gpt-image-1' }), { capabilities: ['image'] });
  });
});
