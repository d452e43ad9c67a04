import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { at, type KeptWorld, openKept, postJson, remove, statusOf, told, upload } from './kept-world.ts';

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
    const head = await fetch(url('one'), { method: 'HEAD', headers: { 'if-none-match': '1700000000000' } });
    assert.deepEqual([head.status, head.headers.get('content-length')], [304, null]);
    for (const known of ['0', '1', '"x"', 'x', '', '17000000000001', '"1700000000000', '*']) {
      const full = await fetch(url('one'), { headers: { 'if-none-match': known } });
      assert.equal(full.status, 200, known);
      await full.text();
    }
  });

  test('gives back the very bytes: numbers keep their digits, members their order and spaces', async () => {
    const text =
      '{ "updated": 5,\n "id": 9007199254740993, "2": -123456789012345678901234567890, "1": 1.10, "say": "\\u00e9 \\ud800 猫" }';
    assert.equal((await told(postJson(url('digits'), text))).status, 200);
    const response = await fetch(url('digits'));
    assert.equal(response.headers.get('etag'), '"5"');
    assert.equal(await response.text(), text);
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
    assert.equal((await told(postJson(url('own'), { text: 'of no time' }, { cookie }))).status, 200);
    assert.deepEqual((await told(fetch(url('own')))).json, { text: 'of no time' });
    assert.equal((await told(postJson(url('own'), { updated: 7, text: 'newer' }, { cookie }))).status, 200);
    assert.equal((await told(fetch(url('own')))).json.text, 'newer');
    assert.equal((await told(remove(at(world, 'files/own'), { cookie }))).status, 200);
    assert.equal((await told(fetch(url('own'), { headers: { 'if-none-match': '7' } }))).status, 404);
  });

  test('what changes nothing, and what is older, is answered alike to everybody', async () => {
    const chat = { updated: 5, text: 'mine' };
    const cookie = await share('again', chat);
    const repeated = await postJson(url('again'), chat);
    assert.deepEqual((await told(repeated)).json, { share_id: 'again' });
    assert.deepEqual(repeated.headers.getSetCookie(), [], 'the share is still another one’s');
    assert.equal((await told(postJson(url('again'), { updated: 4, text: 'old' }))).code, 'conflict');
    for (const updated of [5, 6, undefined])
      assert.equal((await told(postJson(url('again'), { updated, text: 'yours' }))).code, 'forbidden', String(updated));
    assert.equal((await told(postJson(url('again'), { updated: 6, text: 'newer' }, { cookie }))).status, 200);
    assert.equal((await told(fetch(url('again')))).json.text, 'newer');
  });

  test('a secret that was not made here is none, and another one is given out', async () => {
    const made = /^sluice_owner=([\w-]{43});/;
    const odd = [
      'a',
      'owner',
      'A'.repeat(42),
      'A'.repeat(44),
      `${'A'.repeat(42)}!`,
      `%0a${'A'.repeat(43)}`,
      `${'A'.repeat(43)}%0a`,
    ];
    for (const [index, secret] of odd.entries()) {
      const headers = { cookie: `sluice_owner=${secret}` };
      const first = await postJson(url(`guessed-${index}`), { text: 'mine' }, headers);
      assert.equal((await told(first)).status, 200, secret);
      const given = made.exec(first.headers.getSetCookie()[0] ?? '')?.[1];
      assert.ok(given !== undefined && given !== secret, secret);
      assert.equal(
        (await told(postJson(url(`guessed-${index}`), { text: 'yours' }, headers))).code,
        'forbidden',
        secret,
      );
      const own = { cookie: `sluice_owner=${given}` };
      assert.equal((await told(postJson(url(`guessed-${index}`), { text: 'mine' }, own))).status, 200, secret);
    }
  });

  test('a version of a clock that was far ahead keeps no later one out, one of a clock that is a little ahead does', async () => {
    const now = Date.now();
    const cookie = await share('ahead', { updated: 4_102_444_800_000 + now, text: 'of the future' });
    assert.equal((await told(postJson(url('ahead'), { updated: now, text: 'put right' }, { cookie }))).status, 200);
    const response = await fetch(url('ahead'), { headers: { 'if-none-match': String(4_102_444_800_000 + now) } });
    assert.deepEqual([response.headers.get('etag'), (await told(response)).json.text], [`"${now}"`, 'put right']);
    const soon = now + 6 * 60 * 60_000;
    assert.equal((await told(postJson(url('ahead'), { updated: soon, text: 'a zone away' }, { cookie }))).status, 200);
    assert.equal((await told(postJson(url('ahead'), { updated: now, text: 'older' }, { cookie }))).status, 409);
  });

  test('a time stamp of 0 is one', async () => {
    await share('epoch', { updated: 0, text: 'first' });
    assert.equal(await statusOf(url('epoch'), { headers: { 'if-none-match': '0' } }), 304);
    assert.equal((await fetch(url('epoch'))).headers.get('etag'), '"0"');
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
      [{ updated: 1e300 }, 400],
      ['{"updated":1e999}', 400],
      [{ updated: 'NaN' }, 400],
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
