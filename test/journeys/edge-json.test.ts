import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { assertError, CHATS, HI, openWorld, type World } from './edge-world.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const text = JSON.stringify(HI);
const withContent = (bytes: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from('{"model":"test-model","messages":[{"role":"user","content":"'),
    bytes,
    Buffer.from('"}]}'),
  ]);
const withValue = (value: string): string => `{"model":"test-model","messages":[{"role":"user","content":${value}}]}`;

/** Bodies that are no JSON object, whatever their header says. */
const MALFORMED: Readonly<Record<string, string | Buffer>> = {
  nothing: '',
  'white space': ' \r\n\t ',
  'an open brace': '{',
  'a truncated object': text.slice(0, -2),
  'a truncated string': text.slice(0, text.indexOf('Hi') + 1),
  'a truncated escape': text.replace('Hi"}]}', '\\u12'),
  NaN: withValue('NaN'),
  Infinity: withValue('-Infinity'),
  undefined: withValue('undefined'),
  'single quotes': text.replaceAll('"', "'"),
  'names without quotes': '{model:"test-model",messages:[]}',
  'a trailing comma in an object': `${text.slice(0, -1)},}`,
  'a trailing comma in an array': text.replace(']', ',]'),
  'a missing comma': text.replace('","', '""'),
  'a line comment': `// hi\n${text}`,
  'a block comment': text.replace('{', '{/* hi */'),
  'two documents': `${text}${text}`,
  'lines of JSON': `${text}\n${text}\n`,
  'something behind': `${text} x`,
  'a NUL behind': `${text}\0`,
  'a NUL in a string': text.replace('Hi', 'H\0i'),
  'a raw line feed in a string': text.replace('Hi', 'H\ni'),
  'an unknown escape': text.replace('Hi', '\\x41'),
  'a leading zero': withValue('01'),
  'a plus sign': withValue('+1'),
  'a hexadecimal number': withValue('0x10'),
  'a guard prefix': `)]}',\n${text}`,
  'a byte order mark': Buffer.concat([Buffer.from('\ufeff'), Buffer.from(text)]),
  'invalid UTF-8': withContent(Buffer.from([0xff, 0xfe, 0x80])),
  'overlong UTF-8': withContent(Buffer.from([0xc0, 0xaf])),
  'a surrogate as UTF-8': withContent(Buffer.from([0xed, 0xa0, 0x80])),
  'a truncated letter': withContent(Buffer.from('é').subarray(0, 1)),
  'invalid UTF-8 between members': Buffer.concat([Buffer.from('{'), Buffer.from([0xa0]), Buffer.from(text.slice(1))]),
  'UTF-16, little-endian': Buffer.from(text, 'utf16le'),
  'UTF-16, big-endian, with its mark': Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
  'UTF-32': Buffer.from([...text].flatMap((letter) => [letter.charCodeAt(0), 0, 0, 0])),
  'arrays, 100,000 deep': `{"messages":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  'objects, 100,000 deep': `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
  'open arrays, 100,000 deep': `{"messages":${'['.repeat(100_000)}`,
  gzip: gzipSync(text),
  'XML with an entity': '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
  'a form': 'model=test-model&messages=Hi',
  'a multipart form': '--x\r\ncontent-disposition: form-data; name="json"\r\n\r\n{}\r\n--x--\r\n',
  null: 'null',
  'a number': '1',
  'a string': '"Hi"',
  'an array': `[${text}]`,
  'a field twice': text.replace('{', '{"model":"other",'),
  'a field twice, once escaped': text.replace('{', '{"mo\\u0064el":"other",'),
};

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
}

