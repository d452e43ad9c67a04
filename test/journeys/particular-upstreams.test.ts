import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { startGateway } from '../support/gateway.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import type { SeenRequest } from '../support/seen-request.ts';
import type { VendorScript } from '../support/vendor-script.ts';
import { postJson } from './kept-world.ts';
import { assertHolds } from './sdk-vendors.ts';

type Json = Record<string, unknown>;

const MESSAGES = [{ role: 'user', content: 'Hi' }];

/** Asks the provider `far`, which the gateway reaches at a host of this name. */
interface Far {
  post(path: string, body: object): Promise<Response>;
  /** The body that arrived last. */
  readonly last: Json & { readonly messages: readonly Json[] };
  readonly chats: readonly SeenRequest[];
}

/** A service of which something is known by its host, played by this machine: a proxy leads there. */
async function openFar(context: TestContext, host: string, script: VendorScript): Promise<Far> {
  const upstream = await startOpenAiUpstream(script);
  context.after(() => upstream.close());
  const { port } = await startForwardProxy(context, { to: Number(new URL(upstream.origin).port) });
  const gateway = await startGateway(
    `providers: { far: { kind: openai, baseUrl: 'http://${host}/v1', apiKey: far-key } }`,
    { environment: { HTTP_PROXY: `http://localhost:${port}` } },
  );
  context.after(() => gateway.close());
  return {
    post: (path, body) => postJson(`${gateway.origin}${path}`, { model: 'far/test-model', ...body }),
    get last() {
      return upstream.chats.at(-1)?.body as Far['last'];
    },
    get chats() {
      return upstream.chats;
    },
  };
}

