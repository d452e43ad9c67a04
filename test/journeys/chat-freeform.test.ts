import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type {
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessageParam,
  ChatCompletionTool,
  ChatCompletionToolChoiceOption,
} from 'openai/resources/chat/completions';
import { FORMATS, openWorld, type World } from './responses-world.ts';

const PATCH = '*** Begin Patch\n*** Add File: a.txt\n+"ü" 🙂\\n\n*** End Patch\n';
const APPLY: ChatCompletionTool = {
  type: 'custom',
  custom: {
    name: 'apply_patch',
    description: 'Changes files.',
    format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "*** Begin Patch" LF' } },
  },
};
const READ: ChatCompletionTool = {
  type: 'function',
  function: { name: 'read', parameters: { type: 'object', properties: { path: { type: 'string' } } } },
};
const CHOICE: ChatCompletionToolChoiceOption = { type: 'custom', custom: { name: 'apply_patch' } };
const QUESTION: ChatCompletionMessageParam = { role: 'user', content: 'Change a.txt' };

/** Arguments in pieces of three units. */
const cut = (text: string): string[] => text.match(/.{1,3}/gsu) ?? [];

describe('freeform tools of chats before vendors that know functions only', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  const calling = {
    toolCalls: [
      { id: 'call_1', name: 'apply_patch', arguments: cut(JSON.stringify({ input: PATCH })) },
      { id: 'call_2', name: 'read', arguments: cut('{"path":"a.txt"}') },
    ],
  };

  for (const format of FORMATS.filter((each) => each !== 'openai')) {
    test(`before ${format}: a call of each, whole and in pieces, and the results`, async () => {
      const seat = world.seat(format);
      seat.answers(calling);
      const asked = { model: seat.model, messages: [QUESTION], tools: [APPLY, READ] };
      const { data: whole, response } = await world.client.chat.completions.create(asked).withResponse();
      assert.equal(response.headers.get('x-sluice-dropped'), 'tools.custom.format');
      assert.deepEqual([...seat.last.tools].sort(), ['apply_patch', 'read']);
      assert.match(JSON.stringify(seat.last.body), /Changes files\.[^"]*lark[^"]*start: /);
      const [choice] = whole.choices;
      assert.equal(choice?.finish_reason, 'tool_calls');
      const [patch, read, ...more] = choice.message.tool_calls ?? [];
      assert.deepEqual(more, []);
      assert.ok(patch?.type === 'custom' && read?.type === 'function');
      assert.deepEqual(patch.custom, { name: 'apply_patch', input: PATCH });
      assert.deepEqual([read.function.name, JSON.parse(read.function.arguments)], ['read', { path: 'a.txt' }]);

      const stream = world.client.chat.completions.stream(asked);
      const [streamed] = (await stream.finalChatCompletion()).choices;
      assert.equal(streamed?.finish_reason, 'tool_calls');
      const inputs = (streamed.message.tool_calls ?? []).map((call) =>
        call.type === 'custom' ? [call.type, call.custom] : [call.type, JSON.parse(call.function.arguments)],
      );
      assert.deepEqual(inputs, [
        ['custom', { name: 'apply_patch', input: PATCH }],
        ['function', { path: 'a.txt' }],
      ]);

      seat.answers({ text: ['Changed'] });
      const further = await world.client.chat.completions.create({
        model: seat.model,
        messages: [
          QUESTION,
          choice.message,
          { role: 'tool', tool_call_id: patch.id, content: 'Done 1' },
          { role: 'tool', tool_call_id: read.id, content: 'Done 2' },
        ],
        tools: [APPLY, READ],
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'auto', tools: [{ type: 'custom', custom: { name: 'apply_patch' } }] },
        },
      });
      assert.equal(further.choices[0]?.message.content, 'Changed');
      assert.deepEqual(seat.last.tools, ['apply_patch']);
      const sent = JSON.stringify(seat.last.body);
      for (const part of ['read', 'Begin Patch', 'Done 1', 'Done 2']) assert.ok(sent.includes(part), part);
    });
  }

  test('one is chosen by its name', async () => {
    const seat = world.seat('anthropic');
    seat.answers(calling);
    for (const choice of [CHOICE, 'apply_patch' as never]) {
      const asked: ChatCompletionCreateParamsNonStreaming = {
        model: seat.model,
        messages: [QUESTION],
        tools: [APPLY, READ],
        tool_choice: choice,
      };
      const { response } = await world.client.chat.completions.create(asked).withResponse();
      assert.equal(response.headers.get('x-sluice-dropped'), 'tools.custom.format');
      const { tool_choice: sent } = seat.last.body as { tool_choice?: unknown };
      assert.deepEqual(sent, { type: 'tool', name: 'apply_patch' });
    }
  });

  test('a text that the model did not write as JSON is the input as it is', async () => {
    const seat = world.seat('openai-responses');
    seat.answers({ toolCalls: [{ id: 'call_1', name: 'apply_patch', arguments: ['*** Begin', ' Patch'] }] });
    const stream = world.client.chat.completions.stream({ model: seat.model, messages: [QUESTION], tools: [APPLY] });
    const [call] = (await stream.finalChatCompletion()).choices[0]?.message.tool_calls ?? [];
    assert.deepEqual(call?.type === 'custom' && call.custom, { name: 'apply_patch', input: '*** Begin Patch' });
  });

  test('a conversation of the web gets its calls in the same form', async () => {
    const seat = world.seat('anthropic');
    seat.answers(calling);
    const answer = await fetch(`${world.gateway.origin}/backend-api/v2/conversation`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/x-ndjson' },
      body: JSON.stringify({ model: seat.model, messages: [QUESTION], tools: [APPLY, READ] }),
    });
    const chunks = (await answer.text()).split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    const [told] = chunks.filter(({ type }) => type === 'tool_calls');
    assert.deepEqual(told.tool_calls[0].custom, { name: 'apply_patch', input: PATCH });
    assert.equal(told.tool_calls[1].function.name, 'read');
  });

  test('what names no tool is told as dropped', async () => {
    const seat = world.seat('anthropic');
    seat.answers({ text: ['Hi'] });
    const asked = { model: seat.model, messages: [QUESTION], tools: [{ type: 'custom' } as never] };
    const { response } = await world.client.chat.completions.create(asked).withResponse();
    assert.equal(response.headers.get('x-sluice-dropped'), 'tools.custom');
  });
});
