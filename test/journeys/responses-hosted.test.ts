import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI, { APIError, toFile } from 'openai';
import type { ResponseCreateParams, ResponseInputItem, ResponseOutputItem } from 'openai/resources/responses/responses';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { eventTypesOf, hostedAnswer, HOSTED_ITEMS as ITEMS } from '../support/hosted-answer.ts';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import { startResponsesUpstream } from '../support/responses-upstream.ts';
import type { VendorAnswer } from '../support/vendor-script.ts';
import type { VendorUpstream } from '../support/vendor-server.ts';
import { startGatewayBefore } from './gateway-before.ts';
import { all, lastOf } from './responses-world.ts';
import { assertHolds } from './sdk-vendors.ts';

type Json = Record<string, unknown>;

const TOOLS = [
  { type: 'file_search', vector_store_ids: ['vs_1'], max_num_results: 3 },
  { type: 'code_interpreter', container: { type: 'auto' } },
  { type: 'mcp', server_label: 'docs', server_url: 'https://mcp.example/sse', require_approval: 'always' },
  { type: 'image_generation', quality: 'low', partial_images: 1 },
  { type: 'web_search', user_location: { type: 'approximate', country: 'AT' } },
  { type: 'function', name: 'weather', parameters: { type: 'object', properties: {} }, strict: true },
  { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' } },
  { type: 'namespace', name: 'crm', tools: [{ type: 'function', name: 'find', parameters: { type: 'object' } }] },
] as unknown as NonNullable<ResponseCreateParams['tools']>;

/** An upstream that speaks the Responses API to the end, before others that do not. */
describe('tools that run at OpenAI', { timeout: 120_000 }, () => {
  let own: VendorUpstream;
  let claude: VendorUpstream;
  /** One address, both of OpenAI's APIs. */
  let both: OpenAiUpstream;
  let client: OpenAI;
  let close: () => Promise<void>;
  let answer: VendorAnswer = {};

  before(async () => {
    own = await startResponsesUpstream(() => answer);
    claude = await startAnthropicUpstream(() => ({ text: ['Hello'] }));
    both = await startOpenAiUpstream(() => ({ text: ['Chat completions'] }), {
      async handle(request, response) {
        if (request.path !== '/v1/responses') return false;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(hostedAnswer(ITEMS));
        return true;
      },
    });
    const started = await startGatewayBefore(
      [own, claude, both],
      `
providers:
  own: { kind: openai-responses, baseUrl: '${own.baseUrl}', apiKey: own-key, hostedTools: true }
  worn: { kind: openai-responses, baseUrl: '${own.baseUrl}', apiKey: own-key, hostedTools: true }
  plain: { kind: openai-responses, baseUrl: '${own.baseUrl}', apiKey: own-key }
  both: { kind: openai, baseUrl: '${both.baseUrl}', apiKey: both-key, hostedTools: true }
  keyed: { kind: openai, baseUrl: '${both.baseUrl}', apiKey: keyed-key, apiKeyHeader: api-key, hostedTools: true }
  claude: { kind: anthropic, baseUrl: '${claude.baseUrl}', apiKey: claude-key }
`,
    );
    close = started.close;
    client = new OpenAI({ baseURL: `${started.gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
  });
  after(() => close());

  function says(items: readonly Json[], ending?: Json): void {
    answer = { raw: hostedAnswer(items, ending) };
  }

  function lastBody(upstream = own): Json {
    return upstream.requests.filter(({ method }) => method === 'POST').at(-1)?.body as Json;
  }

  const ask = (fields: Json = {}): Promise<OpenAI.Responses.Response> =>
    client.responses.create({ model: 'own/gpt-5.2', input: 'How old?', ...fields } as never) as never;

  test('get files that were sent here as if they had come inline, and those kept there by their ids', async () => {
    says(ITEMS);
    const bytes = Buffer.from('%PDF-1.4 tides');
    const file = await client.files.create({ file: await toFile(bytes, 'tides.pdf'), purpose: 'user_data' });
    const parts = [
      { type: 'input_file', file_id: file.id },
      { type: 'input_file', file_id: 'file-abc' },
    ];
    await ask({
      input: [
        { role: 'user', content: parts },
        { type: 'function_call', call_id: 'call_1', name: 'fetch', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_file', file_id: file.id }] },
      ],
    });
    const data = `data:application/pdf;base64,${bytes.toString('base64')}`;
    const inline = { type: 'input_file', file_data: data, filename: 'tides.pdf' };
    assertHolds(lastBody(), {
      input: [
        { role: 'user', content: [inline, { type: 'input_file', file_id: 'file-abc' }] },
        { type: 'function_call', call_id: 'call_1' },
        { type: 'function_call_output', call_id: 'call_1', output: [inline] },
      ],
    });
  });

  test('go there as the client wrote them, and their items come back', async () => {
    says(ITEMS);
    const include = ['file_search_call.results', 'code_interpreter_call.outputs'];
    const tool_choice = { type: 'file_search' };
    const got = await ask({
      tools: TOOLS,
      tool_choice,
      include,
      instructions: 'Be brief.',
      metadata: { a: 'b' },
      max_tool_calls: 4,
      reasoning: { effort: 'low', summary: 'auto' },
    });
    assert.deepEqual(lastBody(), {
      model: 'gpt-5.2',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'How old?' }] }],
      instructions: 'Be brief.',
      tools: TOOLS,
      tool_choice,
      include: [...include, 'reasoning.encrypted_content'],
      metadata: { a: 'b' },
      max_tool_calls: 4,
      reasoning: { effort: 'low', summary: 'auto' },
      stream: true,
      store: false,
    });
    assertItems(got.output, ITEMS);
    assert.equal(got.output_text, 'A tortoise may grow 191 years old.');
    assertHolds(got.usage, {
      input_tokens: 300,
      input_tokens_details: { cached_tokens: 100 },
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 20 },
    });
    assertItems((await client.responses.retrieve(got.id)).output, ITEMS);
  });

  test('are seen at work in a stream', async () => {
    says(ITEMS);
    const events = await all(await client.responses.create({ ...ASK, stream: true }));
    assert.deepEqual(
      events.map((event) => event.sequence_number),
      events.map((_, index) => index),
    );
    const { output } = lastOf(events);
    assertItems(output, ITEMS);
    for (const [index, item] of ITEMS.entries()) {
      const ofItem = events.filter((event) => 'output_index' in event && event.output_index === index);
      const types = ofItem.map(({ type }) => type as string);
      if (!LATE.has(item['type'])) assert.deepEqual(types, eventTypesOf(item), String(item['type']));
      for (const event of ofItem) {
        const id = 'item' in event ? event.item.id : (event as { item_id?: string }).item_id;
        assert.equal(id, output[index]?.id);
      }
    }
    const partial = events.find((event) => event.type === 'response.image_generation_call.partial_image');
    assertHolds(partial, { partial_image_index: 0, partial_image_b64: 'cGFydA==' });
    // What was kept says the same again.
    const again = await all(await client.responses.retrieve(lastOf(events).id, { stream: true }));
    assert.deepEqual(again, events);
  });

  test('what a later text rests on counts from where that text begins', async () => {
    const annotation = {
      type: 'url_citation',
      url: 'https://zoo.example/',
      title: 'Zoo',
      start_index: 2,
      end_index: 10,
    };
    const texts = [{ text: 'Well, ' }, { text: 'A tortoise is old.', annotations: [annotation] }];
    const content = texts.map((part) => ({ type: 'output_text', annotations: [], logprobs: [], ...part }));
    says([{ id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content }]);
    const events = await all(await client.responses.create({ ...ASK, stream: true }));
    const added = events.filter(({ type }) => type === 'response.output_text.annotation.added');
    assertHolds(added, [{ content_index: 1, annotation }]);
    assertHolds(lastOf(events).output, [{ content: [{ annotations: [] }, { annotations: [annotation] }] }]);
  });

  test('the conversation goes on with all that was said, whoever keeps it', async () => {
    const outputs = [
      { type: 'function_call_output', call_id: 'call_1', output: 'Sunny' },
      { type: 'custom_tool_call_output', call_id: 'call_2', output: 'Done' },
      { type: 'function_call_output', call_id: 'call_3', output: [{ type: 'input_text', text: 'Nobody' }] },
    ];
    says(ITEMS);
    const first = await ask({ tools: TOOLS, include: ['reasoning.encrypted_content'] });
    says([]);
    await ask({ tools: TOOLS, previous_response_id: first.id, input: outputs });
    const stored = lastBody()['input'];
    await ask({
      tools: TOOLS,
      store: false,
      input: [{ role: 'user', content: 'How old?' }, ...first.output, ...outputs],
    });
    const carried = lastBody()['input'];
    for (const input of [stored, carried] as unknown as (readonly Json[])[]) {
      const [question, ...rest] = input ?? [];
      assertHolds(question, { role: 'user', content: [{ type: 'input_text', text: 'How old?' }] });
      assertItems(rest.slice(0, ITEMS.length), ITEMS, true);
      assertHolds(
        rest.slice(ITEMS.length).map(({ type, call_id: id, output }) => ({ type, call_id: id, output })),
        outputs,
      );
    }
  });

  test('approvals name the request as the client knows it', async () => {
    const request = { type: 'mcp_approval_request', server_label: 'docs', name: 'read', arguments: '{}' };
    says([{ id: 'mcpr_1', ...request }]);
    const asked = await ask({ tools: TOOLS });
    const [item] = asked.output;
    assert.ok(item?.type === 'mcp_approval_request');
    assert.match(item.id, /^mcpr_[0-9a-f]{48}o0$/);
    const approval = { type: 'mcp_approval_response', approval_request_id: item.id, approve: true };
    await ask({ tools: TOOLS, previous_response_id: asked.id, input: [approval] });
    assert.deepEqual((lastBody()['input'] as Json[]).slice(1), [{ id: item.id, ...request }, approval]);
  });

  test('what lets OpenAI into other servers goes there, and nowhere else', async () => {
    says([]);
    const tool = {
      type: 'mcp',
      server_label: 'docs',
      server_url: 'https://mcp.example/sse',
      authorization: 'planted-token',
      headers: { 'x-key': 'planted-header' },
    };
    const got = await ask({ tools: [tool] });
    assert.deepEqual(lastBody()['tools'], [tool]);
    const shown = { ...tool, authorization: '<redacted>', headers: { 'x-key': '<redacted>' } };
    assert.deepEqual(got.tools, [shown]);
    assert.deepEqual((await client.responses.retrieve(got.id)).tools, [shown]);
    // They may come with the conversation, too, and belong to all that follows.
    const within = await ask({
      input: [
        { type: 'additional_tools', tools: [tool] },
        { role: 'user', content: 'Hi' },
      ],
    });
    const listed = await client.responses.inputItems.list(within.id, { order: 'asc' });
    assertHolds(listed.data[0], { type: 'additional_tools', tools: [shown] });
    await ask({ previous_response_id: within.id });
    assertHolds((lastBody()['input'] as Json[])[0], { type: 'additional_tools', tools: [tool] });
  });

  test('what is kept at OpenAI can be named: files, prompts', async () => {
    says([]);
    const part = { type: 'input_file', file_id: 'file-1' };
    await ask({ input: [{ role: 'user', content: [part, { type: 'input_text', text: 'Read.' }] }] });
    assertHolds(lastBody()['input'], [
      { role: 'user', content: [part, { type: 'input_text', text: 'Read.' }], type: 'message' },
    ]);
    const prompt = { id: 'pmpt_1', variables: { city: 'Rome' } };
    await ask({ input: undefined, prompt });
    assertHolds(lastBody(), { prompt, input: [] });
  });

  test('a failure before anything was said is a status, and another provider may answer without them', async () => {
    says([], { error: { code: 'rate_limit_exceeded', message: 'Slow down, please.' } });
    await assert.rejects(
      ask({ model: 'worn/gpt-5.2', tools: TOOLS }),
      (error) => error instanceof APIError && error.status === 429 && /Slow down, please/.test(error.message),
    );
    const { data, response } = await client.responses
      .create({ ...ASK, model: 'worn/gpt-5.2', models: ['claude/claude-sonnet-4-5'] } as typeof ASK)
      .withResponse();
    assert.equal(data.output_text, 'Hello');
    assert.deepEqual((response.headers.get('x-sluice-dropped') ?? '').split(', ').sort(), [
      'tools.code_interpreter',
      'tools.file_search',
      'tools.format',
      'tools.image_generation',
      'tools.mcp',
      'tools.web_search',
    ]);
    assert.deepEqual(
      (lastBody(claude)['tools'] as Json[]).map(({ name }) => name),
      ['weather', 'patch', 'crm__find'],
    );
  });

  test('once one of them works, a failure ends the answer', async () => {
    says(ITEMS.slice(1, 3), { error: { code: 'server_error', message: 'Broken.' } });
    const asked = { ...ASK, models: ['claude/claude-sonnet-4-5'], stream: true } as const;
    const types: string[] = [];
    await assert.rejects(
      async () => {
        for await (const { type } of await client.responses.create(asked)) types.push(type);
      },
      (error) => error instanceof APIError && error.code === 'provider_failed' && /Broken/.test(error.message),
    );
    assert.ok(types.includes('response.web_search_call.completed'));
  });

  test('another vendor goes on with the texts, and is told what it does not get', async () => {
    says(ITEMS.slice(0, 8));
    const first = await ask({ tools: TOOLS });
    const { data, response } = await client.responses
      .create({
        model: 'claude/claude-sonnet-4-5',
        previous_response_id: first.id,
        input: 'And turtles?',
        instructions: 'Be brief.',
      })
      .withResponse();
    assert.equal(data.output_text, 'Hello');
    assert.deepEqual((response.headers.get('x-sluice-dropped') ?? '').split(', ').sort(), [
      'input.code_interpreter_call',
      'input.file_search_call',
      'input.mcp_call',
      'input.mcp_list_tools',
      'reasoning.encrypted_content',
    ]);
    const { messages, system } = lastBody(claude) as { messages: Json[]; system: unknown };
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'user'],
    );
    assert.match(JSON.stringify(messages[1]), /191 years/);
    assert.match(JSON.stringify(system), /Be brief/);
    assert.doesNotMatch(JSON.stringify(lastBody(claude)), /isInstructions|openai/);
  });

  test('thoughts of another vendor are left out, and said to be', async () => {
    says([]);
    const thought = { type: 'reasoning', id: 'rs_x', summary: [{ type: 'summary_text', text: 'Hm.' }] };
    const { response } = await client.responses
      .create({
        ...ASK,
        input: [
          { role: 'user', content: 'Hi' },
          thought,
          { role: 'assistant', content: 'Hello', id: 'item_7' },
          { role: 'user', content: 'Go on' },
        ] as ResponseInputItem[],
      })
      .withResponse();
    assert.equal(response.headers.get('x-sluice-dropped'), 'input.reasoning');
    assertHolds(
      (lastBody()['input'] as Json[]).map(({ role }) => role),
      ['user', 'assistant', 'user'],
    );
    // It refuses ids that do not begin as its own do.
    assert.doesNotMatch(JSON.stringify(lastBody()), /item_7/);
  });

  test('the tokens of an input are counted there, by an estimate elsewhere', async () => {
    answer = {
      raw: '{"object":"response.input_tokens","input_tokens":321}',
      headers: { 'content-type': 'application/json' },
    };
    const asked = { input: 'How old do tortoises get?', instructions: 'Be brief.', tools: TOOLS } as const;
    const counted = await client.responses.inputTokens.count({ model: 'own/gpt-5.2', ...asked });
    assert.deepEqual(counted, { object: 'response.input_tokens', input_tokens: 321 });
    assert.equal(own.requests.at(-1)?.path, '/v1/responses/input_tokens');
    assert.deepEqual(Object.keys(lastBody()).sort(), ['input', 'instructions', 'model', 'tools']);
    const estimated = await client.responses.inputTokens.count({ model: 'claude/claude-sonnet-4-5', ...asked });
    assertHolds(estimated, { object: 'response.input_tokens', estimated: true });
    assert.ok(estimated.input_tokens > 10 && estimated.input_tokens < 400, String(estimated.input_tokens));
  });

  test('models without thoughts are not asked for them', async () => {
    says([]);
    await ask({ model: 'own/gpt-4o' });
    assert.equal('include' in lastBody(), false);
  });

  test('a limit of tokens ends the answer incomplete', async () => {
    says(ITEMS.slice(0, 1), { incomplete_details: { reason: 'max_output_tokens' } });
    const got = await ask();
    assert.deepEqual([got.status, got.incomplete_details], ['incomplete', { reason: 'max_output_tokens' }]);
  });

  test('a client that leaves stops them', async () => {
    answer = { raw: hostedAnswer(ITEMS).split('event: response.output_item.done')[0] ?? '', lingers: true };
    const stream = await client.responses.create({ ...ASK, stream: true, store: false });
    for await (const event of stream) if (event.type === 'response.reasoning_summary_text.delta') break;
    assert.equal(await own.requests.at(-1)?.closed, 'aborted');
  });

  test('an upstream that is OpenAI itself is asked over this API by clients of it, and over chat completions by others', async () => {
    const got = await ask({ model: 'both/gpt-5.2', tools: TOOLS });
    assertItems(got.output, ITEMS);
    const chat = await client.chat.completions.create({
      model: 'both/gpt-5.2',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    assert.equal(chat.choices[0]?.message.content, 'Chat completions');
  });

  test('a key that is no Bearer token goes in its own header', async () => {
    const got = await ask({ model: 'keyed/gpt-5.2', tools: TOOLS });
    assertItems(got.output, ITEMS);
    const { path, headers } = both.requests.at(-1) ?? {};
    assert.deepEqual([path, headers?.['api-key'], headers?.authorization], ['/v1/responses', 'keyed-key', undefined]);
  });

  test('other servers of the API get functions only', async () => {
    answer = { text: ['Hello'] };
    const { data, response } = await client.responses.create({ ...ASK, model: 'plain/gpt-5.2' }).withResponse();
    assert.equal(data.output_text, 'Hello');
    assert.match(response.headers.get('x-sluice-dropped') ?? '', /tools\.mcp/);
    assert.deepEqual(
      (lastBody()['tools'] as Json[]).map(({ type, name }) => [type, name]),
      [
        ['function', 'weather'],
        ['function', 'patch'],
        ['function', 'crm__find'],
        ['function', 'web_search'],
      ],
    );
  });
});

const ASK = { model: 'own/gpt-5.2', input: 'How old?', tools: TOOLS };

/** Kinds of items that have a status here and none at OpenAI. */
const STATELESS: ReadonlySet<unknown> = new Set(['reasoning', 'custom_tool_call']);

/** Kinds of items whose events we write ourselves: the same, in another order or with fewer of them. */
const LATE: ReadonlySet<unknown> = new Set(['reasoning', 'message', 'function_call', 'custom_tool_call']);

/** Items are those that the upstream sent, under ids of ours that begin as theirs; thoughts are sealed unless they are `bare`. */
function assertItems(items: readonly unknown[], sent: readonly Json[], areBare = false): void {
  const bare = (item: Json): Json => {
    const { id, encrypted_content: _, status, ...rest } = item;
    return {
      ...rest,
      ...(STATELESS.has(item['type']) || status === undefined ? {} : { status }),
      id: String(id).split('_')[0],
    };
  };
  assert.deepEqual((items as readonly Json[]).map(bare), sent.map(bare));
  for (const [index, item] of (items as readonly ResponseOutputItem[]).entries()) {
    if (item.type === 'reasoning' && areBare) {
      assert.deepEqual([item.id, item.encrypted_content], [sent[index]?.['id'], sent[index]?.['encrypted_content']]);
    } else assert.match(String(item.id), /^[a-z]+_[0-9a-f]{48}o\d+$/);
  }
}