describe('malformed JSON', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  /** Its path says all there has to be said. */
  const withoutBody = '/v1/models/test-model';
  for (const path of [...CHATS.map((chat) => chat.path), '/api/mock/chat/completions', withoutBody]) {
    test(`${Object.keys(MALFORMED).length} forms to ${path}`, async () => {
      for (const [name, body] of Object.entries(MALFORMED)) {
        if (name === 'nothing' && path === withoutBody) continue;
        const answer = await world.ask({ method: 'POST', path, headers: JSON_TYPE, body });
        const { code } = assertError(answer, 400, name);
        assert.equal(code, 'invalid_request', name);
      }
      assert.equal(world.upstream.chats.length, 0);
    });
  }

  test('of all forms, to every path that takes JSON', { timeout: 120_000 }, async () => {
    const { json } = await world.ask({ path: '/openapi.json' });
    const { paths } = json as { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };
    const taking = Object.entries(paths).flatMap(([template, { post }]) =>
      post?.requestBody?.content['application/json'] === undefined
        ? []
        : [
            template
              // Of the Gemini API, where a method stands behind the model.
              .replace(/^(\/v1beta\/.*)\{\w+\}$/, '$1test-model:generateContent')
              .replaceAll(/\{\w+\}/g, (name) => (name === '{provider}' ? 'mock' : 'x')),
          ],
    );
    assert.ok(taking.length > 40, `${taking.length} paths are few`);
    for (const path of taking) {
      for (const [name, body] of Object.entries(MALFORMED)) {
        // A conversation may begin with nothing.
        if (name === 'nothing' && path === '/v1/conversations') continue;
        const { status, headers, text: told } = await world.ask({ method: 'POST', path, headers: JSON_TYPE, body });
        const hint = `${name} to ${path}: ${status} ${told.slice(0, 200)}`;
        assert.equal(status, 400, hint);
        assert.match(headers['content-type'] ?? '', /^application\/json/, hint);
        assert.match(told, /"error":/, hint);
      }
    }
    assert.equal(world.upstream.chats.length, 0);
  });

  test('is refused without a word of what it says, to the client and in the log', async () => {
    const planted = 'sk-planted-in-a-body';
    for (const body of [`{"api_key": ${planted}}`, `{"api_key": "${planted}" "b"}`, planted, `${text} ${planted}`]) {
      for (const { path } of CHATS) {
        const answer = await world.ask({ method: 'POST', path, headers: JSON_TYPE, body });
        const { message } = assertError(answer, 400, body);
        assert.match(message, /^The body is not valid JSON( \(at byte \d+ or so\))?\.$/);
      }
    }
    assert.ok(!JSON.stringify(world.gateway.log.lines).includes(planted));
  });

  test('one that begins with a byte order mark is told so', async () => {
    const body = Buffer.from(`\ufeff${text}`);
    for (const { path } of CHATS) {
      const { message } = assertError(await world.ask({ method: 'POST', path, headers: JSON_TYPE, body }), 400);
      assert.equal(message, 'The body is not valid JSON: it begins with a byte order mark, send it without.', path);
    }
  });

  test('as the part "json" of a form', async () => {
    for (const [name, body] of Object.entries(MALFORMED)) {
      if (name === 'a multipart form') continue;
      const form = Buffer.concat([
        Buffer.from('--x\r\ncontent-disposition: form-data; name="json"\r\n\r\n'),
        Buffer.from(body),
        Buffer.from('\r\n--x--\r\n'),
      ]);
      const headers = { 'content-type': 'multipart/form-data; boundary=x' };
      const answer = await world.ask({ method: 'POST', path: CHATS[0].path, headers, body: form });
      assertError(answer, 400, name);
    }
    assert.equal(world.upstream.chats.length, 0);
  });

  test('a good body under a wrong content type', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/xml',
      'text/json',
      'application/json5',
      'application/vnd.api+json',
      'application/octet-stream',
      'text/plain; application/json',
      'json',
      ',',
      '/',
    ]) {
      for (const { path } of CHATS) {
        const answer = await world.ask({ method: 'POST', path, headers: { 'content-type': type }, body: text });
        assertError(answer, 415, type);
      }
    }
    for (const { path } of CHATS) assertError(await world.ask({ method: 'POST', path, body: text }), 415);
    for (const { path } of CHATS) assertError(await world.ask({ method: 'POST', path }), 415);
    assert.equal(world.upstream.chats.length, 0);
  });

  test('spellings of the right content type', async () => {
    for (const type of ['APPLICATION/JSON', 'application/json;charset=UTF-8', 'application/json ; charset="utf-8"']) {
      const answer = await world.ask({
        method: 'POST',
        path: CHATS[1].path,
        headers: { 'content-type': type },
        body: text,
      });
      assert.equal(answer.status, 200, type);
    }
    await world.isWell();
  });
});
