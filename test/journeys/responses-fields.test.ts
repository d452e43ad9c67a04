import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { APIError, UnprocessableEntityError } from 'openai';
import type { Response, ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses';
import { all, type Format, lastOf, of, openWorld, type World } from './responses-world.ts';
import { assertHolds } from './sdk-vendors.ts';

const WEATHER = { type: 'function', name: 'weather', parameters: { type: 'object' }, strict: true } as const;
const CLOCK = { type: 'function', name: 'clock', parameters: { type: 'object' }, strict: true } as const;

/** A stream of the Responses API, event by event. */
const sse = (events: readonly object[]): string =>
  events
    .map((event, sequence_number) => {
      const data = { sequence_number, ...event } as { type?: string };
      return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
    })
    .join('');
const HEAD = { id: 'resp_1', object: 'response', created_at: 1_741_476_542, model: 'gpt-5.2', output: [] };
const USAGE = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };
const MESSAGE = { type: 'message', id: 'msg_0', status: 'in_progress', role: 'assistant', content: [] };
const completed = { type: 'response.completed', response: { ...HEAD, status: 'completed', usage: USAGE } };

describe('fields of the Responses API', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  async function create(
    format: Format,
    body: Partial<ResponseCreateParamsNonStreaming> & Record<string, unknown>,
    headers: Record<string, string> = {},
  ): Promise<{ readonly answer: Response; readonly dropped: string | null; readonly sent: Record<string, unknown> }> {
    const seat = world.seat(format);
    seat.answers({ text: ['Hello'] });
    const { data, response } = await world.client.responses
      .create({ model: seat.model, input: 'Hi', ...body }, { headers })
      .withResponse();
    const sent = seat.last.body as Record<string, unknown>;
    return { answer: data, dropped: response.headers.get('x-sluice-dropped'), sent };
  }

  test('sampling reaches a chat upstream under its names', async () => {
    const { sent, dropped } = await create('openai', {
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 100,
      reasoning: { effort: 'high' },
      user: 'ann',
      parallel_tool_calls: false,
      tools: [WEATHER, CLOCK],
      tool_choice: { type: 'function', name: 'clock' },
      text: { format: { type: 'json_object' } },
    });
    assertHolds(sent, {
      temperature: 0.5,
      top_p: 0.9,
      max_tokens: 100,
      reasoning_effort: 'high',
      user: 'ann',
      parallel_tool_calls: false,
      tool_choice: { type: 'function', function: { name: 'clock' } },
      response_format: { type: 'json_object' },
    });
    assert.equal(dropped, null);
  });

  test('the parts of a thought reach a chat upstream one below the other', async () => {
    const summary = ['**Looking**', '**Choosing**'].map((text) => ({ type: 'summary_text' as const, text }));
    const { sent } = await create('openai', {
      input: [
        { type: 'reasoning', id: 'rs_1', summary },
        { type: 'message', role: 'assistant', content: 'This.' },
        { type: 'message', role: 'user', content: 'Sure?' },
      ],
    });
    assertHolds(sent, { messages: [{ content: 'This.', reasoning_content: '**Looking**\n\n**Choosing**' }, {}] });
  });

  test('a call without arguments reaches a chat upstream with none, as JSON says so', async () => {
    const { sent } = await create('openai', {
      input: [
        { type: 'function_call', call_id: 'call_1', name: 'clock', arguments: '' },
        { type: 'function_call_output', call_id: 'call_1', output: 'noon' },
      ],
    });
    assertHolds(sent, { messages: [{ tool_calls: [{ function: { name: 'clock', arguments: '{}' } }] }, {}] });
  });

  test('how many words to make reaches a chat upstream whose model can be told', async () => {
    const text = { verbosity: 'low' as const };
    const told = await create('openai', { model: 'acme/gpt-5', text, strict: true });
    assertHolds(told, { sent: { verbosity: 'low' }, dropped: null });
    const { sent, dropped } = await create('openai', { text });
    assert.ok(!('verbosity' in sent));
    assert.equal(dropped, 'text.verbosity');
  });

  test('everything of its own reaches an upstream of its own', async () => {
    const { sent, dropped } = await create('openai-responses', {
      max_output_tokens: 100,
      reasoning: { effort: 'high', summary: 'concise' },
      text: { verbosity: 'low', format: { type: 'json_schema', name: 'a', schema: { type: 'object' }, strict: true } },
      service_tier: 'priority',
      prompt_cache_key: 'cache',
      safety_identifier: 'someone',
      truncation: 'auto',
      max_tool_calls: 3,
      user: 'ann',
      tools: [WEATHER],
      parallel_tool_calls: false,
    });
    assertHolds(sent, {
      store: false,
      max_output_tokens: 100,
      reasoning: { effort: 'high', summary: 'concise' },
      text: { verbosity: 'low', format: { type: 'json_schema', name: 'a', strict: true } },
      service_tier: 'priority',
      prompt_cache_key: 'cache',
      safety_identifier: 'someone',
      truncation: 'auto',
      max_tool_calls: 3,
      user: 'ann',
      parallel_tool_calls: false,
      tools: [{ type: 'function', name: 'weather', strict: true }],
    });
    assert.equal(dropped, null);
  });

  test('an effort reaches a model that the library does not know', async () => {
    const seat = world.seat('openai-responses');
    seat.answers({ text: ['Hello'] });
    await world.client.responses.create({ model: 'responses/my-own', input: 'Hi', reasoning: { effort: 'low' } });
    assertHolds(seat.last.body, { reasoning: { effort: 'low' }, include: ['reasoning.encrypted_content'] });
  });

  test('an answer names a service tier that was asked for only where its upstream was asked for it', async () => {
    const asked = { service_tier: 'flex' } as const;
    const { answer, sent, dropped } = await create('openai', asked);
    // The upstream tells that it served it as usual.
    assert.deepEqual([answer.service_tier, sent['service_tier'], dropped], ['default', 'flex', null]);
    const lost = await create('anthropic', asked);
    assert.deepEqual([lost.answer.service_tier, lost.dropped], ['default', 'service_tier']);
    const kept = await world.client.responses.retrieve(lost.answer.id);
    assert.equal(kept.service_tier, 'default');
    const seat = world.seat('anthropic');
    seat.answers({ text: ['Hello'] });
    const stream = world.client.responses.stream({ model: seat.model, input: 'Hi', ...asked });
    assert.equal((await stream.finalResponse()).service_tier, 'default');
  });

  test('an answer names the service tier that it was served as, where its upstream tells', async () => {
    const chunk = (members: object): string =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', ...members })}\n\n`;
    const raw = (tier: object): string =>
      [
        chunk({ choices: [{ index: 0, delta: { content: 'Hi' } }] }),
        chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], ...tier }),
        'data: [DONE]\n\n',
      ].join('');
    const chat = world.seat('openai');
    for (const [tier, told] of [
      [{ service_tier: 'default' }, 'default'],
      [{ service_tier: null }, 'priority'],
    ] as const) {
      chat.answers({ raw: raw(tier) });
      const asked = { model: chat.model, input: 'Hi', service_tier: 'priority' } as const;
      const answer = await world.client.responses.create(asked);
      const stream = world.client.responses.stream(asked);
      const kept = await world.client.responses.retrieve(answer.id);
      const all = [answer, kept, await stream.finalResponse()];
      assert.deepEqual(
        all.map(({ service_tier }) => service_tier),
        [told, told, told],
      );
    }
    const own = world.seat('openai-responses');
    const response = { ...HEAD, status: 'completed', usage: USAGE, service_tier: 'default' };
    own.answers({
      raw: sse([
        { type: 'response.created', response: HEAD },
        { type: 'response.completed', response },
      ]),
    });
    const { service_tier } = await world.client.responses.create({
      model: own.model,
      input: 'Hi',
      service_tier: 'flex',
    });
    assert.equal(service_tier, 'default');
  });

  test('what has no place is told, in the words of the client', async () => {
    const { dropped, answer } = await create('anthropic', {
      tools: [WEATHER, { type: 'file_search', vector_store_ids: ['vs'] }],
      include: ['message.output_text.logprobs'],
      truncation: 'auto',
      text: { verbosity: 'low' },
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Hi' },
            { type: 'input_file', file_id: 'file-1' },
          ],
        },
        { type: 'file_search_call', id: 'fs_1', status: 'completed', queries: [] },
      ],
      something_new: 1,
    });
    assert.deepEqual((dropped ?? '').split(', ').sort(), [
      'include.message.output_text.logprobs',
      'input.file_id',
      'input.file_search_call',
      'something_new',
      'text.verbosity',
      'tools.file_search',
      'truncation',
    ]);
    assert.equal(answer.output_text, 'Hello');
  });

  test('strict: a field without a place is an error that names it', async () => {
    const named = (param: string) => (error: unknown) => {
      assert.ok(error instanceof APIError);
      assert.deepEqual([error.status, error.code, error.param], [400, 'unsupported_field', param]);
      assert.match(error.message, new RegExp(`'${param.replace('.', '\\.')}'`));
      return true;
    };
    await assert.rejects(create('anthropic', { truncation: 'auto', strict: true }), named('truncation'));
    const tools = [{ type: 'code_interpreter' as const, container: 'x' }];
    await assert.rejects(create('openai', { tools }, { 'x-sluice-strict': '1' }), named('tools.code_interpreter'));
    await assert.rejects(create('openai', { tools, strict: true, background: true }), named('tools.code_interpreter'));
  });

  test('what cannot be made up for is refused', async () => {
    await assert.rejects(
      create('openai', { prompt: { id: 'pmpt_1' } }),
      (error) => error instanceof APIError && error.status === 400 && error.param === 'prompt',
    );
  });

  test('a body that is wrong is answered with the field', async () => {
    const wrong: readonly (readonly [object, RegExp])[] = [
      [{ input: 7 }, /input/],
      [{ input: [] }, /input/],
      [{ input: [{ role: 'nobody', content: 'x' }] }, /input\[0\]/],
      [{ input: [{ type: 'function_call', call_id: 'a', name: 'b' }] }, /input\[0\]\.arguments/],
      [{ tools: [{ type: 'function' }] }, /tools\[0\]\.name/],
      [{ temperature: 'hot' }, /temperature/],
      [{ metadata: { a: 1 } }, /metadata\.a/],
    ];
    for (const [body, field] of wrong) {
      await assert.rejects(create('openai', body as Record<string, unknown>), (error) => {
        assert.ok(error instanceof UnprocessableEntityError, JSON.stringify(body));
        assert.match(error.message, field);
        return true;
      });
    }
  });

  test('a choice among allowed tools leaves only those', async () => {
    const { sent } = await create('openai', {
      tools: [WEATHER, CLOCK],
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'clock' }] },
    });
    assertHolds(sent, { tools: [{ function: { name: 'clock' } }], tool_choice: 'required' });
  });

  test('developers, systems and assistants keep their places', async () => {
    const { sent } = await create('openai', {
      instructions: 'First.',
      input: [
        { role: 'developer', content: 'Second.' },
        { role: 'system', content: 'Third.' },
        { role: 'assistant', content: 'Fourth.' },
        { role: 'user', content: [{ type: 'input_text', text: 'Fifth.' }] },
      ],
    });
    assertHolds(sent, {
      messages: [
        { role: 'system', content: 'First.' },
        { role: 'system', content: 'Second.' },
        { role: 'system', content: 'Third.' },
        { role: 'assistant', content: 'Fourth.' },
        { role: 'user', content: 'Fifth.' },
      ],
    });
  });

  test('a call without arguments has an empty object of them, both ways', async () => {
    const seat = world.seat('openai');
    const tool = { type: 'function' as const, name: 'now', parameters: null, strict: null };
    seat.answers({ toolCalls: ['a', 'b'].map((id) => ({ id, name: 'now', arguments: [] })) });
    const question = { role: 'user' as const, content: 'When?' };
    const asked = { model: seat.model, input: [question], tools: [tool], store: false };
    const events = await all(await world.client.responses.create({ ...asked, stream: true }));
    const { output } = lastOf(events);
    const written = output.map((item) => item.type === 'function_call' && item.arguments);
    assert.deepEqual(written, ['{}', '{}']);
    const deltas = of(events, 'response.function_call_arguments.delta').map(({ delta }) => delta);
    const dones = of(events, 'response.function_call_arguments.done').map((done) => done.arguments);
    assert.deepEqual([deltas, dones], [written, written]);

    const call = { type: 'function_call' as const, call_id: 'a', name: 'now', arguments: '' };
    const result = { type: 'function_call_output' as const, call_id: 'a', output: 'Now' };
    await world.client.responses.create({ ...asked, input: [question, call, result] });
    assertHolds(seat.last.body, {
      messages: [{}, { tool_calls: [{ id: 'a', function: { name: 'now', arguments: '{}' } }] }, {}],
    });
  });

  test('a file by its address goes to vendors that fetch it, and is refused before others', async () => {
    const ask = (format: Format) => {
      const seat = world.seat(format);
      seat.answers({ text: ['Hi'] });
      const file = { type: 'input_file' as const, file_url: 'https://files.example/a.pdf' };
      const asked = { model: seat.model, input: [{ role: 'user' as const, content: [file] }] };
      return { seat, asked: world.client.responses.create(asked) };
    };
    const acme = ask('openai');
    await assert.rejects(acme.asked, { status: 400, param: 'input', message: /data: URI/ });
    assert.deepEqual(acme.seat.arrived, []);
    const claude = ask('anthropic');
    await claude.asked;
    assert.match(JSON.stringify(claude.seat.last.body), /"url":"https:\/\/files\.example\/a\.pdf"/);
  });

  test('files and sound', async () => {
    const input = [
      {
        role: 'user' as const,
        content: [
          { type: 'input_text', text: 'What is this?' },
          { type: 'input_file', filename: 'a.pdf', file_data: Buffer.from('%PDF-1.4').toString('base64') },
          { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
        ],
      },
    ];
    const { sent } = await create('openai', { input: input as never });
    assertHolds(sent, {
      messages: [
        {
          content: [
            { type: 'text' },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQ=' } },
            { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
          ],
        },
      ],
    });
  });

  test('an address in the place of base64 is refused with the field, whoever would answer', async () => {
    for (const [param, part] of [
      ['input.file_data', { type: 'input_file', filename: 'a.pdf', file_data: 'https://files.example/a.pdf' }],
      ['input.input_audio.data', { type: 'input_audio', input_audio: { data: 'HTTP://x.example/a', format: 'mp3' } }],
    ] as const) {
      for (const format of ['openai', 'openai-responses', 'google'] as const) {
        const asked = create(format, { input: [{ role: 'user', content: [part] }] as never });
        const message = new RegExp(`'${param}' must be base64 or a data: URI, and not an address`);
        await assert.rejects(asked, { status: 422, param, message });
      }
    }
  });

  test('one provider by its path', async () => {
    const seat = world.seat('anthropic');
    seat.answers({ text: ['Hello'] });
    const response = await fetch(`${world.gateway.origin}/api/claude/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'claude-sonnet-4-5', input: 'Hi' }),
    });
    assert.equal(response.headers.get('x-sluice-provider'), 'claude');
    assertHolds(await response.json(), { object: 'response', status: 'completed' });
  });

  test('a refusal is a part of its own', async () => {
    const chat = world.seat('openai');
    const delta = (fields: object, finish: string | null = null) =>
      `data: ${JSON.stringify({ id: 'a', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: fields, finish_reason: finish }] })}\n\n`;
    chat.answers({
      raw: `${delta({ refusal: 'I ' })}${delta({ refusal: 'will not.' })}${delta({}, 'stop')}data: [DONE]\n\n`,
    });
    const own = world.seat('openai-responses');
    const place = { item_id: 'msg_0', output_index: 0, content_index: 0 };
    own.answers({
      raw: sse([
        { type: 'response.created', response: { ...HEAD, status: 'in_progress' } },
        { type: 'response.output_item.added', output_index: 0, item: MESSAGE },
        { type: 'response.content_part.added', ...place, part: { type: 'refusal', refusal: '' } },
        { type: 'response.refusal.delta', ...place, delta: 'I ' },
        { type: 'response.refusal.delta', ...place, delta: 'will not.' },
        { type: 'response.refusal.done', ...place, refusal: 'I will not.' },
        {
          type: 'response.output_item.done',
          output_index: 0,
          item: { ...MESSAGE, status: 'completed', content: [{ type: 'refusal', refusal: 'I will not.' }] },
        },
        completed,
      ]),
    });
    for (const seat of [chat, own]) {
      const events = await all(await world.client.responses.create({ model: seat.model, input: 'Hi', stream: true }));
      assert.equal(
        of(events, 'response.refusal.delta')
          .map((event) => event.delta)
          .join(''),
        'I will not.',
      );
      assert.equal(of(events, 'response.refusal.done')[0]?.refusal, 'I will not.');
      assertHolds(lastOf(events), {
        status: 'completed',
        output: [{ type: 'message', content: [{ type: 'refusal', refusal: 'I will not.' }] }],
      });
    }
  });

  test('an answer that is spoken is told in its words, for whose sound there is no place', async () => {
    const seat = world.seat('openai');
    for (const said of [{ transcript: 'Good evening' }, {}]) {
      const audio = { id: 'audio_1', ...said, data: 'UklGRg==' };
      const choices = [{ index: 0, delta: { audio }, finish_reason: 'stop' }];
      seat.answers({ raw: `data: ${JSON.stringify({ choices })}\n\ndata: [DONE]\n\n` });
      const answer = await world.client.responses.create({ model: seat.model, input: 'Hi' });
      assert.equal(answer.output_text, said.transcript ?? '');
    }
  });

  test('a picture at an address is a link, whatever stands in that', async () => {
    const seat = world.seat('openai');
    const images = [{ type: 'image_url', image_url: { url: 'https://tides.example/high (1).png' } }];
    const choices = [{ index: 0, delta: { content: 'See: ', images }, finish_reason: 'stop' }];
    seat.answers({ raw: `data: ${JSON.stringify({ choices })}\n\ndata: [DONE]\n\n` });
    const answer = await world.client.responses.create({ model: seat.model, input: 'Hi' });
    assert.equal(answer.output_text, 'See: ![](https://tides.example/high%20%281%29.png)');
  });

  test('citations stand where they belong', async () => {
    const seat = world.seat('openai-responses');
    const place = { item_id: 'msg_0', output_index: 0, content_index: 0 };
    const annotation = {
      type: 'url_citation',
      url: 'https://example.org/',
      title: 'Example',
      start_index: 2,
      end_index: 5,
    };
    seat.answers({
      raw: sse([
        { type: 'response.created', response: { ...HEAD, status: 'in_progress' } },
        { type: 'response.output_item.added', output_index: 0, item: MESSAGE },
        { type: 'response.content_part.added', ...place, part: { type: 'output_text', text: '', annotations: [] } },
        { type: 'response.output_text.delta', ...place, delta: 'As said' },
        { type: 'response.output_text.annotation.added', ...place, annotation_index: 0, annotation },
        { type: 'response.output_text.delta', ...place, delta: '.' },
        { type: 'response.output_item.done', output_index: 0, item: { ...MESSAGE, status: 'completed' } },
        completed,
      ]),
    });
    const events = await all(await world.client.responses.create({ model: seat.model, input: 'Hi', stream: true }));
    assert.deepEqual(of(events, 'response.output_text.annotation.added')[0]?.annotation, annotation);
    assertHolds(lastOf(events).output, [{ content: [{ text: 'As said.', annotations: [annotation] }] }]);
  });

  test('citations of a later text count from where it begins', async () => {
    const annotation = { type: 'url_citation', url: 'https://tides.example/', title: 'Tides' };
    const chat = world.seat('openai');
    const url_citation = { ...annotation, start_index: 6, end_index: 11 };
    const choices = [
      { delta: { content: 'Well. ' } },
      { delta: { refusal: 'No more.' } },
      { delta: { reasoning_content: 'Hm.' } },
      { delta: { content: 'Twice a day.' } },
      { delta: { annotations: [{ type: 'url_citation', url_citation }] }, finish_reason: 'stop' },
    ].map((choice) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
    chat.answers({ raw: `${choices.join('')}data: [DONE]\n\n` });
    const own = world.seat('openai-responses');
    const message = (index: number, text: string, annotations: readonly object[]): readonly object[] => {
      const item = { ...MESSAGE, id: `msg_${index}` };
      const place = { item_id: item.id, output_index: index, content_index: 0 };
      const part = { type: 'output_text', text, annotations };
      return [
        { type: 'response.output_item.added', output_index: index, item },
        { type: 'response.content_part.added', ...place, part: { ...part, text: '', annotations: [] } },
        { type: 'response.output_text.delta', ...place, delta: text },
        ...annotations.map((each, at) => ({
          type: 'response.output_text.annotation.added',
          ...place,
          annotation_index: at,
          annotation: each,
        })),
        { type: 'response.output_text.done', ...place, text },
        { type: 'response.content_part.done', ...place, part },
        {
          type: 'response.output_item.done',
          output_index: index,
          item: { ...item, status: 'completed', content: [part] },
        },
      ];
    };
    own.answers({
      raw: sse([
        { type: 'response.created', response: { ...HEAD, status: 'in_progress' } },
        ...message(0, 'Well. ', []),
        ...message(1, 'Twice a day.', [{ ...annotation, start_index: 0, end_index: 5 }]),
        completed,
      ]),
    });
    for (const seat of [chat, own]) {
      const answer = await world.client.responses.create({ model: seat.model, input: 'Hi' });
      const parts = answer.output.flatMap((item) => (item.type === 'message' ? item.content : []));
      const cited = parts.flatMap((part) =>
        part.type !== 'output_text'
          ? []
          : part.annotations.map((each) => 'start_index' in each && part.text.slice(each.start_index, each.end_index)),
      );
      assert.deepEqual(cited, ['Twice'], seat.model);
    }
  });

  test('thoughts that are no summary are thoughts', async () => {
    const seat = world.seat('openai-responses');
    const item = { type: 'reasoning', id: 'rs_0', summary: [] };
    seat.answers({
      raw: sse([
        { type: 'response.created', response: { ...HEAD, status: 'in_progress' } },
        { type: 'response.output_item.added', output_index: 0, item },
        { type: 'response.reasoning_text.delta', item_id: 'rs_0', output_index: 0, content_index: 0, delta: 'Hm.' },
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.output_item.added', output_index: 1, item: { ...MESSAGE, id: 'msg_1' } },
        { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 1, content_index: 0, delta: 'Yes.' },
        { type: 'response.output_item.done', output_index: 1, item: { ...MESSAGE, id: 'msg_1', status: 'completed' } },
        completed,
      ]),
    });
    const answer = await world.client.responses.create({ model: seat.model, input: 'Hi' });
    assertHolds(answer.output, [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      { type: 'message', content: [{ text: 'Yes.' }] },
    ]);
  });

  test('a summary whose parts nobody counts, as of LiteLLM, is one of one part', async () => {
    const seat = world.seat('openai-responses');
    const item = { type: 'reasoning', id: 'rs_0', status: 'in_progress' };
    const done = { type: 'reasoning', id: 'rs_0', summary: [{ type: 'summary_text', text: 'Let me think.' }] };
    const place = { item_id: 'rs_0', output_index: 0 };
    const events = [
      { type: 'response.created', response: { ...HEAD, status: 'in_progress' } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.reasoning_summary_text.delta', ...place, delta: 'Let me ' },
      { type: 'response.reasoning_summary_text.delta', ...place, delta: 'think.' },
      { type: 'response.output_item.done', output_index: 0, item: done },
      { type: 'response.output_item.added', output_index: 1, item: { ...MESSAGE, id: 'msg_1' } },
      { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 1, content_index: 0, delta: 'Yes.' },
      { type: 'response.output_item.done', output_index: 1, item: { ...MESSAGE, id: 'msg_1', status: 'completed' } },
      completed,
    ];
    // Each event alone in what is read, and all of them at once.
    for (const pace of [{ sliceBytes: 64 }, {}]) {
      seat.answers({ raw: sse(events), ...pace });
      const answer = await world.client.responses.create({ model: seat.model, input: 'Hi' });
      assertHolds(answer.output, [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Let me think.' }] },
        { type: 'message', content: [{ text: 'Yes.' }] },
      ]);
    }
  });
});
