import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { sendRaw } from '../support/openai-faults.ts';
import { type OpenAiOptions, type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import type { VendorAnswer, VendorScript } from '../support/vendor-script.ts';
import {
  ask,
  askChat,
  askConversation,
  type Json,
  QUESTION,
  type Received,
  readChatStream,
  readCompletion,
  readConversation,
  readError,
  type Said,
} from '../support/wire-answers.ts';

// What is asked reaches the upstream as it was asked, and whatever it answers arrives as each dialect promises it.

interface Way {
  ask(origin: string, body: Json): Promise<Received>;
  read(received: Received): Said;
}

const ways: Readonly<Record<string, Way>> = {
  'dialect B, streamed': {
    ask: (origin, body) => askChat(origin, { ...body, stream: true }),
    read: (received) => readChatStream(received),
  },
  'dialect B, streamed, usage asked for': {
    ask: (origin, body) => askChat(origin, { ...body, stream: true, stream_options: { include_usage: true } }),
    read: (received) => readChatStream(received, { wantsUsage: true }),
  },
  'dialect B, whole': { ask: askChat, read: readCompletion },
  'dialect A': { ask: askConversation, read: (received) => readConversation(received) },
};

async function openGateway(
  context: TestContext,
  script?: VendorScript,
  options?: OpenAiOptions,
): Promise<[Gateway, OpenAiUpstream]> {
  const upstream = await startOpenAiUpstream(script, options);
  const gateway = await startGateway(
    `providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}', apiKey: key-of-mock } }\naliases: { best: [mock/real-model] }`,
  );
  context.after(async () => {
    await gateway.close();
    await upstream.close();
  });
  return [gateway, upstream];
}

/** The upstream sends exactly these events, one by one. */
const sending = (...events: readonly (object | string)[]): OpenAiOptions => ({
  async handle(request, response) {
    if (request.method !== 'POST') return false;
    const pieces = events.map((event) => {
      if (typeof event === 'string' && event.startsWith(':')) return `${event}\n\n`;
      return `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`;
    });
    await sendRaw(request, response, { pieces });
    return true;
  },
});

const HEAD = { id: 'c-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm' };
const delta = (given: unknown, finish: string | null = null, more: Json = {}): Json => ({
  ...HEAD,
  choices: [{ index: 0, delta: given, finish_reason: finish }],
  ...more,
});

describe('answers', { concurrency: 6 }, () => {
  const call = { id: 'call_1', name: 'weather', arguments: ['{"ci', 'ty":"Kö', 'ln \\"', '"}'] };
  const other = { id: 'call_2', name: 'time', arguments: [] };
  const answers: Readonly<Record<string, VendorAnswer>> = {
    'text, usage': { text: ['Grüße, ', '世界'], usage: { prompt: 11, completion: 7 } },
    reasoning: { reasoning: ['hm, ', 'so…'], text: ['Therefore.'] },
    'tool calls': { toolCalls: [call, other] },
    'text and tool calls': { text: ['Let me look.'], toolCalls: [call] },
    'reasoning and tool calls': { reasoning: ['hm'], toolCalls: [call] },
    nothing: { text: [] },
    'cut by max_tokens': { text: ['half a'], finish: 'length' },
    'stopped by a filter': { text: ['I '], finish: 'content_filter' },
    'a very long text': { text: ['x'.repeat(2 * 1024 * 1024), 'é"\\\n'.repeat(50_000)] },
  };

  for (const [name, answer] of Object.entries(answers)) {
    test(name, { timeout: 30_000 }, async (context) => {
      const [gateway, upstream] = await openGateway(context, () => answer);
      for (const [title, way] of Object.entries(ways)) {
        const said = way.read(await way.ask(gateway.origin, { provider: 'mock', model: 'test-model' }));
        assert.equal(said.text, [...(answer.text ?? [])].join(''), title);
        assert.equal(said.reasoning, [...(answer.reasoning ?? [])].join(''), title);
        assert.deepEqual(
          said.toolCalls,
          (answer.toolCalls ?? []).map((each) => ({ ...each, arguments: each.arguments.join('') })),
          title,
        );
        assert.equal(said.finish, answer.finish ?? (answer.toolCalls ? 'tool_calls' : 'stop'), title);
        const { prompt_tokens, completion_tokens, total_tokens } = said.usage ?? {};
        assert.deepEqual([prompt_tokens, completion_tokens, total_tokens], [11, 7, 18], title);
      }
      const plain = await ask(gateway.origin, '/backend-api/v2/create?provider=mock&model=m&prompt=Hi');
      const finish = answer.finish ?? (answer.toolCalls ? 'tool_calls' : 'stop');
      assert.equal(plain.body, [...(answer.text ?? [])].join('') + (finish === 'stop' ? '' : `[${finish}]`));
      assert.equal(upstream.chats.length, Object.keys(ways).length + 1);
    });
  }

  for (const [name, events, expected] of [
    [
      'a refusal',
      [delta({ refusal: 'I will not.' }), delta({}, 'stop'), '[DONE]'],
      { text: 'I will not.', finish: 'stop' },
    ],
    [
      'the whole answer in one event',
      [
        delta({ role: 'assistant', content: 'all' }, 'stop', {
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        }),
      ],
      { text: 'all', finish: 'stop' },
    ],
    [
      'text and failure in one read',
      [`${JSON.stringify(delta({ content: 'begun' }))}\n\ndata: {"error":{"message":"crashed","code":502}}`],
      { text: 'begun', error: true },
    ],
    [
      'no usage',
      [delta({ content: 'uncounted' }), delta({}, 'stop'), '[DONE]'],
      { text: 'uncounted', finish: 'stop', estimated: true },
    ],
    ['an empty stream that says its end', ['[DONE]'], { text: '', finish: 'stop', estimated: true }],
    [
      'a connection that is reset after the end',
      [delta({ content: 'all' }), delta({}, 'stop')],
      { text: 'all', finish: 'stop', estimated: true, isReset: true },
    ],
    [
      'content in parts (Mistral)',
      [
        delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
        delta({ content: [{ type: 'text', text: 'so' }] }),
        delta({ content: '.' }, 'stop'),
      ],
      { text: 'so.', reasoning: 'hm', finish: 'stop' },
    ],
    [
      'usage in a chunk with choices, behind the end (OpenRouter)',
      [
        ': OPENROUTER PROCESSING',
        delta({ content: 'all' }, null, { provider: 'Some Host' }),
        delta({ content: '' }, 'stop', { provider: 'Some Host' }),
        delta({ role: 'assistant', content: '' }, null, {
          provider: 'Some Host',
          usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
        }),
        '[DONE]',
      ],
      { text: 'all', finish: 'stop', total: 7 },
    ],
    [
      'usage in every chunk (xAI)',
      [1, 2, 3].map((count) =>
        delta({ content: `${count}` }, count === 3 ? 'stop' : null, {
          usage: { prompt_tokens: 1, completion_tokens: count, total_tokens: 1 + count },
        }),
      ),
      { text: '123', finish: 'stop', total: 4 },
    ],
    [
      'tool calls without an index, with an object for arguments (Gemini, Ollama)',
      [
        delta({ tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] }),
        delta({ tool_calls: [{ id: 'b', function: { name: 'g', arguments: { x: 1 } } }] }, 'stop'),
      ],
      {
        text: '',
        finish: 'stop',
        toolCalls: [
          { id: 'a', name: 'f', arguments: '{}' },
          { id: 'b', name: 'g', arguments: '{"x":1}' },
        ],
      },
    ],
  ] as const) {
    test(name, { timeout: 30_000 }, async (context) => {
      const wanted: {
        text: string;
        reasoning?: string;
        finish?: string;
        error?: true;
        estimated?: true;
        total?: number;
        isReset?: true;
        toolCalls?: Said['toolCalls'];
      } = expected;
      const options = sending(...events);
      const [gateway, upstream] = await openGateway(context, undefined, {
        async handle(request, response) {
          if (wanted.isReset !== true || request.method !== 'POST')
            return (await options.handle?.(request, response)) ?? false;
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
          await sleep(50);
          response.socket?.resetAndDestroy();
          return true;
        },
      });
      for (const [title, way] of Object.entries(ways)) {
        const received = await way.ask(gateway.origin, { provider: 'mock', model: 'test-model' });
        if (wanted.error === true && title.endsWith('whole')) {
          readError(received);
          continue;
        }
        const said = way.read(received);
        assert.equal(said.text, wanted.text, title);
        assert.equal(said.reasoning, wanted.reasoning ?? '', title);
        assert.equal(said.finish, wanted.finish, title);
        assert.deepEqual(said.toolCalls, wanted.toolCalls ?? [], title);
        assert.equal(said.error !== undefined, wanted.error === true, title);
        if (wanted.estimated === true) assert.equal(said.usage?.['estimated'], true, title);
        if (wanted.total !== undefined) assert.equal(said.usage?.['total_tokens'], wanted.total, title);
      }
      if (wanted.error !== true) assert.equal(upstream.chats.length, Object.keys(ways).length, 'asked once each');
    });
  }

  test('an end that is named, and then nothing more, on a connection that stays open', {
    timeout: 30_000,
  }, async (context) => {
    const [gateway, upstream] = await openGateway(context, undefined, {
      async handle(request, response) {
        if (request.method !== 'POST') return false;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(
          [delta({ content: 'all' }), delta({}, 'stop')].map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
        );
        // Signs of life that lead nowhere.
        while (!response.destroyed) {
          response.write(': ping\n\n');
          await sleep(200);
        }
        return true;
      },
    });
    await Promise.all(
      Object.entries(ways).map(async ([title, way]) => {
        const said = way.read(await way.ask(gateway.origin, { provider: 'mock', model: 'm' }));
        assert.deepEqual([said.text, said.finish], ['all', 'stop'], title);
      }),
    );
    for (const request of upstream.chats) assert.equal(await request.closed, 'aborted');
    assert.equal(upstream.chats.length, Object.keys(ways).length, 'asked once each');
  });

  test('an end in every chunk (Gemini), for longer than last words may take', { timeout: 30_000 }, async (context) => {
    const count = 10;
    const [gateway] = await openGateway(context, undefined, {
      async handle(request, response) {
        if (request.method !== 'POST') return false;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (let index = 0; index < count; index += 1) {
          response.write(`data: ${JSON.stringify(delta({ content: `${index} ` }, 'stop'))}\n\n`);
          await sleep(450);
        }
        response.end('data: [DONE]\n\n');
        return true;
      },
    });
    await Promise.all(
      Object.entries(ways).map(async ([title, way]) => {
        const said = way.read(await way.ask(gateway.origin, { provider: 'mock', model: 'm' }));
        assert.deepEqual([said.text, said.finish], ['0 1 2 3 4 5 6 7 8 9 ', 'stop'], title);
      }),
    );
  });

  test('only events that say nothing do not make a client wait for ever', { timeout: 30_000 }, async (context) => {
    const [gateway, upstream] = await openGateway(context, undefined, {
      async handle(request, response) {
        if (request.method !== 'POST') return false;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const event = `data: ${JSON.stringify(delta({ role: 'assistant', content: '' }))}\n\n`.repeat(1_000);
        while (!response.destroyed) {
          if (!response.write(event))
            await Promise.race([new Promise((resolve) => response.once('drain', resolve)), request.closed]);
        }
        return true;
      },
    });
    for (const [title, way] of Object.entries(ways)) {
      const received = await way.ask(gateway.origin, { provider: 'mock', model: 'm' });
      assert.equal(readError(received)['code'], 'upstream_invalid', title);
    }
    assert.equal(upstream.chats.length, Object.keys(ways).length);
  });
});

