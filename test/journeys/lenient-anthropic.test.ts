import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';
import { startGatewayBefore } from './gateway-before.ts';

type Json = Record<string, unknown>;

const START = { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 5, output_tokens: 1 } } };
const BLOCK = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
const PIECE = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } };
const STOP = { type: 'content_block_stop', index: 0 };
const DELTA = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } };
const END = { type: 'message_stop' };
const CALL = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} };
const CALLED = { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"at":1}' } };

/** Answers as servers of Anthropic's API other than Anthropic's send them. */
const TEXTS: Readonly<Record<string, readonly Json[]>> = {
  'a start without usage': [{ ...START, message: { id: 'msg_1' } }, BLOCK, PIECE, STOP, DELTA, END],
  'a start with nothing': [{ type: 'message_start' }, BLOCK, PIECE, STOP, DELTA, END],
  'null for everything': [
    { ...START, message: { id: null, model: null, role: null, content: null, usage: null } },
    BLOCK,
    PIECE,
    STOP,
    { ...DELTA, usage: null },
    END,
  ],
  'a start with text blocks, which are empty': [
    { ...START, message: { ...START.message, id: 7, content: [{ type: 'text', text: '' }] } },
    BLOCK,
    PIECE,
    STOP,
    DELTA,
    END,
  ],
  'no start': [BLOCK, PIECE, STOP, DELTA, END],
  'an event first that nobody knows': [{ type: 'future_event' }, START, BLOCK, PIECE, STOP, DELTA, END],
  'pings at odd places': [
    { type: 'ping' },
    START,
    { type: 'ping', at: 1 },
    BLOCK,
    PIECE,
    STOP,
    DELTA,
    { type: 'ping' },
    END,
  ],
  'numbers as texts': [
    { ...START, message: { id: 'msg_1', usage: { input_tokens: '5', cache_read_input_tokens: '0' } } },
    { ...BLOCK, index: '0' },
    { ...PIECE, index: '0' },
    { ...STOP, index: '0' },
    { ...DELTA, usage: { output_tokens: '2' } },
    END,
  ],
  'no indexes': [
    START,
    { type: BLOCK.type, content_block: BLOCK.content_block },
    { type: PIECE.type, delta: PIECE.delta },
    { type: STOP.type },
    DELTA,
    END,
  ],
  'a block that begins without a text': [START, { ...BLOCK, content_block: { type: 'text' } }, PIECE, STOP, DELTA, END],
  'a piece that is null': [
    START,
    BLOCK,
    { ...PIECE, delta: { type: 'text_delta', text: null } },
    PIECE,
    STOP,
    DELTA,
    END,
  ],
  'a block that does not stop': [START, BLOCK, PIECE, DELTA, END],
  'an end without a reason': [START, BLOCK, PIECE, STOP, { ...DELTA, delta: { stop_reason: null } }, END],
  'an end without usage': [START, BLOCK, PIECE, STOP, { type: 'message_delta', delta: DELTA.delta }, END],
  'an end without the last event': [START, BLOCK, PIECE, STOP, DELTA],
  'an end without the last two events': [START, BLOCK, PIECE, DELTA],
  'an end without the event before the last': [START, BLOCK, PIECE, STOP, END],
  'a cache that was not counted': [
    { ...START, message: { id: 'msg_1', usage: { input_tokens: 5, cache_read_input_tokens: {}, service_tier: null } } },
    BLOCK,
    PIECE,
    STOP,
    DELTA,
    END,
  ],
};

