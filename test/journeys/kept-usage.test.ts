import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { todayForAWhile, usageLines } from '../support/usage.ts';
import { at, contentOf, converse, type KeptWorld, openKept, postJson, told } from './kept-world.ts';

describe('usage and log over HTTP', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  before(async () => {
    world = await openKept();
  });
  after(() => world.close());

  async function recordsOf(user: string): Promise<Record<string, unknown>[]> {
    const lines = await usageLines(world.origin);
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter((record) => record['user'] === user);
  }
  const recorded = (user: string) =>
    eventually(`usage of ${user} is recorded`, async () => {
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

  for (const [name, ask] of Object.entries(ways)) {
    test(`whoever has the end of an answer finds its usage: ${name}`, async () => {
      const user = `reader after ${name}`;
      await (await ask(user)).text();
      assert.equal((await recordsOf(user)).length, 1);
      const other = `statistician after ${name}`;
      await (await ask(other)).text();
      const { users } = (await told(fetch(at(world, 'stats?days=2')))).json as { users: Record<string, number> };
      assert.equal(users[other], 18);
    });
  }

  test('a label beyond ASCII is read as it was written, in either encoding', async () => {
    const latin1 = 'J\u00fcrgen';
    await told(postJson(at(world, 'usage'), { total_tokens: 1 }, { 'x-user': latin1 }));
    assert.equal((await recorded('J\u00fcrgen')).length, 1);
    const utf8 = Buffer.from('Ada \u732b').toString('latin1');
    await told(postJson(at(world, 'usage'), { total_tokens: 1 }, { 'x-user': utf8 }));
    assert.equal((await recorded('Ada \u732b')).length, 1);
  });

  test('an answer that fails is no usage', async () => {
    world.answers({ status: 400, errorMessage: 'no' });
    await (await ways['conversation']?.('failing'))?.text();
    world.answers({ text: ['Hello', ' world'] });
    await new Promise((resolve) => setTimeout(resolve, 400));
    assert.deepEqual(await recordsOf('failing'), []);
  });

  test('a record is one line to every reader of lines', async () => {
    const note = 'a\u2028b\u2029c';
    await told(postJson(at(world, 'usage'), { user: 'of many lines', model: note, note }));
    const line = (await usageLines(world.origin)).find((each) => each.includes('of many lines')) ?? assert.fail();
    assert.doesNotMatch(line, /[\x85\u2028\u2029]/);
    const record = JSON.parse(line) as Record<string, unknown>;
    assert.deepEqual([record['model'], record['note']], [note, note]);
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
      id: 'mine',
    });
    await told(postJson(at(world, 'usage'), { user: 'of the body', total_tokens: 5 }, {}));
    assert.equal((await recorded('of the body'))[0]?.['total_tokens'], 5);
    await told(postJson(at(world, 'usage'), { user: `${'u'.repeat(255)}\u{1f600}` }));
    assert.equal((await recorded('u'.repeat(255))).length, 1, 'not half of a sign');
    await told(postJson(at(world, 'usage'), { user: null, model: null, provider: null }));
    assert.equal((await recorded('unknown')).at(-1)?.['model'], '');
  });

  test('what a front end counted is added up where it gave no sum, and rounded', async () => {
    const body = { prompt_tokens: 2.6, completion_tokens: 4, saved_tokens: 2 };
    await told(postJson(at(world, 'usage'), body, { 'x-user': 'adds' }));
    const [{ time, ...record } = {}] = await recorded('adds');
    assert.deepEqual(record, {
      user: 'adds',
      provider: '',
      model: '',
      prompt_tokens: 3,
      completion_tokens: 4,
      total_tokens: 7,
      saved_tokens: 2,
    });
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

  test('names of users, providers and models have to be texts, which the refusal says', async () => {
    for (const field of ['user', 'provider', 'model'])
      for (const value of [5, 0, true, false, {}, { name: 'p' }, ['m']]) {
        const user = `names ${field} ${JSON.stringify(value)}`;
        const { status, json } = await told(
          postJson(at(world, 'usage'), { [field]: value, total_tokens: 1 }, { 'x-user': user }),
        );
        const { message, param, code } = json.error;
        assert.deepEqual(
          [status, message, param, code],
          [400, `'${field}' must be a string.`, field, 'invalid_request'],
        );
        assert.deepEqual(await recordsOf(user), []);
        const own = await told(postJson(at(world, 'usage'), { [field]: value, total_tokens: 1 }));
        assert.deepEqual([own.status, own.json.error.param], [400, field]);
      }
    for (const none of [null, '', undefined])
      assert.equal((await told(postJson(at(world, 'usage'), { user: none }))).status, 200, String(none));
  });

  test('tokens have to be numbers', async () => {
    for (const tokens of ['many', -1, {}, true, 1e300])
      assert.equal((await told(postJson(at(world, 'usage'), { prompt_tokens: tokens }))).status, 400, String(tokens));
  });

  test('statistics have a row for each day and sums by name', async () => {
    const today = await todayForAWhile();
    await told(
      postJson(
        at(world, 'usage'),
        { model: 'big', provider: 'p', total_tokens: 1000, saved_tokens: 9 },
        { 'x-user': 'counted' },
      ),
    );
    const { json } = await told(fetch(at(world, 'stats?days=7&user=counted')));
    assert.equal(json.days.length, 7);
    assert.equal(json.days.at(-1).date, today);
    const day = { requests: 1, prompt_tokens: 0, completion_tokens: 0, total_tokens: 1000, saved_tokens: 9 };
    assert.deepEqual(json.days.at(-1), { date: today, ...day });
    assert.deepEqual(json.days[0].requests, 0);
    assert.deepEqual(json.totals, day);
    assert.deepEqual([json.models, json.providers, json.users], [{ big: 1000 }, { p: 1000 }, { counted: 1000 }]);
    const all = (await told(fetch(at(world, 'stats')))).json;
    assert.equal(all.days.length, 30);
    assert.equal(Object.keys(all.models)[0], 'big');
    assert.equal((await told(fetch(at(world, 'stats?days=0')))).json.days.length, 1);
    assert.equal((await told(fetch(at(world, 'stats?days=999')))).json.days.length, 365);
    assert.equal((await told(fetch(at(world, 'stats?days=')))).json.days.length, 30);
    assert.equal((await told(fetch(at(world, 'stats?days=x')))).status, 400);
  });

  test('what a front end reports is stored, never shown to others', async () => {
    const chunk = { type: 'error', error: 'X', message: 'a very peculiar failure', provider: { name: 'p' } };
    assert.deepEqual((await told(postJson(at(world, 'log'), chunk, { origin: world.origin }))).json, {});
    for (const route of ['log', 'usage', 'stats', `usage/${await todayForAWhile()}`]) {
      const text = await (await fetch(at(world, route))).text();
      assert.ok(!text.includes('peculiar'), route);
    }
    const events = await converse(world, {});
    assert.equal(contentOf(events), 'Hello world');
    assert.ok(!JSON.stringify(events).includes('peculiar'));
  });
});