describe('several choices', { concurrency: 4 }, () => {
  test('of an upstream that knows them', { timeout: 30_000 }, async (context) => {
    const of = (index: number, content: string, finish: string | null = null): Json => ({
      ...HEAD,
      choices: [{ index, delta: { content }, finish_reason: finish }],
    });
    const events = [of(0, 'a'), of(1, 'x'), of(0, '', 'stop'), of(1, 'y'), of(1, '', 'length')];
    const [gateway, upstream] = await openGateway(context, undefined, sending(...events, '[DONE]'));
    const received = await askChat(gateway.origin, { provider: 'mock', model: 'm', stream: true, n: 2 });
    readChatStream(received, { choices: 2 });
    assert.equal(textOfChoice(received, 0), 'a');
    assert.equal(textOfChoice(received, 1), 'xy');
    assert.deepEqual(
      upstream.chats.map(({ body }) => (body as Json)['n']),
      [2],
    );
  });

  test('of one whose library answers one at a time', { timeout: 30_000 }, async (context) => {
    let count = 0;
    const upstream = await startAnthropicUpstream(() => {
      count += 1;
      return { text: [`answer ${count}`, '!'], delayMs: 5 };
    });
    const gateway = await startGateway(
      `providers: { claude: { kind: anthropic, baseUrl: '${upstream.baseUrl}', apiKey: key-of-claude } }`,
    );
    context.after(async () => {
      await gateway.close();
      await upstream.close();
    });
    const body = { provider: 'claude', model: 'claude-haiku-4-5', n: 3 };
    const whole = await askChat(gateway.origin, body);
    readCompletion(whole);
    const texts = (JSON.parse(whole.body) as { choices: { message: { content: string } }[] }).choices.map(
      ({ message }) => message.content,
    );
    assert.deepEqual(texts.toSorted(), ['answer 1!', 'answer 2!', 'answer 3!']);
    assert.equal((JSON.parse(whole.body) as { usage: Json }).usage['total_tokens'], 3 * 18);

    for (const wantsUsage of [false, true]) {
      const streamed = await askChat(gateway.origin, {
        ...body,
        stream: true,
        stream_options: { include_usage: wantsUsage },
      });
      const said = readChatStream(streamed, { choices: 3, wantsUsage });
      assert.equal(said.usage?.['total_tokens'], 3 * 18);
      const spoken = [0, 1, 2].map((index) => textOfChoice(streamed, index));
      assert.equal(new Set(spoken).size, 3);
      for (const text of spoken) assert.match(text, /^answer \d!$/);
    }
  });

  test('of which one fails: the others are closed, and nothing looks like an end', {
    timeout: 30_000,
  }, async (context) => {
    let count = 0;
    const upstream = await startAnthropicUpstream(() => {
      count += 1;
      return count % 3 === 0 ? { text: ['begun', ' and'], cutAfter: 1 } : { text: ['a', 'b'], stallAfter: 1 };
    });
    const gateway = await startGateway(
      `providers: { claude: { kind: anthropic, baseUrl: '${upstream.baseUrl}', apiKey: key-of-claude } }`,
    );
    context.after(async () => {
      await gateway.close();
      await upstream.close();
    });
    const body = { provider: 'claude', model: 'claude-haiku-4-5', n: 3 };
    const said = readChatStream(await askChat(gateway.origin, { ...body, stream: true }), { choices: 3 });
    assert.ok(said.error);
    readError(await askChat(gateway.origin, body));
    for (const request of upstream.requests) await request.closed;
  });

  test('of which one cannot even begin: the others are closed', { timeout: 30_000 }, async (context) => {
    let count = 0;
    const upstream = await startAnthropicUpstream(() => {
      count += 1;
      return count === 2 ? { status: 400, errorMessage: 'no' } : { text: ['a', 'b'], stallAfter: 1 };
    });
    const gateway = await startGateway(
      `providers: { claude: { kind: anthropic, baseUrl: '${upstream.baseUrl}', apiKey: key-of-claude } }`,
    );
    context.after(async () => {
      await gateway.close();
      await upstream.close();
    });
    const received = await askChat(gateway.origin, {
      provider: 'claude',
      model: 'claude-haiku-4-5',
      n: 3,
      stream: true,
    });
    assert.equal(received.status, 400);
    for (const request of upstream.requests) await request.closed;
  });

  /** What a streamed answer says in one of its choices. */
  function textOfChoice(received: Received, wanted: number): string {
    const events = received.body.split('\n\n').filter((event) => event.startsWith('data: {'));
    const choices = events.flatMap(
      (event) => (JSON.parse(event.slice(6)) as { choices: { index: number; delta: Json }[] }).choices,
    );
    return choices.map(({ index, delta: given }) => (index === wanted ? String(given['content'] ?? '') : '')).join('');
  }
});

