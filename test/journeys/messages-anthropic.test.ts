import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { PIXEL } from './abilities.ts';
import { all, assertHolds, openWorld, type Seat, type World } from './sdk-vendors.ts';

const MARK = { type: 'ephemeral' } as const;
const HELLO = { model: 'claude/claude-sonnet-4-5', max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] };

/** A request with everything that only Anthropic understands. */
const EVERYTHING = {
  max_tokens: 3_000,
  system: [
    { type: 'text', text: 'You are a helper.' },
    { type: 'text', text: 'A long rule.', cache_control: { ...MARK, ttl: '1h' } },
  ],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'url', url: 'https://example.com/dot.png' }, cache_control: MARK },
        { type: 'image', source: { type: 'file', file_id: 'file_1' } },
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
          title: 'Paper',
          context: 'From the archive.',
          citations: { enabled: true },
        },
        {
          type: 'document',
          source: { type: 'text', media_type: 'text/plain', data: 'Grass is green.' },
          title: 'Notes',
        },
        { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
        { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'Chunk.' }] } },
        {
          type: 'search_result',
          source: 'https://example.com/found',
          title: 'Found',
          content: [{ type: 'text', text: 'Sky is blue.' }],
          citations: { enabled: true },
        },
        { type: 'text', text: 'Compare.', cache_control: MARK },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm, "é"\n', signature: 'ErUBCkYIBxgCIkDf+/=' },
        { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix/' },
        { type: 'text', text: 'Looking.' },
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'sky' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: [
            { type: 'web_search_result', url: 'https://example.com', title: 'Sky', encrypted_content: 'xyz==' },
          ],
        },
        { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: ['a', 1.5, null] } },
        { type: 'text', text: 'And again.' },
        { type: 'tool_use', id: 'toolu_2', name: 'look', input: {}, caller: { type: 'direct' } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [
            { type: 'text', text: 'seen' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
          ],
          is_error: false,
          cache_control: MARK,
        },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: 'broken', is_error: true },
        { type: 'text', text: 'Go on.', cache_control: MARK },
      ],
    },
  ],
  tools: [
    { name: 'look', description: 'Looks', input_schema: { type: 'object', properties: {} }, defer_loading: true },
    { type: 'web_search_20250305', name: 'web_search', max_uses: 3, allowed_domains: ['example.com'] },
    { type: 'custom', name: 'other', input_schema: { type: 'object' }, cache_control: MARK },
  ],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  thinking: { type: 'enabled', budget_tokens: 2_000 },
  output_config: { effort: 'medium' },
  top_k: 7,
  top_p: 0.9,
  temperature: 1,
  stop_sequences: ['END'],
  metadata: { user_id: 'user_1_account__session_2' },
  service_tier: 'auto',
  context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
  one_day: { a: 1 },
};

/** An answer with blocks of every kind, as the vendor streams it. */
const EVENTS = [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5-20250929',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: 10,
        cache_creation_input_tokens: 20,
        cache_read_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 0 },
        output_tokens: 1,
        service_tier: 'standard',
      },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'ping' },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm, "é"' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'ErUB+/=' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'redacted_thinking', data: 'EmwK/' } },
  { type: 'content_block_stop', index: 1 },
  { type: 'content_block_start', index: 2, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'signature_delta', signature: 'hidden==' } },
  { type: 'content_block_stop', index: 2 },
  { type: 'content_block_start', index: 3, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 3, delta: { type: 'text_delta', text: 'Let me search.' } },
  { type: 'content_block_stop', index: 3 },
  {
    type: 'content_block_start',
    index: 4,
    content_block: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
  },
  { type: 'content_block_delta', index: 4, delta: { type: 'input_json_delta', partial_json: '{"query":' } },
  { type: 'content_block_delta', index: 4, delta: { type: 'input_json_delta', partial_json: '"sky"}' } },
  { type: 'content_block_stop', index: 4 },
  {
    type: 'content_block_start',
    index: 5,
    content_block: {
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: [{ type: 'web_search_result', url: 'https://example.com', title: 'Sky', encrypted_content: 'xyz==' }],
    },
  },
  { type: 'content_block_stop', index: 5 },
  { type: 'content_block_start', index: 6, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 6, delta: { type: 'text_delta', text: 'Blue' } },
  {
    type: 'content_block_delta',
    index: 6,
    delta: {
      type: 'citations_delta',
      citation: {
        type: 'web_search_result_location',
        url: 'https://example.com',
        title: 'Sky',
        cited_text: 'The sky is blue.',
        encrypted_index: 'Eo8=',
      },
    },
  },
  { type: 'content_block_stop', index: 6 },
  { type: 'content_block_start', index: 7, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 7, delta: { type: 'text_delta', text: ', it says.' } },
  { type: 'content_block_stop', index: 7 },
  {
    type: 'content_block_start',
    index: 8,
    content_block: { type: 'tool_use', id: 'toolu_1', name: 'look', input: {}, caller: { type: 'direct' } },
  },
  { type: 'content_block_delta', index: 8, delta: { type: 'input_json_delta', partial_json: '' } },
  { type: 'content_block_delta', index: 8, delta: { type: 'input_json_delta', partial_json: '{"at":' } },
  { type: 'content_block_delta', index: 8, delta: { type: 'input_json_delta', partial_json: '"x"}' } },
  { type: 'content_block_stop', index: 8 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'pause_turn', stop_sequence: null, container: { id: 'c_1', expires_at: '2030-01-01' } },
    usage: { output_tokens: 77, server_tool_use: { web_search_requests: 1 } },
    context_management: { applied_edits: [] },
  },
  { type: 'message_stop' },
];
const RAW = wire(EVENTS);

