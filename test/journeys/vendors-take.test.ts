import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { postJson } from './kept-world.ts';
import { FORMATS, openWorld, type World } from './sdk-vendors.ts';

type Json = Record<string, unknown>;

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** What vendors refuse although a client of another format may ask it, and what none of them loses. */
describe('a request as its vendor takes it', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  const post = (path: string, body: object) => postJson(`${world.origin}${path}`, body);

  test('a picture that was kept goes along with the next question', async () => {
    const drawing = world.seat('openai');
    const delta = {
      role: 'assistant',
      content: 'A dot.',
      images: [{ image_url: { url: `data:image/png;base64,${PIXEL}` } }],
    };
    const event = { choices: [{ index: 0, delta, finish_reason: 'stop' }] };
    drawing.answers({ raw: `data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n` });
    const draw = { model: drawing.model, messages: [{ role: 'user', content: 'Draw' }], download_media: true };
    const { choices } = (await (await post('/v1/chat/completions', draw)).json()) as {
      choices: { message: { images: { image_url: { url: string } }[] } }[];
    };
    const path = choices[0]?.message.images[0]?.image_url.url ?? '';
    assert.match(path, /^\/media\//);
    const ask = (model: string, url: string) =>
      post('/v1/chat/completions', {
        model,
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url, detail: 'low' } }] }],
      });
    for (const format of FORMATS) {
      const seat = world.seat(format);
      seat.answers({ text: ['Red.'] });
      for (const url of [path, path.replace('/media/', '/images/'), world.origin + path]) {
        const answer = await ask(seat.model, url);
        assert.equal(answer.status, 200, await answer.text());
        const body = JSON.stringify(seat.last.body);
        assert.ok(body.includes(PIXEL), `${format}: ${url}`);
        assert.doesNotMatch(body, /\/(?:media|images)\//);
      }
      const missing = await ask(seat.model, '/media/none.png');
      const { error } = (await missing.json()) as { error: Json };
      assert.deepEqual([missing.status, error['code'], error['param']], [404, 'not_found', 'messages']);
      // Somebody else's address is theirs.
      const theirs = 'https://example.org/media/1700000000_dot_0123456789abcdef.png';
      assert.equal((await ask(seat.model, theirs)).status, 200);
      assert.ok(JSON.stringify(seat.last.body).includes(theirs));
    }
  });

  test('a result that is nothing but a picture is a result to Gemini, too', async () => {
    const seat = world.seat('google');
    seat.answers({ text: ['A dot.'] });
    const source = { type: 'base64', media_type: 'image/png', data: PIXEL };
    const messages = [
      { role: 'user', content: 'Look' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'image', source }] }],
      },
    ];
    const answer = await post('/v1/messages', { model: seat.model, max_tokens: 9, messages });
    assert.equal(answer.status, 200, await answer.text());
    const { contents } = seat.last.body as { contents: { parts: Json[] }[] };
    const parts = contents.at(-1)?.parts ?? [];
    assert.ok(
      parts.some((part) => 'functionResponse' in part),
      JSON.stringify(parts),
    );
    assert.ok(parts.some((part) => 'inlineData' in part));
  });

  for (const format of FORMATS) {
    test(`fields that say nothing are not lost (${format})`, async () => {
      const seat = world.seat(format);
      seat.answers({ text: ['Hi'] });
      const nulls = { top_logprobs: null, metadata: null, store: null, service_tier: null };
      const nothing = { logprobs: false, logit_bias: {}, ...nulls };
      const messages = [{ role: 'user', content: 'Hi' }];
      const answer = await post('/v1/chat/completions', { model: seat.model, messages, strict: true, ...nothing });
      assert.equal(answer.status, 200, await answer.text());
      assert.equal(answer.headers.get('x-sluice-dropped'), null);
    });

    test(`a choice of words that is left as it is is not lost, also while the model thinks (${format})`, async () => {
      const seat = world.seat(format);
      seat.answers({ text: ['Hi'] });
      const choice = { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0 };
      const body = { model: seat.model, messages: [{ role: 'user', content: 'Hi' }], reasoning_effort: 'high' };
      const answer = await post('/v1/chat/completions', { ...body, ...choice, strict: true });
      assert.equal(answer.status, 200, await answer.text());
      assert.equal(answer.headers.get('x-sluice-dropped'), null);
    });

    test(`calls of the older form, and their results, are calls and results (${format})`, async () => {
      const seat = world.seat(format);
      seat.answers({ text: ['Both.'] });
      const called = (time: string) => [
        { role: 'assistant', content: null, function_call: { name: 'tide', arguments: `{"at":"${time}"}` } },
        { role: 'function', name: 'tide', content: `High at ${time}` },
      ];
      const messages = [{ role: 'user', content: 'Tides?' }, ...called('noon'), ...called('dusk')];
      // A relayed request keeps the form that it came in.
      const answer = await post('/v1/chat/completions', { model: seat.model, messages, download_media: true });
      assert.equal(answer.status, 200, await answer.text());
      const pairs = pairsIn(seat.last.body);
      assert.deepEqual(
        pairs.map(({ at, result }) => [at, result]),
        [
          ['noon', 'High at noon'],
          ['dusk', 'High at dusk'],
        ],
      );
      assert.equal(new Set(pairs.map(({ id }) => id)).size, 2, 'each has an id of its own');
    });

    test(`a question of white space is one (${format})`, async () => {
      const seat = world.seat(format);
      for (const blank of [' \n', '']) {
        seat.answers({ text: ['Yes?'] });
        const messages = [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: 'Hello' },
          { role: 'user', content: blank },
        ];
        const answer = await post('/v1/chat/completions', { model: seat.model, messages });
        assert.equal(answer.status, 200, await answer.text());
        const { messages: sent, contents } = seat.last.body as Record<string, Json[]>;
        assert.deepEqual(
          (sent ?? contents)?.map(({ role }) => role),
          ['user', format === 'google' ? 'model' : 'assistant', 'user'],
        );
      }
    });

    test(`a tool is chosen by its bare name only where there is one of that name (${format})`, async () => {
      const seat = world.seat(format);
      const tools = [{ type: 'function', function: { name: 'tide', parameters: { type: 'object', properties: {} } } }];
      const messages = [{ role: 'user', content: 'Tides?' }];
      // A relayed request keeps its choice, for the upstream to refuse.
      const ask = (tool_choice: string) =>
        post('/v1/chat/completions', { model: seat.model, messages, tools, tool_choice, download_media: true });
      for (const choice of ['tide', 'any', 'required']) {
        seat.answers({ text: ['High'] });
        const answer = await ask(choice);
        assert.equal(answer.status, 200, await answer.text());
        const { tool_choice: chosen, toolConfig } = seat.last.body as Json;
        const { allowedFunctionNames: names, mode } = ((toolConfig as Json)?.['functionCallingConfig'] ?? {}) as Json;
        const isNamed = JSON.stringify(chosen ?? names ?? '').includes('tide');
        assert.equal(isNamed, choice === 'tide', JSON.stringify(seat.last.body));
        if (mode !== undefined) assert.equal(mode, 'ANY');
      }
      seat.answers({ text: ['High'] });
      const refused = await ask('wind');
      const { error } = (await refused.json()) as { error: Json };
      assert.deepEqual([refused.status, error['param']], [422, 'tool_choice']);
      assert.match(String(error['message']), /auto, none, required or the name/);
      assert.equal(seat.arrived.length, 0);
    });

    test(`functions of the older form beside tools are called lost (${format})`, async () => {
      const seat = world.seat(format);
      seat.answers({ text: ['Hi'] });
      const messages = [{ role: 'user', content: 'Hi' }];
      const tools = [{ type: 'function', function: { name: 'new' } }];
      const body = { model: seat.model, messages, tools, functions: [{ name: 'old' }], function_call: 'auto' };
      const answer = await post('/v1/chat/completions', { ...body, download_media: true });
      assert.equal(answer.status, 200, await answer.text());
      assert.deepEqual(seat.last.tools, ['new']);
      const dropped = answer.headers.get('x-sluice-dropped')?.split(', ') ?? [];
      assert.deepEqual(
        dropped.filter((name) => name.startsWith('function')),
        ['functions', 'function_call'],
      );
    });

    test(`functions of the older form are offered, and called in that form (${format})`, async () => {
      const seat = world.seat(format);
      const parameters = { type: 'object' as const, properties: { at: { type: 'string' } } };
      const functions = [{ name: 'tide', description: 'High or low', parameters }];
      const called = (at: string) => ({ id: `call_${at}`, name: 'tide', arguments: ['{"at":', `"${at}"}`] });
      const messages = [{ role: 'user' as const, content: 'Tides?' }];
      // A relayed request keeps its form, for the upstream to answer in.
      const body = { model: seat.model, messages, functions, function_call: { name: 'tide' }, download_media: true };
      seat.answers({ toolCalls: [called('noon'), called('dusk')] });
      const whole = await world.client.chat.completions.create(body);
      assert.deepEqual(seat.last.tools, ['tide']);
      assert.match(JSON.stringify(seat.last.body), /"(?:tool_choice|allowedFunctionNames)":[^\]}]*"tide"/);
      const [choice] = whole.choices;
      assert.deepEqual(
        [choice?.finish_reason, choice?.message.function_call, choice?.message.tool_calls],
        ['function_call', { name: 'tide', arguments: '{"at":"noon"}' }, undefined],
      );
      let name = '';
      let written = '';
      let finish: string | null = null;
      for await (const { choices } of await world.client.chat.completions.create({ ...body, stream: true })) {
        const { delta, finish_reason: reason } = choices[0] ?? assert.fail();
        assert.equal(delta.tool_calls, undefined);
        name += delta.function_call?.name ?? '';
        written += delta.function_call?.arguments ?? '';
        finish ??= reason;
      }
      assert.deepEqual([name, written, finish], ['tide', '{"at":"noon"}', 'function_call']);
      // Who offers tools looks for calls in their form.
      const tools = [{ type: 'function' as const, function: functions[0] ?? assert.fail() }];
      const modern = await world.client.chat.completions.create({ model: seat.model, messages, tools });
      assert.equal(modern.choices[0]?.message.tool_calls?.length, 2);
    });

    test(`who wrote a message arrives, or is named as lost (${format})`, async () => {
      const seat = world.seat(format);
      seat.answers({ text: ['Hi'] });
      const messages = [{ role: 'user', name: 'Ann', content: 'Hi' }];
      const answer = await post('/v1/chat/completions', { model: seat.model, messages });
      assert.equal(answer.status, 200, await answer.text());
      const arrived = JSON.stringify(seat.last.body).includes('"Ann"');
      assert.equal(answer.headers.get('x-sluice-dropped'), arrived ? null : 'messages.name');
    });

    test(`several choices cost what they cost together (${format})`, async () => {
      const seat = world.seat(format);
      seat.answers({ text: ['Hi'], usage: { prompt: 20, completion: 7, cached: 4 } });
      const messages = [{ role: 'user', content: 'Hi' }];
      // What is not relayed is asked of the vendor once for each.
      const body = { model: seat.model, messages, n: 2, download_media: true };
      const { usage } = (await (await post('/v1/chat/completions', body)).json()) as {
        usage: { prompt_tokens: number; prompt_tokens_details: Json };
      };
      assert.equal(usage.prompt_tokens_details['cached_tokens'], (usage.prompt_tokens / 20) * 4);
    });
  }

  test('a choice among no tools and a file without a name are not sent to OpenAI', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['Hi'] });
    const file = { type: 'input_file', file_data: 'data:application/pdf;base64,JVBERi0xLjQK' };
    const input = [{ role: 'user', content: [file, { type: 'input_text', text: 'Hi' }] }];
    const choice = { tools: [], tool_choice: 'auto', parallel_tool_calls: true };
    const answer = await post('/v1/responses', { model: seat.model, input, ...choice });
    assert.equal(answer.status, 200, await answer.text());
    const sent = seat.last.body as Json;
    assert.deepEqual([sent['tool_choice'], sent['parallel_tool_calls']], [undefined, undefined]);
    assert.match(JSON.stringify(sent['messages']), /"filename":"[^"]+\.pdf"/);
  });
});

interface Pair {
  readonly id: unknown;
  readonly at: unknown;
  readonly result: unknown;
}

/** The calls of a request in any vendor's format, each with what came of it. */
function pairsIn(body: unknown): readonly Pair[] {
  const { messages = [], contents = [] } = body as { messages?: Json[]; contents?: { parts: Json[] }[] };
  const blocks = [
    ...messages,
    ...messages.flatMap((message) => [...listOf(message['content']), ...listOf(message['tool_calls'])]),
    ...contents.flatMap(({ parts }) =>
      parts.map(({ functionCall, functionResponse }) => (functionCall ?? functionResponse ?? {}) as Json),
    ),
  ];
  return blocks.flatMap((call): Pair[] => {
    const written = (call['function'] as Json | undefined)?.['arguments'];
    const input = call['input'] ?? call['args'] ?? (typeof written === 'string' ? JSON.parse(written) : undefined);
    if (input === undefined) return [];
    const { id } = call;
    const result = blocks.find(
      (block) => block !== call && [block['tool_call_id'], block['tool_use_id'], block['id']].includes(id),
    );
    const response = result?.['response'] as Json | undefined;
    return [{ id, at: (input as Json)['at'], result: response?.['content'] ?? result?.['content'] }];
  });
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value : [];
}
