import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SluiceError } from '../core/errors.ts';
import { parseCookies } from './parse.ts';

const EXPORTED = JSON.stringify([
  {
    domain: '.chat.example.com',
    expirationDate: 1_900_000_000.5,
    hostOnly: false,
    httpOnly: true,
    name: 'session',
    path: '/',
    sameSite: 'lax',
    secure: true,
    value: 'abc=def',
  },
]);

describe('parseCookies', () => {
  test('reads what browser extensions export', () => {
    assert.deepEqual(parseCookies(EXPORTED), {
      kind: 'json',
      cookies: [
        {
          domain: 'chat.example.com',
          name: 'session',
          value: 'abc=def',
          path: '/',
          secure: true,
          expires: 1_900_000_000.5,
        },
      ],
    });
  });

  test('reads the requests of a HAR recording', () => {
    const har = {
      log: {
        version: '1.2',
        entries: [
          { request: { method: 'GET', url: 'https://chat.example.com/api', cookies: [{ name: 'a', value: '1' }] } },
          { request: { method: 'GET', url: 'https://other.example.org/', cookies: [] } },
        ],
      },
    };
    const { kind, cookies } = parseCookies(JSON.stringify(har));
    assert.equal(kind, 'har');
    assert.deepEqual(cookies, [{ domain: 'chat.example.com', name: 'a', value: '1', path: '/', secure: true }]);
  });

  test('passes over what a recording holds beside requests with cookies', () => {
    const cookies = [{ name: 'a', value: '1' }];
    const entries = [
      ...[null, {}, { request: null }, { request: { cookies } }, { request: { url: 7, cookies } }],
      ...[{ request: { url: 'no address', cookies } }, { request: { url: 'https://a.example/' } }],
      { request: { url: 'http://a.example/', cookies } },
    ];
    assert.deepEqual(parseCookies(JSON.stringify({ log: { entries } })).cookies, [
      { domain: 'a.example', name: 'a', value: '1', path: '/', secure: false },
    ]);
  });

  test('takes what a recording repeats once, as it was last', () => {
    const url = 'https://chat.example.com/api';
    const entries = Array.from({ length: 10_001 }, (_, at) => ({
      request: {
        url: `${url}/${at}`,
        cookies: [...Array(2)].map((_each, of) => ({ name: `n${of}`, value: String(at) })),
      },
    }));
    assert.deepEqual(
      parseCookies(JSON.stringify({ log: { entries } })).cookies.map(({ name, value }) => `${name}=${value}`),
      ['n0=10000', 'n1=10000'],
    );
    const cookies = ['/', '/api'].map((path) => ({ name: 'n', value: path, path }));
    const { cookies: apart } = parseCookies(JSON.stringify({ log: { entries: [{ request: { url, cookies } }] } }));
    assert.deepEqual(
      apart.map(({ path, value }) => [path, value]),
      [
        ['/', '/'],
        ['/api', '/api'],
      ],
    );
  });

  test('takes of a recording what is wanted, whatever else is in it', () => {
    const request = (host: string, value: string, domain?: string) => ({
      request: { url: `https://${host}/`, cookies: [{ name: 'a', value, domain }] },
    });
    const read = (...entries: object[]) =>
      parseCookies(JSON.stringify({ log: { entries } }), (domain) => domain === 'a.example').cookies;
    const odd = request('ads.example', 'größe');
    assert.deepEqual(
      read(odd, request('www.a.example', '1', '.A.example')).map(({ domain, value }) => [domain, value]),
      [['a.example', '1']],
    );
    assert.deepEqual(read(odd), []);
    assert.throws(() => read(request('a.example', 'größe')), SluiceError);
    assert.throws(() => read({ request: { url: 'https://a.example/', cookies: [] } }), SluiceError);
  });

  test('reads the header where a recording lists no cookies', () => {
    const url = 'https://chat.example.com/api';
    const headers = [{ name: 'Accept', value: 'a=1' }, null, { name: 'cookie', value: 'a=1; b=x=y;; c' }];
    for (const request of [
      { url, cookies: [], headers },
      { url, headers },
    ])
      assert.deepEqual(
        parseCookies(JSON.stringify({ log: { entries: [{ request }] } })).cookies.map(({ name, value }) => [
          name,
          value,
        ]),
        [
          ['a', '1'],
          ['b', 'x=y'],
        ],
      );
  });

  test('takes what is odd about an entry as browsers do', () => {
    const read = (fields: object) => parseCookies(`\ufeff${entry(fields)}`).cookies[0];
    const plain = { domain: 'a.example', name: 'n', value: 'v', path: '/', secure: false };
    for (const fields of [
      { domain: '.A.Example' },
      ...[{ path: 'x' }, { path: ['/x'] }, { path: '/a b' }, { path: '/a;b' }, { path: `/${'x'.repeat(1_001)}` }],
      ...[{ expires: -1 }, { expires: 0 }, { expires: '7' }, { expirationDate: 'soon' }, { secure: 'no' }],
      ...[{ hostOnly: false }, { hostOnly: 'yes' }],
    ])
      assert.deepEqual(read(fields), plain, JSON.stringify(fields));
    assert.deepEqual(read({ path: '/x', secure: true, expires: 7 }), {
      ...plain,
      path: '/x',
      secure: true,
      expires: 7,
    });
    assert.deepEqual(read({ expirationDate: 8, expires: 7 }), { ...plain, expires: 8 });
    // Beyond all numbers, and so kept as none.
    assert.deepEqual(parseCookies(entry({ expires: 7 }).replace(':7', ':1e999')).cookies[0], plain);
    assert.deepEqual(read({ hostOnly: true }), { ...plain, hostOnly: true });
  });

  test('takes as much as a cookie may have', () => {
    const domain = `${`${'a'.repeat(49)}.`.repeat(5)}abc`;
    assert.equal(domain.length, 253);
    const many = Array.from({ length: 20_000 }, () => ({ domain, name: 'n', value: 'v'.repeat(10) }));
    assert.equal(parseCookies(JSON.stringify(many)).cookies.length, 20_000);
    assert.equal(parseCookies(entry({ value: 'v'.repeat(8_192) })).cookies[0]?.value.length, 8_192);
  });

  const entry = (fields: object) => JSON.stringify([{ domain: 'a.example', name: 'n', value: 'v', ...fields }]);
  const hostile: Readonly<Record<string, string>> = {
    nothing: '',
    'no cookies': '[]',
    'broken JSON': '[{"domain":',
    'another object': '{"api_key":"sk-1"}',
    'a number as value': entry({ value: 1 }),
    'a line break in a value': entry({ value: 'a\r\nSet-Cookie: x=y' }),
    'a semicolon in a value': entry({ value: 'a; b=c' }),
    'a name with a space': entry({ name: 'a b' }),
    'a path as domain': entry({ domain: '../../etc' }),
    'a path behind a domain': entry({ domain: 'a.example/../../etc' }),
    'a domain that is too long': entry({ domain: `${`${'a'.repeat(49)}.`.repeat(5)}abcd` }),
    'a domain that is none': entry({ domain: null }),
    'a name that is none': entry({ name: 1 }),
    'a value that is too long': entry({ value: 'v'.repeat(8_193) }),
    'a recording of a cookie that is none': JSON.stringify({
      log: { entries: [{ request: { url: 'https://a.example/', cookies: [null] } }] },
    }),
    'too many': JSON.stringify(Array.from({ length: 20_001 }, () => ({ domain: 'a.example', name: 'n', value: 'v' }))),
    'too many of a recording': JSON.stringify({
      log: {
        entries: Array.from({ length: 20_001 }, (_, n) => ({
          request: { url: 'https://a.example/', cookies: [{ name: `n${n}`, value: 'v' }] },
        })),
      },
    }),
    'plain text': 'just some words',
  };
  for (const [what, text] of Object.entries(hostile)) {
    test(`refuses ${what}, without quoting it`, () => {
      assert.throws(
        () => parseCookies(text),
        (error) => error instanceof SluiceError && error.status === 400 && !error.message.includes('sk-1'),
      );
    });
  }

  test('whatever comes in, nothing but a refusal or clean cookies comes out', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.array(fc.dictionary(fc.string(), fc.anything())).map((each) => JSON.stringify(each) ?? ''),
        ),
        (text) => {
          try {
            for (const { value } of parseCookies(text).cookies) assert.doesNotMatch(value, /[;\r\n]/);
          } catch (error) {
            assert.ok(error instanceof SluiceError);
          }
        },
      ),
    );
  });
});
