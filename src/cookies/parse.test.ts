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
    'too many': JSON.stringify(Array.from({ length: 20_001 }, () => ({ domain: 'a.example', name: 'n', value: 'v' }))),
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
