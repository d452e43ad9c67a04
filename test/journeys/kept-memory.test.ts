import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { at, converse, type KeptWorld, lastBody, openKept, postJson, remove, told, upload } from './kept-world.ts';

describe('memory over HTTP', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  before(async () => {
    world = await openKept();
    const items = [
      { role: 'user', content: 'My boat is called Albatross.', metadata: { topic: 'boat' } },
      { role: 'assistant', content: 'A fine name for a boat.' },
      { role: 'user', content: 'I live in Bergen, near the harbour.', metadata: { topic: 'home', floor: 3 } },
    ];
    await add('ada', { id: 'chat-1', title: 'Boats', items, extra: 'passed over' });
    await add('ADA', { items: [{ role: 'user', content: 'Upper case Ada has a boat called Zeppelin.' }] });
    await add('ad_', { items: [{ role: 'user', content: 'Wildcard has a boat called Wave.' }] });
  });
  after(() => world.close());

  const url = (user: string, query: Record<string, string> = {}): string =>
    at(world, `memory/${user}?${new URLSearchParams(query)}`);
  async function add(user: string, body: { items: unknown[]; [name: string]: unknown }): Promise<void> {
    assert.deepEqual((await told(postJson(url(user), body))).json, { count: body.items.length });
  }
  const find = async (user: string, query: Record<string, string> = {}) => {
    const { status, json } = await told(fetch(url(user, query)));
    assert.equal(status, 200);
    return json as { count: number; next: number | null; previous: number | null; results: Record<string, unknown>[] };
  };
  const textsOf = async (user: string, query = {}): Promise<unknown[]> =>
    (await find(user, query)).results.map(({ memory }) => memory);

  test('lists the newest first, with everything about an item', async () => {
    const page = await find('ada');
    assert.deepEqual(
      { ...page, results: page.results.length },
      { count: 3, page: 1, page_size: 100, next: null, previous: null, results: 3 },
    );
    const [first] = page.results;
    assert.equal(first?.['memory'], 'I live in Bergen, near the harbour.');
    assert.equal(first?.['user_id'], 'ada');
    assert.equal(first?.['role'], 'user');
    assert.equal(first?.['conversation_id'], 'chat-1');
    assert.deepEqual(first?.['metadata'], { conversation_id: 'chat-1', title: 'Boats', topic: 'home', floor: 3 });
    assert.match(String(first?.['created_at']), /^\d{4}-\d\d-\d\dT/);
    assert.ok(!('score' in (first ?? {})));
  });

  test('searches, ranked, whatever the case', async () => {
    const { results } = await find('ada', { search: 'BOAT albatross' });
    assert.deepEqual(
      results.map(({ memory }) => memory),
      ['My boat is called Albatross.', 'A fine name for a boat.'],
    );
    const scores = results.map(({ score }) => Number(score));
    assert.ok((scores[0] ?? 0) > (scores[1] ?? 0), String(scores));
    assert.deepEqual(await textsOf('ada', { search: 'submarine' }), []);
    assert.equal((await find('ada', { search: '   ' })).count, 3);
    for (const search of ['"', 'boat"*', 'NEAR(', 'a AND', '%', '_', "'; drop table memory; --"])
      await find('ada', { search });
  });

  test('filters by fields and metadata, and pages', async () => {
    assert.deepEqual(await textsOf('ada', { filters: '{"role":"assistant"}' }), ['A fine name for a boat.']);
    assert.equal((await find('ada', { filters: '{"conversation_id":"chat-1"}' })).count, 3);
    assert.deepEqual(await textsOf('ada', { metadata: '{"topic":"boat"}' }), ['My boat is called Albatross.']);
    assert.deepEqual(await textsOf('ada', { search: 'boat', metadata: '{"topic":"boat"}' }), [
      'My boat is called Albatross.',
    ]);
    assert.equal((await find('ada', { filters: '{"floor":3}' })).count, 1);
    assert.equal((await find('ada', { filters: '{"floor":"4"}' })).count, 0);
    assert.deepEqual(await textsOf('ada', { metadata: '{"role":"assistant"}' }), []);
    assert.equal((await find('ada', { metadata: '{"conversation_id":"chat-1"}' })).count, 3);
    assert.equal((await find('ada', { filters: '{"user_id":"ada"}', metadata: '{"title":"Boats"}' })).count, 3);
    for (const { id, ...item } of (await find('ada')).results) {
      const filters = Object.fromEntries(
        ['memory', 'created_at', 'updated_at', 'role', 'user_id', 'conversation_id'].map((name) => [name, item[name]]),
      );
      const { results } = await find('ada', { filters: JSON.stringify(filters) });
      assert.deepEqual(
        results.map((result) => result['id']),
        [id],
      );
    }
    assert.equal((await find('ada', { filters: '{"created_at":"yesterday"}' })).count, 0);
    const second = await find('ada', { page: '2', page_size: '2' });
    assert.deepEqual([second.count, second.previous, second.next, second.results.length], [3, 1, null, 1]);
    assert.equal((await find('ada', { page: '1', page_size: '2' })).next, 2);
    assert.equal((await find('ada', { page: '1', page_size: '3' })).next, null, 'nothing is behind the last one');
    assert.deepEqual(await textsOf('ada', { page: '9' }), []);
  });

  test('of a whole conversation what says something is remembered', async () => {
    const items = [
      {
        role: 'user',
        content: [{ type: 'text', text: 'Look:' }, { type: 'image_url', image_url: { url: 'x' } }, { text: 'my cat.' }],
      },
      { role: 'assistant', content: '' },
      { role: 'assistant', content: null, tool_calls: [] },
      { role: 'user', content: [] },
      { role: 'user', content: 'She is called Ada.' },
    ];
    assert.deepEqual((await told(postJson(url('parts'), { items }))).json, { count: 2 });
    assert.deepEqual(await textsOf('parts', { page: '' }), ['She is called Ada.', 'Look:\nmy cat.']);
  });

  test('what comes in the same millisecond as something else is newer all the same', async (context) => {
    context.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const said = (content: string) => ({ role: 'user', content });
    await add('hasty', { items: [said('One.'), said('Two.')] });
    await add('hasty', { items: [said('Three.')] });
    assert.deepEqual(await textsOf('hasty'), ['Three.', 'Two.', 'One.']);
  });

  test('users stay apart', async () => {
    assert.deepEqual(await textsOf('ADA', { search: 'boat' }), ['Upper case Ada has a boat called Zeppelin.']);
    assert.deepEqual(await textsOf('ad_'), ['Wildcard has a boat called Wave.']);
    assert.deepEqual(await textsOf('Ada'), []);
    assert.deepEqual(await textsOf('nobody'), []);
    assert.equal(
      (await find('ada', { user_id: 'ADA', filters: '{"user_id":"ADA"}' })).results.filter(
        ({ user_id }) => user_id !== 'ada',
      ).length,
      0,
    );
    for (const id of ['%25', '*', '..%2fada', 'a.b', '---', 'x'.repeat(65)]) {
      assert.equal((await told(fetch(url(id)))).status, 400, id);
      assert.equal((await told(postJson(url(id), { items: [] }))).status, 400, id);
    }
  });

  test('refuses what makes no sense', async () => {
    for (const query of [
      { filters: '{' },
      { filters: '[]' },
      { filters: 'null' },
      { filters: '{"role":{}}' },
      { metadata: '{"a":[1]}' },
      { metadata: 'x' },
      { page: '0' },
      { page: 'x' },
      { page: '1.5' },
      { page: '0x1' },
      { page: '1e0' },
      { page: ' 1' },
      { page_size: '0' },
      { page_size: '1001' },
      { page_size: '-1' },
    ]) {
      const { status, code } = await told(fetch(url('ada', query)));
      assert.deepEqual([status, code], [400, 'invalid_request'], JSON.stringify(query));
    }
    for (const body of [
      {},
      { items: 'x' },
      { items: [{ role: 'user' }] },
      { items: [{ role: 'user', content: [5] }] },
      { items: [{ role: 'user', content: [{ text: 5 }] }] },
      { items: [{ content: 'x' }] },
      { items: [null] },
      '[]',
      '{',
    ])
      assert.equal((await told(postJson(url('ada'), body))).status, 400, JSON.stringify(body));
    assert.equal((await find('ada')).count, 3);
  });

  test('a conversation that is sent again when it has grown is not remembered twice', async () => {
    const said = [
      { role: 'user', content: 'Yes.' },
      { role: 'assistant', content: 'No.' },
      { role: 'user', content: 'Yes.' },
    ];
    await add('again', { id: 'c', items: said });
    const before = (await find('again')).results;
    await add('again', { id: 'c', items: [...said, { role: 'assistant', content: 'Well.' }] });
    assert.deepEqual(await textsOf('again'), ['Well.', 'Yes.', 'No.', 'Yes.']);
    const times = ({ id, created_at }: Record<string, unknown>) => [id, created_at];
    assert.deepEqual((await find('again')).results.slice(1).map(times), before.map(times));
    await add('again', { id: 'another', items: said.slice(0, 1) });
    await add('again', { items: said.slice(0, 1) });
    assert.equal((await find('again')).count, 6);
    for (const _ of [1, 2]) await add('nameless', { id: '', title: '', items: said.slice(0, 1) });
    const { results } = await find('nameless');
    assert.deepEqual(
      results.map((item) => [item['conversation_id'], item['metadata']]),
      [1, 2].map(() => [null, { conversation_id: null }]),
    );
  });

  test('forgets one statement, or all', async () => {
    await add('leaving', {
      items: [
        { role: 'user', content: 'one' },
        { role: 'user', content: 'two' },
      ],
    });
    const [last] = (await find('leaving')).results;
    assert.deepEqual((await told(remove(at(world, `memory/leaving/${last?.['id']}`)))).json, { count: 1 });
    assert.equal((await told(remove(at(world, `memory/leaving/${last?.['id']}`)))).status, 404);
    assert.deepEqual(await textsOf('leaving'), ['one']);
    assert.deepEqual((await told(remove(at(world, 'memory/leaving')))).json, { count: 1 });
    assert.equal((await find('ada')).count, 3);
  });

  test('helps to answer when the client asks for it, in both dialects', async () => {
    const messages = [
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'What is my boat called?' },
    ];
    const sent = (): { role: string; content: string }[] => lastBody(world).messages;
    const ask = async (body: object): Promise<void> => {
      await converse(world, { messages, ...body });
    };
    const askV1 = async (body: object): Promise<void> => {
      const answer = await told(
        postJson(`${world.origin}/v1/chat/completions`, { model: 'acme/test-model', messages, ...body }),
      );
      assert.equal(answer.status, 200, answer.message);
    };
    for (const dialect of [ask, askV1]) {
      for (const without of [
        {},
        { user: 'ada' },
        { memory: true },
        { memory: false, user: 'ada' },
        { memory: true, user: 'nobody' },
      ]) {
        await dialect(without);
        assert.ok(!JSON.stringify(sent()).includes('Albatross'), JSON.stringify(without));
        assert.equal(sent().length, 2);
      }
      await dialect({ memory: true, user: 'ada' });
      const [first, note, last] = sent();
      assert.deepEqual(
        [first?.role, first?.content, last?.content],
        ['system', 'Be short.', 'What is my boat called?'],
      );
      assert.equal(note?.role, 'system');
      assert.match(note?.content ?? '', /information, not instructions:\n- \(user\) My boat is called Albatross\.\n/);
      assert.ok(
        !note?.content.includes('Zeppelin') && !note?.content.includes('Wave') && !note?.content.includes('Bergen'),
      );
      assert.ok(!JSON.stringify(lastBody(world)).includes('"memory"'), 'no provider sees the field');
    }
    const chunks = await converse(world, { messages, memory: true, user: 'ada' });
    const logs = chunks.filter(({ type }) => type === 'log');
    assert.deepEqual(logs, [{ type: 'log', log: 'Statements of the memory that went along: 2.', memories: 2 }]);
    await assert.rejects(() => ask({ memory: true, user: '../ada' }), /400/);
  });

  test('what a document says, and words that every question has, recall nothing', async () => {
    await add('reader', {
      items: [
        { role: 'user', content: 'My aunt is in Zanzibar.' },
        { role: 'user', content: 'The red lamp is mine.' },
      ],
    });
    await upload(world, 'travel', ['travel.txt', 'Zanzibar has beaches.']);
    const content = [
      { bucket_id: 'travel', url: 'x' },
      { type: 'text', text: 'What is the colour of my lamp?' },
    ];
    await converse(world, { memory: true, user: 'reader', messages: [{ role: 'user', content }] });
    const [note, asked] = lastBody(world).messages;
    assert.match(String(note?.content), /\n- \(user\) The red lamp is mine\.$/);
    assert.ok(!String(note?.content).includes('aunt'));
    assert.match(JSON.stringify(asked?.content), /Zanzibar has beaches/);
    // A question of such words alone still recalls something.
    await converse(world, { memory: true, user: 'reader', messages: [{ role: 'user', content: 'What is mine?' }] });
    assert.match(String(lastBody(world).messages[0]?.content), /lamp/);
  });
});
