import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { VendorRequest } from '../support/vendor-script.ts';
import { openWorld, type World } from './edge-world.ts';
import { postJson } from './kept-world.ts';
import { assertHolds } from './sdk-vendors.ts';

type Json = Record<string, unknown>;

const MESSAGES = [{ role: 'user', content: 'Hi' }];

/** An error as OpenAI writes it. */
function refusal(param: string, code: string, message: string): { status: number; raw: string } {
  return { status: 400, raw: JSON.stringify({ error: { message, type: 'invalid_request_error', param, code } }) };
}

/** What OpenAI says of a description beyond 1,024 characters. */
function tooLong(place: number, length: number): { status: number; raw: string } {
  const param = `tools[${place}].function.description`;
  const message = `Invalid '${param}': string too long. Expected a string with maximum length 1024, but got a string with length ${length} instead.`;
  return refusal(param, 'string_above_max_length', message);
}

/** The fields of a body that a model of this name refuses, as OpenAI's models that think do. */
function refusedOf({ model, body }: VendorRequest): string[] {
  const sent = body as Json;
  if (sent['reasoning_effort'] === 'none') return [];
  const fields = ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty'];
  if (model.startsWith('stubborn')) fields.push('messages');
  if (model.startsWith('deployment')) fields.push('max_tokens');
  if (model.startsWith('o4')) fields.push('verbosity');
  if (model.startsWith('o3')) fields.push('max_completion_tokens', 'max_tokens');
  return fields.filter((name) => name in sent);
}

function unsupportedValue(field: string, value: unknown, more = ''): string {
  return `Unsupported value: '${field}' does not support ${value} with this model.${more}`;
}

/** What a model says that takes a lower temperature, and fewer stop words, than it may be asked for. */
function pickyAnswer({ temperature = 0, stop = [] }: Json): ReturnType<typeof refusal> | { text: string[] } {
  if (Number(temperature) > 1)
    return refusal('temperature', 'unsupported_value', unsupportedValue('temperature', temperature));
  if ((stop as unknown[]).length > 1) return refusal('stop', 'unsupported_value', unsupportedValue('stop', stop));
  return { text: ['Hello'] };
}

