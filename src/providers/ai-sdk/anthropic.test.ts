import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testCall } from '../../../test/support/call.ts';
import { chatRequest } from '../../../test/support/chat-request.ts';
import { member } from '../../../test/support/vendor-server.ts';
import { allChunks, contentOf, openVendor, untilFailure } from '../../../test/support/vendors.ts';
import type { Message } from '../../core/chat.ts';

const TOOLS = [{ name: 'look', parameters: { type: 'object', properties: { at: { type: 'string' } } } }];

describe('anthropic', () => {
  test('a request in the words of the Messages API', async () => {
    await using vendor = await openVendor('anthropic', () => ({ text: ['{}'] }));
    await allChunks(
      vendor.chat(
        chatRequest('Hello', {
          model: 'claude-sonnet-4-5',
          sampling: { temperature: 0.5, topK: 3, maxTokens: 100, stop: ['END'] },
          tools: TOOLS,
          toolChoice: { name: 'look' },
          parallelToolCalls: false,
          responseFormat: { type: 'json_schema', name: 'answer', schema: { type: 'object', properties: {} } },
        }),
      ),
    );
    const [request] = vendor.upstream.requests;
    assert.equal(request?.path, '/v1/messages');
    assert.equal(request?.headers['x-api-key'], 'key-of-the-test');
    assert.equal(request?.headers['anthropic-version'], '2023-06-01');
    const body = request?.body;
    assert.equal(member(body, 'temperature'), 0.5);
    assert.equal(member(body, 'top_k'), 3);
    assert.equal(member(body, 'max_tokens'), 100);
    assert.deepEqual(member(body, 'stop_sequences'), ['END']);
    assert.deepEqual(member(body, 'tool_choice'), { type: 'tool', name: 'look', disable_parallel_tool_use: true });
    assert.deepEqual(member(body, 'tools', 0, 'input_schema'), TOOLS[0]?.parameters);
    assert.equal(member(body, 'output_config', 'format', 'type'), 'json_schema');
  });

  test('of a temperature and a share of the likeliest words the one that changes something', async () => {
    await using vendor = await openVendor('anthropic', () => ({ text: ['Hi'] }));
    for (const [sampling, sent] of [
      [{ temperature: 1, topP: 0.9 }, [undefined, 0.9]],
      [{ temperature: 0.5, topP: 1 }, [0.5, undefined]],
      [{ temperature: 0.5, topP: 0.9 }, [0.5, undefined]],
      [{ temperature: 1 }, [1, undefined]],
    ] as const) {
      await allChunks(vendor.chat(chatRequest('Hello', { model: 'claude-sonnet-4-5', sampling })));
      const body = vendor.upstream.requests.at(-1)?.body;
      assert.deepEqual([member(body, 'temperature'), member(body, 'top_p')], sent);
    }
  });

  test('a tool called as the one by which older models answer in JSON', async () => {
    await using vendor = await openVendor('anthropic', ({ tools }) => ({
      toolCalls: tools.slice(0, 1).map((name) => ({ id: 'call_1', name, arguments: ['{}'] })),
    }));
    const responseFormat = { type: 'json_schema', name: 'answer', schema: { type: 'object', properties: {} } } as const;
    const model = 'claude-sonnet-4-20250514';
    const fields = { model, tools: [{ name: 'json' }], responseFormat };
    const chunks = await allChunks(vendor.chat(chatRequest('Hello', fields)));
    assert.deepEqual(vendor.upstream.requests[0]?.tools, ['json_2', 'json']);
    const calls = chunks.flatMap((chunk) => (chunk.type === 'tool_call' ? (chunk.tool_call.name ?? []) : []));
    assert.deepEqual(calls, ['json']);
  });

  test("the client's own thinking object, and options for the library", async () => {
    await using vendor = await openVendor('anthropic', () => ({ text: ['Hi'] }));
    const extra = {
      thinking: { type: 'enabled', budget_tokens: 2_048 },
      providerOptions: { anthropic: { metadata: { userId: 'u1' } }, other: 3 },
    };
    await allChunks(vendor.chat(chatRequest('Hello', { extra })));
    const body = vendor.upstream.requests[0]?.body;
    assert.deepEqual(member(body, 'thinking'), { type: 'enabled', budget_tokens: 2_048 });
    assert.deepEqual(member(body, 'metadata'), { user_id: 'u1' });
  });

  test("options that the library does not know are the client's fault", async () => {
    await using vendor = await openVendor('anthropic', () => ({ text: ['Hi'] }));
    const extra = { thinking: { type: 'sideways' } };
    const { error } = await untilFailure(vendor.chat(chatRequest('Hello', { extra })));
    assert.equal(error.code, 'invalid_request');
    assert.equal(vendor.upstream.requests.length, 0);
  });

  test('media that Claude does not take are another provider’s business', async () => {
    await using vendor = await openVendor('anthropic', () => ({ text: ['Hi'] }));
    const messages: Message[] = [
      { role: 'user', content: [{ type: 'media', kind: 'audio', url: 'data:audio/wav;base64,AAAA' }] },
    ];
    const { error } = await untilFailure(vendor.chat(chatRequest(messages)));
    assert.equal(error.code, 'not_supported');
    assert.equal(error.status, 501);
    assert.equal(error.options.param, 'messages');
    assert.match(error.message, /audio\/wav/);
  });

  const news = [
    { type: 'future_event', x: 1 },
    { type: 'content_block_delta', index: 0, delta: { type: 'future_delta', x: 1 } },
    { type: 'content_block_start', index: 1, content_block: { type: 'future_block' } },
  ];
  for (const odd of [...news, { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 5 } }, {}]) {
    const isNews = news.includes(odd as (typeof news)[number]);
    test(`${JSON.stringify(odd)} in an answer is ${isNews ? 'passed over' : 'a failure'}`, async () => {
      const raw = [
        { type: 'message_start', message: { id: 'm', usage: { input_tokens: 1, output_tokens: 1 } } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        odd,
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
        { type: 'message_stop' },
      ];
      const text = raw.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
      await using vendor = await openVendor('anthropic', () => ({ raw: text }));
      const answer = vendor.chat(chatRequest('Hello'));
      if (!isNews) assert.equal((await untilFailure(answer)).error.code, 'upstream_invalid');
      else assert.equal(contentOf(await allChunks(answer)), 'Hello');
    });
  }

  test('thoughts before a call go back with its result, signed, for the same key only', async () => {
    await using vendor = await openVendor('anthropic', ({ prompt }) =>
      prompt === 'Go'
        ? { reasoning: ['I must', ' look.'], toolCalls: [{ id: 'call_1', name: 'look', arguments: ['{"at":"sky"}'] }] }
        : { text: ['Blue'] },
    );
    const fields = { tools: TOOLS, sampling: { reasoningEffort: 'low' } };
    await allChunks(vendor.chat(chatRequest('Go', fields)));
    const turn: Message[] = [
      { role: 'user', content: [{ type: 'text', text: 'Go' }] },
      { role: 'assistant', content: [], toolCalls: [{ id: 'call_1', name: 'look', arguments: '{"at":"sky"}' }] },
      { role: 'tool', toolCallId: 'call_1', content: [{ type: 'text', text: 'blue' }] },
    ];
    await allChunks(vendor.chat(chatRequest(turn, fields)));
    await allChunks(vendor.chat(chatRequest(turn, fields), testCall({ apiKey: 'other' })));
    const [, own, foreign] = vendor.upstream.requests.map(({ body }) => member(body, 'messages', 1, 'content'));
    assert.deepEqual(own, [
      { type: 'thinking', thinking: 'I must look.', signature: 'sig-0' },
      { type: 'tool_use', id: 'call_1', name: 'look', input: { at: 'sky' } },
    ]);
    assert.equal(member(foreign, 0, 'type'), 'tool_use');
  });

  test('a connection that stays open after the answer is closed by us', async () => {
    await using vendor = await openVendor('anthropic', () => ({ text: ['Hi'], lingers: true }));
    const chunks = await allChunks(vendor.chat(chatRequest('Hello')));
    assert.deepEqual(chunks.at(-1), {
      type: 'finish',
      finish: 'stop',
      answeredAs: { id: 'msg_scripted', model: 'claude-haiku-4-5' },
    });
    assert.equal(await vendor.upstream.requests[0]?.closed, 'aborted');
  });

  test('an error in place of the first event, with status 200', async () => {
    const event = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    const raw = `event: error\ndata: ${JSON.stringify(event)}\n\n`;
    await using vendor = await openVendor('anthropic', () => ({ raw, lingers: true }));
    const { error } = await untilFailure(vendor.chat(chatRequest('Hello')));
    assert.equal(error.code, 'overloaded');
    assert.equal(error.message, 'Overloaded');
    assert.equal(await vendor.upstream.requests[0]?.closed, 'aborted');
  });

  test('an endless line is cut off', async () => {
    // Without line breaks, a stream of events is one event that never ends.
    const raw = 'data: '.padEnd(20_000_000, 'x');
    await using vendor = await openVendor('anthropic', () => ({ raw, lingers: true }));
    const { error } = await untilFailure(vendor.chat(chatRequest('Hello')));
    assert.equal(error.code, 'upstream_invalid');
    assert.equal(await vendor.upstream.requests[0]?.closed, 'aborted');
  });

  test('the listing', async () => {
    await using vendor = await openVendor('anthropic', () => ({}));
    const models = await vendor.provider.models({}, AbortSignal.timeout(10_000));
    const { vendor: said, ...model } = models[0] ?? { id: '' };
    assert.deepEqual(Object.keys(said?.['anthropic'] ?? {}).sort(), ['capabilities', 'created_at']);
    assert.deepEqual(model, {
      id: 'claude-sonnet-4-5',
      label: 'Claude Sonnet 4.5',
      vision: true,
      tools: true,
      reasoning: true,
      contextLength: 200_000,
      longestAnswer: 64_000,
    });
    assert.equal(models[1]?.reasoning, false);
    const [request] = vendor.upstream.requests;
    assert.equal(request?.path, '/v1/models?limit=1000');
    assert.equal(request?.headers['x-api-key'], 'key-of-the-test');
  });

  test('a listing of several pages', async () => {
    await using vendor = await openVendor('anthropic', ({ path }) => {
      const last = path.includes('after_id=a%26b');
      const page = { data: [{ id: last ? 'second' : 'first' }], has_more: !last, last_id: 'a&b' };
      return { raw: JSON.stringify(page), headers: { 'content-type': 'application/json' } };
    });
    const models = await vendor.provider.models({}, AbortSignal.timeout(10_000));
    assert.deepEqual(
      models.map(({ id }) => id),
      ['first', 'second'],
    );
  });

  test('a listing that cannot be had', async () => {
    const answers = [
      [{ status: 401 }, 'missing_credentials'],
      [{ status: 404 }, 'upstream_failed'],
      [{ raw: '{"data":[{}]}', headers: { 'content-type': 'application/json' } }, 'upstream_invalid'],
      [{ raw: 'nonsense', headers: { 'content-type': 'application/json' } }, 'upstream_invalid'],
      [{ raw: '<html>', headers: { 'content-type': 'text/html' } }, 'upstream_invalid'],
    ] as const;
    for (const [answer, code] of answers) {
      await using vendor = await openVendor('anthropic', () => answer);
      await assert.rejects(vendor.provider.models({}, AbortSignal.timeout(10_000)), { code });
    }
    await using vendor = await openVendor('anthropic', () => ({}), { apiKey: '' });
    await assert.rejects(vendor.provider.models({}, AbortSignal.timeout(10_000)), { code: 'missing_credentials' });
    assert.equal((await vendor.provider.models({ apiKey: 'own' }, AbortSignal.timeout(10_000))).length, 2);
  });

  test('a listing that takes too long stops with the signal', async () => {
    await using vendor = await openVendor('anthropic', () => ({ silent: true }));
    const reason = new Error('enough');
    const controller = new AbortController();
    const listing = vendor.provider.models({}, controller.signal);
    setTimeout(() => controller.abort(reason), 50);
    await assert.rejects(listing, reason);
  });

  test('configured models are not asked for', async () => {
    await using vendor = await openVendor('anthropic', () => ({}), { models: ['claude-x'] });
    assert.deepEqual(await vendor.provider.models({}, AbortSignal.timeout(10_000)), [{ id: 'claude-x' }]);
    assert.equal(vendor.upstream.requests.length, 0);
  });
});
