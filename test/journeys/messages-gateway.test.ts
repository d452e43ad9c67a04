import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { plainServer } from '../support/plain-server.ts';
import { startGatewayBefore } from './gateway-before.ts';
import { all, assertHolds, FORMATS, openWorld, type World } from './sdk-vendors.ts';

type Json = Record<string, unknown>;
type Params = Anthropic.MessageCreateParamsNonStreaming;

const HELLO: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hello' }];
const MARK = { type: 'ephemeral' } as const;
/** As Claude Code names its sessions. */
const USER_ID = 'user_0a1b_account_2c3d_session_4e5f';
const named = (name: string) => ({ name, input_schema: { type: 'object', properties: {} } });
const TOOL: Anthropic.Tool = {
  name: 'Bash',
  description: 'Runs a command',
  input_schema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  cache_control: MARK,
};
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
    world = await openWorld(
      [
        `search: { engine: searxng, url: '${engine.url}', pages: 0 }`,
        'aliases: { claude-sonnet-4-6: [acme/test-model], claude-haiku-4-6: [claude/claude-sonnet-4-5] }',
        'limits: { heartbeatMs: 1000 }',
      ].join('\n'),
    );
    client = new Anthropic({ baseURL: world.origin, apiKey: 'secret', maxRetries: 0 });
  });
  after(async () => {
    await world.close();
    closeEngine();
  });

  const post = (body: object, headers: Record<string, string> = {}, path = '/v1/messages') =>
    fetch(world.origin + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', ...headers },
      body: JSON.stringify(body),
    });

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
    test(`thoughts that nobody signed end with a signature all the same, an empty one: ${format}`, async () => {
      const seat = world.seat(format);
      seat.answers({ reasoning: ['Let me', ' think.'], text: ['Hi'] });
      const params = { model: seat.model, max_tokens: 9, messages: HELLO };
      const events = await all(await client.messages.create({ ...params, stream: true }));
      const deltas = events.flatMap((event) =>
        event.type === 'content_block_delta' && event.index === 0 ? [event.delta] : [],
      );
      assert.deepEqual(deltas.at(-1), { type: 'signature_delta', signature: '' });
      assert.equal(deltas.map((delta) => ('thinking' in delta ? delta.thinking : '')).join(''), 'Let me think.');
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
    seat.answers({ raw: streamed({ audio: { id: 'audio_1', transcript: 'Good evening', data: 'UklGRg==' } }) });
    const message = await client.messages.create({ model: seat.model, max_tokens: 9, messages: HELLO });
    assertHolds(message.content, [{ type: 'text', text: 'Good evening' }]);
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

  describe('as Claude Code uses it', () => {
    const session = (fields: Partial<Params> = {}): Params => ({
      model: 'claude-sonnet-4-6',
      max_tokens: 32_000,
      system: [
        { type: 'text', text: 'You are a coding agent.', cache_control: MARK },
        { type: 'text', text: `Rules:\n${'Be careful. '.repeat(40_000)}`, cache_control: MARK },
      ],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'List the files.', cache_control: MARK }] }],
      tools: [TOOL],
      metadata: { user_id: USER_ID },
      ...fields,
    });

    test('an alias leads to another vendor’s model, through a loop of tools', async () => {
      const seat = world.seat('openai');
      seat.answers((request) =>
        request.prompt === 'a.txt'
          ? { text: ['There is a.txt.'] }
          : { text: ['Looking.'], toolCalls: [{ id: 'call_1', name: 'Bash', arguments: ['{"command":', '"ls"}'] }] },
      );
      const betas = ['claude-code-20250219', 'interleaved-thinking-2025-05-14'];
      const first = client.beta.messages.stream({ ...(session() as Anthropic.Beta.MessageCreateParams), betas });
      const { data, response } = await first.withResponse();
      assert.ok(response.headers.get('request-id'));
      assert.equal(response.headers.get('x-sluice-model'), 'test-model');
      const message = await data.finalMessage();
      assert.equal(message.stop_reason, 'tool_use');
      const messages = [
        ...session().messages,
        { role: 'assistant' as const, content: message.content as Anthropic.ContentBlockParam[] },
        {
          role: 'user' as const,
          content: [{ type: 'tool_result' as const, tool_use_id: 'call_1', content: 'a.txt', cache_control: MARK }],
        },
      ];
      const second = await client.messages.stream(session({ messages })).finalMessage();
      assertHolds(second.content, [{ type: 'text', text: 'There is a.txt.' }]);
    });

    test('tools that its search found are named in the result', async () => {
      const seat = world.seat('openai');
      seat.answers({ text: ['Fetching.'] });
      const found = ['WebFetch', 'CronCreate'].map((name) => ({ type: 'tool_reference', tool_name: name }));
      const answer = await post({
        model: 'claude-sonnet-4-6',
        max_tokens: 9,
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 'toolu_1', name: 'ToolSearch', input: { query: 'web' } }],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: found }] },
        ],
        tools: [TOOL, { ...TOOL, name: 'ToolSearch' }],
      });
      assert.equal(answer.status, 200, await answer.text());
      assert.equal(answer.headers.get('x-sluice-dropped'), 'cache_control');
      assertHolds(((seat.last.body as Json)['messages'] as Json[]).at(-1), {
        role: 'tool',
        content: [
          { type: 'text', text: 'The tool WebFetch can be called now.' },
          { type: 'text', text: 'The tool CronCreate can be called now.' },
        ],
      });
    });

    describe('tools that messages add and take away', () => {
      const added = (tool: Json) => ({ type: 'tool_addition', tool });
      const removed = (name: string) => ({ type: 'tool_removal', tool: { type: 'tool_reference', name } });
      const messages = [
        ...HELLO,
        { role: 'system', content: [removed('Bash'), added({ type: 'tool_definition', definition: named('Query') })] },
        { role: 'assistant', content: 'Hello.' },
        { role: 'user', content: 'And now?' },
        { role: 'system', content: [added({ type: 'tool_reference', name: 'Bash' }), removed('Write')] },
      ];
      const body = { max_tokens: 9, messages, tools: [named('Bash'), named('Write')] };

      for (const format of FORMATS.filter((each) => each !== 'anthropic')) {
        test(`are a list, and words at their places: ${format}`, async () => {
          const seat = world.seat(format);
          seat.answers({ text: ['Hi.'] });
          const answer = await post({ ...body, model: seat.model });
          assert.equal(answer.status, 200, await answer.text());
          assert.equal(answer.headers.get('x-sluice-dropped'), null);
          assert.deepEqual(seat.last.tools, ['Bash', 'Query']);
          const words = JSON.stringify(seat.last.body).match(/The tool \w+ can [a-z ]+\./g);
          assert.deepEqual(words?.sort(), [
            'The tool Bash can be called now.',
            'The tool Bash can no longer be called.',
            'The tool Query can be called now.',
            'The tool Write can no longer be called.',
          ]);
        });
      }

      test('go to Anthropic where they stand', async () => {
        const seat = world.seat('anthropic');
        seat.answers({ text: ['Hi.'] });
        const answer = await post({ ...body, model: seat.model });
        assert.equal(answer.status, 200, await answer.text());
        const sent = seat.last.body as { messages: Json[]; tools: Json[] };
        assert.deepEqual(sent.tools, body.tools);
        assert.deepEqual(
          sent.messages.filter(({ role }) => role === 'system'),
          messages.filter(({ role }) => role === 'system'),
        );
      });
    });

    test('a picture that a tool gave back is seen', async () => {
      const seat = world.seat('openai');
      seat.answers({ text: ['A cat.'] });
      const source = { type: 'base64' as const, media_type: 'image/png' as const, data: 'iVBORw0KGgo=' };
      const messages: Anthropic.MessageParam[] = [
        ...session().messages,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'Read', input: { path: 'a.png' } }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'image', source }] }],
        },
      ];
      await client.messages.create({ model: 'claude-sonnet-4-6', max_tokens: 9, messages });
      const [result, picture] = ((seat.last.body as Json)['messages'] as Json[]).slice(-2);
      assert.deepEqual([result?.['role'], typeof result?.['content']], ['tool', 'string']);
      assert.match(JSON.stringify(picture), /"role":"user".*"image_url".*data:image\/png;base64,iVBORw0KGgo=/);
    });

    test('prompts are counted, exactly or about', async () => {
      const { system, messages, tools } = session();
      const counted = await client.messages.countTokens({
        model: 'claude-sonnet-4-6',
        messages,
        ...(system === undefined ? {} : { system }),
        ...(tools === undefined ? {} : { tools }),
      });
      // "Be careful. " has three tokens.
      assert.ok(counted.input_tokens > 100_000 && counted.input_tokens < 140_000, String(counted.input_tokens));
      const short = await client.messages.countTokens({ model: 'claude-sonnet-4-6', messages: HELLO });
      assert.ok(short.input_tokens > 0 && short.input_tokens < 12, String(short.input_tokens));
      const special = await client.messages.countTokens({
        model: 'claude-sonnet-4-6',
        messages: [{ role: 'user', content: '<|endoftext|>' }],
      });
      assert.ok(special.input_tokens > short.input_tokens);
    });

    test('one provider can be asked by its own base URL', async () => {
      const own = new Anthropic({ baseURL: `${world.origin}/api/claude`, apiKey: 'secret', maxRetries: 0 });
      const seat = world.seat('anthropic');
      seat.answers({ text: ['Hi'] });
      const message = await own.messages.create({ model: 'claude-x', max_tokens: 9, messages: HELLO });
      assertHolds(message.content, [{ type: 'text', text: 'Hi' }]);
      assert.equal((seat.last.body as Json)['model'], 'claude-x');
      const plain = await post({ model: 'claude-x', max_tokens: 9, messages: HELLO }, {}, '/api/claude/messages');
      assert.equal(plain.status, 200);
    });

    test('silence is broken by pings', async () => {
      const seat = world.seat('openai');
      seat.answers({ text: ['One'], stallAfter: 1 });
      const answer = await post({ model: seat.model, max_tokens: 9, messages: HELLO, stream: true });
      let text = '';
      for await (const piece of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
        text += Buffer.from(piece).toString();
        // One comes behind the start, as the vendor sends it.
        if (text.split('event: ping\ndata: {"type":"ping"}\n\n').length > 2) break;
      }
      assert.match(text, /One/);
      assert.equal(await seat.last.closed, 'aborted');
    });
  });

  describe('models', () => {
    test('are listed in Anthropic’s form for its clients, page by page, and in OpenAI’s for others', async () => {
      const list = await client.models.list();
      const ids = list.data.map((model) => model.id);
      assert.ok(ids.includes('claude-sonnet-4-6') && ids.includes('test-model') && ids.includes('gemini-2.5-flash'));
      assertHolds(
        list.data.find(({ id }) => id === 'claude-sonnet-4-5'),
        { type: 'model', display_name: 'Claude Sonnet 4.5', max_input_tokens: 200_000 },
      );
      for (const name of ['claude-sonnet-4-5', 'claude-haiku-4-6', 'gemini-2.5-flash']) {
        const model = await client.models.retrieve(name);
        assert.deepEqual(
          model,
          list.data.find(({ id }) => id === name),
        );
        assert.deepEqual([model.lifecycle, model.retires_at], ['active', null]);
        // Whatever the types of the library say is there.
        const { capabilities } = model;
        assert.deepEqual(capabilities?.image_input, { supported: true });
        assert.equal(capabilities.thinking.supported, true);
        assert.equal(capabilities.thinking.types.disabled.supported, true);
        assert.equal(capabilities.effort.medium.supported, true);
        assert.equal(capabilities.server_tools.code_execution.supported, false);
        assert.equal(capabilities.batch.supported, false);
        const isClaude = name.startsWith('claude');
        assert.equal(model.max_tokens, isClaude ? 64_000 : 65_536);
        assert.equal(capabilities.citations.supported, isClaude, 'as Anthropic says');
        assert.equal(model.created_at, isClaude ? '2025-09-29T00:00:00Z' : '1970-01-01T00:00:00Z');
      }
      const paged = await all(client.models.list({ limit: 2 }));
      assert.deepEqual(
        paged.map((model) => model.id),
        ids,
      );
      const [first = '', second = '', third = ''] = ids;
      const before = await client.models.list({ before_id: third, limit: 1 });
      assert.deepEqual([before.data.map(({ id }) => id), before.has_more], [[second], true]);
      assert.equal((await client.models.retrieve(first)).id, first);
      for (const name of ['acme/test-model', 'acme:test-model'])
        assert.equal((await client.models.retrieve(name)).id, 'test-model', 'by every name that a chat may use');
      await assert.rejects(client.models.retrieve('nothing'), (error) => {
        assert.ok(error instanceof Anthropic.NotFoundError);
        assertHolds(error.error, { type: 'error', error: { type: 'not_found_error', code: 'model_not_found' } });
        return true;
      });
      const plain = (await (await fetch(`${world.origin}/v1/models`)).json()) as { object: string };
      assert.equal(plain.object, 'list');
    });
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

describe('keys of Anthropic’s client', { timeout: 60_000 }, () => {
  test('open a gateway that asks for one, and go no further', async () => {
    const upstream = await startOpenAiUpstream(() => ({ text: ['Hi'] }));
    const { gateway, close } = await startGatewayBefore(
      [upstream],
      `providers: { groq: { baseUrl: '${upstream.baseUrl}' } }\nkey: gateway-key-1\n`,
    );
    try {
      const wrong = new Anthropic({ baseURL: gateway.origin, apiKey: 'wrong', maxRetries: 0 });
      const ask: Params = { model: 'groq/test-model', max_tokens: 9, messages: HELLO };
      await assert.rejects(wrong.messages.create(ask), (error) => {
        assert.ok(error instanceof Anthropic.AuthenticationError);
        assertHolds(error.error, { type: 'error', error: { type: 'authentication_error', code: 'unauthorized' } });
        return true;
      });
      // The gateway's key is not the provider's.
      const right = new Anthropic({ baseURL: gateway.origin, apiKey: 'gateway-key-1', maxRetries: 0 });
      await assert.rejects(right.messages.create(ask), /needs an API key/);
      // As clients of Anthropic's other libraries send it, which leaves room for a second one.
      const headers = { 'x-api-key': 'gateway-key-1' };
      const both = new Anthropic({
        baseURL: gateway.origin,
        apiKey: 'provider-key-1',
        maxRetries: 0,
        defaultHeaders: headers,
      });
      const message = await both.messages.create(ask);
      assertHolds(message.content, [{ type: 'text', text: 'Hi' }]);
      assert.equal(upstream.requests.at(-1)?.headers.authorization, 'Bearer provider-key-1');
      assert.ok(Array.isArray((await right.models.list()).data));
      const token = new Anthropic({ baseURL: gateway.origin, apiKey: null, authToken: 'gateway-key-1', maxRetries: 0 });
      await assert.rejects(token.messages.create(ask), /needs an API key/);
      assert.doesNotMatch(JSON.stringify(gateway.log.lines), /gateway-key-1|provider-key-1/);
    } finally {
      await close();
    }
  });

  test('are the provider’s where the operator has none, and only then', async () => {
    const upstream = await startAnthropicUpstream(() => ({ text: ['Hi'] }));
    const { gateway, close } = await startGatewayBefore(
      [upstream],
      `providers:
  open: { kind: anthropic, baseUrl: '${upstream.baseUrl}' }
  keyed: { kind: anthropic, baseUrl: '${upstream.baseUrl}', apiKey: operators-key }
`,
    );
    try {
      const client = new Anthropic({ baseURL: gateway.origin, apiKey: 'clients-key', maxRetries: 0 });
      const keyAt = async (provider: string): Promise<unknown> => {
        await client.messages.create({ model: `${provider}/claude-x`, max_tokens: 9, messages: HELLO });
        return upstream.requests.at(-1)?.headers['x-api-key'];
      };
      assert.equal(await keyAt('open'), 'clients-key');
      assert.equal(await keyAt('keyed'), 'operators-key');
      assert.doesNotMatch(JSON.stringify(gateway.log.lines), /clients-key|operators-key/);
    } finally {
      await close();
    }
  });
});