function wire(events: readonly { readonly type: string }[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

type Json = Record<string, unknown>;

describe('between Anthropic’s client and Anthropic', { timeout: 60_000 }, () => {
  let world: World;
  let client: Anthropic;
  let seat: Seat;
  before(async () => {
    world = await openWorld();
    client = new Anthropic({ baseURL: world.origin, apiKey: 'secret', maxRetries: 0 });
    seat = world.seat('anthropic');
  });
  after(() => world.close());

  const post = (body: object, headers: Record<string, string> = {}, path = '/v1/messages') =>
    fetch(world.origin + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', ...headers },
      body: JSON.stringify(body),
    });

  test('a request arrives as it was sent, with every mark, block and tool', async () => {
    seat.answers({ text: ['Hi'] });
    const answer = await post({ model: 'claude/claude-sonnet-4-5', ...EVERYTHING, stream: false });
    assert.equal(answer.status, 200, await answer.text());
    assert.equal(answer.headers.get('x-sluice-dropped'), null);
    assert.deepEqual(seat.last.body, { model: 'claude-sonnet-4-5', ...EVERYTHING, stream: true });
    assertHolds(seat.last.headers, { 'x-api-key': 'claude-key', 'anthropic-version': '2023-06-01' });
    assert.equal(seat.last.path, '/v1/messages');
  });

  test('fields of Sluice’s own stay here', async () => {
    seat.answers({ text: ['Hi'] });
    const own = { provider: 'claude', timeout: 20, strict: true, ignored: [], download_media: false };
    const answer = await post({ ...HELLO, ...own, model: 'claude-sonnet-4-5' }, {}, '/v1/messages?beta=true');
    assert.equal(answer.status, 200, await answer.text());
    assert.deepEqual(seat.last.body, { ...HELLO, model: 'claude-sonnet-4-5', stream: true });
  });

  test('an answer comes back with every block, streamed', async () => {
    seat.answers({ raw: RAW });
    const received = await (await post({ ...HELLO, stream: true })).text();
    const events = received
      .split('\n\n')
      .filter((frame) => frame !== '')
      .map((frame) => {
        const [, name, data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(frame) ?? assert.fail(frame);
        const event = JSON.parse(data) as Json;
        assert.equal(event['type'], name);
        return event;
      });
    const expected = (EVENTS as readonly Json[]).flatMap((event): Json[] => {
      const delta = event['delta'] as Json | undefined;
      // Whole from the start: nobody has to put its input together.
      if (event['index'] === 4 && event['type'] === 'content_block_start') {
        return [{ ...event, content_block: { ...(event['content_block'] as Json), input: { query: 'sky' } } }];
      }
      if (event['type'] === 'ping' || (event['index'] === 4 && delta !== undefined)) return [];
      if (delta?.['type'] === 'input_json_delta' && delta['partial_json'] === '') return [];
      if (event['type'] === 'message_start')
        return [{ ...event, message: { ...(event['message'] as Json), provider: 'claude' } }];
      if (event['type'] !== 'message_delta') return [event];
      const usage = {
        input_tokens: 10,
        cache_creation_input_tokens: 20,
        cache_read_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 0 },
        output_tokens: 77,
        service_tier: 'standard',
        server_tool_use: { web_search_requests: 1 },
      };
      return [{ ...event, usage }];
    });
    assert.deepEqual(
      events.filter((event) => event['type'] !== 'ping'),
      expected,
    );
    assert.equal(events[1]?.['type'], 'ping');
  });

  test('the same answer whole, streamed through the client’s helper, and handed back', async () => {
    seat.answers({ raw: RAW });
    const whole = await client.messages.create(HELLO as Anthropic.MessageCreateParamsNonStreaming);
    const streamed = await client.messages.stream(HELLO as Anthropic.MessageCreateParams).finalMessage();
    assert.deepEqual(JSON.parse(JSON.stringify(streamed.content)), whole.content);
    assertHolds(streamed, { stop_reason: 'pause_turn', container: { id: 'c_1' } });
    assertHolds(whole, {
      id: 'msg_1',
      model: 'claude-sonnet-4-5-20250929',
      stop_reason: 'pause_turn',
      container: { id: 'c_1' },
      context_management: { applied_edits: [] },
      usage: { input_tokens: 10, output_tokens: 77, server_tool_use: { web_search_requests: 1 } },
    });
    assert.deepEqual(
      whole.content.map(({ type }) => type),
      [
        'thinking',
        'redacted_thinking',
        'thinking',
        'text',
        'server_tool_use',
        'web_search_tool_result',
        'text',
        'text',
        'tool_use',
      ],
    );
    const messages = [
      ...HELLO.messages,
      { role: 'assistant', content: whole.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'x' }] },
    ];
    await post({ ...HELLO, messages });
    assert.deepEqual((seat.last.body as Json)['messages'], messages);
  });

  test('sources that another provider told in an earlier answer are not handed to Anthropic, which would refuse them', async () => {
    seat.answers({ text: ['Hi'] });
    const cited = (index: string) => ({
      type: 'web_search_result_location',
      url: 'https://tides.example/',
      title: 'Tides',
      cited_text: 'Twice a day.',
      encrypted_index: index,
    });
    const said = { type: 'text', text: 'Twice.' };
    const content = [
      { ...said, citations: [cited('')] },
      { ...said, citations: [cited(''), cited('Eo8=')] },
    ];
    await post({ ...HELLO, messages: [...HELLO.messages, { role: 'assistant', content }, ...HELLO.messages] });
    const { messages } = seat.last.body as { messages: Json[] };
    assert.deepEqual(messages[1]?.['content'], [said, { ...said, citations: [cited('Eo8=')] }]);
  });

  test('instructions in a row amid a conversation arrive as so many', async () => {
    seat.answers({ text: ['Hi'] });
    const messages = [
      ...HELLO.messages,
      { role: 'system', content: 'Be brief.' },
      { role: 'system', content: 'Be kind.' },
    ];
    await post({ ...HELLO, messages });
    assert.deepEqual((seat.last.body as Json)['messages'], messages);
  });

  test('a stop sequence, a refusal and a full context are told in the vendor’s words', async () => {
    for (const delta of [
      { stop_reason: 'stop_sequence', stop_sequence: 'END' },
      { stop_reason: 'refusal', stop_sequence: null, stop_details: { type: 'refusal', category: 'x' } },
      { stop_reason: 'model_context_window_exceeded', stop_sequence: null },
    ]) {
      const end = { type: 'message_delta', delta, usage: { output_tokens: 3 } };
      seat.answers({ raw: wire([...EVENTS.slice(0, 8), end, { type: 'message_stop' }]) });
      assertHolds(await (await post(HELLO)).json(), delta);
    }
  });

  test('beta features are passed on by the form of their names, and to Anthropic only', async () => {
    seat.answers({ text: ['Hi'] });
    const names = 'claude-code-20250219,context-1m-2025-08-07';
    await client.beta.messages.create({
      ...(HELLO as Anthropic.Beta.MessageCreateParamsNonStreaming),
      betas: names.split(','),
    });
    assert.equal(seat.last.headers['anthropic-beta'], names);
    const odd = await post(HELLO, { 'anthropic-beta': 'x, files-api-2025-04-14, A b-2025-01-01, Evil: yes' });
    assert.equal(seat.last.headers['anthropic-beta'], 'files-api-2025-04-14');
    assert.equal(odd.headers.get('x-sluice-dropped'), 'anthropic-beta');
    const other = world.seat('openai');
    other.answers({ text: ['Hi'] });
    const elsewhere = await post({ ...HELLO, model: other.model }, { 'anthropic-beta': names });
    assert.equal(other.last.headers['anthropic-beta'], undefined);
    assert.equal(elsewhere.headers.get('x-sluice-dropped'), 'anthropic-beta');
  });

  test('counts tokens as the upstream counts them', async () => {
    seat.answers({ raw: '{"input_tokens":2095}', headers: { 'content-type': 'application/json' } });
    const { max_tokens: _, ...prompt } = EVERYTHING;
    const params = { ...prompt, model: seat.model } as unknown as Anthropic.MessageCountTokensParams;
    assert.deepEqual(await client.messages.countTokens(params), { input_tokens: 2095 });
    assert.equal(seat.last.path, '/v1/messages/count_tokens');
    const { messages, system, tools, tool_choice, thinking, output_config, context_management } = EVERYTHING;
    assert.deepEqual(seat.last.body, {
      model: 'claude-sonnet-4-5',
      messages,
      system,
      tools,
      tool_choice,
      thinking,
      output_config,
      context_management,
    });
    // Whoever else serves this API may not count.
    seat.answers({ status: 404, errorMessage: 'no such path' });
    const estimated = (await client.messages.countTokens(params)) as Anthropic.MessageTokensCount & Json;
    assert.ok(estimated.input_tokens > 50);
    assert.equal(estimated['estimated'], true);
    seat.answers({ status: 429, errorMessage: 'slow down' });
    await assert.rejects(client.messages.countTokens(params), Anthropic.RateLimitError);
  });

  test('errors within the stream come in the vendor’s form, and nothing after them', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    seat.answers({ raw: wire([...EVENTS.slice(0, 13), error]) });
    const text = await (await post({ ...HELLO, stream: true })).text();
    const last = text.trimEnd().split('\n\n').at(-1) ?? '';
    assert.match(
      last,
      /^event: error\ndata: \{"type":"error","error":\{"type":"overloaded_error","message":"[^"]*Overloaded"/,
    );
    for (const cut of [
      RAW.slice(0, 2_000),
      RAW.slice(0, RAW.indexOf('event: message_delta')),
      'event: x\ndata: {\n\n',
    ]) {
      seat.answers({ raw: cut });
      const answer = await post(HELLO);
      assert.equal(answer.status, 502);
      assertHolds(await answer.json(), { type: 'error', error: { type: 'api_error' } });
    }
  });

  test('an upstream that is overloaded or refuses the key is told apart', async () => {
    seat.answers({ status: 529, errorMessage: 'Overloaded', headers: { 'retry-after': '60' } });
    const busy = await post(HELLO);
    assert.equal(busy.status, 529);
    assert.equal(busy.headers.get('retry-after'), '60');
    assertHolds(await busy.json(), { type: 'error', error: { type: 'overloaded_error', code: 'overloaded' } });
    seat.answers({ status: 503, errorMessage: 'Unavailable', headers: { 'retry-after': '60' } });
    assert.equal((await post(HELLO)).status, 503);
    seat.answers({ status: 401, errorMessage: 'invalid x-api-key' });
    const refused = await post(HELLO);
    assert.equal(refused.status, 401);
    assertHolds(await refused.json(), { type: 'error', error: { type: 'authentication_error' } });
  });

  test('what paces the client is passed on, and nothing else of the upstream’s headers', async () => {
    const headers = { 'anthropic-ratelimit-requests-remaining': '49', 'anthropic-organization-id': 'org-1' };
    seat.answers({ text: ['Hi'], headers });
    const answer = await post(HELLO);
    assert.equal(answer.headers.get('anthropic-ratelimit-requests-remaining'), '49');
    assert.equal(answer.headers.get('anthropic-organization-id'), null);
  });

  test('a stream ends upstream when the client leaves', async () => {
    seat.answers({ text: ['One', 'Two'], stallAfter: 1 });
    const stream = await client.messages.create({
      ...(HELLO as Anthropic.MessageCreateParamsNonStreaming),
      stream: true,
    });
    for await (const event of stream) if (event.type === 'content_block_delta') break;
    assert.equal(await seat.last.closed, 'aborted');
    seat.answers({ text: ['One'] });
    assert.ok(
      (
        await all(
          await client.messages.create({ ...(HELLO as Anthropic.MessageCreateParamsNonStreaming), stream: true }),
        )
      ).length > 4,
    );
  });
});
