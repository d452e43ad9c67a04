import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';
import { startGatewayBefore } from './gateway-before.ts';

type Json = Record<string, unknown>;

const CREATED = { type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'm' } };
const ITEM = { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1' } };
const PIECE = { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta: 'Hello' };
const DONE = { ...ITEM, type: 'response.output_item.done' };
const usage = { input_tokens: 5, output_tokens: 2, total_tokens: 7 };
const COMPLETED = { type: 'response.completed', response: { id: 'resp_1', status: 'completed', usage } };
const CALL = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '' };
const ARGUMENTS = { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"at":1}' };
const CITED = {
  type: 'response.output_text.annotation.added',
  annotation: { type: 'url_citation', url: 'https://a.example/' },
};

const CANDIDATE = { content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP' };
const COUNTED = { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 };
const GEMINI = { candidates: [CANDIDATE], usageMetadata: COUNTED };

/** Answers as servers of these APIs send them that are not OpenAI's or Google's. */
const TEXTS: Readonly<Record<'responses' | 'gemini', Readonly<Record<string, readonly Json[]>>>> = {
  responses: {
    'a start with nothing': [{ type: 'response.created' }, ITEM, PIECE, DONE, COMPLETED],
    'a start with odd values': [
      { type: 'response.created', response: { id: 1, created_at: '7', model: null } },
      { type: 'response.in_progress', response: null },
      ITEM,
      PIECE,
      DONE,
      COMPLETED,
    ],
    'no start and no item': [PIECE, COMPLETED],
    'events that nobody knows, pings among them': [
      { type: 'ping' },
      { type: 'keepalive', sequence_number: 1 },
      CREATED,
      { type: 'response.future', x: 1 },
      ITEM,
      PIECE,
      DONE,
      COMPLETED,
    ],
    'pieces of no item': [
      CREATED,
      ITEM,
      { type: PIECE.type, delta: null },
      { type: PIECE.type, delta: 'Hello' },
      DONE,
      COMPLETED,
    ],
    'items without ids': [
      CREATED,
      { type: ITEM.type, item: { type: 'message' } },
      PIECE,
      { type: DONE.type, item: { type: 'message' } },
      COMPLETED,
    ],
    'numbers as texts': [
      CREATED,
      { ...ITEM, output_index: '0' },
      { ...PIECE, output_index: '0' },
      DONE,
      { ...COMPLETED, response: { usage: { input_tokens: '5', output_tokens: '2' } } },
    ],
    'no usage': [CREATED, ITEM, PIECE, DONE, { type: COMPLETED.type, response: { usage: {} } }],
    'an end with nothing': [CREATED, ITEM, PIECE, DONE, { type: COMPLETED.type }],
    'an end with odd values': [
      CREATED,
      ITEM,
      PIECE,
      DONE,
      { ...COMPLETED, response: { usage: 'none', incomplete_details: {}, service_tier: 3 } },
    ],
    'an item that does not end': [CREATED, ITEM, PIECE, COMPLETED],
    'a citation without a place': [CREATED, ITEM, PIECE, CITED, DONE, COMPLETED],
  },
  gemini: {
    'no role, no usage, no name of the model': [
      { candidates: [{ content: { parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }] },
    ],
    'numbers as texts': [{ ...GEMINI, usageMetadata: { promptTokenCount: '5', candidatesTokenCount: '2' } }],
    'an error that is null': [{ ...GEMINI, error: null }],
    'ratings in numbers': [
      { ...GEMINI, candidates: [{ ...CANDIDATE, safetyRatings: [{ category: 7, probability: 1 }] }] },
    ],
    'events of nothing': [{}, { candidates: null }, { candidates: [] }, GEMINI],
  },
};

const FAILURES: Readonly<Record<'responses' | 'gemini', Readonly<Record<string, Json>>>> = {
  responses: {
    'the words alone': { type: 'error', message: 'Out of order' },
    'a text': { type: 'error', error: 'Out of order' },
    'no type': { error: { message: 'Out of order' } },
    'a number for its code': { type: 'error', error: { code: 500, message: 'Out of order' } },
    'a response that failed': { type: 'response.failed', response: { error: { message: 'Out of order' } } },
  },
  gemini: {
    'a text': { error: 'Out of order' },
    'the words alone': { error: { message: 'Out of order' } },
    'a text for its code': { error: { code: '500', message: 'Out of order', status: 5 } },
  },
};

const START = { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' } };
const TEXT = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } };
const STOP = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } };

