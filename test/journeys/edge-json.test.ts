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

describe('malformed JSON', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  for (const path of [...CHATS.map((chat) => chat.path), '/api/mock/chat/completions', '/v1/models/test-model']) {
    test(`${Object.keys(MALFORMED).length} forms to ${path}`, async () => {
      for (const [name, body] of Object.entries(MALFORMED)) {
        const answer = await world.ask({ method: 'POST', path, headers: JSON_TYPE, body });
        const { code } = assertError(answer, 400, name);
        assert.equal(code, 'invalid_request', name);
      }
      assert.equal(world.upstream.chats.length, 0);
    });
  }

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

/** One message with this content. */
const saying = (content: unknown): Record<string, unknown> => ({ messages: [{ role: 'user', content }] });
const schema = (depth: number): object => (depth === 0 ? {} : { properties: { a: schema(depth - 1) } });
const entries = (count: number): string =>
  Array.from({ length: count }, (_, index) => `"${index.toString(36)}":0`).join(',');

/** Wrong fields: what is changed in a good body, and the name of the field that the answer must give. */
const WRONG: readonly (readonly [change: Record<string, unknown>, param: string])[] = [
  [{ messages: undefined }, 'messages'],
  [{ messages: null }, 'messages'],
  [{ messages: 1 }, 'messages'],
  [{ messages: 'Hi' }, 'messages'],
  [{ messages: {} }, 'messages'],
  [{ messages: { 0: { role: 'user', content: 'Hi' }, length: 1 } }, 'messages'],
  [{ messages: [] }, 'messages'],
  [{ messages: [null] }, 'messages[0]'],
  [{ messages: [1] }, 'messages[0]'],
  [{ messages: ['Hi'] }, 'messages[0]'],
  [{ messages: [[]] }, 'messages[0]'],
  [{ messages: [{}] }, 'messages[0].role'],
  [{ messages: [{ role: 'robot', content: 'Hi' }] }, 'messages[0].role'],
  [{ messages: [{ role: ['user'], content: 'Hi' }] }, 'messages[0].role'],
  [{ messages: [{ role: 'user', content: 'Hi' }, { content: 'Hi' }] }, 'messages[1].role'],
  [{ messages: [{ role: 'user', content: 'Hi', name: 1 }] }, 'messages[0].name'],
  [{ messages: [{ role: 'assistant', tool_calls: {} }] }, 'messages[0].tool_calls'],
  [{ messages: [{ role: 'assistant', tool_calls: [1] }] }, 'messages[0].tool_calls[0]'],
  [
    { messages: [{ role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: {} } }] }] },
    'messages[0].tool_calls[0].function.arguments',
  ],
  [{ messages: [{ role: 'tool', content: 'Hi', tool_call_id: 7 }] }, 'messages[0].tool_call_id'],
  [{ messages: Array.from({ length: 10_001 }, () => ({ role: 'user', content: 'Hi' })) }, 'messages'],
  [saying(1), 'messages[0].content'],
  [saying(true), 'messages[0].content'],
  [saying({}), 'messages[0].content'],
  [saying([null]), 'messages[0].content[0]'],
  [saying([1]), 'messages[0].content[0]'],
  [saying(['Hi']), 'messages[0].content[0]'],
  [saying([{}]), 'messages[0].content[0].type'],
  [saying([{ type: 'text' }]), 'messages[0].content[0].text'],
  [saying([{ type: 'text', text: 1 }]), 'messages[0].content[0].text'],
  [saying([{ type: 'text', text: 'Hi' }, { type: 'text' }]), 'messages[0].content[1].text'],
  [saying([{ type: 'image_url' }]), 'messages[0].content[0].image_url'],
  [saying([{ type: 'image_url', image_url: 1 }]), 'messages[0].content[0].image_url'],
  [saying([{ type: 'image_url', image_url: {} }]), 'messages[0].content[0].image_url.url'],
  [saying([{ type: 'input_audio', input_audio: {} }]), 'messages[0].content[0].input_audio.data'],
  [saying([{ type: 'file' }]), 'messages[0].content[0].file'],
  [saying([{ type: 1 }]), 'messages[0].content[0].type'],
  [{ model: ['test-model'] }, 'model'],
  [{ model: {} }, 'model'],
  [{ model: 1 }, 'model'],
  [{ model: true }, 'model'],
  [{ model: 'm'.repeat(257) }, 'model'],
  [{ provider: {} }, 'provider'],
  [{ provider: ['mock'] }, 'provider'],
  [{ provider: 1 }, 'provider'],
  [{ ignored: 'mock' }, 'ignored'],
  [{ ignored: [1] }, 'ignored[0]'],
  [{ ignored: Array.from({ length: 1_001 }, () => 'mock') }, 'ignored'],
  [{ api_key: 1 }, 'api_key'],
  [{ api_key: ['key'] }, 'api_key'],
  [{ api_key: { mock: 1 } }, 'api_key.mock'],
  [{ api_key: 'k'.repeat(4_097) }, 'api_key'],
  [{ temperature: '1' }, 'temperature'],
  [{ temperature: [1] }, 'temperature'],
  [{ top_p: {} }, 'top_p'],
  [{ max_tokens: -1 }, 'max_tokens'],
  [{ max_tokens: 1.5 }, 'max_tokens'],
  [{ max_tokens: '10' }, 'max_tokens'],
  [{ max_tokens: 1e300 }, 'max_tokens'],
  [{ stop: 1 }, 'stop'],
  [{ stop: [1] }, 'stop[0]'],
  [{ stop: Array.from({ length: 10_000 }, () => 'x') }, 'stop'],
  [{ seed: 'one' }, 'seed'],
  [{ reasoning_effort: 1 }, 'reasoning_effort'],
  [{ tools: {} }, 'tools'],
  [{ tools: [1] }, 'tools[0]'],
  [{ tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
  [{ tools: [{ type: 'function', function: { name: 'f', parameters: [] } }] }, 'tools[0].function.parameters'],
  [{ tools: Array.from({ length: 1_001 }, () => ({ type: 'function', function: { name: 'f' } })) }, 'tools'],
  [{ tool_choice: 1 }, 'tool_choice'],
  [{ tool_choice: { type: 'function', function: {} } }, 'tool_choice.function.name'],
  [{ parallel_tool_calls: 'yes' }, 'parallel_tool_calls'],
  [{ response_format: 'json' }, 'response_format'],
  [{ response_format: {} }, 'response_format.type'],
  [{ conversation: 'state' }, 'conversation'],
  [{ conversation: [] }, 'conversation'],
  [{ conversation_id: 1 }, 'conversation_id'],
  [{ web_search: 1 }, 'web_search'],
  [{ download_media: 'yes' }, 'download_media'],
  [{ timeout: '1' }, 'timeout'],
  [{ timeout: 0 }, 'timeout'],
  [{ timeout: -1 }, 'timeout'],
];

/** Only B has these fields; for A they are the upstream's. */
const WRONG_IN_B: typeof WRONG = [
  [{ stream: 'yes' }, 'stream'],
  [{ stream: 1 }, 'stream'],
  [{ stream_options: true }, 'stream_options'],
  [{ n: 0 }, 'n'],
  [{ n: 1e9 }, 'n'],
  [{ n: 1.5 }, 'n'],
  [{ n: '2' }, 'n'],
  [{ media: ['https://example.com/a.png'] }, 'media[0]'],
  [{ images: 'a' }, 'images'],
  [{ image: 1 }, 'image'],
  [{ extra_body: [] }, 'extra_body'],
];

/** What is told of a field, in words that JSON has. */
const TOLD: readonly (readonly [change: object, message: string])[] = [
  [{ timeout: 0 }, "'timeout' must be greater than 0."],
  [{ max_tokens: -1 }, "'max_tokens' must be at least 0."],
  [{ max_tokens: 1.5 }, "'max_tokens' must be a whole number."],
  [{ conversation: [] }, "'conversation' must be an object."],
  [{ media: ['https://example.com/a.png'] }, "'media[0]' must be an array."],
  [{ web_search: 1 }, "'web_search' must be a boolean or a string."],
];

describe('wrong types and ranges', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  for (const { dialect, path, wrongField } of CHATS) {
    test(`${dialect} answers ${wrongField} and names the field`, async () => {
      const { length } = world.upstream.chats;
      for (const [change, field] of dialect === 'B' ? [...WRONG, ...WRONG_IN_B] : WRONG) {
        const hint = JSON.stringify(change).slice(0, 100);
        const answer = await world.ask({ path, body: { ...HI, ...change } });
        const { message, param } = assertError(answer, wrongField, hint);
        assert.equal(param, field, hint);
        assert.ok(message.includes(`'${field}'`), message);
        if (dialect === 'A') continue;
        const { detail } = answer.json as { detail: { loc: unknown[]; message: string }[] };
        assert.equal(detail[0]?.loc[0], 'body', hint);
      }
      assert.equal(world.upstream.chats.length, length);
    });

    if (dialect === 'B') {
      test('B lists what no schema can see, too', async () => {
        const answer = await world.ask({ path, body: { ...HI, media: [['ftp://example.com/a.png', 'a.png']] } });
        const { message } = assertError(answer, 422);
        const { detail } = answer.json as { detail: unknown };
        assert.deepEqual(detail, [{ loc: ['body', 'media', 0], message, type: 'value_error' }]);
      });

      test('B names the field of an attachment that is no address', async () => {
        const picture = ['data:image/png;base64,iVBORw0KGgo=', 'a.png'];
        const changes: [object, string][] = [
          [{ image: 'x' }, 'image'],
          [{ media: [picture], images: [picture, ['x', 'b.png']] }, 'images[1]'],
          [{ media: [['file:///etc/passwd', 'a.png']], image: 'x' }, 'media[0]'],
        ];
        for (const [change, field] of changes) {
          const { message, param } = assertError(await world.ask({ path, body: { ...HI, ...change } }), 422);
          assert.equal(param, field);
          assert.ok(message.includes(`'${field}'`), message);
        }
      });
    }

    test(`${dialect} says what the field has to be`, async () => {
      for (const [change, message] of TOLD) {
        if (dialect === 'A' && 'media' in change) continue;
        const answer = await world.ask({ path, body: { ...HI, ...change } });
        assert.equal(assertError(answer, wrongField).message, message);
      }
    });

    test(`${dialect} refuses numbers beyond all bounds`, async () => {
      for (const number of ['1e999', '-1e999', '9'.repeat(1_000)]) {
        const body = text.replace('{', `{"temperature":${number},`);
        const answer = await world.ask({ path, method: 'POST', headers: JSON_TYPE, body });
        assertError(answer, wrongField, number.slice(0, 10));
      }
    });

    test(`${dialect} refuses what nests deeper than the limit`, async () => {
      for (const [name, value] of Object.entries({
        tools: [{ type: 'function', function: { name: 'f', parameters: schema(60) } }],
        conversation: { state: schema(60) },
        unknown: schema(60),
      })) {
        assertError(await world.ask({ path, body: { ...HI, [name]: value } }), 400, name);
      }
      const answer = await world.ask({ path, body: { ...HI, unknown: schema(40) } });
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(world.last.fields['unknown'], schema(40));
    });

    // Each of these bodies once cost seconds, or gigabytes: one complaint per element.
    test(`${dialect} stops at the first of many wrong elements`, async () => {
      const zeros = `[${'0,'.repeat(9_999)}0]`;
      const flood = (part: string, times: number): string => Array.from({ length: times }, () => part).join(',');
      for (const [name, members] of Object.entries({
        depth: `"messages":${'['.repeat(4_500_000)}${']'.repeat(4_500_000)}`,
        messages: `"messages":[${flood('0', 4_500_000)}]`,
        parts: `"messages":[${flood(`{"role":"user","content":${zeros}}`, 450)}]`,
        'unknown parts': `"messages":[${flood(`{"role":"user","content":[${flood('{"type":"x"}', 9_000)}]}`, 80)}]`,
        tools: `"messages":[{"role":"user","content":"Hi"}],"tools":[${flood('0', 4_500_000)}]`,
        stops: `"messages":[{"role":"user","content":"Hi"}],"stop":[${flood('0', 4_500_000)}]`,
        keys: `"messages":[{"role":"user","content":"Hi"}],"api_key":{${entries(600_000)}}`,
        fields: `"messages":[{"role":"user","content":"Hi"}],${entries(600_000)}`,
      })) {
        const answer = await world.ask({ path, method: 'POST', headers: JSON_TYPE, body: `{${members}}` });
        assertError(answer, [400, wrongField], name);
        assert.ok(answer.text.length < 10_000, name);
      }
      await world.isWell();
    });
  }

  test('a long list of good parts is no flood', async () => {
    const part = { type: 'text', text: 'a' };
    const messages = Array.from({ length: 2_000 }, () => ({ role: 'user', content: [part, part, part, part] }));
    for (const { path } of CHATS) {
      const answer = await world.ask({ path, body: { ...HI, messages } });
      assert.equal(answer.status, 200, answer.text.slice(0, 300));
    }
  });
});

