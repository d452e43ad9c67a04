import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Message, Part, ToolCall, VendorData } from '../../core/chat.ts';
import type { Batch, Chunk } from '../../core/chunk.ts';
import { toMessagesBody } from '../../providers/ai-sdk/anthropic-body.ts';
import { MessageEvents } from '../../providers/ai-sdk/anthropic-events.ts';
import { validate } from '../validate.ts';
import { collectMessage } from './collect.ts';
import { decodeMessages } from './decode.ts';
import { type MessageEvent, MessageStream, messageHead } from './encode.ts';
import { MessagesBody } from './wire.ts';

type Json = Record<string, unknown>;

const WISH = { model: 'm', providers: [], ignored: [] };
const RUNS = { numRuns: 300 };

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const id = fc.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/);
const mark = fc.option(fc.constantFrom({ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' }), { nil: undefined });
const json: fc.Arbitrary<Json> = fc.dictionary(id, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });

function block(type: string, members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Json> {
  return fc.record({ type: fc.constant(type), ...members, cache_control: mark }).map(present);
}

/** As it is once it went over the wire: without members that are undefined, for example. */
function present<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

const said = block('text', { text });
const image = block('image', {
  source: fc.oneof(
    fc.record({ type: fc.constant('base64'), media_type: fc.constantFrom('image/png', 'image/webp'), data: id }),
    fc.record({ type: fc.constant('url'), url: id.map((name) => `https://example.com/${name}`) }),
    fc.record({ type: fc.constant('file'), file_id: id }),
  ),
});
const document = block('document', {
  source: fc.oneof(
    fc.record({ type: fc.constant('base64'), media_type: fc.constant('application/pdf'), data: id }),
    fc.record({ type: fc.constant('text'), media_type: fc.constant('text/plain'), data: text }),
    fc.record({ type: fc.constant('url'), url: id.map((name) => `https://example.com/${name}.pdf`) }),
  ),
  title: fc.option(text, { nil: undefined }),
  context: fc.option(text, { nil: undefined }),
  citations: fc.option(fc.constant({ enabled: true }), { nil: undefined }),
});
const other = fc.record({ type: fc.constantFrom('container_upload', 'one_day'), data: json });
const result = block('tool_result', {
  tool_use_id: id,
  content: fc.option(fc.array(fc.oneof(said, image), { minLength: 1, maxLength: 3 }), { nil: undefined }),
  is_error: fc.option(fc.boolean(), { nil: undefined }),
});
const thought = fc.oneof(
  fc.record({ type: fc.constant('thinking'), thinking: fc.string(), signature: fc.base64String({ minLength: 4 }) }),
  fc.record({ type: fc.constant('redacted_thinking'), data: fc.base64String({ minLength: 4 }) }),
);
const call = block('tool_use', { id, name: id, input: json });
const served = fc.record({ type: fc.constant('server_tool_use'), id, name: id, input: json });

const user = fc.record({
  role: fc.constant('user'),
  content: fc.array(fc.oneof(said, image, document, other, result), { minLength: 1, maxLength: 5 }),
});
const assistant = fc.record({
  role: fc.constant('assistant'),
  content: fc.array(fc.oneof(said, thought, served, call), { minLength: 1, maxLength: 6 }),
});
/** Turns alternate: neighbours of one role are one message to the API, and so they are here. */
const conversation = fc
  .array(fc.tuple(user, assistant), { maxLength: 3 })
  .chain((turns) => user.map((last) => [...turns.flat(), last]));

describe('the Messages API, there and back', () => {
  test('a conversation arrives at Anthropic as it was', () => {
    fc.assert(
      fc.property(
        conversation,
        fc.option(fc.array(said, { minLength: 1, maxLength: 3 }), { nil: undefined }),
        (messages, system) => {
          const body = present({ max_tokens: 9, messages, system });
          const { request, fields } = decodeMessages(body, validate(MessagesBody, body, 'invalid_request'), WISH, []);
          const dropped: string[] = [];
          const sent = toMessagesBody({ ...request, extra: fields }, (field) => dropped.push(field));
          assert.deepEqual(sent, { ...(inShort(body) as Json), model: 'm' });
          assert.deepEqual(dropped, []);
        },
      ),
      RUNS,
    );
  });

  test('an answer of Anthropic’s arrives at the client as it was, whole and streamed', async () => {
    const cited = fc.record({
      type: fc.constant('text'),
      text,
      citations: fc.array(
        json.map((each) => ({ each, type: 'x' })),
        { minLength: 1, maxLength: 2 },
      ),
    });
    const content = fc.array(
      fc.oneof(
        fc.record({ type: fc.constant('text'), text }),
        cited,
        thought,
        served,
        fc.record({ type: fc.constant('tool_use'), id, name: id, input: json }),
      ),
      { maxLength: 6 },
    );
    const reason = fc.constantFrom('end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'pause_turn', 'refusal');
    const splits = fc.infiniteStream(fc.integer({ min: 1, max: 5 }));
    await fc.assert(
      fc.asyncProperty(content.map(present), reason, splits, async (blocks, stop_reason, sizes) => {
        const events = new MessageEvents({ label: 'Test', secrets: [] });
        const batches: Batch[] = [];
        for (const event of eventsOf(blocks, stop_reason, sizes)) {
          const batch: Chunk[] = [];
          events.translate(JSON.parse(JSON.stringify(event)) as Record<string, unknown>, batch);
          batches.push(batch);
        }
        assert.ok(events.finished);
        const message = await collectMessage(each(batches), messageHead('p', 'm', 1));
        assert.deepEqual(message['content'], blocks);
        assert.equal(message['stop_reason'], stop_reason);
        const stream = new MessageStream(messageHead('p', 'm', 1));
        checkOrder(batches.flatMap((batch) => stream.events(batch)));
      }),
      RUNS,
    );
  });

  test('what other vendors attach comes back with the conversation', async () => {
    const vendor: fc.Arbitrary<VendorData> = fc.oneof(
      fc.record({ google: fc.record({ thoughtSignature: fc.base64String({ minLength: 4 }) }) }),
      fc.record({ openai: fc.record({ itemId: id, reasoningEncryptedContent: fc.base64String({ minLength: 4 }) }) }),
    );
    const thoughts = fc.array(fc.record({ type: fc.constant('reasoning' as const), text: fc.string(), vendor }), {
      maxLength: 2,
    });
    const calls = fc.uniqueArray(
      fc.record({ id, name: id, arguments: json.map((value) => JSON.stringify(value)), vendor: fc.option(vendor) }),
      { selector: (each) => each.id, maxLength: 3 },
    );
    await fc.assert(
      fc.asyncProperty(
        thoughts.map(present),
        text,
        calls.map(present),
        fc.boolean(),
        async (parts, spoken, called, atOnce) => {
          const toolCalls = called.map(
            ({ vendor: own, ...each }): ToolCall => (own === null ? each : { ...each, vendor: own }),
          );
          const chunks: Chunk[] = [
            ...parts.flatMap((part): Chunk[] => [
              { type: 'reasoning', reasoning: part.text },
              { type: 'reasoning', reasoning: '', vendor: part.vendor },
            ]),
            { type: 'content', content: spoken },
            ...toolCalls.flatMap(({ id, name, arguments: written, vendor: own }, index): Chunk[] => [
              { type: 'tool_call', tool_call: { index, id, name, arguments: '' } },
              { type: 'tool_call', tool_call: { index, arguments: written } },
              ...(own === undefined
                ? []
                : [{ type: 'tool_call', tool_call: { index, arguments: '', vendor: own } } as const]),
            ]),
            { type: 'finish', finish: 'stop' },
          ];
          const batches = atOnce ? [chunks] : chunks.map((chunk) => [chunk]);
          const { content } = await collectMessage(each(batches), messageHead('p', 'm', 1));
          const body = { messages: [{ role: 'assistant', content }] };
          const { request } = decodeMessages(body, validate(MessagesBody, body, 'invalid_request'), WISH, []);
          const expected: Message = {
            role: 'assistant',
            content: [...parts, { type: 'text', text: spoken }] as readonly Part[],
            ...(toolCalls.length === 0 ? {} : { toolCalls }),
          };
          assert.deepEqual(request.messages, [expected]);
        },
      ),
      RUNS,
    );
  });

  test('pieces of calls that are mixed up find their blocks', async () => {
    const piece = (index: number, text: string, first = false): Chunk => ({
      type: 'tool_call',
      tool_call: { index, ...(first ? { id: `call_${index}`, name: 'x' } : {}), arguments: text },
    });
    const batch = [piece(0, '{"a"', true), piece(1, '{"b"', true), piece(0, ':1}'), piece(1, ':2}')];
    const stream = new MessageStream(messageHead('p', 'm', 1));
    const events = [...batch, { type: 'finish', finish: 'tool_calls' } as const].flatMap((chunk) =>
      stream.events([chunk]),
    );
    checkOrder(events);
    const { content } = await collectMessage(
      each([[...batch, { type: 'finish', finish: 'tool_calls' }]]),
      messageHead('p', 'm', 1),
    );
    assert.deepEqual(
      (content as Json[]).map((block) => block['input']),
      [{ a: 1 }, { b: 2 }],
    );
  });

  test('calls that are announced before their arguments, and text between them, get their blocks one after the other', () => {
    const piece = (index: number, text: string, more = {}): Chunk => ({
      type: 'tool_call',
      tool_call: { index, arguments: text, ...more },
    });
    const chunks: readonly Chunk[] = [
      { type: 'content', content: 'A' },
      piece(0, '', { id: 'c0', name: 'x' }),
      piece(1, '', { id: 'c1', name: 'y' }),
      { type: 'content', content: 'B' },
      piece(2, '', { id: 'c2', name: 'z' }),
      piece(1, '{"b":', { vendor: { google: { thoughtSignature: 't' } } }),
      piece(0, '{"a":1', { vendor: { google: { thoughtSignature: 's' } } }),
      piece(2, '{}'),
      piece(0, '}'),
      piece(1, '2}'),
      { type: 'source', source: { url: 'https://a.example/' } },
      { type: 'finish', finish: 'tool_calls' },
    ];
    for (const size of [1, 3, chunks.length]) {
      const stream = new MessageStream(messageHead('p', 'm', 1));
      const events: MessageEvent[] = [];
      for (let at = 0; at < chunks.length; at += size) events.push(...stream.events(chunks.slice(at, at + size)));
      checkOrder(events);
      const said = events.flatMap(({ content_block: block, delta }) => {
        const { type, name } = (block ?? {}) as Json;
        const { text: words, partial_json: json } = (delta ?? {}) as Json;
        return [type === 'tool_use' ? `${name}:` : type, words, json].filter((each) => typeof each === 'string');
      });
      assert.equal(
        said.filter((each) => each !== 'redacted_thinking').join(' '),
        // The last text is the source's.
        'text A x: {"a":1 } y: {"b":2} text B z: {} text',
      );
      assert.equal(said.filter((each) => each === 'redacted_thinking').length, 2, 'what Google attached is kept');
    }
  });
});

/** One text without marks may be written as a string. */
function inShort(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inShort);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      isPlainContent(name, member, value as Json) ? member[0]?.text : inShort(member),
    ]),
  );
}