describe('Mistral, which tells the usage unasked and refuses to be asked for it', { timeout: 60_000 }, () => {
  const head = { id: 'cmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'test-model' };
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
  const events = [
    { ...head, choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
    { ...head, choices: [{ index: 0, delta: { content: 'Bonjour' }, finish_reason: null }] },
    { ...head, choices: [{ index: 0, delta: { content: '' }, finish_reason: 'stop' }], usage },
  ];
  const raw = `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`;
  const script: VendorScript = ({ body }) =>
    'stream_options' in (body as Json) ? { status: 422, errorMessage: 'Extra inputs are not permitted' } : { raw };

  const chunksOf = async (answer: Response): Promise<Json[]> => {
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    const lines = text.split('\n').filter((line) => line.startsWith('data: {'));
    return lines.map((line) => JSON.parse(line.slice('data: '.length)) as Json);
  };

  for (const host of ['api.mistral.ai', 'codestral.mistral.ai']) {
    test(`a relayed stream (${host})`, async (context) => {
      const far = await openFar(context, host, script);
      const chunks = await chunksOf(await far.post('/v1/chat/completions', { messages: MESSAGES, stream: true }));
      assert.deepEqual(far.last, { model: 'test-model', messages: MESSAGES, stream: true });
      assertHolds(chunks.at(-1), { usage: { total_tokens: 7 } });
      assert.notDeepEqual(chunks.at(-1)?.['choices'], []);
    });
  }

  test('one whose client asked for the usage, which gets it in a chunk of its own', async (context) => {
    const far = await openFar(context, 'api.mistral.ai', script);
    const asked = { messages: MESSAGES, stream: true, stream_options: { include_usage: true } };
    const chunks = await chunksOf(await far.post('/v1/chat/completions', asked));
    assert.deepEqual(far.last, { model: 'test-model', messages: MESSAGES, stream: true });
    assert.deepEqual(chunks.at(-1)?.['choices'], []);
    assertHolds(chunks.at(-1), { usage: { total_tokens: 7 } });
  });

  test('a request of another format', async (context) => {
    const far = await openFar(context, 'api.mistral.ai', script);
    const answer = await far.post('/v1/messages', { messages: MESSAGES, max_tokens: 9 });
    const { usage } = (await answer.json()) as { usage: Json };
    assert.equal(answer.status, 200);
    assert.deepEqual([usage['input_tokens'], usage['output_tokens']], [5, 2]);
  });
});

describe('what an upstream says beside all choices of a stream', { timeout: 60_000 }, () => {
  const head = { id: 'cmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'test-model' };
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
  const said = (delta: object, finish: string | null = null): Json => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const filtered = { prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] };
  const timings = { timings: { prompt_n: 5, predicted_ms: 12.5 } };
  const events = [
    // Azure names nothing where it speaks of the prompt.
    { id: '', object: '', created: 0, model: '', choices: [], ...filtered },
    said({ role: 'assistant', content: 'Ahoy' }),
    said({}, 'stop'),
    // llama.cpp tells them where it tells the usage.
    { ...head, choices: [], usage, ...timings },
  ];
  const raw = `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`;

  for (const [name, options, choices] of [
    ['the last chunk has it', {}, 1],
    ['the chunk of the usage has it', { stream_options: { include_usage: true } }, 0],
  ] as const) {
    test(name, async (context) => {
      const far = await openFar(context, 'somewhere.example', () => ({ raw }));
      const answer = await far.post('/v1/chat/completions', { messages: MESSAGES, stream: true, ...options });
      const lines = (await answer.text()).split('\n').filter((line) => line.startsWith('data: {'));
      const chunks = lines.map((line) => JSON.parse(line.slice('data: '.length)) as Json);
      const last = chunks.at(-1);
      assertHolds(last, { ...head, provider: 'far', usage: { total_tokens: 7 }, ...timings, ...filtered });
      assert.equal((last as { choices?: unknown[] } | undefined)?.choices?.length, choices);
      for (const chunk of chunks.slice(0, -1))
        assert.equal('timings' in chunk || 'prompt_filter_results' in chunk, false);
    });
  }
});

describe('a refusal of a relayed request', { timeout: 60_000 }, () => {
  for (const [said, told] of [
    ['messages[0].content', 'messages[0].content'],
    [null, null],
    ['', null],
    [{ name: 'x' }, null],
    ['x'.repeat(300), null],
  ] as const) {
    test(`names the field that the upstream does: ${JSON.stringify(said).slice(0, 30)}`, async (context) => {
      const error = { message: 'Wrong', type: 'invalid_request_error', param: said, code: null };
      const far = await openFar(context, 'somewhere.example', () => ({ status: 400, raw: JSON.stringify({ error }) }));
      for (const stream of [false, true]) {
        const answer = await far.post('/v1/chat/completions', { messages: MESSAGES, stream });
        assert.equal(answer.status, 400);
        assertHolds(await answer.json(), { error: { code: 'invalid_request', param: told }, provider: 'far' });
      }
    });
  }
});

describe('instructions of a developer', { timeout: 60_000 }, () => {
  const hello: VendorScript = () => ({ text: ['Ahoy'] });
  const asked = [
    { role: 'developer', content: 'Answer like a sailor.' },
    { role: 'user', content: 'Hi', name: 'Ann' },
  ];
  const rolesOf = ({ last }: Far): unknown[] => last.messages.map(({ role }) => role);

  for (const [host, role] of [
    ['api.deepseek.com', 'system'],
    ['somewhere.example', 'system'],
    ['api.openai.com', 'developer'],
    ['mine.openai.azure.com', 'developer'],
  ] as const) {
    test(`are those of the ${role} at ${host}`, async (context) => {
      const far = await openFar(context, host, hello);
      const answer = await far.post('/v1/chat/completions', { messages: asked, seed: 7 });
      assert.equal(answer.status, 200, await answer.text());
      const [, user] = asked;
      const messages = [{ role, content: 'Answer like a sailor.' }, user];
      assert.deepEqual(far.last, { model: 'test-model', messages, seed: 7 });
      // What is not relayed is written anew.
      const decoded = await far.post('/v1/chat/completions', { messages: asked, download_media: true });
      assert.equal(decoded.status, 200, await decoded.text());
      assert.deepEqual(rolesOf(far), [role, 'user']);
    });
  }

  test('are so in a long chat, too, of which all arrives', async (context) => {
    const far = await openFar(context, 'api.deepseek.com', hello);
    const content = 'a line of "code"\n'.repeat(5_000);
    const answer = await far.post('/v1/chat/completions', { messages: [...asked, { role: 'user', content }] });
    assert.equal(answer.status, 200, await answer.text());
    assert.deepEqual(rolesOf(far), ['system', 'user', 'user']);
    assert.equal(far.last.messages.at(-1)?.['content'], content);
  });
});

describe('Mistral, whose ids of tool calls have nine letters and digits', { timeout: 60_000 }, () => {
  const script: VendorScript = ({ body }) => {
    const { messages } = body as Far['last'];
    const ids = messages.flatMap(({ tool_calls: calls, tool_call_id: id }) => [
      ...((calls as Json[] | undefined) ?? []).map((call) => call['id']),
      ...(id === undefined ? [] : [id]),
    ]);
    const wrong = ids.find((id) => !/^[A-Za-z0-9]{9}$/.test(String(id)));
    return wrong === undefined
      ? { text: ['Sunny'] }
      : { status: 400, errorMessage: `Tool call id was ${wrong} but must be a-z, A-Z, 0-9, with a length of 9.` };
  };
  const call = (id: string): Json => ({ id, type: 'function', function: { name: 'weather', arguments: '{}' } });
  const asked = [
    { role: 'user', content: 'How is it in Bonn, Paris and Rome?' },
    { role: 'assistant', content: null, tool_calls: ['call_1', 'toolu_0123456789abcdef', 'D681PevKs'].map(call) },
    { role: 'tool', tool_call_id: 'toolu_0123456789abcdef', content: 'sun' },
    { role: 'tool', tool_call_id: 'call_1', content: 'rain' },
    { role: 'tool', tool_call_id: 'D681PevKs', content: 'snow' },
  ];
  const idsOf = ({ last }: Far): readonly unknown[] => {
    const [, assistant, ...results] = last.messages;
    const [bonn, paris, rome] = ((assistant?.['tool_calls'] ?? []) as Json[]).map(({ id }) => id);
    assert.deepEqual(
      results.map(({ tool_call_id: id }) => id),
      [paris, bonn, rome],
      'results find their calls',
    );
    return [bonn, paris, rome];
  };

  test('gets such ids for those of other providers, whoever asks', async (context) => {
    const far = await openFar(context, 'api.mistral.ai', script);
    const relayed = await far.post('/v1/chat/completions', { messages: asked });
    assert.equal(relayed.status, 200, await relayed.text());
    const ids = idsOf(far);
    assert.equal(new Set(ids).size, 3);
    assert.equal(ids[2], 'D681PevKs', 'its own stay');
    const decoded = await far.post('/v1/chat/completions', { messages: asked, download_media: true });
    assert.equal(decoded.status, 200, await decoded.text());
    assert.deepEqual(idsOf(far), ids);
  });

  test('others get them as they are', async (context) => {
    const far = await openFar(context, 'api.deepseek.com', () => ({ text: ['Sunny'] }));
    const answer = await far.post('/v1/chat/completions', { messages: asked });
    assert.equal(answer.status, 200, await answer.text());
    assert.deepEqual(far.last.messages, asked);
  });
});

describe('what a client hands back with its messages', { timeout: 60_000 }, () => {
  const THOUGHTS = ['reasoning', 'reasoning_content'] as const;
  /** Refuses these names, in words of which some services have their own. */
  const refusing =
    (names: readonly string[], said = "messages[1]: property 'NAME' is unsupported"): VendorScript =>
    ({ body }) => {
      const { messages } = body as Far['last'];
      const name = names.find((each) => messages.some((message) => each in message));
      return name === undefined
        ? { reasoning: ['Hm. '], text: ['Sunny'] }
        : { status: 422, errorMessage: said.replace('NAME', name) };
    };
  const after = (said: Json): Json[] => [
    ...MESSAGES,
    { role: 'assistant', content: 'Hello', ...said },
    { role: 'user', content: 'And the weather?' },
  ];
  const both = { reasoning: 'Be kind.', reasoning_content: 'Be kind.' };

  for (const [host, refused, handed, taken, dropped] of [
    ['api.deepseek.com', [], { reasoning: 'Be kind.' }, both, null],
    ['api.deepseek.com', [], { reasoning: 'Be kind.', reasoning_content: null }, both, null],
    ['api.deepseek.com', [], { reasoning: '' }, { reasoning: '' }, null],
    ['api.deepseek.com', [], { reasoning_content: 'Be kind.' }, { reasoning_content: 'Be kind.' }, null],
    ['somewhere.example', [], both, both, null],
    ['api.groq.com', ['reasoning_content'], both, { reasoning: 'Be kind.' }, null],
    ['api.cerebras.ai', ['reasoning_content'], both, { reasoning: 'Be kind.' }, null],
    ['api.groq.com', ['reasoning_content'], { reasoning_content: 'Be kind.' }, {}, 'reasoning'],
    ['api.groq.com', ['reasoning_content'], { reasoning: 'Be kind.' }, { reasoning: 'Be kind.' }, null],
    ['api.mistral.ai', THOUGHTS, both, {}, 'reasoning'],
    ['api.mistral.ai', THOUGHTS, { reasoning: null, reasoning_content: '' }, {}, null],
    ['api.mistral.ai', ['refusal', 'annotations'], { refusal: null, annotations: [] }, {}, null],
    ['api.mistral.ai', ['refusal'], { refusal: 'No.' }, {}, 'refusal'],
    ['somewhere.example', ['refusal', 'annotations'], { refusal: null, annotations: [] }, {}, null],
    ['somewhere.example', ['reasoning_details'], { reasoning_details: [{}] }, {}, 'reasoning_details'],
  ] as const) {
    test(`${JSON.stringify(handed)}: as ${host} takes them`, async (context) => {
      const far = await openFar(context, host, refusing(refused));
      const asked = { messages: after(handed), seed: 7 };
      const answer = await far.post('/v1/chat/completions', asked);
      assert.equal(answer.status, 200, await answer.text());
      assert.deepEqual(far.last, { model: 'test-model', messages: after(taken), seed: 7 });
      assert.equal(answer.headers.get('x-sluice-dropped'), dropped);
      const strict = await far.post('/v1/chat/completions', { ...asked, strict: true });
      assert.equal(strict.status, dropped === null ? 200 : 400, await strict.text());
    });
  }

  for (const [host, refused] of [
    ['api.groq.com', ['reasoning_content']],
    ['api.mistral.ai', THOUGHTS],
  ] as const) {
    test(`${host}: an answer goes back as it came`, async (context) => {
      const far = await openFar(context, host, refusing(refused));
      for (const more of [{}, { download_media: true }]) {
        const first = await far.post('/v1/chat/completions', { messages: MESSAGES, ...more });
        const { choices } = (await first.json()) as { choices: readonly { readonly message: Json }[] };
        const message = choices[0]?.message ?? {};
        assert.deepEqual(
          THOUGHTS.map((name) => message[name]),
          ['Hm. ', 'Hm. '],
        );
        const answer = await far.post('/v1/chat/completions', {
          messages: [...MESSAGES, message, ...MESSAGES],
          ...more,
        });
        assert.equal(answer.status, 200, await answer.text());
      }
    });
  }

  test('Mistral: those of a client of another format are left out, and named', async (context) => {
    const far = await openFar(context, 'api.mistral.ai', refusing(THOUGHTS));
    const content = [
      { type: 'thinking', thinking: 'Be kind.', signature: '' },
      { type: 'text', text: 'Hello' },
    ];
    const messages = [...MESSAGES, { role: 'assistant', content }, ...MESSAGES];
    const answer = await far.post('/v1/messages', { max_tokens: 9, messages });
    assert.equal(answer.status, 200, await answer.text());
    assert.equal(answer.headers.get('x-sluice-dropped'), 'reasoning');
  });

  for (const [said, names, left, dropped] of [
    [
      "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'NAME' is unsupported)]",
      THOUGHTS,
      {},
      'reasoning',
    ],
    ["Unknown parameter: 'messages[1].NAME'.", THOUGHTS, {}, 'reasoning'],
    [
      'body.messages.1.assistant.NAME: Extra inputs are not permitted',
      ['reasoning_content'],
      { reasoning: 'Be kind.' },
      null,
    ],
    [
      'messages[1]: unknown field `NAME`, expected one of `role`, `content`',
      ['reasoning'],
      { reasoning_content: 'Be kind.' },
      null,
    ],
  ] as const) {
    test(`are left out where an upstream says so, and it is remembered for the model: ${said}`, async (context) => {
      const far = await openFar(context, 'somewhere.example', refusing(names, said));
      const ask = async (more: Json, tries: number): Promise<void> => {
        const before = far.chats.length;
        const answer = await far.post('/v1/chat/completions', { messages: after(both), ...more });
        assert.equal(answer.status, 200, await answer.text());
        assert.equal(far.chats.length - before, tries);
        assert.deepEqual(far.last.messages, after(left));
        assert.equal(answer.headers.get('x-sluice-dropped'), dropped);
      };
      await ask({}, 1 + names.length);
      await ask({}, 1);
      await ask({ stream: true }, 1);
      await ask({ stream: true, model: 'far/other-model' }, 1 + names.length);
      const strict = await far.post('/v1/chat/completions', { messages: after(both), strict: true });
      assert.equal(strict.status, dropped === null ? 200 : 400, await strict.text());
    });
  }

  for (const [host, tries] of [
    ['api.mistral.ai', [1, 1]],
    ['somewhere.example', [2, 1]],
  ] as const) {
    test(`${host}: signatures of calls, which Gemini gave, are left out`, async (context) => {
      const far = await openFar(context, host, ({ body }) =>
        JSON.stringify(body).includes('extra_content')
          ? {
              status: 422,
              errorMessage: 'messages.1.assistant.tool_calls.0.extra_content: Extra inputs are not permitted',
            }
          : { text: ['Sunny'] },
      );
      const call = { id: 'D681PevKs', type: 'function', function: { name: 'weather', arguments: '{}' } };
      const signed = { ...call, extra_content: { google: { thought_signature: 'c2lnbmVk' } } };
      for (const [at, more] of [{}, { download_media: true }].entries()) {
        const before = far.chats.length;
        const answer = await far.post('/v1/chat/completions', {
          messages: [...MESSAGES, { role: 'assistant', content: null, tool_calls: [signed] }],
          ...more,
        });
        assert.equal(answer.status, 200, await answer.text());
        assert.equal(far.chats.length - before, tries[at]);
        assert.deepEqual(far.last.messages[1]?.['tool_calls'], [call]);
        assert.equal(answer.headers.get('x-sluice-dropped'), null);
      }
    });
  }

  test('are left out where an upstream says so of a request that is translated', async (context) => {
    const far = await openFar(
      context,
      'somewhere.example',
      refusing(THOUGHTS, "Unknown parameter: 'messages[1].NAME'."),
    );
    for (const tries of [2, 1]) {
      const before = far.chats.length;
      const answer = await far.post('/v1/chat/completions', { messages: after(both), download_media: true });
      assert.equal(answer.status, 200, await answer.text());
      assert.equal(far.chats.length - before, tries);
      assert.equal(answer.headers.get('x-sluice-dropped'), 'reasoning');
    }
  });

  for (const said of [
    'The `reasoning_content` in the thinking mode must be passed back to the API.',
    'Missing `reasoning_content` field in the assistant message at message index 1.',
    'thinking is enabled but reasoning_content is missing in assistant tool call message at index 1',
  ]) {
    test(`a blank stands for thoughts that an upstream misses, and it is remembered for the model: ${said}`, async (context) => {
      const far = await openFar(context, 'api.deepseek.com', ({ body }) => {
        const { messages } = body as Far['last'];
        const isMissing = messages.some(({ role, reasoning_content: text }) => role === 'assistant' && !text);
        return isMissing ? { status: 400, errorMessage: said } : { text: ['Sunny'] };
      });
      const ask = async (path: string, more: Json, tries: number): Promise<void> => {
        const before = far.chats.length;
        const answer = await far.post(path, { max_tokens: 9, ...more });
        assert.equal(answer.status, 200, await answer.text());
        assert.equal(far.chats.length - before, tries);
        assert.equal(answer.headers.get('x-sluice-dropped'), null);
        const sent = far.last.messages.filter(({ role }) => role === 'assistant');
        assert.deepEqual(
          sent.map(({ reasoning_content: text }) => text),
          [' ', 'Be kind.'],
        );
      };
      const messages = [...after({}), ...after(both)];
      const thought = { type: 'thinking', thinking: 'Be kind.', signature: 'sluice.v1.e30' };
      const blocks = [...after({}), { role: 'assistant', content: [thought, { type: 'text', text: 'Hello' }] }];
      await ask('/v1/chat/completions', { messages, strict: true }, 2);
      await ask('/v1/chat/completions', { messages: [...after({ reasoning_content: '' }), ...after(both)] }, 1);
      await ask('/v1/chat/completions', { messages, stream: true, model: 'far/another' }, 2);
      await ask('/v1/messages', { messages: [...blocks, ...MESSAGES], model: 'far/third' }, 2);
      await ask('/v1/messages', { messages: [...blocks, ...MESSAGES], model: 'far/third' }, 1);
    });
  }

  for (const said of [
    'The `reasoning_content` of this message is too long.',
    "property 'reasoning' is unsupported",
    'Reasoning and images in messages are not supported by this model.',
    'messages[1]: unknown field `mood`, expected one of `role`, `content`, `reasoning_content`',
  ]) {
    test(`nothing is left out because of “${said}”`, async (context) => {
      const far = await openFar(context, 'somewhere.example', () => ({ status: 400, errorMessage: said }));
      for (const more of [{}, { download_media: true }]) {
        const before = far.chats.length;
        const answer = await far.post('/v1/chat/completions', { messages: after(both), ...more });
        assert.equal(answer.status, 400, await answer.text());
        assert.equal(far.chats.length - before, 1);
      }
    });
  }

  test('of a long chat all arrive', async (context) => {
    const far = await openFar(context, 'api.deepseek.com', refusing([]));
    const reasoning = 'a line of "thought"\n'.repeat(5_000);
    const answer = await far.post('/v1/chat/completions', { messages: after({ reasoning }) });
    assert.equal(answer.status, 200, await answer.text());
    assert.deepEqual(far.last.messages, after({ reasoning, reasoning_content: reasoning }));
  });
});

describe('an answer in JSON, of which an upstream wants to be told in words', { timeout: 60_000 }, () => {
  /** Refuses what DeepSeek refuses, and OpenAI where nothing but the form is asked for. */
  const script: VendorScript = ({ body }) => {
    const { response_format: format, messages } = body as Far['last'] & { response_format?: Json };
    if (format?.['type'] === 'json_schema')
      return { status: 400, errorMessage: 'This response_format type is unavailable now' };
    if (format?.['type'] === 'json_object' && !/json/i.test(JSON.stringify(messages)))
      return { status: 400, errorMessage: "Prompt must contain the word 'json' in some form" };
    return { text: ['{"city":', '"Bonn"}'] };
  };
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const response_format = { type: 'json_schema', json_schema: { name: 'place', description: 'A place.', schema } };
  const system = { role: 'system', content: 'Be brief.' };

  test('DeepSeek: the schema stands in the instructions, in a stream too', async (context) => {
    const far = await openFar(context, 'api.deepseek.com', script);
    for (const stream of [false, true]) {
      const asked = { messages: [system, ...MESSAGES], response_format, stream, seed: 7 };
      const answer = await far.post('/v1/chat/completions', asked);
      const text = await answer.text();
      assert.equal(answer.status, 200, text);
      assert.equal(answer.headers.get('x-sluice-dropped'), null);
      if (!stream) assertHolds(JSON.parse(text), { choices: [{ message: { content: '{"city":"Bonn"}' } }] });
      assertHolds(far.last, { response_format: { type: 'json_object' }, seed: 7 });
      const [instructions, question] = far.last.messages;
      assert.deepEqual(question, MESSAGES[0]);
      const words = String(instructions?.['content']);
      assert.ok(words.startsWith('Be brief.\n\n') && words.includes(JSON.stringify(schema)), words);
      assert.match(words, /A place\./);
    }
  });

  test('DeepSeek: the same of a schema that is said as the value of any JSON', async (context) => {
    const far = await openFar(context, 'api.deepseek.com', script);
    const asked = { messages: MESSAGES, response_format: { type: 'json_object', value: schema } };
    const answer = await far.post('/v1/chat/completions', asked);
    assert.equal(answer.status, 200, await answer.text());
    assert.deepEqual(far.last['response_format'], { type: 'json_object' });
    assert.ok(String(far.last.messages[0]?.['content']).includes(JSON.stringify(schema)));
  });

  test('DeepSeek: a schema that was strict is named, and refused where nothing may be lost', async (context) => {
    const far = await openFar(context, 'api.deepseek.com', script);
    const strict = { ...response_format, json_schema: { ...response_format.json_schema, strict: true } };
    const answer = await far.post('/v1/chat/completions', { messages: MESSAGES, response_format: strict });
    assert.equal(answer.status, 200, await answer.text());
    assert.equal(answer.headers.get('x-sluice-dropped'), 'response_format.strict');
    const refused = await far.post('/v1/chat/completions', {
      messages: MESSAGES,
      response_format: strict,
      strict: true,
    });
    assert.equal(refused.status, 400, await refused.text());
    const response = await far.post('/v1/responses', {
      input: 'Hi',
      text: { format: { type: 'json_schema', name: 'place', schema, strict: true } },
    });
    assert.equal(response.status, 200, await response.text());
    assert.equal(response.headers.get('x-sluice-dropped'), 'text.format.strict');
  });

  test('DeepSeek: of clients of other formats', async (context) => {
    const far = await openFar(context, 'api.deepseek.com', script);
    const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
    const asked = { contents, generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema } };
    const answer = await far.post('/v1beta/models/far%2Ftest-model:generateContent', asked);
    const json = (await answer.json()) as Json;
    assert.equal(answer.status, 200, JSON.stringify(json));
    assertHolds(json, { candidates: [{ content: { parts: [{ text: '{"city":"Bonn"}' }] } }] });
    assert.equal(answer.headers.get('x-sluice-dropped'), null);
    const chat = await far.post('/api/chat', { messages: MESSAGES, format: schema, stream: false });
    assert.equal(chat.status, 200, await chat.text());
    assert.ok(JSON.stringify(far.last.messages).includes('JSON Schema'));
  });

  for (const host of ['api.openai.com', 'somewhere.example']) {
    test(`${host}: JSON of any form, of clients who need not say so`, async (context) => {
      const far = await openFar(context, host, script);
      const chat = await far.post('/api/chat', { messages: MESSAGES, format: 'json', stream: false });
      assert.equal(chat.status, 200, await chat.text());
      assert.deepEqual(far.last.messages, [{ role: 'system', content: 'Answer in JSON.' }, ...MESSAGES]);
      // Who has said so says it.
      const said = [{ role: 'user', content: 'Hi, in Json' }];
      assert.equal((await far.post('/api/chat', { messages: said, format: 'json', stream: false })).status, 200);
      assert.deepEqual(far.last.messages, said);
      // And who writes OpenAI's format hears from the upstream what it wants.
      const own = await far.post('/v1/chat/completions', {
        messages: MESSAGES,
        response_format: { type: 'json_object' },
      });
      assert.equal(own.status, 400);
      assert.match(await own.text(), /must contain the word 'json'/);
    });
  }
});
