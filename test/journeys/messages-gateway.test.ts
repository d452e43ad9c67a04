import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { plainServer } from '../support/plain-server.ts';
import { HELLO, type Json, MARK, named, type Params, postTo, TOOL, USER_ID } from './messages-world.ts';
import { all, assertHolds, FORMATS, openWorld, type World } from './sdk-vendors.ts';

const SEARCH = { type: 'web_search_20250305', name: 'web_search', max_uses: 2 } as const;
const RESULTS = readFileSync(new URL('../fixtures/search/searxng.json', import.meta.url), 'utf8');

describe('Anthropic’s client and the gateway', { timeout: 120_000 }, () => {
  let world: World;
  let client: Anthropic;
  let closeEngine = (): void => {};
  const queries: string[] = [];
  before(async () => {
    const keep = (done: () => void): void => {
      closeEngine = done;
    };
    const engine = await plainServer({ after: keep }, (request, response) => {
      queries.push(new URL(request.url ?? '', 'http://x').searchParams.get('q') ?? '');
      response.writeHead(200, { 'content-type': 'application/json' }).end(RESULTS);
    });
    world = await openWorld(`search: { engine: searxng, url: '${engine.url}', pages: 0 }`);
    client = new Anthropic({ baseURL: world.origin, apiKey: 'secret', maxRetries: 0 });
  });
  after(async () => {
    await world.close();
    closeEngine();
  });

  const post = (body: object, headers?: Record<string, string>, path?: string) => postTo(world, body, headers, path);

  for (const format of FORMATS) {
    test(`an answer says who gave it, whole and streamed: ${format}`, async () => {
      const seat = world.seat(format);
      seat.answers({ text: ['Hi'] });
      const [provider] = seat.model.split('/');
      const params = { model: seat.model, max_tokens: 9, messages: HELLO };
      assertHolds(await client.messages.create(params), { provider, content: [{ type: 'text', text: 'Hi' }] });
      const [start] = await all(await client.messages.create({ ...params, stream: true }));
      assertHolds(start, { type: 'message_start', message: { provider } });
    });
  }

  for (const format of ['openai', 'google'] as const) {
    test(`thoughts that nobody signed end with a signature all the same, and come back with it: ${format}`, async () => {
      const seat = world.seat(format);
      seat.answers({ reasoning: ['Let me', ' think.'], text: ['Hi'] });
      const thinking = { type: 'enabled', budget_tokens: 1_024 } as const;
      const params = { model: seat.model, max_tokens: 2_000, messages: HELLO, thinking };
      const events = await all(await client.messages.create({ ...params, stream: true }));
      const deltas = events.flatMap((event) =>
        event.type === 'content_block_delta' && event.index === 0 ? [event.delta] : [],
      );
      const { signature = '' } = deltas.at(-1) as { signature?: string };
      assert.equal(deltas.map((delta) => ('thinking' in delta ? delta.thinking : '')).join(''), 'Let me think.');
      // Some clients hand thoughts without one back as a text, others not at all.
      assert.match(signature, /^\S+$/);
      const whole = await client.messages.create(params);
      assertHolds(whole.content[0], { type: 'thinking', thinking: 'Let me think.', signature });
      const { content } = whole;
      await client.messages.create({
        ...params,
        messages: [...HELLO, { role: 'assistant', content }, ...HELLO],
      });
      const { messages, contents } = seat.last.body as { messages?: Json[]; contents?: Json[] };
      if (format === 'openai') assertHolds(messages?.[1], { content: 'Hi', reasoning_content: 'Let me think.' });
      else assertHolds(contents?.[1], { parts: [{ text: 'Let me think.', thought: true }, { text: 'Hi' }] });
      // Anthropic refuses what it has not signed.
      const claude = world.seat('anthropic');
      claude.answers({ text: ['Hi'] });
      await client.messages.create({
        ...params,
        model: claude.model,
        messages: [...HELLO, { role: 'assistant', content }, ...HELLO],
      });
      assertHolds(claude.last.body, { messages: [{}, { content: 'Hi' }, {}] });
    });
  }

  test('sources that come with calls belong to the text before these', async () => {
    const seat = world.seat('openai');
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'Bash', arguments: '{}' } };
    const annotations = [{ type: 'url_citation', url_citation: { url: 'https://a.example/', title: 'A' } }];
    const message = { role: 'assistant', content: 'Hi', tool_calls: [call], annotations };
    const event = { choices: [{ index: 0, delta: message, finish_reason: 'tool_calls' }] };
    seat.answers({ raw: `data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n` });
    const { content } = await client.messages.create({
      model: seat.model,
      max_tokens: 9,
      messages: HELLO,
      tools: [named('Bash')] as Anthropic.Tool[],
    });
    const citations = [{ type: 'web_search_result_location', url: 'https://a.example/', title: 'A' }];
    assertHolds(content, [{ type: 'text', text: 'Hi', citations }, { type: 'tool_use' }]);
  });

  /** What an upstream of OpenAI's format streams, as raw bytes. */
  const streamed = (...deltas: readonly Json[]): string => {
    const pieces = [...deltas.map((delta) => ({ delta })), { delta: {}, finish_reason: 'stop' }];
    const events = pieces.map((piece) => `data: ${JSON.stringify({ choices: [{ index: 0, ...piece }] })}\n\n`);
    return `${events.join('')}data: [DONE]\n\n`;
  };

  test('sources behind a call, with no text after it, are cited in a text of their own, which is not handed on', async () => {
    const seat = world.seat('openai');
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'Bash', arguments: '{}' } };
    const annotations = [{ type: 'url_citation', url_citation: { url: 'https://a.example/', title: 'A' } }];
    seat.answers({ raw: streamed({ content: 'Hi' }, { tool_calls: [call] }, { annotations }) });
    const params = {
      model: seat.model,
      max_tokens: 9,
      messages: HELLO,
      tools: [named('Bash')] as Anthropic.Tool[],
    };
    const citations = [{ type: 'web_search_result_location', url: 'https://a.example/', title: 'A' }];
    const blocks = [{ type: 'text', text: 'Hi' }, { type: 'tool_use' }, { type: 'text', text: '', citations }];
    const { content } = await client.messages.stream(params).finalMessage();
    assertHolds(content, blocks);
    assertHolds((await client.messages.create(params)).content, blocks);

    const anthropic = world.seat('anthropic');
    anthropic.answers({ text: ['Done.'] });
    const result = { type: 'tool_result', tool_use_id: 'call_1', content: 'ok' } as const;
    const messages: Anthropic.MessageParam[] = [
      ...HELLO,
      { role: 'assistant', content },
      { role: 'user', content: [result] },
    ];
    await client.messages.create({ ...params, model: anthropic.model, messages });
    const [, answer] = (anthropic.last.body as { messages: Json[] }).messages;
    assert.deepEqual(answer?.['content'], [
      { type: 'text', text: 'Hi' },
      { type: 'tool_use', id: 'call_1', name: 'Bash', input: {} },
    ]);
  });

  test('sources that an upstream tells before its text are cited in it', async () => {
    const seat = world.seat('openai');
    const cited = {
      url: 'https://tides.example/',
      title: 'Tides',
      content: 'Twice a day.',
      start_index: 0,
      end_index: 1,
    };
    seat.answers({
      raw: streamed({ annotations: [{ type: 'url_citation', url_citation: cited }] }, { content: 'Twice.' }),
    });
    const params = { model: seat.model, max_tokens: 9, messages: HELLO };
    for (const message of [await client.messages.create(params), await client.messages.stream(params).finalMessage()]) {
      assertHolds(message.content, [
        {
          type: 'text',
          text: 'Twice.',
          citations: [{ url: 'https://tides.example/', title: 'Tides', cited_text: 'Twice a day.' }],
        },
      ]);
    }
  });

  test('an answer that is spoken is told in its words, for whose sound there is no place', async () => {
    const seat = world.seat('openai');
    const params = { model: seat.model, max_tokens: 9, messages: HELLO };
    seat.answers({ raw: streamed({ audio: { id: 'audio_1', transcript: 'Good evening', data: 'UklGRg==' } }) });
    assertHolds((await client.messages.create(params)).content, [{ type: 'text', text: 'Good evening' }]);
    seat.answers({ raw: streamed({ audio: { id: 'audio_1', data: 'UklGRg==' } }) });
    assert.doesNotMatch(JSON.stringify((await client.messages.create(params)).content), /UklGRg/);
  });

  test('tools with names that are too long, or have dots, go to upstreams of OpenAI’s format under names that these take', async () => {
    const seat = world.seat('openai');
    const long = 'mcp__plugin_chrome-devtools-mcp_chrome-devtools__performance_analyze_insight';
    const taken = long.slice(0, 64);
    seat.answers({ toolCalls: [{ id: 'call_2', name: taken, arguments: ['{}'] }] });
    const params: Params = {
      model: seat.model,
      max_tokens: 9,
      messages: [
        ...HELLO,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: long, input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'ok' }] },
      ],
      tools: [named(long), named('notes.read'), named('Bash')] as Anthropic.Tool[],
      tool_choice: { type: 'tool', name: long },
    };
    const blocks = [{ type: 'tool_use', id: 'call_2', name: long, input: {} }];
    assertHolds((await client.messages.create(params)).content, blocks);
    assertHolds((await client.messages.stream(params).finalMessage()).content, blocks);
    const { tools, tool_choice, messages } = seat.last.body as {
      tools: { function: { name: string } }[];
      tool_choice: unknown;
      messages: Json[];
    };
    assert.deepEqual(
      tools.map((tool) => tool.function.name),
      [taken, 'notes_read', 'Bash'],
    );
    assert.deepEqual(tool_choice, { type: 'function', function: { name: taken } });
    assertHolds(messages[1]?.['tool_calls'], [{ id: 'call_1', function: { name: taken } }]);
  });

  describe('what another upstream has no place for', () => {
    const EXTRAS = {
      max_tokens: 100,
      system: [{ type: 'text', text: 'S', cache_control: MARK }],
      messages: HELLO,
      metadata: { user_id: USER_ID },
      service_tier: 'auto',
      tools: [TOOL, { type: 'bash_20250124', name: 'bash' }],
      thinking: { type: 'adaptive' },
      context_management: { edits: [] },
    };
    const LOST = ['metadata', 'service_tier', 'context_management', 'cache_control', 'tools.bash_20250124'];

    for (const format of FORMATS.filter((each) => each !== 'anthropic')) {
      test(`is listed: ${format}`, async () => {
        const seat = world.seat(format);
        seat.answers({ text: ['Hi'] });
        const answer = await post({ ...EXTRAS, model: seat.model }, { 'anthropic-beta': 'context-1m-2025-08-07' });
        assert.equal(answer.status, 200, await answer.text());
        const dropped = (answer.headers.get('x-sluice-dropped') ?? '').split(', ');
        const thoughts = format === 'openai' ? ['thinking'] : [];
        assert.deepEqual(dropped.sort(), [...LOST, ...thoughts, 'anthropic-beta'].sort());
        assert.deepEqual(seat.last.tools, ['Bash']);
        assert.doesNotMatch(JSON.stringify(seat.last.body), /ephemeral|session_4e5f|bash_20250124/);
      });

      test(`is refused when the client is strict: ${format}`, async () => {
        const seat = world.seat(format);
        seat.answers({ text: ['Hi'] });
        const body = { model: seat.model, max_tokens: 9, messages: HELLO, service_tier: 'auto' };
        for (const answer of [await post({ ...body, strict: true }), await post(body, { 'x-sluice-strict': '1' })]) {
          assert.equal(answer.status, 400);
          const { type, error } = (await answer.json()) as { type: string; error: Json };
          assert.deepEqual(
            [type, error['type'], error['code'], error['param']],
            ['error', 'invalid_request_error', 'unsupported_field', 'service_tier'],
          );
        }
        assert.equal(seat.arrived.length, 0);
      });
    }

    test('documents of text are read as text, and blocks that nobody else can read are left out', async () => {
      const seat = world.seat('openai');
      seat.answers({ text: ['Hi'] });
      const answer = await post({
        model: seat.model,
        max_tokens: 9,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grass.' }, title: 'Notes' },
              { type: 'container_upload', file_id: 'file_1' },
              { type: 'text', text: 'Color?' },
            ],
          },
        ],
      });
      assert.equal(answer.headers.get('x-sluice-dropped'), 'container_upload');
      assertHolds(seat.last.body, {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: '# Notes\n\nGrass.' },
              { type: 'text', text: 'Color?' },
            ],
          },
        ],
      });
    });

    test('whoever wants no thoughts says so to models that think by themselves', async () => {
      const fields = { max_tokens: 300, messages: HELLO, thinking: { type: 'disabled' } };
      const google = world.seat('google');
      google.answers({ text: ['Hi'] });
      const answer = await post({ ...fields, model: google.model });
      assert.equal(answer.headers.get('x-sluice-dropped'), null);
      assertHolds(google.last.body, { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } });
      const other = world.seat('openai');
      for (const [model, effort] of [
        ['acme/gpt-5', 'minimal'],
        ['acme/gpt-5.2', 'none'],
        ['acme/gpt-4o', undefined],
      ] as const) {
        other.answers({ text: ['Hi'] });
        const { headers } = await post({ ...fields, model });
        assert.equal(headers.get('x-sluice-dropped'), null);
        assert.equal((other.last.body as Json)['reasoning_effort'], effort, model);
      }
    });

    for (const format of ['openai', 'google'] as const) {
      test(`thoughts are shown to whoever asks for them: ${format}`, async () => {
        const seat = world.seat(format);
        seat.answers({
          reasoning: ['Let me ', 'think.'],
          text: ['A', 'B'],
          toolCalls: [{ id: 'call_1', name: 'weather', arguments: ['{}'] }],
          usage: { prompt: 11, completion: 9, reasoning: 4 },
        });
        for (const thinking of [
          undefined,
          { type: 'disabled' },
          { type: 'enabled', budget_tokens: 2_000 },
          { type: 'adaptive' },
        ] as const) {
          const fields = { max_tokens: 9_000, messages: HELLO, tools: [TOOL], model: seat.model };
          const isAsked = thinking !== undefined && thinking.type !== 'disabled';
          const shown = isAsked ? ['thinking', 'text', 'tool_use'] : ['text', 'tool_use'];
          const whole = (await (await post({ ...fields, thinking })).json()) as Anthropic.Message;
          const streamed = await client.messages.stream({ ...fields, thinking } as Params).finalMessage();
          for (const message of [whole, streamed]) {
            const kinds = message.content.map((block) => block.type).filter((kind) => kind !== 'redacted_thinking');
            assert.deepEqual(kinds, shown);
            assertHolds(message, { stop_reason: 'tool_use', usage: { output_tokens_details: { thinking_tokens: 4 } } });
          }
        }
      });
    }

    test('thoughts that are not shown come back to a model that wants them beside its calls', async () => {
      const seat = world.seat('openai');
      const call = { id: 'call_1', name: 'weather', arguments: ['{}'] };
      seat.answers({ reasoning: ['Let me ', 'think.'], text: ['A'], toolCalls: [call] });
      const fields = { max_tokens: 300, tools: [TOOL], model: seat.model, thinking: { type: 'disabled' } };
      const whole = (await (await post({ ...fields, messages: HELLO })).json()) as Anthropic.Message;
      const streamed = await client.messages.stream({ ...fields, messages: HELLO } as Params).finalMessage();
      for (const { content } of [whole, streamed]) {
        assert.doesNotMatch(JSON.stringify(content), /Let me think/);
        const result = { type: 'tool_result', tool_use_id: 'call_1', content: 'rain' };
        // Some clients hand its data back as bytes.
        const inBytes = content.map((block) =>
          block.type === 'redacted_thinking' ? { ...block, data: { ...Buffer.from(block.data) } } : block,
        );
        for (const back of [content, inBytes]) {
          const messages = [...HELLO, { role: 'assistant', content: back }, { role: 'user', content: [result] }];
          const answer = await post({ ...fields, messages });
          assert.equal(answer.status, 200, await answer.text());
          const { messages: sent } = seat.last.body as { readonly messages: readonly Record<string, unknown>[] };
          assert.equal(sent.find(({ role }) => role === 'assistant')?.['reasoning_content'], 'Let me think.');
        }
      }
    });

    test('who wants thoughts without their words hears that they come as they are', async () => {
      const seat = world.seat('google');
      seat.answers({ text: ['Hi'] });
      for (const [display, dropped] of [
        ['omitted', 'thinking.display'],
        ['summarized', null],
        [null, null],
      ] as const) {
        const thinking = { type: 'enabled', budget_tokens: 2_000, display };
        const { headers } = await post({ max_tokens: 9_000, messages: HELLO, thinking, model: seat.model });
        assert.equal(headers.get('x-sluice-dropped'), dropped);
      }
    });

    test('an effort is for models that think', async () => {
      const seat = world.seat('google');
      seat.answers({ text: ['Hi'] });
      const fields = { max_tokens: 9_000, messages: HELLO, thinking: { type: 'enabled', budget_tokens: 8_000 } };
      const google = await post({ ...fields, model: seat.model });
      assert.equal(google.headers.get('x-sluice-dropped'), null);
      assertHolds(seat.last.body, { generationConfig: { thinkingConfig: { includeThoughts: true } } });
      const other = world.seat('openai');
      other.answers({ text: ['Hi'] });
      const openai = await post({ ...fields, model: other.model });
      assert.equal(openai.headers.get('x-sluice-dropped'), 'thinking');
      assert.equal((other.last.body as Json)['reasoning_effort'], undefined);
      const hard = { ...fields, thinking: { type: 'adaptive' }, output_config: { effort: 'max' } };
      for (const [model, effort] of [
        ['acme/gpt-5', 'high'],
        ['acme/gpt-5.2', 'xhigh'],
      ] as const) {
        await post({ ...hard, model });
        assert.equal((other.last.body as Json)['reasoning_effort'], effort, model);
      }
    });
  });

  describe('web search', () => {
    const ask = { max_tokens: 99, messages: [{ role: 'user', content: 'How old do tortoises get?' }], tools: [SEARCH] };

    test('is Anthropic’s own where Anthropic answers', async () => {
      const seat = world.seat('anthropic');
      seat.answers({ text: ['Old.'] });
      const answer = await post({ ...ask, model: seat.model });
      assert.equal(answer.status, 200);
      assertHolds(seat.last.body, { tools: [SEARCH], messages: ask.messages });
      assert.deepEqual(queries.splice(0), []);
    });

    test('is Sluice’s elsewhere', async () => {
      const seat = world.seat('openai');
      seat.answers({ text: ['Old.'] });
      const answer = await post({ ...ask, model: seat.model });
      const message = (await answer.json()) as Anthropic.Message;
      assert.deepEqual(queries.splice(0), ['How old do tortoises get?']);
      assert.match(JSON.stringify(seat.last.body), /Jonathan \(tortoise\)/);
      assert.deepEqual(seat.last.tools, []);
      assert.equal(answer.headers.get('x-sluice-dropped'), 'tools.web_search_20250305.max_uses');
      const [block] = message.content;
      assert.match(block?.type === 'text' ? block.text : '', /^Old\.[\s\S]*Jonathan/);
    });
  });

  test('a search leaves at Anthropic what only Anthropic understands of the question', async () => {
    const seat = world.seat('anthropic');
    seat.answers({ text: ['A hundred years.'] });
    const blocks = [
      { type: 'text', text: 'How long do tortoises sleep?', cache_control: MARK },
      { type: 'search_result', source: 'a', title: 'b', content: [{ type: 'text', text: 'c' }] },
    ];
    const answer = await post({
      model: seat.model,
      max_tokens: 64,
      web_search: true,
      messages: [{ role: 'user', content: blocks }],
    });
    assert.equal(answer.status, 200, await answer.text());
    const { messages } = seat.last.body as { messages: { content: Json[] }[] };
    const [found, ...others] = messages[0]?.content ?? [];
    assert.match(String(found?.['text']), /<search-results /);
    assert.deepEqual(others, blocks);
    assert.deepEqual(queries.splice(0), ['How long do tortoises sleep?']);
  });

  test('Sluice’s own fields work here too: a search, and further models', async () => {
    const seat = world.seat('openai');
    seat.answers({ status: 503, errorMessage: 'Down.' });
    world.seat('google').answers({ text: ['From the other.'] });
    const answer = await post({
      model: seat.model,
      models: [world.seat('google').model],
      max_tokens: 9,
      messages: HELLO,
      tool_calls: [{ function: { name: 'search_tool', arguments: { query: 'tortoise tool' } } }],
    });
    assert.equal(answer.status, 200, await answer.clone().text());
    assert.equal(answer.headers.get('x-sluice-provider'), 'gemini');
    assert.match(JSON.stringify(world.seat('google').last.body), /Jonathan \(tortoise\)/);
    assert.deepEqual(queries.splice(0), ['tortoise tool']);
  });

  describe('a request that is wrong', () => {
    for (const [body, param] of [
      [{ max_tokens: 1 }, 'messages'],
      [{ messages: [] }, 'messages'],
      [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role'],
      [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages[0].content[0].text'],
      [
        { messages: [{ role: 'user', content: [{ type: 'tool_result', content: 'x' }] }] },
        'messages[0].content[0].tool_use_id',
      ],
      [{ messages: HELLO, tools: [{ name: 'x' }] }, 'tools[0].input_schema'],
      [{ messages: HELLO, max_tokens: 'many' }, 'max_tokens'],
    ] as const) {
      test(`names its field: ${param} ${JSON.stringify(body).slice(0, 40)}`, async () => {
        const answer = await post({ model: 'acme/test-model', ...body });
        assert.equal(answer.status, 400);
        const { type, error } = (await answer.json()) as { type: string; error: Json };
        assert.deepEqual([type, error['type'], error['param']], ['error', 'invalid_request_error', param]);
        assert.match(String(error['message']), /must|required/);
      });
    }

    test('for a model or provider that is not there', async () => {
      for (const [path, model] of [
        ['/v1/messages', 'nobody-has-this'],
        ['/api/nobody/messages', 'x'],
        ['/v1/messages/count_tokens', 'nobody-has-this'],
      ] as const) {
        const answer = await post({ model, max_tokens: 1, messages: HELLO }, {}, path);
        assert.equal(answer.status, 404);
        const id = answer.headers.get('request-id');
        assert.ok(id);
        assertHolds(await answer.json(), { type: 'error', error: { type: 'not_found_error' }, request_id: id });
      }
      const broken = await fetch(`${world.origin}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{',
      });
      assertHolds(await broken.json(), { type: 'error', error: { type: 'invalid_request_error' } });
    });
  });
});