const CALLS: Readonly<Record<string, readonly Json[]>> = {
  'a call without an id': [
    START,
    { ...BLOCK, content_block: { type: 'tool_use', name: 'look', input: {} } },
    CALLED,
    STOP,
    { ...DELTA, delta: { stop_reason: 'tool_use' } },
    END,
  ],
  'a call with a text as its input': [
    START,
    { ...BLOCK, content_block: { ...CALL, input: '' } },
    CALLED,
    STOP,
    { ...DELTA, delta: { stop_reason: 'tool_use' } },
    END,
  ],
  'a call that does not stop': [START, { ...BLOCK, content_block: CALL }, CALLED, { ...DELTA, delta: {} }, END],
  'a call before an end without the last event': [
    START,
    { ...BLOCK, content_block: CALL },
    CALLED,
    STOP,
    { ...DELTA, delta: { stop_reason: 'tool_use' } },
  ],
  'a call before an end without a reason': [START, { ...BLOCK, content_block: CALL }, CALLED, STOP, END],
};

/** The bytes of whole answers and of ones that were cut, as they end. */
const ENDS: Readonly<Record<string, readonly [events: readonly Json[], rest: string, isWhole: boolean]>> = {
  'OpenAI’s last word': [[START, BLOCK, PIECE, STOP, DELTA], 'data: [DONE]\n\n', true],
  'a last event without an empty line': [[START, BLOCK, PIECE, STOP, DELTA], 'data: {"type":"message_stop"}', true],
  'a last event but one without an empty line': [[START, BLOCK, PIECE, STOP], `data: ${JSON.stringify(DELTA)}\n`, true],
  'half an event behind the reason': [[START, BLOCK, PIECE, STOP, DELTA], 'event: message_stop\ndata: {"ty', true],
  'no reason': [[START, BLOCK, PIECE, STOP], '', false],
  'an empty reason': [[START, BLOCK, PIECE, STOP, { ...DELTA, delta: { stop_reason: null } }], '', false],
  'half a reason': [[START, BLOCK, PIECE, STOP], 'event: message_delta\ndata: {"type":"message_delta","del', false],
};

const NO_ARGUMENTS = [START, { ...BLOCK, content_block: CALL }, { ...DELTA, delta: { stop_reason: 'tool_use' } }, END];

const FAILURES: Readonly<Record<string, readonly [event: Json, status: number]>> = {
  'a text as the error': [{ type: 'error', error: 'Out of order' }, 500],
  'the words beside the type': [{ type: 'error', message: 'Out of order' }, 500],
  'no type': [{ error: { code: '1302', message: 'Out of order' } }, 500],
  'a status of its own': [{ type: 'error', error: { code: 429, message: 'Out of order' } }, 429],
  'a status as a text': [{ type: 'error', error: { type: 'x', code: '503', message: 'Out of order' } }, 503],
};