function isPlainContent(name: string, member: unknown, holder: Json): member is { text: string }[] {
  if (name !== 'system' && name !== 'content') return false;
  if (name === 'content' && holder['role'] === undefined && holder['type'] !== 'tool_result') return false;
  if (!Array.isArray(member) || member.length !== 1) return false;
  const [only] = member as Json[];
  return only?.['type'] === 'text' && Object.keys(only).length === 2;
}

async function* each(batches: readonly Batch[]): AsyncIterable<Batch> {
  yield* batches;
}

/** Blocks as the vendor streams them, in pieces of the given sizes. */
function* eventsOf(blocks: readonly Json[], stop_reason: string, sizes: Iterator<number>): Iterable<Json> {
  const pieces = function* (whole: string): Iterable<string> {
    const units = [...whole];
    while (units.length > 0) yield units.splice(0, Number(sizes.next().value)).join('');
  };
  yield {
    type: 'message_start',
    message: {
      id: 'msg_1',
      model: 'm',
      role: 'assistant',
      type: 'message',
      content: [],
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  };
  for (const [index, block] of blocks.entries()) {
    const delta = (fields: Json): Json => ({ type: 'content_block_delta', index, delta: fields });
    const { text, citations, thinking, signature, input } = block as Json & { text: string; thinking: string };
    const opened: Json = { ...block };
    if (block['type'] === 'text') {
      opened['text'] = '';
      delete opened['citations'];
    }
    if (block['type'] === 'thinking') Object.assign(opened, { thinking: '', signature: '' });
    if (input !== undefined) opened['input'] = {};
    yield { type: 'content_block_start', index, content_block: opened };
    if (block['type'] === 'text') {
      for (const piece of pieces(text)) yield delta({ type: 'text_delta', text: piece });
      for (const citation of (citations ?? []) as unknown[]) yield delta({ type: 'citations_delta', citation });
    } else if (block['type'] === 'thinking') {
      for (const piece of pieces(thinking)) yield delta({ type: 'thinking_delta', thinking: piece });
      yield delta({ type: 'signature_delta', signature });
    } else if (input !== undefined) {
      for (const piece of pieces(JSON.stringify(input))) yield delta({ type: 'input_json_delta', partial_json: piece });
    }
    yield { type: 'content_block_stop', index };
  }
  yield { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } };
  yield { type: 'message_stop' };
}

