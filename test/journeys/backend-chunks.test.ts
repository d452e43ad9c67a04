import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { after, before, beforeEach, describe, test } from 'node:test';
import { defaultLimits } from '../../src/config/defaults.ts';
import type { Provider } from '../../src/core/provider.ts';
import { enrich } from '../../src/enrich/enrich.ts';
import { thinkTags } from '../../src/enrich/think-tags.ts';
import { asidesOf } from '../../src/http/backend/asides.ts';
import { TypedStream } from '../../src/http/backend/encode.ts';
import { openChunks } from '../../src/routing/chunks.ts';
import { Deadlines } from '../../src/routing/deadlines.ts';
import { testCall } from '../support/call.ts';
import { chatRequest } from '../support/chat-request.ts';
import { eventually } from '../support/eventually.ts';
import { usageLines } from '../support/usage.ts';
import { at, contentOf, converse, type Event, type KeptWorld, lastBody, openKept, postJson } from './kept-world.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A body with every field that the front end sends. */
const FULL = {
  id: '734012345678901234',
  conversation_id: '7f3e0c1a-0000-4000-8000-000000000000',
  conversation: null,
  model: 'test-model',
  web_search: false,
  provider: 'acme',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [] },
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
  ],
  action: 'next',
  download_media: true,
  debug_mode: false,
  api_key: null,
  ignored: ['other'],
  aspect_ratio: '16:9',
  prompt: null,
  tools: [],
  tool_calls: [],
};

