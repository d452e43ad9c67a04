import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI, { APIError, BadRequestError, NotFoundError } from 'openai';
import type { Response, ResponseInputItem, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { createApp } from '../../src/app.ts';
import { testLogger } from '../support/call.ts';
import { loadYaml, temporaryFolder } from '../support/config-folder.ts';
import { eventually } from '../support/eventually.ts';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import type { VendorScript } from '../support/vendor-script.ts';
import { all, FORMATS, lastOf, of, openWorld, type Seat, type World } from './responses-world.ts';
import { assertHolds } from './sdk-vendors.ts';

const WEATHER = {
  type: 'function',
  name: 'weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: false,
} as const;

describe('answers of the Responses API that are kept', { timeout: 120_000 }, () => {
  let world: World;
  let seat: Seat;
  before(async () => {
    world = await openWorld();
    seat = world.seat('anthropic');
  });
  after(() => world.close());

  const create = (body: Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming> = {}): Promise<Response> =>
    world.client.responses.create({ model: seat.model, input: 'Hi', ...body });
  const open = (body: Partial<OpenAI.Responses.ResponseCreateParamsStreaming> = {}) =>
    world.client.responses.create({ model: seat.model, input: 'Hi', ...body, stream: true });

  test('an answer is retrieved as it was given', async () => {
    seat.answers({ reasoning: ['Hm.'], text: ['Hello'] });
    const given = await create({ instructions: 'Be kind.', metadata: { a: 'b' }, reasoning: { effort: 'low' } });
    assert.deepEqual(await world.client.responses.retrieve(given.id), given);
    const streamed = lastOf(await all(await open()));
    const retrieved = await world.client.responses.retrieve(streamed.id);
    assert.deepEqual({ ...retrieved, output_text: undefined }, { ...streamed, output_text: undefined });
  });

  test('its text stands in it in one piece, for clients that do not put it together themselves', async () => {
    seat.answers({ text: ['Hello', ' there'] });
    const raw = await world.client.responses.create({ model: seat.model, input: 'Hi' }).asResponse();
    const { id, output_text: text } = (await raw.json()) as { id: string; output_text: string };
    assert.equal(text, 'Hello there');
    const again = await world.client.responses.retrieve(id).asResponse();
    assert.equal(((await again.json()) as { output_text: string }).output_text, 'Hello there');
  });

  test('whoever hears of the end finds the answer at once', async () => {
    seat.answers({ text: ['Hello'] });
    for (let round = 0; round < 5; round += 1) {
      for await (const event of await open()) {
        if (event.type !== 'response.completed') continue;
        assert.equal((await world.client.responses.retrieve(event.response.id)).status, 'completed');
      }
    }
  });

  test('the events are replayed to the letter, from any number on', async () => {
    seat.answers({
      reasoning: ['Let me', ' see.'],
      text: ['Hello', ' world', '!'],
      toolCalls: [{ id: 'call_1', name: 'weather', arguments: ['{"city":', '"Rom"}'] }],
    });
    const given = await all(await open({ tools: [WEATHER], include: ['reasoning.encrypted_content'] }));
    const { id } = lastOf(given);
    assert.ok(given.length > 15, `${given.length} events`);
    assert.deepEqual(await all(await world.client.responses.retrieve(id, { stream: true })), given);
    for (const number of [0, 7, given.length - 2]) {
      const rest = await all(await world.client.responses.retrieve(id, { stream: true, starting_after: number }));
      assert.deepEqual(rest, given.slice(number + 1));
    }
    const helper = world.client.responses.stream({ response_id: id, starting_after: 9 });
    assert.equal((await helper.finalResponse()).output_text, 'Hello world!');
  });

  test('a conversation goes on from any answer of it', async () => {
    seat.answers({
      reasoning: ['Look outside.'],
      toolCalls: [{ id: 'call_1', name: 'weather', arguments: ['{"city":"Rom"}'] }],
    });
    const first = await create({ input: 'Weather in Rom?', instructions: 'Be brief.', tools: [WEATHER] });
    seat.answers({ reasoning: ['Sun it is.'], text: ['Sunny.'] });
    const second = await create({
      previous_response_id: first.id,
      tools: [WEATHER],
      input: [{ type: 'function_call_output', call_id: 'call_1', output: 'sun' }],
    });
    assert.equal(second.previous_response_id, first.id);
    await create({ previous_response_id: second.id, input: 'And tomorrow?' });
    const { system, messages } = seat.last.body as { system?: unknown; messages: { role: string; content: unknown }[] };
    // Instructions hold for one request only.
    assert.equal(system, undefined);
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'user', 'assistant', 'user'],
    );
    const sent = JSON.stringify(messages);
    for (const word of ['Weather in Rom?', 'sun', 'Sunny.', 'And tomorrow?']) assert.ok(sent.includes(word), word);
    // The thoughts came back with their signature although the client never saw it.
    assertHolds(messages[1]?.content, [
      { type: 'thinking', thinking: 'Look outside.', signature: 'sig-0' },
      { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Rom' } },
    ]);
    assertHolds(messages[3]?.content, [
      { type: 'thinking', thinking: 'Sun it is.', signature: 'sig-0' },
      { type: 'text', text: 'Sunny.' },
    ]);
  });

  test('items of a stored answer are followed by reference, and thoughts by their id', async () => {
    seat.answers({ reasoning: ['Look outside.'], text: ['Sunny.'] });
    const { output } = await create();
    const [thought, message] = output;
    assert.ok(thought?.type === 'reasoning' && message?.type === 'message');
    assert.equal('encrypted_content' in thought, false);
    const ways: ResponseInputItem[][] = [
      [
        { type: 'item_reference', id: thought.id },
        { type: 'item_reference', id: message.id },
      ],
      [thought, message],
    ];
    for (const items of ways) {
      await create({ input: [{ role: 'user', content: 'Weather?' }, ...items, { role: 'user', content: 'Sure?' }] });
      assertHolds(seat.last.body, {
        messages: [
          { role: 'user' },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'Look outside.', signature: 'sig-0' },
              { type: 'text', text: 'Sunny.' },
            ],
          },
          { role: 'user' },
        ],
      });
    }
    await assert.rejects(
      create({ input: [{ type: 'item_reference', id: 'msg_unknown' }] }),
      (error) => error instanceof APIError && error.status === 400 && error.param === 'input[0].id',
    );
  });

  test('the input is listed page by page, what went before included', async () => {
    seat.answers({ text: ['One'] });
    const first = await create({
      input: [
        { role: 'user', content: 'a' },
        { role: 'user', content: 'b' },
      ],
    });
    const second = await create({ previous_response_id: first.id, input: 'c' });
    const items = await all(world.client.responses.inputItems.list(second.id, { order: 'asc', limit: 2 }));
    const texts = items.map((item) => {
      assert.ok(item.type === 'message');
      const [part] = item.content;
      return part !== undefined && 'text' in part ? part.text : undefined;
    });
    assert.deepEqual(texts, ['a', 'b', 'One', 'c']);
    assert.equal(new Set(items.map(({ id }) => id)).size, 4);
    const page = await world.client.responses.inputItems.list(second.id, { limit: 1 });
    assertHolds(page.data, [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'c' }] }]);
    assert.equal(page.has_more, true);
    const none = world.client.responses.inputItems.list(second.id, { after: 'msg_unknown' });
    await assert.rejects(none, (error) => error instanceof APIError && error.param === 'after');
  });

  test('what is deleted is gone, and nothing goes on from it', async () => {
    seat.answers({ text: ['Hello'] });
    const { id } = await create();
    await world.client.responses.delete(id);
    await assert.rejects(world.client.responses.retrieve(id), NotFoundError);
    await assert.rejects(world.client.responses.delete(id), NotFoundError);
    await assert.rejects(world.client.responses.cancel(id), NotFoundError);
    await assert.rejects(world.client.responses.inputItems.list(id), NotFoundError);
    await assert.rejects(
      create({ previous_response_id: id }),
      (error) => error instanceof APIError && error.status === 400 && error.param === 'previous_response_id',
    );
  });

  test('what went before a deleted answer is missed where one goes on, and left out where the input is listed', async () => {
    seat.answers({ text: ['Hello'] });
    const first = await create({ input: 'a' });
    const second = await create({ previous_response_id: first.id, input: 'b' });
    const third = await create({ previous_response_id: second.id, input: 'c' });
    await world.client.responses.delete(first.id);
    await assert.rejects(
      create({ previous_response_id: third.id }),
      (error) =>
        error instanceof APIError &&
        error.status === 400 &&
        error.param === 'previous_response_id' &&
        error.message.includes(`'${third.id}' goes on from '${first.id}', which was not found`),
    );
    const items = await all(world.client.responses.inputItems.list(third.id, { order: 'asc' }));
    assertHolds(items, [{ content: [{ text: 'b' }] }, { content: [{ text: 'Hello' }] }, { content: [{ text: 'c' }] }]);
  });

  test('what a conversation goes on from is kept for as long as that lasts', async (context) => {
    const days = 20 * 24 * 60 * 60 * 1_000;
    context.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    seat.answers({ text: ['Hello'] });
    const first = await create();
    const other = await create();
    let last = first;
    for (let turn = 0; turn < 3; turn += 1) {
      context.mock.timers.setTime(Date.now() + days);
      last = await create({ previous_response_id: last.id });
    }
    await assert.rejects(world.client.responses.retrieve(other.id), NotFoundError);
    assert.equal((await world.client.responses.retrieve(first.id)).id, first.id);
  });

  test('what is deleted while it is made stays so, also when a slow reader comes to its end', async () => {
    // More than the connection holds: the answer stands still in its middle until somebody reads.
    seat.answers({ text: Array.from({ length: 24 }, () => 'a'.repeat(1024 * 1024)) });
    const response = await world.client.responses.create({ model: seat.model, input: 'Hi', stream: true }).asResponse();
    const reader = response.body?.getReader();
    assert.ok(reader !== undefined);
    const decoder = new TextDecoder();
    let beginning = '';
    while (!beginning.includes('\n\n')) beginning += decoder.decode((await reader.read()).value, { stream: true });
    const [id = ''] = /resp_[0-9a-f]{48}/.exec(beginning) ?? [];
    let size = 0;
    await eventually('it stands still', async () => {
      const before = size;
      size = (await world.client.responses.retrieve(id)).output_text.length;
      return size > 0 && size === before;
    });
    await world.client.responses.delete(id);
    await assert.rejects(world.client.responses.retrieve(id), NotFoundError, 'while it is still read');
    await assert.rejects(world.client.responses.delete(id), NotFoundError);
    let last = '';
    for (let step = await reader.read(); !step.done; step = await reader.read())
      last = (last + decoder.decode(step.value, { stream: true })).slice(-2);
    assert.ok(last.endsWith('\n\n'), 'the stream came to its end');
    await assert.rejects(world.client.responses.retrieve(id), NotFoundError, 'afterwards');
  });

  test('what is not to be stored is not', async () => {
    seat.answers({ text: ['Hello'] });
    const { id, ...rest } = await create({ store: false });
    assertHolds(rest, { store: false });
    await assert.rejects(world.client.responses.retrieve(id), NotFoundError);
    const streamed = lastOf(await all(await open({ store: false })));
    await assert.rejects(world.client.responses.retrieve(streamed.id), NotFoundError);
    for (const strange of ['resp_x', '../caches', `resp_${'0'.repeat(48)}`, '%00']) {
      await assert.rejects(world.client.responses.retrieve(strange), NotFoundError, strange);
    }
  });

  test('a running answer can be read along and stopped by its id', async () => {
    seat.answers({ text: ['Tick', 'tock'], delayMs: 5, stallAfter: 2 });
    const stream = await open();
    const heard: ResponseStreamEvent[] = [];
    const reading = (async () => {
      for await (const event of stream) heard.push(event);
    })().catch((error: unknown) => error);
    const said = (): string =>
      of(heard, 'response.output_text.delta')
        .map(({ delta }) => delta)
        .join('');
    // What comes in one read may be one delta.
    await eventually('all is said', () => said() === 'Ticktock');
    const id = of(heard, 'response.created')[0]?.response.id ?? '';
    assertHolds(await world.client.responses.retrieve(id), { status: 'in_progress' });
    const along = all(await world.client.responses.retrieve(id, { stream: true })).catch((error: unknown) => error);
    await sleep(30);
    const cancelled = await world.client.responses.cancel(id);
    assert.equal(cancelled.status, 'cancelled');
    assertHolds(cancelled.output, [
      { type: 'message', status: 'incomplete', content: [{ type: 'output_text', text: 'Ticktock' }] },
    ]);
    assert.equal(await seat.last.closed, 'aborted');
    assert.ok((await reading) instanceof APIError);
    assert.ok((await along) instanceof APIError);
    assert.deepEqual((await world.client.responses.retrieve(id)).output, cancelled.output);
    // Once more changes nothing.
    assert.deepEqual(await world.client.responses.cancel(id), cancelled);
  });

  describe('in the background', () => {
    const until = (id: string, status: Response['status']): Promise<Response> =>
      eventually(`it is ${status}`, async () => {
        const answer = await world.client.responses.retrieve(id);
        return answer.status === status && answer;
      });

    test('an answer comes about without its client', async () => {
      seat.answers({ text: ['Slow', ' answer'], delayMs: 30 });
      const queued = await create({ background: true });
      assert.equal(queued.status, 'queued');
      assert.equal(queued.background, true);
      const done = await until(queued.id, 'completed');
      assert.equal(done.output_text, 'Slow answer');
      assertHolds(done, { model: 'claude-sonnet-4-5', provider: 'claude', usage: { total_tokens: 18 } });
    });

    test('its stream survives the reader, and goes on behind any event', async () => {
      seat.answers({ text: ['a', 'b', 'c', 'd'], delayMs: 40 });
      const heard: ResponseStreamEvent[] = [];
      for await (const event of await open({ background: true })) {
        heard.push(event);
        if (event.type === 'response.output_text.delta') break;
      }
      assert.deepEqual(
        heard.slice(0, 3).map(({ type }) => type),
        ['response.created', 'response.queued', 'response.in_progress'],
      );
      const id = of(heard, 'response.created')[0]?.response.id ?? '';
      const seen = heard.length - 1;
      const rest = await all(await world.client.responses.retrieve(id, { stream: true, starting_after: seen }));
      const numbers = [...heard, ...rest].map((event) => ('sequence_number' in event ? event.sequence_number : -1));
      assert.deepEqual(
        numbers,
        numbers.map((_, index) => index),
      );
      const text = of([...heard, ...rest], 'response.output_text.delta').map(({ delta }) => delta);
      assert.equal(text.join(''), 'abcd');
      assert.equal((await until(id, 'completed')).output_text, 'abcd');
    });

    test('it is stopped by its id, also before it says anything', async () => {
      seat.answers({ silent: true });
      const { id } = await create({ background: true });
      await eventually('it is asked', () => seat.arrived.length > 0);
      assert.equal((await world.client.responses.cancel(id)).status, 'cancelled');
      assert.equal(await seat.last.closed, 'aborted');
      assert.equal((await world.client.responses.retrieve(id)).status, 'cancelled');
    });

    test('a conversation goes on from one that was stopped in the middle of a call', async () => {
      // Google's calls come whole.
      for (const format of FORMATS.filter((each) => each !== 'google')) {
        const other = world.seat(format);
        const ask = { model: other.model, tools: [WEATHER] };
        const halfCall = { id: 'call_1', name: 'weather', arguments: ['{"ci'] };
        other.answers({ text: ['As far'], toolCalls: [halfCall], stallAfter: 2 });
        const { id } = await create({ ...ask, background: true });
        await eventually('the call has begun', async () =>
          (await world.client.responses.retrieve(id)).output.some(({ type }) => type === 'function_call'),
        );
        assert.equal((await world.client.responses.cancel(id)).status, 'cancelled');
        other.answers({ text: ['Well.'] });
        await create({ ...ask, previous_response_id: id, input: 'And now?' });
        const sent = JSON.stringify(other.last.body);
        assert.ok(sent.includes('As far') && sent.includes('And now?'), sent);
        assert.equal(sent.includes('call_1'), false, sent);
      }
    });

    test('a failure is how it ends', async () => {
      seat.answers({ status: 400, errorMessage: 'The prompt is no good.' });
      const { id } = await create({ background: true });
      const failed = await until(id, 'failed');
      assert.equal(failed.error?.code, 'server_error');
      assert.match(failed.error?.message ?? '', /The prompt is no good/);
    });

    test('it has to be stored', async () => {
      await assert.rejects(
        create({ background: true, store: false }),
        (error) => error instanceof APIError && error.status === 400 && error.param === 'background',
      );
    });
  });
});