describe('a model that refuses some fields', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld({
      script: (request) => {
        const { body, model } = request;
        if (model.startsWith('picky')) return pickyAnswer(body as Json);
        const [field] = refusedOf(request);
        if (field === undefined) return { text: ['Hello'] };
        return field === 'temperature'
          ? refusal(
              field,
              'unsupported_value',
              unsupportedValue(field, 0.5, ' Only the default (1) value is supported.'),
            )
          : refusal(field, 'unsupported_parameter', `Unsupported parameter: '${field}' is not supported.`);
      },
    });
  });
  after(() => world.close());

  /** Asks, and tells how many requests that made upstream. */
  const ask = async (
    path: string,
    body: Json,
  ): Promise<{ status: number; text: string; lost: string | null; asked: number }> => {
    const { length } = world.upstream.chats;
    const answer = await postJson(`${world.gateway.origin}${path}`, body);
    const text = await answer.text();
    const lost = answer.headers.get('x-sluice-dropped');
    return { status: answer.status, text, lost, asked: world.upstream.chats.length - length };
  };

  const parts = [{ role: 'user', parts: [{ text: 'Hi' }] }];
  for (const [client, path, body, lost] of [
    [
      'Anthropic’s format',
      '/v1/messages',
      { model: 'mock/a', max_tokens: 9, messages: MESSAGES, temperature: 0.5, top_p: 0.5 },
      'temperature, top_p',
    ],
    [
      'Gemini’s format',
      '/v1beta/models/mock%2Fb:generateContent',
      { contents: parts, generationConfig: { temperature: 0.5, topP: 0.5 } },
      'generationConfig.temperature, generationConfig.topP',
    ],
    [
      'Ollama’s format',
      '/api/chat',
      { model: 'mock/c', messages: MESSAGES, stream: false, options: { temperature: 0.5, presence_penalty: 1 } },
      'options.temperature, options.presence_penalty',
    ],
    [
      'the conversations',
      '/backend-api/v2/conversation',
      { provider: 'mock', model: 'd', messages: MESSAGES, temperature: 0.5, top_p: 0.5 },
      'temperature, top_p',
    ],
    [
      'a chat that is not relayed',
      '/v1/chat/completions',
      { model: 'mock/e', messages: MESSAGES, temperature: 0.5, top_p: 0.5, download_media: true },
      'temperature, top_p',
    ],
  ] as const) {
    test(`goes without them for a client of ${client}, from then on at once`, async () => {
      for (const asked of [3, 1]) {
        const answer = await ask(path, body);
        assert.equal(answer.status, 200, answer.text);
        assert.match(answer.text, /Hello/);
        assert.deepEqual([answer.lost, answer.asked], [lost, asked]);
        assert.deepEqual(refusedOf({ ...world.last, model: 'any' }), []);
      }
    });
  }

  test('gets them with an effort with which it takes them', async () => {
    const body = { model: 'mock/gpt-5.1', messages: MESSAGES, temperature: 0.5, download_media: true };
    assertHolds(await ask('/v1/chat/completions', body), { status: 200, lost: 'temperature', asked: 2 });
    const quick = await ask('/v1/chat/completions', { ...body, reasoning_effort: 'none' });
    assertHolds(quick, { status: 200, lost: null, asked: 1 });
    assert.equal(world.last.fields['temperature'], 0.5);
  });

  test('is not asked without them for a client that wants nothing lost', async () => {
    const body = { model: 'mock/strict', max_tokens: 9, messages: MESSAGES, temperature: 0.5, strict: true };
    for (const asked of [1, 0]) {
      const answer = await ask('/v1/messages', body);
      assertHolds(answer, { status: 400, asked });
      assert.match(answer.text, /'temperature'/);
    }
  });

  test('is asked by its other name for a limit of tokens, and nothing is lost', async () => {
    for (const asked of [2, 1]) {
      const answer = await ask('/v1/messages', { model: 'mock/deployment', max_tokens: 9, messages: MESSAGES });
      assertHolds(answer, { status: 200, lost: null, asked });
      assertHolds(world.last.fields, { max_completion_tokens: 9 });
      assert.ok(!('max_tokens' in world.last.fields));
    }
  });

  test('loses nothing with the one value that it takes, which need not be said', async () => {
    const body = { model: 'mock/default', max_tokens: 9, messages: MESSAGES };
    assertHolds(await ask('/v1/messages', { ...body, temperature: 0.5 }), {
      status: 200,
      lost: 'temperature',
      asked: 2,
    });
    for (const strict of [false, true]) {
      const answer = await ask('/v1/messages', { ...body, temperature: 1, strict });
      assertHolds(answer, { status: 200, lost: null, asked: 1 });
    }
  });

  test('goes on getting the field where it refused only one of its values', async () => {
    const body = { model: 'mock/picky', max_tokens: 9, messages: MESSAGES };
    for (const [refused, taken] of [
      [{ temperature: 2 }, { temperature: 0.5 }],
      [{ stop_sequences: ['a', 'b'] }, { stop_sequences: ['a'] }],
    ]) {
      const answer = await ask('/v1/messages', { ...body, ...refused });
      assertHolds(answer, { status: 400, asked: 1 });
      assert.match(answer.text, /Unsupported value/);
      assertHolds(await ask('/v1/messages', { ...body, ...taken }), { status: 200, lost: null, asked: 1 });
    }
    assert.deepEqual(world.last.fields['stop'], ['a']);
  });

  test('names a limit of tokens that it knows by neither name as each client knows it', async () => {
    const config = { maxOutputTokens: 9 };
    for (const [path, body, lost] of [
      ['/v1/messages', { model: 'mock/o3-a', max_tokens: 9, messages: MESSAGES }, 'max_tokens'],
      [
        '/v1beta/models/mock%2Fo3-b:generateContent',
        { contents: parts, generationConfig: config },
        'generationConfig.maxOutputTokens',
      ],
      [
        '/api/chat',
        { model: 'mock/o3-c', messages: MESSAGES, stream: false, options: { num_predict: 9 } },
        'options.num_predict',
      ],
      [
        '/v1/chat/completions',
        { model: 'mock/o3-d', messages: MESSAGES, max_tokens: 9, download_media: true },
        'max_tokens',
      ],
      [
        '/v1/chat/completions',
        { model: 'mock/o3-e', messages: MESSAGES, max_completion_tokens: 9, download_media: true },
        'max_completion_tokens',
      ],
      ['/v1/completions', { model: 'mock/o3-f', prompt: 'Hi', max_tokens: 9 }, 'max_tokens'],
      [
        '/backend-api/v2/conversation',
        { provider: 'mock', model: 'o3-g', messages: MESSAGES, max_tokens: 9 },
        'max_tokens',
      ],
      [
        '/backend-api/v2/conversation',
        { provider: 'mock', model: 'o3-h', messages: MESSAGES, max_completion_tokens: 9 },
        'max_completion_tokens',
      ],
    ] as const) {
      for (const asked of [3, 1]) assertHolds(await ask(path, body), { status: 200, lost, asked });
    }
  });

  test('goes without being told how many words to make, from then on at once', async () => {
    for (const asked of [2, 1]) {
      const answer = await ask('/v1/responses', { model: 'mock/o4', input: 'Hi', text: { verbosity: 'low' } });
      assertHolds(answer, { status: 200, lost: 'text.verbosity', asked });
    }
  });

  test('says so itself where its own format was spoken, or where nothing could be left out', async () => {
    const relayed = await ask('/v1/chat/completions', { model: 'mock/a', messages: MESSAGES, temperature: 0.5 });
    assertHolds(relayed, { status: 400, asked: 1 });
    assert.match(relayed.text, /does not support 0\.5/);
    const needed = await ask('/v1/messages', { model: 'mock/stubborn', max_tokens: 9, messages: MESSAGES });
    assertHolds(needed, { status: 400, asked: 1 });
    assert.match(needed.text, /'messages' is not supported/);
  });
});

