import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { at, converse, type KeptWorld, openKept, postJson, told } from './kept-world.ts';

const VALUES = ['planted-cookie-value-1', 'planted-cookie-value-2'] as const;

const JSON_FILE = JSON.stringify([
  { domain: '127.0.0.1', name: 'session', value: VALUES[0], path: '/', httpOnly: true, expirationDate: 4_000_000_000 },
  { domain: '127.0.0.1', name: 'old', value: 'expired-value', expirationDate: 1_000_000_000 },
  { domain: '127.0.0.1', name: 'safe', value: 'only-over-https', secure: true },
  { domain: '127.0.0.1', name: 'elsewhere', value: 'other-path', path: '/other' },
]);

const HAR_FILE = JSON.stringify({
  log: {
    entries: [
      { request: { url: 'http://127.0.0.1/v1/chat', cookies: [{ name: 'session', value: VALUES[1] }] } },
      { request: { url: 'https://bank.example/', cookies: [{ name: 'bank', value: 'never-kept-bank-value' }] } },
    ],
  },
});

describe('cookies over HTTP', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  before(async () => {
    world = await openKept('', ', auth: cookies');
  });
  after(() => world.close());

  async function send(name: string, content: string, part = 'file'): Promise<Response> {
    const data = new FormData();
    data.append(part, new File([content], name));
    return fetch(at(world, 'upload_cookies'), { method: 'POST', body: data });
  }
  const entry = async () => {
    const { json } = await told(fetch(at(world, 'providers')));
    return (json as { name: string; auth: boolean; active_by_default: boolean }[]).find(({ name }) => name === 'acme');
  };

  test('before: the listing and the answer say what is missing', async () => {
    const shown = await entry();
    assert.deepEqual([shown?.auth, shown?.active_by_default], [true, false]);
    const events = await converse(world, {});
    const last = events.at(-1);
    assert.equal(last?.type, 'auth');
    assert.equal(last?.['auth'], 'MissingAuthError');
    assert.match(String(last?.['message']), /cookies of 127\.0\.0\.1/);
    const v1 = await told(
      postJson(`${world.origin}/v1/chat/completions`, {
        provider: 'acme',
        messages: [{ role: 'user', content: 'Hi' }],
      }),
    );
    assert.deepEqual([v1.status, v1.code], [401, 'missing_credentials']);
    assert.equal(world.upstream.chats.length, 0);
  });

  test('that do not belong to the address of a provider do not count for it', async () => {
    const elsewhere = { domain: '127.0.0.1', name: 'elsewhere', value: 'other-path', path: '/other' };
    const safe = { domain: '127.0.0.1', name: 'safe', value: 'only-over-https', secure: true };
    assert.equal((await send('cookies.json', JSON.stringify([elsewhere, safe]))).status, 200);
    assert.equal((await entry())?.active_by_default, false);
    assert.equal((await converse(world, {})).at(-1)?.type, 'auth');
  });

  for (const [kind, name, content, value] of [
    ['JSON', 'cookies.json', JSON_FILE, VALUES[0]],
    ['HAR', 'My recording.HAR', HAR_FILE, VALUES[1]],
  ] as const) {
    test(`${kind}: stored for its owner only, and effective at once`, async () => {
      const { status, json } = await told(send(name, content));
      assert.equal(status, 200, JSON.stringify(json));
      assert.match(json.message, /^File saved/);
      assert.equal(json.filename, name.replace(' ', '_'));
      assert.deepEqual(Object.keys(json).sort(), ['filename', 'message']);
      await converse(world, {});
      assert.equal(world.upstream.chats.at(-1)?.headers.cookie, `session=${value}`);
      const answer = await postJson(
        `${world.origin}/v1/chat/completions`,
        {
          model: 'acme/test-model',
          messages: [{ role: 'user', content: 'Hi' }],
        },
        { cookie: 'client=own' },
      );
      assert.equal(answer.status, 200);
      assert.equal(world.upstream.chats.at(-1)?.headers.cookie, `session=${value}`);
      const shown = await entry();
      assert.deepEqual([shown?.auth, shown?.active_by_default], [true, true]);

      const folder = path.join(world.folder, 'data', 'cookies');
      assert.equal(statSync(folder).mode & 0o777, 0o700);
      assert.deepEqual(readdirSync(folder, { recursive: true }).sort(), ['.tmp', '127.0.0.1.json']);
      assert.equal(statSync(path.join(folder, '.tmp')).mode & 0o777, 0o700);
      assert.equal(statSync(path.join(folder, '127.0.0.1.json')).mode & 0o777, 0o600);
      assert.ok(readFileSync(path.join(folder, '127.0.0.1.json'), 'utf8').includes(value));
    });
  }

  test('says of which domains no provider makes use', async () => {
    const own = { domain: '127.0.0.1', name: 'session', value: VALUES[1] };
    const others = Array.from({ length: 7 }, (_, n) => ({ domain: `${n}.example`, name: 'a', value: 'b' }));
    for (const [cookies, expected] of [
      [[own], 'File saved: one cookie of one domain'],
      [
        [own, ...others.slice(0, 1)],
        'File saved: 2 cookies of 2 domains; no provider here is configured for 0.example',
      ],
      [
        others.slice(0, 5),
        'File saved: 5 cookies of 5 domains; no provider here is configured for 0.example, 1.example, 2.example, 3.example, 4.example',
      ],
      [
        others,
        'File saved: 7 cookies of 7 domains; no provider here is configured for 0.example, 1.example, 2.example, 3.example, 4.example and 2 more',
      ],
    ] as const) {
      const { status, json } = await told(send('cookies.json', JSON.stringify(cookies)));
      assert.deepEqual([status, json.message], [200, expected]);
    }
    for (const { domain } of others) rmSync(path.join(world.folder, 'data', 'cookies', `${domain}.json`));
  });

  test('refuses everything else, and keeps what there was', async () => {
    const good = { domain: '127.0.0.1', name: 'a', value: 'b' };
    for (const [name, content] of [
      ['cookies.json', 'not json'],
      ['cookies.json', '[{"domain": "x"'],
      ['cookies.json', '{}'],
      ['cookies.json', '[]'],
      ['cookies.json', '[1]'],
      ['cookies.json', JSON.stringify([{ ...good, value: 7 }])],
      ['cookies.json', JSON.stringify([{ ...good, value: 'x\r\nset-cookie: y=z' }])],
      ['cookies.json', JSON.stringify([{ ...good, name: 'a b' }])],
      ['cookies.json', JSON.stringify([{ ...good, domain: '../../etc' }])],
      ['cookies.json', JSON.stringify(Array.from({ length: 20_001 }, () => good))],
      ['cookies.har', JSON.stringify({ log: { entries: 'x' } })],
      ['cookies.txt', JSON_FILE],
      ['cookies.json', '127.0.0.1\tFALSE\t/\tFALSE\t0\ta\tb'],
      ['cookies.exe', JSON_FILE],
      ['cookies', JSON_FILE],
      ['', JSON_FILE],
      ['....json', JSON_FILE],
    ] as const) {
      const { status, code, message } = await told(send(name, content));
      assert.deepEqual([status, code], [400, 'invalid_request'], `${name} ${content.slice(0, 40)}`);
      assert.ok(!message.includes('planted'));
    }
    assert.equal((await told(send('cookies.json', JSON_FILE, 'files'))).status, 400);
    const twice = new FormData();
    for (const name of ['a.json', 'b.json']) twice.append('file', new File([JSON_FILE], name));
    assert.equal((await told(fetch(at(world, 'upload_cookies'), { method: 'POST', body: twice }))).status, 400);
    const field = new FormData();
    field.append('file', JSON_FILE);
    assert.equal((await told(fetch(at(world, 'upload_cookies'), { method: 'POST', body: field }))).status, 400);
    for (const body of [{}, JSON.parse(JSON_FILE)]) {
      const { status, message } = await told(postJson(at(world, 'upload_cookies'), body));
      assert.equal(status, 415, message);
      assert.match(message, /multipart form with 'file'/);
    }
    assert.equal((await told(send('big.json', `[${' '.repeat(5 * 1024 * 1024)}]`))).status, 413);
    await converse(world, {});
    assert.equal(world.upstream.chats.at(-1)?.headers.cookie, `session=${VALUES[1]}`);
  });

  test('no value can be read anywhere', async () => {
    // An upstream that quotes what it got.
    world.answers({ status: 400, errorMessage: `bad cookie session=${VALUES[1]}` });
    const said: string[] = [];
    const texts = async (response: Promise<Response>): Promise<void> => {
      const settled = await response;
      said.push(await settled.text(), JSON.stringify([...settled.headers]));
    };
    const messages = [{ role: 'user', content: 'Hi' }];
    await texts(postJson(at(world, 'conversation'), { provider: 'acme', messages }));
    await texts(postJson(`${world.origin}/v1/chat/completions`, { model: 'acme/test-model', messages }));
    await texts(postJson(`${world.origin}/v1/chat/completions`, { model: 'acme/test-model', messages, stream: true }));
    await texts(fetch(at(world, 'create?prompt=x&provider=acme')));
    for (const route of [
      '/backend-api/v2/providers',
      '/backend-api/v2/models',
      '/backend-api/v2/models/acme',
      '/backend-api/v2/version',
      '/backend-api/v2/stats',
      `/backend-api/v2/usage/${new Date().toISOString().slice(0, 10)}`,
      '/backend-api/v2/upload_cookies',
      '/backend-api/v2/files/cookies',
      '/backend-api/v2/files/127.0.0.1.json',
      '/backend-api/v2/chat/cookies',
      '/backend-api/v2/memory/cookies',
      '/files/cookies/media/127.0.0.1.json',
      '/files/cookies/thumbnail/127.0.0.1.json',
      '/media/127.0.0.1.json',
      '/media/..%2f..%2fcookies%2f127.0.0.1.json',
      '/media/../../cookies/127.0.0.1.json',
      '/images/..%2fcookies/127.0.0.1.json',
      '/thumbnail/cookies/127.0.0.1.json',
      '/search/cookies+json',
      '/cookies/127.0.0.1.json',
      '/data/cookies/127.0.0.1.json',
      '/v1/models',
      '/v1/providers',
      '/v1/providers/acme',
      '/openapi.json',
      '/docs',
    ])
      await texts(fetch(world.origin + route));
    said.push(world.logged());
    for (const value of [...VALUES, 'never-kept-bank-value'])
      for (const text of said) assert.ok(!text.includes(value), text.slice(0, 500));
    const stored = readdirSync(path.join(world.folder, 'data', 'cookies'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(path.join(parentPath, name), 'utf8'));
    assert.ok(
      !stored.join().includes('never-kept-bank-value'),
      'a recording brings only what a provider here asks for',
    );
    assert.ok(said.join().includes('***'), 'what the upstream quoted is masked');
  });

  test('a foreign page cannot bring cookies', async () => {
    const data = new FormData();
    data.append('file', new File([JSON_FILE], 'cookies.json'));
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }])
      assert.equal(
        (await told(fetch(at(world, 'upload_cookies'), { method: 'POST', body: data, headers }))).status,
        403,
      );
  });

  describe('several files, POST /v1/upload_cookies', () => {
    const sendAll = (files: readonly (readonly [name: string, content: string])[], part = 'files', headers = {}) => {
      const body = new FormData();
      for (const [name, content] of files) body.append(part, new File([content], name));
      return told(fetch(`${world.origin}/v1/upload_cookies`, { method: 'POST', body, headers }));
    };
    const cookieNow = async (): Promise<string | undefined> => {
      world.answers({ text: ['Hello'] });
      await converse(world, {});
      return world.upstream.chats.at(-1)?.headers.cookie;
    };
    const one = (value: string, domain = '127.0.0.1'): string => JSON.stringify([{ domain, name: 'session', value }]);

    test('are all taken in, the later one counts, and their names are told', async () => {
      const { status, json } = await sendAll([
        ['a b.json', one('value-of-a')],
        ['b.json', one('value-of-b', 'b.example')],
        ['c.har', HAR_FILE],
      ]);
      assert.equal(status, 200, JSON.stringify(json));
      assert.deepEqual(json, [{ filename: 'a_b.json' }, { filename: 'b.json' }, { filename: 'c.har' }]);
      assert.equal(await cookieNow(), `session=${VALUES[1]}`);
      assert.deepEqual(readdirSync(path.join(world.folder, 'data', 'cookies'), { recursive: true }).sort(), [
        '.tmp',
        '127.0.0.1.json',
        'b.example.json',
      ]);
      assert.deepEqual((await sendAll([['d.json', one('value-of-d')]])).json, [{ filename: 'd.json' }]);
      assert.equal(await cookieNow(), 'session=value-of-d');
    });

    test('none is taken in where one of them is wrong', async () => {
      for (const wrong of [
        ['e.txt', one('value-of-e')],
        ['e.json', 'not json'],
        ['', one('value-of-e')],
      ] as const) {
        const { status, code, json } = await sendAll([['first.json', one('value-of-first')], wrong]);
        assert.deepEqual([status, code], [400, 'invalid_request'], wrong.join());
        assert.ok(!JSON.stringify(json).includes('value-of'));
      }
      assert.equal((await sendAll([['e.json', one('value-of-e')]], 'file')).json.error.param, 'files');
      assert.equal((await sendAll([])).status, 400);
      const json = await told(postJson(`${world.origin}/v1/upload_cookies`, []));
      assert.equal(json.status, 415);
      assert.match(json.message, /multipart form with 'files'/);
      const half = `[${' '.repeat(3 * 1024 * 1024)}]`;
      assert.equal((await sendAll(['a.json', 'b.json'].map((name) => [name, half] as const))).status, 413);
      const headers = { origin: 'https://evil.example' };
      assert.equal((await sendAll([['e.json', one('value-of-e')]], 'files', headers)).status, 403);
      assert.equal(await cookieNow(), 'session=value-of-d');
      assert.ok(!world.logged().includes('value-of-'));
    });
  });

  test('cookies that have all expired count as none', async () => {
    await told(
      send('a.json', JSON.stringify([{ domain: '127.0.0.1', name: 'old', value: 'expired-value', expirationDate: 1 }])),
    );
    assert.equal((await entry())?.active_by_default, false);
    assert.equal((await converse(world, {})).at(-1)?.type, 'auth');
  });
});
