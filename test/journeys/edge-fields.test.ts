import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { defaultLimits } from '../../src/config/defaults.ts';
import { assertError, CHATS, HI, openWorld, type World } from './edge-world.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const text = JSON.stringify(HI);

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
  ...['file:///etc/passwd', 'FTP://example.com/a.png', ' javascript:alert(1)', 'blob:http://a/b'].flatMap((url) => [
    [saying([{ type: 'image_url', image_url: { url } }]), 'messages[0].content[0]'] as const,
    [
      saying([
        { type: 'text', text: 'Hi' },
        { type: 'image_url', image_url: url },
      ]),
      'messages[0].content[1]',
    ] as const,
    [saying([{ type: 'video_url', video_url: { url } }]), 'messages[0].content[0]'] as const,
  ]),
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
  [{ reasoning_effort: '' }, 'reasoning_effort'],
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
  [{ extra_body: { reasoning_effort: '' } }, 'extra_body.reasoning_effort'],
];

/** What is told of a field, in words that JSON has. */
const TOLD: readonly (readonly [change: object, message: string])[] = [
  [{ timeout: 0 }, "'timeout' must be greater than 0."],
  [{ max_tokens: -1 }, "'max_tokens' must be at least 0."],
  [{ max_tokens: 1.5 }, "'max_tokens' must be a whole number."],
  [{ conversation: [] }, "'conversation' must be an object."],
  [{ media: ['https://example.com/a.png'] }, "'media[0]' must be an array."],
  [
    { reasoning_effort: '' },
    "'reasoning_effort' must be a word such as none, low, medium or high; leave it out for the usual one.",
  ],
  [{ web_search: 1 }, "'web_search' must be a boolean or a string."],
  [{ stop: Array(257).fill('a') }, "'stop' must have at most 256 items."],
  [
    { messages: [{ role: 'user', content: Array(10_001).fill({ type: 'text', text: 'a' }) }] },
    "'messages[0].content' must have at most 10000 items.",
  ],
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

    test(`${dialect} refuses more values than there may be, and says that this is no setting`, async () => {
      const answer = await world.ask({ path, body: { ...HI, zeros: Array(200_001).fill(0) } });
      assert.match(assertError(answer, 400).message, /more than 200000 values, which is a fixed limit/);
    });

    test(`${dialect} refuses what nests deeper than the limit`, async () => {
      for (const [name, value] of Object.entries({
        tools: [{ type: 'function', function: { name: 'f', parameters: schema(60) } }],
        conversation: { state: schema(60) },
        unknown: schema(60),
      })) {
        assertError(await world.ask({ path, body: { ...HI, [name]: value } }), 400, name);
      }
      // The body is the first level.
      const lists = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
      const { jsonDepth } = defaultLimits;
      assertError(await world.ask({ path, body: { ...HI, unknown: lists(jsonDepth) } }), 400, 'one level too many');
      assert.equal((await world.ask({ path, body: { ...HI, unknown: lists(jsonDepth - 1) } })).status, 200);
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
        // As many as are read.
        'messages within the limits': `"messages":[${flood('0', 9_999)}]`,
        'parts within the limits': `"messages":[${flood('{"role":"user","content":[0,0]}', 9_999)}]`,
      })) {
        const answer = await world.ask({ path, method: 'POST', headers: JSON_TYPE, body: `{${members}}` });
        assertError(answer, [400, wrongField], name);
        assert.ok(answer.text.length < 10_000, name);
        const { detail = [] } = answer.json as { readonly detail?: readonly unknown[] };
        assert.ok(detail.length <= 1, `${name}: ${answer.text}`);
      }
      await world.isWell();
    });
  }

  // Vendors name what was uploaded to them by schemes of their own: whether they know one is theirs to say.
  test('addresses of pictures in schemes that vendors have go on as they are', async () => {
    const urls = [
      'data:image/png;base64,iVBORw0KGgo=',
      'https://a.example/a.png',
      'HTTP://a.example/a.png',
      'iVBORw0KGgo=',
    ];
    const vendors = [
      'gs://bucket/a.png',
      's3://bucket/a.png',
      'ms://file-1',
      'oss://a/b.png',
      'mm_file://1',
      'file-abc123',
    ];
    for (const { path } of CHATS)
      for (const url of [...urls, ...vendors]) {
        const content = [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url } },
        ];
        const answer = await world.ask({ path, body: { ...HI, ...saying(content) } });
        assert.equal(answer.status, 200, answer.text);
        assert.deepEqual(world.last.fields['messages'], [{ role: 'user', content }]);
      }
  });

  test('an address that no upstream reads is refused in a long chat and in the words of the Responses API, too', async () => {
    const { length } = world.upstream.chats;
    const image = { type: 'image_url', image_url: { url: 'file:///etc/passwd' } };
    const long = { type: 'text', text: 'long '.repeat(20_000) };
    const answer = await world.ask({ path: '/v1/chat/completions', body: { ...HI, ...saying([long, image]) } });
    assert.equal(assertError(answer, 422).param, 'messages[0].content[1]');
    const input = [{ role: 'user', content: [{ type: 'input_image', image_url: 'file:///etc/passwd' }] }];
    const responses = await world.ask({ path: '/v1/responses', body: { model: HI.model, input } });
    assert.match(assertError(responses, 400).message, /Media must be an http\(s\) address or a data: URI/);
    assert.equal(world.upstream.chats.length, length);
  });

  test('an input that is there, but says nothing, is not called missing', async () => {
    const told = async (input: unknown): Promise<string> => {
      const answer = await world.ask({ path: '/v1/responses', body: { model: HI.model, input } });
      const { message, param } = assertError(answer, 422);
      assert.equal(param, 'input');
      return message;
    };
    for (const none of [undefined, null]) {
      assert.match(await told(none), /'input' is required: a text, or items\.$/);
    }
    for (const empty of ['', []]) {
      assert.match(await told(empty), /'input' must not be empty: a text, or items\.$/);
    }
    assert.match(
      await told([{ role: 'user', content: '' }]),
      /'input' must have an item with content: a text, or items\.$/,
    );
    assert.match(
      await told([{ type: 'mesage', content: 'Hi' }]),
      /'input' has nothing in it that this provider understands/,
    );
  });

  test('of several pictures the one is named that is wrong', async () => {
    const images = [{ image_url: 'https://example.com/a.png' }, { image_url: 'b.png' }];
    const answer = await world.ask({ path: '/v1/images/edits', body: { prompt: 'x', images } });
    assert.equal(assertError(answer, 422).param, 'images[1]');
  });

  test('of a form the part is named whose JSON is broken', async () => {
    const form = '--x\r\ncontent-disposition: form-data; name="json"\r\n\r\n{"messages":\r\n--x--\r\n';
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const answer = await world.ask({ path: '/backend-api/v2/conversation', body: form, method: 'POST', headers });
    assert.match(assertError(answer, 400).message, /^The part 'json' is not valid JSON/);
  });

  test('a long list of good parts is no flood', async () => {
    const part = { type: 'text', text: 'a' };
    const messages = Array.from({ length: 2_000 }, () => ({ role: 'user', content: [part, part, part, part] }));
    for (const { path } of CHATS) {
      const answer = await world.ask({ path, body: { ...HI, messages } });
      assert.equal(answer.status, 200, answer.text.slice(0, 300));
    }
  });
});