describe('a model that refuses long descriptions of tools', { timeout: 60_000 }, () => {
  const descriptionsOf = (body: unknown): string[] =>
    (body as { tools: { function: { description?: string } }[] }).tools.map((tool) => tool.function.description ?? '');
  let world: World;
  let together = 0;
  const both = Promise.withResolvers<void>();
  before(async () => {
    world = await openWorld({
      script: async ({ body, model }) => {
        if (model === 'at-once') {
          together += 1;
          if (together === 2) both.resolve();
          await both.promise;
        }
        const most = model === 'never' ? 0 : 1024;
        const lengths = descriptionsOf(body).map((description) => [...description].length);
        const place = lengths.findIndex((length) => length > most);
        return place < 0 ? { text: ['Hello'] } : tooLong(place, lengths[place] ?? 0);
      },
    });
  });
  after(() => world.close());
  const post = (path: string, body: Json): Promise<Response> => postJson(`${world.gateway.origin}${path}`, body);

  const long = 'Reads a file. 😀 '.repeat(200);
  const input_schema = { type: 'object' };
  const tools = [
    { name: 'Read', description: 'Reads.', input_schema },
    { name: 'Bash', description: long, input_schema },
    { name: 'Edit', description: `x${long}`, input_schema },
  ];

  test('gets their beginnings, from then on at once', async () => {
    for (const asked of [2, 1]) {
      const { length } = world.upstream.chats;
      const answer = await post('/v1/messages', { model: 'mock/m', max_tokens: 9, messages: MESSAGES, tools });
      assert.equal(answer.status, 200, await answer.text());
      assert.equal(answer.headers.get('x-sluice-dropped'), 'tools.description');
      assert.equal(world.upstream.chats.length - length, asked);
      const [first, ...others] = descriptionsOf(world.last.body);
      assert.equal(first, 'Reads.');
      for (const [place, description] of others.entries()) {
        assert.ok(description.isWellFormed() && description.length > 1_000, description);
        assert.ok(description.endsWith('…'));
        assert.ok(tools[place + 1]?.description.startsWith(description.slice(0, -1)));
      }
    }
  });

  test('gets them also where several are refused before any has learned of it', async () => {
    const asked = { model: 'mock/at-once', max_tokens: 9, messages: MESSAGES, tools };
    const answers = await Promise.all([post('/v1/messages', asked), post('/v1/messages', asked)]);
    for (const answer of answers) assert.equal(answer.status, 200, await answer.text());
  });

  test('gets short ones as they are', async () => {
    const answer = await post('/v1/messages', {
      ...{ model: 'mock/m', max_tokens: 9, messages: MESSAGES },
      tools: tools.slice(0, 1),
    });
    assert.equal(answer.status, 200, await answer.text());
    assert.equal(answer.headers.get('x-sluice-dropped'), null);
  });

  test('names the field as each client knows it', async () => {
    const functionDeclarations = [{ name: 'Bash', description: long }];
    const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
    const gemini = { contents, tools: [{ functionDeclarations }] };
    const ollama = {
      model: 'mock/o',
      messages: MESSAGES,
      tools: [{ type: 'function', function: functionDeclarations[0] }],
    };
    for (const [path, body, name] of [
      ['/v1beta/models/mock%2Fg:generateContent', gemini, 'tools.functionDeclarations.description'],
      ['/api/chat', ollama, 'tools.function.description'],
    ] as const) {
      const answer = await post(path, body);
      assert.equal(answer.status, 200, await answer.text());
      assert.equal(answer.headers.get('x-sluice-dropped'), name);
    }
  });

  test('is asked no more when it refuses what is short enough, and not at all when nothing may be lost', async () => {
    for (const [more, asked, words] of [
      [{ model: 'mock/never' }, 2, /string too long/],
      [{ model: 'mock/strict', strict: true }, 1, /'tools\.description'/],
    ] as const) {
      const { length } = world.upstream.chats;
      const answer = await post('/v1/messages', { max_tokens: 9, messages: MESSAGES, tools, ...more });
      assert.equal(answer.status, 400);
      assert.match(await answer.text(), words);
      assert.equal(world.upstream.chats.length - length, asked);
    }
  });

  test('says so itself where its own format was spoken', async () => {
    const own = [{ type: 'function', function: { name: 'Bash', description: long } }];
    const answer = await post('/v1/chat/completions', { model: 'mock/m', messages: MESSAGES, tools: own });
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), /maximum length 1024/);
  });
});