/** Answers that have nothing odd. */
const WHOLE = {
  responses: [CREATED, ITEM, PIECE, DONE, COMPLETED],
  gemini: ['Hel', 'lo', ''].map((text) => ({
    candidates: [{ content: { role: 'model', parts: [{ text }] }, ...(text === '' ? { finishReason: 'STOP' } : {}) }],
  })),
  anthropic: [
    START,
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    TEXT,
    { type: 'content_block_stop', index: 0 },
    STOP,
    { type: 'message_stop' },
  ],
};

describe('servers that differ from the API they speak', { timeout: 120_000 }, () => {
  let server: ScriptedServer;
  let world: Awaited<ReturnType<typeof startGatewayBefore>>;
  /** Texts are sent as they are. */
  let events: readonly (Json | string)[] = [];
  let client: OpenAI;
  let google: GoogleGenAI;
  let anthropic: Anthropic;
  before(async () => {
    server = await startScriptedServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const written = events.map((event) => (typeof event === 'string' ? event : JSON.stringify(event)));
      response.end(written.map((event) => `data: ${event}\n\n`).join(''));
      return undefined;
    });
    world = await startGatewayBefore(
      [server],
      `providers:
  responses: { kind: openai-responses, baseUrl: '${server.origin}', apiKey: k, models: [m] }
  gemini: { kind: google, baseUrl: '${server.origin}', apiKey: k, models: [m] }
  anthropic: { kind: anthropic, baseUrl: '${server.origin}', apiKey: k, models: [m] }
limits: { attempts: 1 }`,
    );
    const { origin } = world.gateway;
    client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: 'secret', maxRetries: 0 });
    anthropic = new Anthropic({ baseURL: origin, apiKey: 'secret', maxRetries: 0 });
    google = new GoogleGenAI({ apiKey: 'secret', httpOptions: { baseUrl: origin } });
  });
  after(() => world.close());

  const messages = [{ role: 'user' as const, content: '12345678' }];
  const said = async (kind: string, stream: boolean) => {
    const asked = { model: `${kind}/m`, messages };
    if (!stream) return (await client.chat.completions.create(asked)).choices[0];
    return (await client.chat.completions.stream(asked).finalChatCompletion()).choices[0];
  };

  const saidAsItself = {
    responses: async () => (await client.responses.create({ model: 'responses/m', input: '12345678' })).output_text,
    gemini: async () => (await google.models.generateContent({ model: 'gemini/m', contents: '12345678' })).text,
    anthropic: async () => {
      const asked = { model: 'anthropic/m', max_tokens: 9, messages };
      const [block] = (await anthropic.messages.create(asked)).content;
      return block?.type === 'text' ? block.text : undefined;
    },
  };

  for (const kind of ['responses', 'gemini'] as const) {
    for (const [name, script] of Object.entries(TEXTS[kind])) {
      test(`${kind}: ${name}`, async () => {
        events = script;
        for (const stream of [false, true]) {
          const choice = await said(kind, stream);
          assert.deepEqual([choice?.message.content, choice?.finish_reason], ['Hello', 'stop']);
        }
        if (kind === 'gemini') {
          const { text } = await google.models.generateContent({ model: 'gemini/m', contents: '12345678' });
          assert.equal(text, 'Hello');
        } else {
          const { output_text: text } = await client.responses.create({ model: 'responses/m', input: '12345678' });
          assert.equal(text, 'Hello');
        }
      });
    }

    test(`${kind}: counts that are texts are believed`, async () => {
      events = TEXTS[kind]['numbers as texts'] ?? [];
      const { usage: counted } = await client.chat.completions.create({ model: `${kind}/m`, messages });
      assert.deepEqual([counted?.prompt_tokens, counted?.completion_tokens], [5, 2]);
    });

    for (const [name, event] of Object.entries(FAILURES[kind])) {
      test(`${kind}: an error with ${name}`, async () => {
        events = [event];
        const failed = { status: 500, message: /Out of order/ };
        await assert.rejects(client.chat.completions.create({ model: `${kind}/m`, messages }), failed);
        if (kind === 'gemini') {
          await assert.rejects(google.models.generateContent({ model: 'gemini/m', contents: 'Hi' }), failed);
        }
      });
    }
  }

  test('what is no event is passed over between those that are', async () => {
    const odd = ['{bad', '{bad}', 'Bad Gateway', '5', 'null', '', '[]', '"text"', '{"type": nonsense', '\nevent: x'];
    odd.push('{"type": nonsense}', '{"candidates": [}', '{"error" : nonsense}', '{"type": "response.created"}}');
    for (const kind of ['responses', 'gemini', 'anthropic'] as const) {
      events = [...odd, ...WHOLE[kind].flatMap((event) => [event, ...odd])];
      for (const stream of [false, true]) {
        const choice = await said(kind, stream);
        assert.deepEqual([choice?.message.content, choice?.finish_reason], ['Hello', 'stop'], kind);
      }
      // In the vendor's own format, too, which no library reads.
      assert.equal(await saidAsItself[kind](), 'Hello');
    }
  });

  test('an answer whose end cannot be read is one that broke off', async () => {
    for (const kind of ['responses', 'gemini', 'anthropic'] as const) {
      events = [...WHOLE[kind].slice(0, -2), '{"type": nonsense}'];
      await assert.rejects(said(kind, false), { status: 502, message: /broke off its answer/ }, kind);
    }
  });

  test('what the vendor library does not want to read, though it is JSON, is no less a failure', async () => {
    const call = '{"functionCall":{"name":"look","args":{"__proto__":{"at":1}}}}';
    events = [`{"candidates":[{"content":{"role":"model","parts":[${call}]}}]}`, GEMINI];
    await assert.rejects(said('gemini', false), { status: 502, message: /cannot be read/ });
  });

  test('an answer of nothing else has an end', async () => {
    for (const kind of ['responses', 'gemini', 'anthropic'] as const) {
      for (const odd of ['{bad', '{"type": nonsense}']) {
        events = [...WHOLE[kind].slice(0, -2), ...new Array(2_000).fill(odd), ...WHOLE[kind].slice(-2)];
        await assert.rejects(said(kind, false), { status: 502, message: /much that is no event/ }, kind);
        await assert.rejects(saidAsItself[kind](), { status: 502, message: /much that is no event/ }, kind);
      }
    }
  });

  test('a call whose item has no id, and no state', async () => {
    const { id: _, ...call } = CALL;
    events = [
      CREATED,
      { type: ITEM.type, item: { ...call, arguments: undefined } },
      ARGUMENTS,
      { type: 'response.function_call_arguments.done', arguments: '{"at":1}' },
      { type: DONE.type, item: { ...call, arguments: '{"at":1}' } },
      COMPLETED,
    ];
    for (const stream of [false, true]) {
      const choice = await said('responses', stream);
      const calls = choice?.message.tool_calls?.map((each) => each.type === 'function' && [each.id, each.function]);
      assert.deepEqual(JSON.parse(JSON.stringify(calls)), [['call_1', { name: 'look', arguments: '{"at":1}' }]]);
      assert.equal(choice?.finish_reason, 'tool_calls');
    }
  });

  test('a citation without a place is one', async () => {
    events = TEXTS.responses['a citation without a place'] ?? [];
    const choice = await said('responses', false);
    assert.equal(choice?.message.annotations?.[0]?.url_citation.url, 'https://a.example/');
  });
});