describe('chunks as the front end reads them', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  before(async () => {
    world = await openKept();
  });
  after(() => world.close());
  beforeEach(() => world.answers({ text: ['Hello', ' world'] }));

  async function raw(body: object, headers: Record<string, string> = {}): Promise<{ text: string; type: string }> {
    const response = await postJson(at(world, 'conversation'), body, headers);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return { text, type: response.headers.get('content-type') ?? '' };
  }

  test('all that the front end sends is understood, and only the question goes on', async () => {
    const { text } = await raw(FULL, { 'x-user': 'ada', x_api_key: '' });
    const order = [...text.matchAll(/^event: (\w+)$/gm)].map(([, type]) => type);
    assert.deepEqual(order, ['provider', 'parameters', 'headers', 'content', 'content', 'title', 'usage', 'finish']);
    const { messages, ...rest } = lastBody(world);
    assert.deepEqual(messages, [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
    ]);
    assert.deepEqual(Object.keys(rest).sort(), ['model', 'stream', 'stream_options']);
  });

  test('each is three lines: its type, its JSON on one line, nothing; LF only', async () => {
    const odd = 'line\nbreak\r\nand \u2028 data: x\n\nevent: y 😀';
    world.answers({ reasoning: ['hm'], text: [odd], finish: 'length' });
    const { text, type } = await raw({ ...FULL, debug_mode: true });
    assert.match(type, /^text\/event-stream; *charset=utf-8$/);
    assert.ok(!text.includes('\r') && text.endsWith('\n\n'));
    const blocks = text.slice(0, -2).split('\n\n');
    assert.ok(blocks.length >= 8);
    const events = blocks.map((block) => {
      const [, name, json] = /^event: (\w+)\ndata: (\{[^\n\r]*\})$/.exec(block) ?? assert.fail(block);
      const event = JSON.parse(json ?? '') as Event;
      assert.equal(event.type, name);
      if (name !== 'reasoning') assert.ok((name ?? '') in event, 'the payload stands under the name of the type');
      return event;
    });
    assert.equal(contentOf(events), odd);
  });

  test('one line is one to every reader of lines, also to those who know more ends than LF', async () => {
    const odd = 'a\u2028b\u2029c\u0085d\ve\ff\u001cg\u001eh';
    world.answers({ reasoning: [odd], text: [odd, odd] });
    for (const accept of ['text/event-stream', 'application/x-ndjson']) {
      const { text } = await raw(FULL, { accept });
      const events: Event[] = [];
      for await (const line of createInterface({ input: Readable.from([text]) }))
        if (/^(data: )?\{/.test(line)) events.push(JSON.parse(line.replace('data: ', '')));
      assert.equal(contentOf(events), odd + odd, accept);
      // Those that Python's `splitlines` knows as well.
      for (const end of odd.match(/[^a-h]/gu) ?? []) assert.ok(!text.includes(end), accept);
    }
  });

  test('bare lines for those who ask for them', async () => {
    const { text, type } = await raw(FULL, { accept: 'application/x-ndjson' });
    assert.match(type, /^application\/x-ndjson/);
    const events = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Event);
    assert.equal(contentOf(events), 'Hello world');
    assert.match((await raw(FULL, { accept: 'Application/X-NDJSON' })).type, /^application\/x-ndjson/);
    for (const accept of ['application/x-ndjson, text/event-stream', 'application/x-ndjson, Text/Event-Stream'])
      assert.match((await raw(FULL, { accept })).type, /^text\/event-stream/, accept);
  });

  test('provider and parameters', async () => {
    const [provider, parameters] = await converse(world, {});
    assert.deepEqual(provider, {
      type: 'provider',
      provider: { name: 'acme', url: null, label: 'acme', model: 'test-model' },
    });
    const declared = parameters?.['parameters'] as Record<string, unknown>;
    for (const name of ['provider', 'model', 'messages', 'stream', 'timeout', 'response_format', 'max_tokens', 'stop'])
      assert.ok(name in declared, name);
  });

  test('parameters are examples: what a form of settings sends back unchanged is accepted', async () => {
    const [, parameters] = await converse(world, {});
    const declared = parameters?.['parameters'] as Record<string, unknown>;
    const events = await converse(world, { ...declared, messages: [{ role: 'user', content: 'Hi' }] });
    assert.equal(events.at(-1)?.type, 'finish');
  });

  test('reasoning: thinking at first, an empty status at the end, from a field or from tags', async () => {
    for (const answer of [
      { reasoning: ['Let', ' me'], text: ['So.'] },
      { text: ['<think>Let', ' me</think>', 'So.'] },
    ]) {
      world.answers(answer);
      const events = await converse(world, {});
      assert.deepEqual(
        events.filter(({ type }) => type === 'reasoning'),
        [
          { type: 'reasoning', token: 'Let', status: 'thinking' },
          { type: 'reasoning', token: ' me' },
          { type: 'reasoning', token: '', status: '' },
        ],
      );
      assert.equal(contentOf(events), 'So.');
    }
  });

  test('usage and finish: one of each, with model and provider, the finish last', async () => {
    world.answers({ text: ['Hi'], usage: { prompt: 5, completion: 3, cached: 2 } });
    const events = await converse(world, {});
    const [usage, finish] = events.slice(-2);
    assert.deepEqual([usage?.type, usage?.['model'], usage?.['provider']], ['usage', 'test-model', 'acme']);
    assert.partialDeepStrictEqual(usage?.['usage'], {
      prompt_tokens: 5,
      completion_tokens: 3,
      total_tokens: 8,
      prompt_tokens_details: { cached_tokens: 2 },
    });
    assert.deepEqual(finish, { type: 'finish', finish: { reason: 'stop' } });
    for (const type of ['usage', 'finish']) assert.equal(events.filter((event) => event.type === type).length, 1);
  });

  test('usage that no provider counted: a fourth of the bytes of each piece, rounded; for a message four and a fourth', async () => {
    const event = (fields: object): string => `data: ${JSON.stringify({ choices: [{ index: 0, ...fields }] })}\n\n`;
    const end = `${event({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`;
    for (const [pieces, completion] of [
      [['a'], 0],
      [['a', 'b', 'c'], 0],
      [['a', 'Hello!', '世界'], 4],
    ] as const) {
      world.answers({ raw: pieces.map((content) => event({ delta: { content } })).join('') + end });
      const usage = (await converse(world, {})).find(({ type }) => type === 'usage')?.['usage'];
      assert.partialDeepStrictEqual(usage, {
        prompt_tokens: 5,
        completion_tokens: completion,
        total_tokens: 5 + completion,
        estimated: true,
      });
    }
  });

  test('pictures and sound are content with urls; sound has data too', async () => {
    world.answers({ text: ['Look: '], images: [{ mimeType: 'image/png', data: PIXEL }] });
    const picture = (await converse(world, {})).find((event) => event['urls'] !== undefined);
    assert.equal(picture?.type, 'content');
    assert.match(String(picture?.['urls']), /^\/media\//);
    assert.equal(picture?.['alt'], '');
    const wav = Buffer.from(
      '524946462400000057415645666d74201000000001000100401f0000803e0000020010006461746100000000',
      'hex',
    );
    const delta = { audio: { data: wav.toString('base64'), transcript: 'Good day' } };
    const event = (fields: object): string => `data: ${JSON.stringify({ choices: [{ index: 0, ...fields }] })}\n\n`;
    world.answers({ raw: `${event({ delta })}${event({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n` });
    const sound = (await converse(world, {})).find((each) => each['data'] !== undefined);
    assert.equal(sound?.type, 'content');
    assert.match(String(sound?.['data']), /^\/media\/\S+\.wav$/);
    assert.match(String(sound?.['content']), /<audio[^>]*>[\s\S]*Good day/);
  });

  test('sound in a question reaches the provider', async () => {
    const content = [{ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'mp3' } }];
    await converse(world, { messages: [{ role: 'user', content }] });
    assert.deepEqual(lastBody(world).messages[0]?.content, [
      { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'mp3' } },
    ]);
  });

  test('prompt: asked when the messages say nothing', async () => {
    const silent = [{ role: 'user', content: [] }];
    await converse(world, { messages: silent, prompt: 'A red boat' });
    assert.deepEqual(lastBody(world).messages, [{ role: 'user', content: 'A red boat' }]);
    await converse(world, { prompt: 'A red boat' });
    assert.deepEqual(lastBody(world).messages, [{ role: 'user', content: 'Hi' }]);
  });

  test('messages that all say nothing: 400 that names them, and nobody is asked', async () => {
    const asked = world.upstream.chats.length;
    for (const messages of [
      [{ role: 'user', content: [] }],
      [{ role: 'user', content: null }, { role: 'assistant' }],
      [
        { role: 'user', content: '' },
        { role: 'assistant', content: '' },
      ],
    ]) {
      await assert.rejects(converse(world, { messages, prompt: ' ' }), /400.*'messages'/);
    }
    assert.equal(world.upstream.chats.length, asked);
  });

  test('conversation: state that comes back is no field for the provider', async () => {
    const events = await converse(world, { conversation: { acme: { thread: 't-1' } } });
    assert.equal(events.at(-1)?.type, 'finish');
    assert.equal(lastBody(world)['conversation'], undefined);
  });

  test('headers with underscores count too', async () => {
    await raw(FULL, { x_user: 'grace', x_ignored: 'other' });
    await eventually('the label reached the records', async () =>
      (await usageLines(world.origin)).some((line) => line.includes('"grace"')),
    );
  });
});

