import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import OpenAI, { APIError, BadRequestError, NotFoundError, UnprocessableEntityError } from 'openai';
import type { ConversationItem } from 'openai/resources/conversations';
import type { Response } from 'openai/resources/responses/responses';
import { startGateway } from '../support/gateway.ts';
import { all, FORMATS, lastOf, openWorld, type Seat, type World } from './responses-world.ts';
import { assertHolds } from './sdk-vendors.ts';

const WEATHER = {
  type: 'function',
  name: 'weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: false,
} as const;

/** What an item says, in a word. */
function wordOf(item: ConversationItem): string {
  if (item.type === 'message') return item.content.map((part) => ('text' in part ? part.text : part.type)).join('');
  if (item.type === 'reasoning') return item.summary.map(({ text }) => text).join('');
  return item.type;
}

describe('conversations', { timeout: 120_000 }, () => {
  let world: World;
  let seat: Seat;
  before(async () => {
    world = await openWorld();
    seat = world.seat('anthropic');
  });
  after(() => world.close());

  const create = (body: Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming> = {}): Promise<Response> =>
    world.client.responses.create({ model: seat.model, input: 'Hi', ...body });
  const wordsOf = async ({ id }: { readonly id: string }): Promise<readonly string[]> =>
    (await Array.fromAsync(world.client.conversations.items.list(id, { order: 'asc' }))).map(wordOf);

  test('are begun, described, found and deleted', async () => {
    const { conversations } = world.client;
    const before = Math.floor(Date.now() / 1_000);
    const empty = await conversations.create();
    assert.match(empty.id, /^conv_[0-9a-f]{48}$/);
    assert.deepEqual(
      { ...empty, created_at: 0 },
      { id: empty.id, object: 'conversation', created_at: 0, metadata: {} },
    );
    assert.ok(empty.created_at >= before && empty.created_at <= Date.now() / 1_000);
    assert.deepEqual(await conversations.retrieve(empty.id), empty);
    const described = await conversations.update(empty.id, { metadata: { topic: 'rain' } });
    assert.deepEqual(described, { ...empty, metadata: { topic: 'rain' } });
    assert.deepEqual(await conversations.retrieve(empty.id), described);
    assert.deepEqual((await conversations.update(empty.id, { metadata: null })).metadata, {});
    const other = await conversations.create({ metadata: { a: 'b' }, items: [{ role: 'user', content: 'Hello' }] });
    assert.deepEqual(other.metadata, { a: 'b' });
    assert.deepEqual(await wordsOf(other), ['Hello']);
    assert.deepEqual(await conversations.delete(empty.id), {
      id: empty.id,
      object: 'conversation.deleted',
      deleted: true,
    });
    for (const ask of [
      () => conversations.retrieve(empty.id),
      () => conversations.delete(empty.id),
      () => conversations.update(empty.id, { metadata: {} }),
      () => conversations.items.list(empty.id),
      () => conversations.items.create(empty.id, { items: [{ role: 'user', content: 'Hello' }] }),
      () => create({ conversation: empty.id }),
    ]) {
      await assert.rejects(
        async () => ask(),
        (error) => error instanceof NotFoundError && error.message.includes(`'${empty.id}' not found`),
      );
    }
    assert.deepEqual(await wordsOf(other), ['Hello']);
  });

  test('have items that are added, listed page by page, shown and deleted', async () => {
    const { conversations } = world.client;
    const { id, ...conversation } = await conversations.create({ items: [{ role: 'user', content: 'item 0' }] });
    const added = await conversations.items.create(id, {
      items: Array.from({ length: 44 }, (_, n) => ({ role: 'user' as const, content: `item ${n + 1}` })),
    });
    assert.deepEqual(
      added.data.map(wordOf),
      Array.from({ length: 44 }, (_, n) => `item ${n + 1}`),
    );
    assert.deepEqual([added.first_id, added.last_id, added.has_more], [added.data[0]?.id, added.data[43]?.id, false]);
    const first = await conversations.items.list(id);
    assert.deepEqual(
      first.data.map(wordOf),
      Array.from({ length: 20 }, (_, n) => `item ${44 - n}`),
    );
    assert.equal(first.has_more, true);
    const newest = await Array.fromAsync(conversations.items.list(id, { limit: 7 }));
    const oldest = await Array.fromAsync(conversations.items.list(id, { limit: 9, order: 'asc' }));
    assert.equal(newest.length, 45);
    assert.deepEqual(newest.toReversed(), oldest);
    const [, item] = oldest;
    assert.ok(item?.type === 'message');
    assert.deepEqual(item, {
      type: 'message',
      id: item.id,
      status: 'completed',
      role: 'user',
      content: [{ type: 'input_text', text: 'item 1' }],
    });
    assert.deepEqual(await conversations.items.retrieve(item.id, { conversation_id: id }), item);
    assert.deepEqual(await conversations.items.delete(item.id, { conversation_id: id }), { id, ...conversation });
    assert.equal((await wordsOf({ id })).includes('item 1'), false);
    for (const ask of [
      () => conversations.items.retrieve(item.id, { conversation_id: id }),
      () => conversations.items.delete(item.id, { conversation_id: id }),
    ]) {
      await assert.rejects(ask(), (error) => error instanceof NotFoundError && /Item with id/.test(error.message));
    }
    await assert.rejects(
      async () => conversations.items.list(id, { after: item.id }),
      (error) => error instanceof BadRequestError && error.param === 'after',
    );
  });

  for (const format of FORMATS) {
    test(`hold what was asked and answered, before ${format}`, async () => {
      const seat = world.seat(format);
      const ask = { model: seat.model, tools: [WEATHER], reasoning: { effort: 'low' as const } };
      const conversation = await world.client.conversations.create({
        items: [{ role: 'developer', content: 'Be brief.' }],
      });
      seat.answers({
        reasoning: ['Look outside.'],
        toolCalls: [{ id: 'call_1', name: 'weather', arguments: ['{"city":"Rom"}'] }],
      });
      const first = await create({ ...ask, conversation: conversation.id, input: 'Weather in Rom?' });
      assert.deepEqual(first.conversation, { id: conversation.id });
      const call = first.output.find((item) => item.type === 'function_call');
      assert.ok(call?.type === 'function_call');
      seat.answers({ reasoning: ['Sun it is.'], text: ['Sunny.'] });
      const output = [{ type: 'function_call_output' as const, call_id: call.call_id, output: 'sun' }];
      // A stream, and the conversation as an object.
      const events = await all(
        await world.client.responses.create({ ...ask, conversation, input: output, stream: true }),
      );
      assert.deepEqual(lastOf(events).conversation, { id: conversation.id });
      await create({ ...ask, conversation: conversation.id, input: 'And tomorrow?' });
      const sent = JSON.stringify(seat.last.body);
      assert.ok(sent.includes('Be brief.'), sent);
      let at = -1;
      for (const words of ['Weather in Rom?', 'weather', 'sun', 'Sunny.', 'And tomorrow?']) {
        const found = sent.indexOf(words, at + 1);
        assert.ok(found > at, `${words} behind the ones before in ${sent}`);
        at = found;
      }
      // Thoughts came back with their signature although the client never saw it.
      if (format === 'anthropic') assert.ok(sent.includes('"signature":"sig-0"'), sent);
      if (format === 'openai-responses') assert.ok(sent.includes('"encrypted_content":"encrypted rs_0"'), sent);
      const kept = await wordsOf(conversation);
      assert.deepEqual(kept, [
        'Be brief.',
        'Weather in Rom?',
        'Look outside.',
        'function_call',
        'function_call_output',
        'Sun it is.',
        'Sunny.',
        'And tomorrow?',
        'Sun it is.',
        'Sunny.',
      ]);
    });
  }

  test('are there for whoever hears of the end of an answer', async () => {
    seat.answers({ text: ['Hello'] });
    const conversation = await world.client.conversations.create();
    for (let round = 1; round <= 5; round += 1) {
      const stream = await world.client.responses.create({
        model: seat.model,
        input: `round ${round}`,
        conversation,
        stream: true,
      });
      for await (const event of stream) {
        if (event.type === 'response.completed') assert.equal((await wordsOf(conversation)).length, round * 2);
      }
    }
  });

  test('take answers that are not stored, and those made in the background', async () => {
    seat.answers({ text: ['Hello'] });
    const conversation = await world.client.conversations.create();
    const unkept = await create({ conversation: conversation.id, input: 'one', store: false });
    await assert.rejects(world.client.responses.retrieve(unkept.id), NotFoundError);
    let { id, status } = await create({ conversation: conversation.id, input: 'two', background: true });
    while (status === 'queued' || status === 'in_progress') ({ status } = await world.client.responses.retrieve(id));
    assert.equal(status, 'completed');
    assert.deepEqual(await wordsOf(conversation), ['one', 'Hello', 'two', 'Hello']);
    await create({ conversation: conversation.id, input: 'three' });
    assert.equal((seat.last.body as { messages: unknown[] }).messages.length, 5);
  });

  test('of an answer that failed or was left there is no trace', async () => {
    const conversation = await world.client.conversations.create({ items: [{ role: 'user', content: 'before' }] });
    seat.answers({ status: 400, errorMessage: 'No.' });
    await assert.rejects(create({ conversation: conversation.id, input: 'refused' }), APIError);
    seat.answers({ text: ['Half', ' a', ' word'], errorAfter: 2, errorMessage: 'Out of power.' });
    const failed = await all(
      await world.client.responses.create({ model: seat.model, input: 'cut', conversation, stream: true }),
    ).catch((error: unknown) => error);
    assert.ok(failed instanceof APIError || Array.isArray(failed));
    seat.answers({ text: Array.from({ length: 100 }, () => 'word '), delayMs: 20 });
    const left = await world.client.responses.create({ model: seat.model, input: 'left', conversation, stream: true });
    for await (const event of left) if (event.type === 'response.output_text.delta') break;
    await seat.last.closed;
    assert.deepEqual(await wordsOf(conversation), ['before']);
    seat.answers({ text: ['cut off'], finish: 'length' });
    await create({ conversation: conversation.id, input: 'long' });
    // That is all the model said.
    assert.deepEqual(await wordsOf(conversation), ['before', 'long', 'cut off']);
  });

  test('that cannot be written make the answer fail, whole or in a stream', async (context) => {
    seat.answers({ text: ['Hello'] });
    const conversation = await world.client.conversations.create({ items: [{ role: 'user', content: 'before' }] });
    // Usage of the answers before may still be on its way into it.
    const database = new DatabaseSync(path.join(world.gateway.folder, 'data', 'sluice.db'), { timeout: 10_000 });
    context.after(() => database.close());
    database.exec(
      "create trigger broken before insert on conversation_items begin select raise(abort, 'no more room'); end",
    );
    for (const store of [true, false]) {
      await assert.rejects(
        create({ conversation: conversation.id, store }),
        (error) => error instanceof APIError && error.status === 500 && !/room/.test(error.message),
      );
      const types: string[] = [];
      const stream = { model: seat.model, input: 'Hi', conversation, store, stream: true } as const;
      await assert.rejects(async () => {
        for await (const event of await world.client.responses.create(stream)) types.push(event.type);
      }, APIError);
      assert.ok(types.includes('response.output_text.delta'), types.join());
      assert.equal(types.includes('response.completed'), false, types.join());
    }
    database.exec('drop trigger broken');
    assert.deepEqual(await wordsOf(conversation), ['before']);
    await create({ conversation: conversation.id });
    assert.deepEqual(await wordsOf(conversation), ['before', 'Hi', 'Hello']);
  });

  test('know what the model got for each answer', async () => {
    seat.answers({ text: ['Hello'] });
    const conversation = await world.client.conversations.create({ items: [{ role: 'user', content: 'zero' }] });
    const first = await create({ conversation: conversation.id, input: 'one' });
    const second = await create({ conversation: conversation.id, input: 'two' });
    await create({ conversation: conversation.id, input: 'three' });
    const inputOf = async ({ id }: Response): Promise<readonly string[]> =>
      (await Array.fromAsync(world.client.responses.inputItems.list(id, { order: 'asc' }))).map((item) =>
        wordOf(item as ConversationItem),
      );
    assert.deepEqual(await inputOf(first), ['zero', 'one']);
    assert.deepEqual(await inputOf(second), ['zero', 'one', 'Hello', 'two']);
    // Another way goes on from an answer in the middle, with what stood before it.
    const other = await create({ previous_response_id: first.id, input: 'other' });
    assert.deepEqual(await inputOf(other), ['zero', 'one', 'Hello', 'other']);
    assert.equal((await wordsOf(conversation)).includes('other'), false);
    const counted = await world.client.responses.inputTokens.count({
      model: seat.model,
      conversation: conversation.id,
      input: 'x',
    });
    assert.ok(counted.input_tokens > 0);
    await world.client.conversations.delete(conversation.id);
    assert.equal((await world.client.responses.retrieve(first.id)).output_text, 'Hello');
    assert.deepEqual(await inputOf(second), ['two']);
  });

  test('forget an item that was deleted, and are referred to by their items', async () => {
    seat.answers({ text: ['Hello'] });
    const conversation = await world.client.conversations.create({
      items: [
        { role: 'user', content: 'secret' },
        { role: 'user', content: 'known' },
      ],
    });
    const [secret, known] = await Array.fromAsync(
      world.client.conversations.items.list(conversation.id, { order: 'asc' }),
    );
    await world.client.conversations.items.delete(String(secret?.id), { conversation_id: conversation.id });
    await create({
      conversation: conversation.id,
      input: [
        { type: 'item_reference', id: String(known?.id) },
        { role: 'user', content: 'again' },
      ],
    });
    assertHolds(seat.last.body, {
      messages: [{ role: 'user' }],
    });
    const sent = JSON.stringify(seat.last.body);
    assert.equal(sent.split('known').length, 3, sent);
    assert.equal(sent.includes('secret'), false);
  });

  test('keep of a cut answer what a model takes back', async () => {
    const tools = [WEATHER];
    // Google's calls come whole.
    for (const format of FORMATS.filter((each) => each !== 'google')) {
      const seat = world.seat(format);
      const conversation = await world.client.conversations.create();
      const ask = { model: seat.model, conversation: conversation.id, tools };
      const halfCall = { id: 'call_1', name: 'weather', arguments: ['{"ci'] };
      seat.answers({ reasoning: ['hm'], toolCalls: [halfCall], finish: 'length' });
      const cut = await create({ ...ask, input: 'half a call' });
      assert.equal(cut.status, 'incomplete', seat.format);
      seat.answers({ text: ['As far'], toolCalls: [halfCall], finish: 'length' });
      await create({ ...ask, input: 'words before it' });
      seat.answers({ text: ['As far'], finish: 'length' });
      await create({ ...ask, input: 'half a text' });
      assert.deepEqual(
        await wordsOf(conversation),
        ['half a call', 'words before it', 'As far', 'half a text', 'As far'],
        seat.format,
      );
      seat.answers({ text: ['Well.'] });
      await create({ model: seat.model, tools, previous_response_id: cut.id, input: 'And now?' });
      const sent = JSON.stringify(seat.last.body);
      assert.ok(sent.includes('half a call'), sent);
      assert.equal(sent.includes('call_1'), false, sent);
    }
  });

  test('take items whose ids are taken, or none that can be kept, under ids of ours', async () => {
    const { conversations } = world.client;
    const message = (id: string, content: string) =>
      ({ type: 'message', id, role: 'assistant', status: 'completed', content }) as never;
    const { id } = await conversations.create({ items: [message('msg_1', 'a'), message('msg_1', 'b')] });
    await conversations.items.create(id, { items: [message('msg_1', 'c'), message('a b', 'd'), message('', 'e')] });
    // Whoever asks for `items/..` asks for something else.
    await conversations.items.create(id, { items: [message('.', 'f'), message('..', 'g')] });
    const kept = await Array.fromAsync(conversations.items.list(id, { order: 'asc' }));
    assert.deepEqual(kept.map(wordOf), ['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    assert.equal(kept[0]?.id, 'msg_1');
    assert.equal(new Set(kept.map((item) => item.id)).size, 7);
    for (const item of kept.slice(1)) assert.match(String(item.id), /^msg_[0-9a-f]{48}i0$/);
  });

  test('answer what is wrong with the field', async () => {
    const { conversations } = world.client;
    const { id } = await conversations.create();
    const tooMany = Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`key ${n}`, 'x']));
    const wrong: readonly (readonly [() => Promise<unknown>, RegExp])[] = [
      [() => conversations.create({ items: [{ role: 'nobody', content: 'x' }] as never }), /items\[0\]/],
      [() => conversations.create({ metadata: { a: 1 } as never }), /metadata\.a/],
      [() => conversations.create({ metadata: tooMany }), /metadata/],
      [() => conversations.update(id, {} as never), /metadata/],
      [() => conversations.items.create(id, { items: [] }), /items/],
      [() => conversations.items.create(id, {} as never), /items/],
      [async () => conversations.items.list(id, { limit: 101 }), /limit/],
      [async () => conversations.items.list(id, { order: 'up' as never }), /order/],
    ];
    for (const [ask, field] of wrong) {
      await assert.rejects(ask(), (error) => {
        assert.ok(error instanceof UnprocessableEntityError, String(error));
        assert.match(String(error.param), field);
        return true;
      });
    }
    await assert.rejects(
      conversations.items.create(id, { items: [{ type: 'item_reference', id: 'msg_unknown' }] as never }),
      (error) => error instanceof BadRequestError && error.param === 'items[0].id',
    );
    await assert.rejects(
      create({ conversation: id, previous_response_id: 'resp_x' }),
      (error) => error instanceof BadRequestError && error.param === 'conversation',
    );
    for (const none of ['conv_1', '../../x', '%00', 'conv_'.padEnd(53, 'A')]) {
      await assert.rejects(
        create({ conversation: none }),
        (error) => error instanceof NotFoundError && error.param === 'conversation',
      );
      await assert.rejects(conversations.retrieve(none), NotFoundError);
    }
  });
});