describe('keys of prototypes', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  const KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'];
  const assertClean = (): void => {
    const plain = {} as Record<string, unknown>;
    assert.equal(plain['polluted'], undefined);
    assert.equal(Object.keys(Object.prototype).length, 0);
    assert.equal(typeof plain.toString, 'function');
  };

  for (const { dialect, path } of CHATS) {
    test(`in bodies to ${dialect}`, async () => {
      for (const key of KEYS) {
        const evil = `{"polluted":"yes","prototype":{"polluted":"yes"},"text":"no","type":"text"}`;
        for (const body of [
          text.replace('{', `{"${key}":${evil},`),
          text.replace('"role"', `"${key}":${evil},"role"`),
          text.replace('"Hi"', `[{"${key}":${evil},"type":"text","text":"Hi"}]`),
          text.replace('{', `{"conversation":{"${key}":${evil},"mock":{"${key}":${evil}}},`),
          text.replace('{', `{"api_key":{"${key}":"yes"},`),
          text.replace('{', `{"extra_body":{"${key}":${evil}},`),
          text.replace('{', `{"tools":[{"${key}":${evil},"function":{"name":"f","parameters":{"${key}":${evil}}}}],`),
          text.replace('{', `{"response_format":{"${key}":${evil},"type":"text"},`),
        ]) {
          const answer = await world.ask({ path, method: 'POST', headers: JSON_TYPE, body });
          assert.equal(answer.status, 200, `${body}: ${answer.text}`);
          assert.equal(world.last.model, 'test-model');
          assert.equal(world.last.prompt, 'Hi');
          assertClean();
        }
      }
      await world.isWell();
    });
  }

  test('instead of what is required', async () => {
    for (const { path, wrongField } of CHATS) {
      for (const body of [
        `{"__proto__":${text}}`,
        `{"__proto__":{"messages":[{"role":"user","content":"Hi"}]},"model":"test-model"}`,
        `{"messages":[{"__proto__":{"role":"user","content":"Hi"}}],"model":"test-model"}`,
      ]) {
        assertError(await world.ask({ path, method: 'POST', headers: JSON_TYPE, body }), wrongField, body);
      }
    }
  });

  test('as names of models and providers', async () => {
    for (const key of KEYS) {
      for (const { path } of CHATS) {
        assertError(await world.ask({ path, body: { ...HI, provider: key } }), 404, key);
        const answer = await world.ask({ path, body: { ...HI, model: key } });
        assert.match(answer.text, /model_not_found/, key);
      }
      for (const path of [`/v1/models/${key}`, `/v1/providers/${key}`, `/api/${key}/models`, `/${key}`]) {
        assertError(await world.ask({ path }), 404, path);
      }
      assertError(await world.ask({ path: `/backend-api/v2/models/${key}` }), 404, key);
      assertError(await world.ask({ path: `/api/${key}/chat/completions`, body: HI }), 404, key);
    }
  });

  test('in queries and headers', async () => {
    for (const key of KEYS) {
      const query = `prompt=Hi&${key}=x&${key}[polluted]=yes&${key}.polluted=yes&constructor[prototype][polluted]=yes`;
      const answer = await world.ask({ path: `/backend-api/v2/create?${query}` });
      assert.equal(answer.text, 'Hello from the upstream.', key);
      const headers = { [key]: 'yes', [`x-${key}`]: 'yes', cookie: `${key}=yes` };
      const named = await world.ask({ path: '/v1/chat/completions', headers, body: HI });
      assert.equal(named.status, 200, named.text);
      assert.ok(!Object.hasOwn(world.last.headers, key.toLowerCase()), key);
      assertClean();
    }
  });
});