/** Asserts what every stream promises: a start, blocks one after the other with their pieces between, an end. */
function checkOrder(events: readonly MessageEvent[]): void {
  const own = events.filter(({ type }) => type !== 'ping');
  assert.equal(own[0]?.type, 'message_start');
  assert.deepEqual(
    own.slice(-2).map(({ type }) => type),
    ['message_delta', 'message_stop'],
  );
  const open = new Set<number>();
  let next = 0;
  for (const { type, index = -1 } of own.slice(1, -2)) {
    if (type === 'content_block_start') {
      assert.equal(index, next);
      assert.equal(open.size, 0, `block ${index} opens once the one before is closed`);
      next += 1;
      open.add(index);
    } else if (type === 'content_block_stop') assert.ok(open.delete(index), `block ${index} closes once`);
    else {
      assert.equal(type, 'content_block_delta');
      assert.ok(open.has(index), `block ${index} is open`);
    }
  }
  assert.equal(open.size, 0);
}

test('many calls that are open at once are not looked at again and again', (context) => {
  const stream = new MessageStream(messageHead('p', 'm', 1));
  const looks = context.mock.method(JSON, 'parse');
  for (let index = 0; index < 300; index += 1) {
    stream.events([{ type: 'tool_call', tool_call: { index, id: `call-${index}`, name: 'f', arguments: '{"a":' } }]);
  }
  assert.ok(looks.mock.callCount() <= 600, `${looks.mock.callCount()} looks`);
  const more = (index: number, text: string): readonly MessageEvent[] =>
    stream.events([{ type: 'tool_call', tool_call: { index, arguments: text } }]);
  more(0, '1}');
  const turned = more(7, '1}').map(({ type, index, delta }) => [
    type,
    index,
    (delta as Json | undefined)?.['partial_json'],
  ]);
  assert.deepEqual(turned, [
    ['content_block_stop', 0, undefined],
    ['content_block_start', 1, undefined],
    ['content_block_delta', 1, '{"a":'],
  ]);
});