test('conversations and chains of answers have a size', { timeout: 60_000 }, async (context) => {
  const world = await openWorld('limits: { chatBodyBytes: 20000 }');
  context.after(() => world.close());
  const { client } = world;
  const { model } = world.seat('openai');
  const long = 'long '.repeat(3_000);
  const { id } = await client.conversations.create();
  const add = (): Promise<unknown> =>
    client.conversations.items.create(id, { items: [{ role: 'user', content: long }] });
  for (let count = 0; count < 6; count += 1) await add();
  const isTooLarge = (error: unknown): boolean =>
    error instanceof APIError && error.status === 413 && /more than 80000 bytes/.test(error.message);
  await assert.rejects(add(), isTooLarge);
  await assert.rejects(
    client.responses.create({ model, conversation: id, input: 'x' }),
    (error) => isTooLarge(error) && error instanceof APIError && error.param === 'conversation',
  );
  // Pages are as long as there is room for.
  for (const order of ['asc', 'desc'] as const) {
    const page = await client.conversations.items.list(id, { order });
    assert.deepEqual([page.data.length, page.has_more], [2, true]);
    const items = await Array.fromAsync(client.conversations.items.list(id, { order }));
    assert.equal(new Set(items.map((item) => item.id)).size, 6);
    for (const item of items.slice(0, order === 'desc' ? 2 : 0)) {
      await client.conversations.items.delete(String(item.id), { conversation_id: id });
    }
  }
  await client.responses.create({ model, conversation: id, input: 'x' });

  let previous: string | undefined;
  for (let count = 0; count < 6; count += 1) {
    const chained = previous === undefined ? {} : { previous_response_id: previous };
    previous = (await client.responses.create({ model, input: long, ...chained })).id;
  }
  await assert.rejects(
    client.responses.create({ model, input: long, previous_response_id: String(previous) }),
    (error) =>
      error instanceof BadRequestError &&
      error.param === 'previous_response_id' &&
      /more than 80000 bytes before it/.test(error.message),
  );
});