test('what only a provider of its own kind can say passes on: suggestions, previews, state, a title', async () => {
  const provider: Provider = {
    id: 'own',
    label: 'Own',
    origin: 'file',
    auth: { kind: 'none' },
    models: async () => [],
    async *chat() {
      yield [{ type: 'preview', preview: 'Drawing…' }];
      yield [
        { type: 'content', content: '<think>hm</think>Done' },
        { type: 'conversation', conversation: { own: { thread: 't-1' } } },
        { type: 'suggestions', suggestions: ['And then?', 'Why?'] },
        { type: 'title', title: 'A drawing' },
      ];
      yield [{ type: 'finish', finish: 'stop' }];
    },
  };
  const call = testCall();
  const target = { provider, model: 'm' };
  const request = chatRequest('Draw');
  const opened = await openChunks(target, request, call, new Deadlines(), defaultLimits, () => {});
  const enriched = await enrich([thinkTags], request, call);
  const stream = new TypedStream('lines', asidesOf({ target, headers: {} }));
  let text = '';
  for await (const batch of enriched.chunks(opened.chunks)) text += stream.encode(batch);
  const events = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Event);
  const only = (type: string): unknown => events.find((event) => event.type === type)?.[type];
  assert.equal(only('preview'), 'Drawing…');
  assert.deepEqual(only('suggestions'), ['And then?', 'Why?']);
  assert.deepEqual(only('conversation'), { own: { thread: 't-1' } });
  assert.equal(only('title'), 'A drawing');
  assert.equal(contentOf(events), 'Done');
  assert.equal(events.at(-1)?.type, 'finish');
});
