import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  at,
  contentOf,
  converse,
  eventually,
  type KeptWorld,
  lastBody,
  openKept,
  postJson,
  remove,
  statusOf,
  told,
  upload,
} from './kept-world.ts';

describe('shared chats over HTTP', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  before(async () => {
    world = await openKept();
  });
  after(() => world.close());

  const url = (id: string): string => at(world, `chat/${id}`);
  /** Shares as a browser that has no cookie yet; returns the cookie. */
  async function share(id: string, body: object): Promise<string> {
    const response = await postJson(url(id), body);
    assert.deepEqual((await told(response)).json, { share_id: id });
    const [cookie = ''] = response.headers.getSetCookie();
    assert.match(cookie, /^sluice_owner=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
    return cookie.split(';')[0] ?? '';
  }
  const CHAT = {
    id: 'one',
    title: 'Tides',
    updated: 1_700_000_000_000,
    items: [{ role: 'user', content: 'Hi "there"' }],
  };

  test('gives back what was uploaded, and 304 to whoever has it', async () => {
    await share('one', CHAT);
    const response = await fetch(`${url('one')}?now=1700000000`);
    assert.equal(response.headers.get('etag'), '"1700000000000"');
    assert.deepEqual(await response.json(), CHAT);
    for (const known of ['1700000000000', '"1700000000000"', 'W/"1700000000000"', '"1", "1700000000000"']) {
      const fresh = await fetch(url('one'), { headers: { 'if-none-match': known } });
      assert.deepEqual([fresh.status, await fresh.text()], [304, ''], known);
    }
    for (const known of ['0', '1', '"x"', 'x', '', '17000000000001', '"1700000000000', '*']) {
      const full = await fetch(url('one'), { headers: { 'if-none-match': known } });
      assert.equal(full.status, 200, known);
      await full.text();
    }
  });

  test('what nobody shared is not found, whatever the reader has', async () => {
    for (const headers of [{}, { 'if-none-match': '0' }, { 'if-none-match': '"0"' }]) {
      const { status, code, message } = await told(fetch(url('never'), { headers }));
      assert.deepEqual([status, code], [404, 'not_found']);
      assert.match(message, /^Not found/);
    }
  });

  test('its owner alone changes and deletes it', async () => {
    const cookie = await share('own', { updated: 5, text: 'mine' });
    for (const headers of [{}, { cookie: `sluice_owner=${'A'.repeat(43)}` }, { cookie: 'sluice_owner=' }]) {
      const { status, code } = await told(postJson(url('own'), { updated: 6, text: 'yours' }, headers));
      assert.deepEqual([status, code], [403, 'forbidden']);
      assert.equal((await told(remove(at(world, 'files/own'), headers))).status, 403);
    }
    assert.equal((await told(postJson(url('own'), { updated: 4, text: 'old' }, { cookie }))).code, 'conflict');
    assert.equal((await told(postJson(url('own'), { updated: 4 }, { cookie }))).status, 409);
    assert.equal((await told(postJson(url('own'), { updated: 5, text: 'same time' }, { cookie }))).status, 200);
    assert.equal((await told(fetch(url('own')))).json.text, 'same time');
    assert.equal((await told(postJson(url('own'), { updated: 7, text: 'newer' }, { cookie }))).status, 200);
    assert.equal((await told(fetch(url('own')))).json.text, 'newer');
    assert.equal((await told(remove(at(world, 'files/own'), { cookie }))).status, 200);
    assert.equal((await told(fetch(url('own'), { headers: { 'if-none-match': '7' } }))).status, 404);
  });

  test('without a time stamp every change is seen', async () => {
    const cookie = await share('undated', { text: 'first' });
    const first = await fetch(url('undated'));
    assert.equal(((await first.json()) as { text: string }).text, 'first');
    const known = { 'if-none-match': first.headers.get('etag') ?? '' };
    assert.equal(await statusOf(url('undated'), { headers: known }), 304);
    assert.equal((await postJson(url('undated'), { text: 'second' }, { cookie })).status, 200);
    const second = await fetch(url('undated'), { headers: known });
    assert.deepEqual([second.status, ((await second.json()) as { text: string }).text], [200, 'second']);
  });

  test('a share and a bucket of the same id go together, but only to the owner', async () => {
    const cookie = await share('both', { updated: 1 });
    await upload(world, 'both', ['a.txt', 'kept']);
    assert.equal((await told(remove(at(world, 'files/both')))).status, 403);
    assert.match(await (await fetch(at(world, 'files/both'))).text(), /kept/);
    assert.equal((await told(remove(at(world, 'files/both'), { cookie }))).status, 200);
    assert.equal((await told(fetch(url('both')))).status, 404);
    assert.equal((await told(fetch(at(world, 'files/both')))).status, 404);
  });

  test('refuses what is no chat', async () => {
    for (const [body, status] of [
      ['{"updated":', 400],
      ['[]', 400],
      ['"x"', 400],
      [{ updated: 'soon' }, 400],
      [{ updated: -1 }, 400],
      [{ updated: 1.5 }, 400],
      [{ text: 'x'.repeat(5 * 1024 * 1024) }, 413],
    ] as const) {
      const { status: got, message } = await told(postJson(url('bad'), body));
      assert.equal(got, status, JSON.stringify(body).slice(0, 60));
      assert.ok(message.length > 0);
    }
    assert.equal((await told(postJson(url('bad'), { text: 'x'.repeat(4 * 1024 * 1024) }))).status, 200);
    assert.equal((await told(fetch(url('bad'), { method: 'POST', body: 'updated=1' }))).status, 415);
    for (const id of ['---', 'a.b', 'a%2fb', 'x'.repeat(65)]) {
      assert.equal((await told(postJson(url(id), {}))).status, 400, id);
      assert.equal((await told(fetch(url(id)))).status, 400, id);
    }
  });
});

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
    const second = await find('ada', { page: '2', page_size: '2' });
    assert.deepEqual([second.count, second.previous, second.next, second.results.length], [3, 1, null, 1]);
    assert.equal((await find('ada', { page: '1', page_size: '2' })).next, 2);
    assert.deepEqual(await textsOf('ada', { page: '9' }), []);
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
      { items: [{ content: 'x' }] },
      { items: [null] },
      '[]',
      '{',
    ])
      assert.equal((await told(postJson(url('ada'), body))).status, 400, JSON.stringify(body));
    assert.equal((await find('ada')).count, 3);
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