test('what items refer to has limits, be it the same one often', { timeout: 60_000 }, async (context) => {
  const world = await openWorld('limits: { chatBodyBytes: 20000 }');
  context.after(() => world.close());
  const { client } = world;
  const seat = world.seat('openai');
  const { model } = seat;
  const { id } = await client.responses.create({ model, input: 'x'.repeat(15_000) });
  const [said] = (await client.responses.inputItems.list(id)).data;
  const references = (count: number) => Array(count).fill({ type: 'item_reference', id: said?.id });
  await client.responses.create({ model, input: references(5) });
  seat.answers({ text: ['Hello'] });
  const isTooLarge = (name: string) => (error: unknown) =>
    error instanceof APIError &&
    error.status === 413 &&
    error.param === `${name}[5].id` &&
    /more than 80000 bytes/.test(error.message);
  await assert.rejects(client.responses.create({ model, input: references(6) }), isTooLarge('input'));
  const conversation = await client.conversations.create();
  await assert.rejects(
    client.conversations.items.create(conversation.id, { items: references(6) }),
    isTooLarge('items'),
  );
  assert.equal(seat.arrived.length, 0);
});

test('conversations are refused where nothing is to be kept', { timeout: 60_000 }, async (context) => {
  const gateway = await startGateway('limits: { keptResponses: 0 }');
  context.after(() => gateway.close());
  const client = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
  await assert.rejects(client.conversations.create(), (error) => error instanceof APIError && error.status === 501);
});