describe('requests', { concurrency: 4 }, () => {
  let upstream: OpenAiUpstream;
  let gateway: Gateway;

  before(async () => {
    upstream = await startOpenAiUpstream();
    gateway = await startGateway(
      `providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}', apiKey: key-of-mock } }\naliases: { best: [mock/real-model] }`,
    );
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  /** Posts these very bytes, and returns what the upstream got. */
  async function relayed(text: string): Promise<string> {
    const response = await fetch(`${gateway.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: text,
    });
    assert.equal(response.status, 200, await response.clone().text());
    await response.arrayBuffer();
    return upstream.chats.findLast(({ rawBody }) => rawBody.includes(marker(text)))?.rawBody.toString() ?? '';
  }
  const marker = (text: string): string => /"tag": ?"[^"]*"/.exec(text)?.[0] ?? '';

  test('200 KB of prompt reach the upstream byte for byte', { timeout: 30_000 }, async () => {
    const prompt = 'Grüße "und" \\ 世界 🌍\n'.repeat(8_000);
    const messages = `[{"role":"user","content":${JSON.stringify(prompt)}, "x" : 1e0}]`;
    const got = await relayed(`{"model":"mock/m","tag":"prompt","messages":${messages}}`);
    assert.ok(got.includes(messages));
    assert.equal((JSON.parse(got) as Json)['model'], 'm');
  });

  test('unknown fields and figures beyond what JavaScript counts to are kept as they are', {
    timeout: 30_000,
  }, async () => {
    const fields =
      '"seed":12345678901234567890,"x_new":{"a":[1.0,1e2,0.10000000000000000001]},"top_a":0.50,"user":"ann"';
    const got = await relayed(
      `{"model":"mock/m","tag":"fields",${fields},"messages":[{"role":"user","content":"Hi"}]}`,
    );
    assert.ok(got.includes(fields), got);
  });

  test('fields of our own stay here; what they mean is done', { timeout: 30_000 }, async () => {
    const own: Json = {
      provider: 'mock',
      ignored: ['other'],
      api_key: 'key-of-client',
      web_search: false,
      download_media: false,
      conversation: { id: 1 },
      conversation_id: 'c',
      timeout: 10,
      stream_timeout: 10,
      image_name: 'a.png',
      raw: true,
      base_url: 'http://attacker.example',
      api_base: 'http://attacker.example',
      proxy: 'http://attacker.example',
      headers: { 'x-evil': '1' },
      extra_headers: { 'x-evil': '1' },
      extra_body: { from_extra: 1, provider: 'evil', base_url: 'http://attacker.example' },
    };
    const got = await relayed(JSON.stringify({ model: 'm', tag: 'own', messages: QUESTION, ...own }));
    assert.deepEqual(JSON.parse(got), { model: 'm', tag: 'own', messages: QUESTION, from_extra: 1 });
    const seen = upstream.chats.findLast(({ rawBody }) => rawBody.toString() === got);
    assert.equal(seen?.headers.authorization, 'Bearer key-of-client');
    assert.equal(seen?.headers['x-evil'], undefined);

    const tagged = { ...own, model: 'm', messages: QUESTION, tag: 'typed' };
    readConversation(await askConversation(gateway.origin, tagged));
    const typed = upstream.chats.findLast(({ body }) => (body as Json)['tag'] === 'typed');
    // Dialect A has no fields of these names, so they are the provider's.
    const { image_name: _name, raw: _raw, extra_body: _extra, ...shared } = own;
    for (const name of Object.keys(shared)) assert.ok(!Object.hasOwn(typed?.body as object, name), name);
  });

  test('an alias becomes the upstream’s name of the model, everywhere', { timeout: 30_000 }, async () => {
    for (const way of Object.values(ways)) {
      const received = await way.ask(gateway.origin, { model: 'best' });
      way.read(received);
      assert.equal(received.headers['x-sluice-model'], 'real-model');
    }
    const asked = upstream.chats.filter(({ model }) => model === 'real-model');
    assert.equal(asked.length, Object.keys(ways).length);
  });

  test('names of models that no header can hold', { timeout: 30_000 }, async () => {
    for (const model of ['模型/ü', "a'b c%20d", '🌍']) {
      for (const way of Object.values(ways)) {
        const received = await way.ask(gateway.origin, { provider: 'mock', model });
        way.read(received);
        assert.equal(decodeURI(String(received.headers['x-sluice-model'])), model);
      }
    }
  });
});

test("OpenAI's own library reads every kind of stream", { timeout: 30_000 }, async (context) => {
  const [gateway] = await openGateway(context, ({ prompt }) =>
    prompt === 'fail'
      ? { text: ['begun', ' and'], cutAfter: 1 }
      : { reasoning: ['hm'], text: ['Grüße'], toolCalls: [{ id: 'a', name: 'f', arguments: ['{}'] }] },
  );
  const client = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
  const create = (content: string) =>
    client.chat.completions.create({ model: 'mock/m', messages: [{ role: 'user', content }], stream: true });
  let text = '';
  let finish: string | null = null;
  for await (const { choices, usage } of await create('Hi')) {
    text += choices[0]?.delta.content ?? '';
    finish = choices[0]?.finish_reason ?? finish;
    if (finish !== null) assert.equal(usage?.total_tokens, 18);
  }
  assert.deepEqual([text, finish], ['Grüße', 'tool_calls']);
  let begun = '';
  await assert.rejects(async () => {
    for await (const { choices } of await create('fail')) begun += choices[0]?.delta.content ?? '';
  }, /ConnectionError/);
  assert.equal(begun, 'begun');
});