describe('an answer outlives the server', { timeout: 60_000 }, () => {
  /** Runs a gateway on the data of `folder`, for as long as `use` takes. */
  async function during(
    folder: string,
    yaml: string,
    use: (client: OpenAI) => Promise<void>,
    apiKey = 'secret',
  ): Promise<void> {
    const basics = ['dataDir: data', 'detectLocal: false', 'embedded: { enabled: false }', 'bind: 127.0.0.1:0'];
    const app = await createApp(await loadYaml(folder, [...basics, yaml].join('\n')), testLogger());
    const { host, port } = await app.listen();
    try {
      await use(new OpenAI({ baseURL: `http://${host}:${port}/v1`, apiKey, maxRetries: 0 }));
    } finally {
      await app.drain();
    }
  }

  let script: VendorScript = () => ({ text: ['Hello', ' world'] });
  let upstream: OpenAiUpstream;
  before(async () => {
    upstream = await startOpenAiUpstream((request) => script(request));
  });
  after(() => upstream.close());
  const providers = () => `providers: { acme: { kind: openai, baseUrl: '${upstream.baseUrl}' } }`;
  const ASK = { model: 'acme/test-model', input: 'Hi' };

  test('and belongs to the access key that asked for it', async (context) => {
    const folder = temporaryFolder(context);
    let open = '';
    let owned = '';
    await during(folder, providers(), async (client) => {
      open = (await client.responses.create(ASK)).id;
    });
    const first = `${providers()}\nkey: first-access-key`;
    await during(
      folder,
      first,
      async (client) => {
        owned = (await client.responses.create(ASK)).id;
        assert.equal((await client.responses.retrieve(open)).output_text, 'Hello world');
        assert.equal((await client.responses.retrieve(owned)).output_text, 'Hello world');
        const other = client.withOptions({ apiKey: 'second-access-key' });
        const refused = (error: unknown): boolean => error instanceof APIError && error.status === 401;
        await assert.rejects(other.responses.retrieve(owned), refused);
      },
      'first-access-key',
    );
    const second = `${providers()}\nkey: second-access-key`;
    await during(
      folder,
      second,
      async (client) => {
        await assert.rejects(client.responses.retrieve(owned), NotFoundError);
        await assert.rejects(client.responses.delete(owned), NotFoundError);
        await assert.rejects(client.responses.create({ ...ASK, previous_response_id: owned }), BadRequestError);
      },
      'second-access-key',
    );
    await during(
      folder,
      first,
      async (client) => {
        assert.equal((await client.responses.create({ ...ASK, previous_response_id: owned })).status, 'completed');
      },
      'first-access-key',
    );
  });

  test('an answer in the background that the end of the server cut has failed', async (context) => {
    const folder = temporaryFolder(context);
    script = () => ({ text: ['Half'], stallAfter: 1 });
    context.after(() => {
      script = () => ({ text: ['Hello', ' world'] });
    });
    let id = '';
    const yaml = `${providers()}\nlimits: { drainMs: 100 }`;
    await during(folder, yaml, async (client) => {
      id = (await client.responses.create({ ...ASK, background: true })).id;
      await eventually('it is asked', () => upstream.open > 0);
    });
    await during(folder, yaml, async (client) => {
      const cut = await client.responses.retrieve(id);
      assert.equal(cut.status, 'failed');
      assert.match(cut.error?.message ?? '', /shutting down/);
    });
  });

  test('where nothing is to be kept, nothing is', async (context) => {
    const folder = temporaryFolder(context);
    await during(folder, `${providers()}\nlimits: { keptResponses: 0 }`, async (client) => {
      const answer = await client.responses.create({ ...ASK, store: true });
      assertHolds(answer, { status: 'completed', store: false });
      await assert.rejects(client.responses.retrieve(answer.id), NotFoundError);
      await assert.rejects(client.responses.create({ ...ASK, background: true }), BadRequestError);
    });
  });
});