describe('servers of Anthropic’s API that differ from it', { timeout: 120_000 }, () => {
  let server: ScriptedServer;
  let world: Awaited<ReturnType<typeof startGatewayBefore>>;
  let events: readonly Json[] = [];
  let rest = '';
  let breaks = false;
  let chat: OpenAI;
  let messages: Anthropic;
  before(async () => {
    server = await startScriptedServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const body = events.map((event) => `event: ${event['type']}\ndata: ${JSON.stringify(event)}\n\n`).join('');
      if (breaks) response.write(body, () => response.destroy());
      else response.end(body + rest);
      return undefined;
    });
    world = await startGatewayBefore(
      [server],
      `providers: { other: { kind: anthropic, baseUrl: '${server.origin}', apiKey: k, models: [m] } }
limits: { attempts: 1 }`,
    );
    const { origin } = world.gateway;
    chat = new OpenAI({ baseURL: `${origin}/v1`, apiKey: 'secret', maxRetries: 0 });
    messages = new Anthropic({ baseURL: origin, apiKey: 'secret', maxRetries: 0 });
  });
  after(() => world.close());

  const asked = { model: 'other/m', messages: [{ role: 'user' as const, content: '12345678' }] };
  const said = async (stream: boolean) => {
    if (!stream) return (await chat.chat.completions.create(asked)).choices[0];
    return (await chat.chat.completions.stream(asked).finalChatCompletion()).choices[0];
  };

  for (const [name, script] of Object.entries(TEXTS)) {
    test(name, async () => {
      events = script;
      for (const stream of [false, true]) {
        const choice = await said(stream);
        assert.deepEqual([choice?.message.content, choice?.finish_reason], ['Hello', 'stop']);
      }
      const { content, stop_reason: reason } = await messages.messages.create({ ...asked, max_tokens: 9 });
      assert.deepEqual(
        content.map((block) => block.type === 'text' && block.text),
        ['Hello'],
      );
      assert.equal(reason, 'end_turn');
    });
  }

  for (const [name, script] of Object.entries(CALLS)) {
    test(name, async () => {
      events = script;
      for (const stream of [false, true]) {
        const choice = await said(stream);
        const [call] = choice?.message.tool_calls ?? [];
        assert.ok(call?.type === 'function' && call.id !== '' && call.id !== 'undefined', JSON.stringify(choice));
        assert.deepEqual([call.function.name, call.function.arguments], ['look', '{"at":1}']);
        assert.equal(choice?.finish_reason, 'tool_calls');
      }
      const { content, stop_reason: reason } = await messages.messages.create({ ...asked, max_tokens: 9 });
      const [use] = content;
      assert.ok(use?.type === 'tool_use' && use.id !== '' && use.id !== 'undefined', JSON.stringify(content));
      assert.deepEqual([use.name, use.input, reason], ['look', { at: 1 }, 'tool_use']);
    });
  }

  for (const [name, [script, end, isWhole]] of Object.entries(ENDS)) {
    test(`an end with ${name}`, async () => {
      [events, rest] = [script, end];
      try {
        for (const stream of [false, true]) {
          if (isWhole) assert.equal((await said(stream))?.message.content, 'Hello');
          else await assert.rejects(said(stream), OpenAI.APIError);
        }
        const asking = messages.messages.create({ ...asked, max_tokens: 9 });
        if (isWhole) assert.equal((await asking).stop_reason, 'end_turn');
        else await assert.rejects(asking, { status: 502 });
      } finally {
        rest = '';
      }
    });
  }

  test('an answer whose connection breaks behind the reason is no whole one', async () => {
    breaks = true;
    try {
      events = [START, BLOCK, PIECE, STOP, DELTA];
      await assert.rejects(said(false), OpenAI.APIError);
      await assert.rejects(messages.messages.create({ ...asked, max_tokens: 9 }), { status: 502 });
    } finally {
      breaks = false;
    }
  });

  test('a call without arguments that does not stop', async () => {
    events = NO_ARGUMENTS;
    for (const stream of [false, true]) {
      const [call] = (await said(stream))?.message.tool_calls ?? [];
      assert.equal(call?.type === 'function' && call.function.arguments, '{}');
    }
    const { content } = await messages.messages.create({ ...asked, max_tokens: 9 });
    assert.deepEqual(content[0]?.type === 'tool_use' && content[0].input, {});
  });

  test('what is not counted is estimated', async () => {
    events = [{ type: 'message_start', message: {} }, BLOCK, PIECE, STOP, { ...DELTA, usage: undefined }, END];
    const { usage } = await chat.chat.completions.create(asked);
    assert.deepEqual([usage?.prompt_tokens, usage?.completion_tokens], [7, 1]);
  });

  test('counts that are texts are believed', async () => {
    events = TEXTS['numbers as texts'] ?? [];
    const { usage } = await chat.chat.completions.create(asked);
    assert.deepEqual([usage?.prompt_tokens, usage?.completion_tokens], [5, 2]);
    const { usage: other } = await messages.messages.create({ ...asked, max_tokens: 9 });
    assert.deepEqual([other.input_tokens, other.output_tokens], [5, 2]);
  });

  for (const [name, [event, status]] of Object.entries(FAILURES)) {
    test(`an error with ${name}`, async () => {
      for (const script of [[event], [START, event]]) {
        events = script;
        const failed = { status, message: /Out of order/ };
        await assert.rejects(chat.chat.completions.create(asked), failed);
        await assert.rejects(messages.messages.create({ ...asked, max_tokens: 9 }), failed);
      }
    });
  }
});