describe('usage and log over HTTP', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  before(async () => {
    world = await openKept();
  });
  after(() => world.close());

  const today = (): string => new Date().toISOString().slice(0, 10);
  async function recordsOf(user: string): Promise<Record<string, unknown>[]> {
    const response = await fetch(at(world, `usage/${today()}`));
    const text = await response.text();
    if (response.status !== 200) return [];
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.ok(text.endsWith('\n'));
    const lines = text.trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter((record) => record['user'] === user);
  }
  const recorded = (user: string) =>
    eventually(async () => {
      const records = await recordsOf(user);
      return records.length > 0 ? records : undefined;
    });

  test('a day without usage is not found, and a date has to be one', async () => {
    assert.equal((await told(fetch(at(world, 'usage/1999-01-01')))).status, 404);
    for (const date of [
      'today',
      '2026-13-01',
      '2026-02-30',
      '2026-00-10',
      '2026-1-1',
      '20260101',
      '9999-99-99',
      '2026-01-01T00',
    ])
      assert.deepEqual((await told(fetch(at(world, `usage/${date}`)))).status, 400, date);
  });

  const messages = [{ role: 'user', content: 'Hi' }];
  const chat = (user: string, body: object) =>
    postJson(
      `${world.origin}/v1/chat/completions`,
      { model: 'acme/test-model', messages, ...body },
      { 'x-user': user },
    );
  const ways: Readonly<Record<string, (user: string) => Promise<Response>>> = {
    'v1, streamed and relayed': (user) => chat(user, { stream: true }),
    'v1, whole and relayed': (user) => chat(user, {}),
    'v1, streamed and understood': (user) => chat(user, { stream: true, download_media: true }),
    'v1, whole and understood': (user) => chat(user, { download_media: true }),
    conversation: (user) => postJson(at(world, 'conversation'), { provider: 'acme', messages }, { 'x-user': user }),
    create: (user) => fetch(at(world, 'create?prompt=Hi&provider=acme'), { headers: { 'x-user': user } }),
    'create, filtered': (user) =>
      fetch(at(world, 'create?prompt=Hi&provider=acme&filter_markdown=1'), { headers: { 'x-user': user } }),
  };
  for (const [name, ask] of Object.entries(ways)) {
    test(`is recorded once: ${name}`, async () => {
      const user = `user of ${name}`;
      const response = await ask(user);
      assert.equal(response.status, 200);
      await response.text();
      await recorded(user);
      // Time for a second record, should there be one.
      await new Promise((resolve) => setTimeout(resolve, 400));
      const records = await recordsOf(user);
      assert.equal(records.length, 1);
      const [{ time, ...record } = {}] = records;
      assert.match(String(time), /^\d{4}-.*Z$/);
      assert.deepEqual(record, {
        user,
        provider: 'acme',
        label: 'acme',
        model: 'test-model',
        prompt_tokens: 11,
        completion_tokens: 7,
        total_tokens: 18,
        cost: null,
      });
    });
  }

  test('an answer that fails is no usage', async () => {
    world.answers({ status: 400, errorMessage: 'no' });
    await (await ways['conversation']?.('failing'))?.text();
    world.answers({ text: ['Hello', ' world'] });
    await new Promise((resolve) => setTimeout(resolve, 400));
    assert.deepEqual(await recordsOf('failing'), []);
  });

  test('a front end may note its own; the header wins, and what is ours stays ours', async () => {
    const body = {
      model: 'm',
      provider: 'p',
      label: 'L\u0007\u0000x',
      prompt_tokens: 3,
      completion_tokens: 4,
      total_tokens: 7,
      user: 'forged',
      time: 'never',
      ip: '10.0.0.1',
      id: 'mine',
    };
    const response = await told(postJson(at(world, 'usage'), body, { 'x-user': 'true\tone' }));
    assert.deepEqual([response.status, response.json], [200, {}]);
    const [record] = await recorded('true one');
    const { time, ...others } = record ?? {};
    assert.notEqual(time, 'never');
    assert.deepEqual(others, {
      label: 'L  x',
      user: 'true one',
      provider: 'p',
      model: 'm',
      prompt_tokens: 3,
      completion_tokens: 4,
      total_tokens: 7,
    });
    await told(postJson(at(world, 'usage'), { user: 'of the body', total_tokens: 5 }, {}));
    assert.equal((await recorded('of the body'))[0]?.['total_tokens'], 5);
    await told(postJson(at(world, 'usage'), { user: null, model: null, provider: null }));
    assert.equal((await recorded('unknown')).at(-1)?.['model'], '');
  });

  for (const route of ['usage', 'log']) {
    test(`POST ${route} refuses what is no record`, async () => {
      for (const [body, status] of [
        ['{', 400],
        ['[]', 400],
        ['[{"a":1}]', 400],
        ['null', 400],
        [{ text: 'x'.repeat(64 * 1024) }, 413],
      ] as const)
        assert.equal((await told(postJson(at(world, route), body))).status, status, JSON.stringify(body).slice(0, 40));
      assert.equal((await told(fetch(at(world, route), { method: 'POST', body: 'a=1' }))).status, 415);
      assert.deepEqual((await told(postJson(at(world, route), { text: 'x'.repeat(60 * 1024) }))).json, {});
    });
  }

  test('tokens have to be numbers', async () => {
    for (const tokens of ['many', -1, {}, true, 1e300])
      assert.equal((await told(postJson(at(world, 'usage'), { prompt_tokens: tokens }))).status, 400, String(tokens));
  });

  test('statistics have a row for each day and sums by name', async () => {
    await told(
      postJson(
        at(world, 'usage'),
        { model: 'big', provider: 'p', total_tokens: 1000, saved_tokens: 9 },
        { 'x-user': 'counted' },
      ),
    );
    const { json } = await told(fetch(at(world, 'stats?days=7&user=counted')));
    assert.equal(json.days.length, 7);
    assert.equal(json.days.at(-1).date, today());
    const day = { requests: 1, prompt_tokens: 0, completion_tokens: 0, total_tokens: 1000, saved_tokens: 9 };
    assert.deepEqual(json.days.at(-1), { date: today(), ...day });
    assert.deepEqual(json.days[0].requests, 0);
    assert.deepEqual(json.totals, day);
    assert.deepEqual([json.models, json.providers, json.users], [{ big: 1000 }, { p: 1000 }, { counted: 1000 }]);
    const all = (await told(fetch(at(world, 'stats')))).json;
    assert.equal(all.days.length, 30);
    assert.equal(Object.keys(all.models)[0], 'big');
    assert.equal((await told(fetch(at(world, 'stats?days=0')))).json.days.length, 1);
    assert.equal((await told(fetch(at(world, 'stats?days=999')))).json.days.length, 365);
    assert.equal((await told(fetch(at(world, 'stats?days=x')))).status, 400);
  });

  test('what a front end reports is stored, never shown to others', async () => {
    const chunk = { type: 'error', error: 'X', message: 'a very peculiar failure', provider: { name: 'p' } };
    assert.deepEqual((await told(postJson(at(world, 'log'), chunk, { origin: world.origin }))).json, {});
    for (const route of ['log', 'usage', 'stats', `usage/${today()}`]) {
      const text = await (await fetch(at(world, route))).text();
      assert.ok(!text.includes('peculiar'), route);
    }
    const events = await converse(world, {});
    assert.equal(contentOf(events), 'Hello world');
    assert.ok(!JSON.stringify(events).includes('peculiar'));
  });
});
