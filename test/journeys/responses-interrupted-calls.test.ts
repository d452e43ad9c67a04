import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Tool } from 'openai/resources/responses/responses';
import { all, lastOf, of, openWorld, type World } from './responses-world.ts';

const TOOLS: Tool[] = [
  { type: 'function', name: 'look', parameters: { type: 'object', properties: {} }, strict: false },
  { type: 'custom', name: 'write' },
];

const called = (fields: object, rest: object = {}): object => ({
  tool_calls: [{ index: 0, ...rest, function: fields }],
});
const begun = { id: 'call_1', type: 'function' };

const DELTAS: Readonly<Record<string, readonly object[]>> = {
  'words in its middle': [
    { content: 'A' },
    called({ name: 'look', arguments: '{"at"' }, begun),
    { content: 'B' },
    called({ arguments: ':1}' }),
    { content: 'C' },
  ],
  'words between its name and its arguments': [
    { content: 'A' },
    called({ name: 'look', arguments: '' }, begun),
    { content: 'BC' },
    called({ arguments: '{"at":1}' }),
  ],
  'words before a last piece, which is empty': [
    { content: 'AB' },
    called({ name: 'look', arguments: '{"at":1}' }, begun),
    { content: 'C' },
    called({ arguments: '' }),
  ],
  'thoughts and words in its middle': [
    { content: 'AB' },
    called({ name: 'look', arguments: '{"at"' }, begun),
    { reasoning_content: 'Hm.' },
    called({ arguments: ':1' }),
    { content: 'C' },
    called({ arguments: '}' }),
  ],
};

describe('a call in the Responses API, of an upstream that mixes it with other things', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  async function ask(deltas: readonly object[]) {
    const seat = world.seat('openai');
    const chunks = [...deltas.map((delta) => ({ delta })), { delta: {}, finish_reason: 'tool_calls' }].map((choice) => {
      const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, choices: [{ index: 0, ...choice }] };
      return `data: ${JSON.stringify(chunk)}\n\n`;
    });
    seat.answers({ raw: `${chunks.join('')}data: [DONE]\n\n` });
    const asked = { model: seat.model, input: 'Look', tools: TOOLS, store: false } as const;
    return all(await world.client.responses.create({ ...asked, stream: true }));
  }

  for (const [name, deltas] of Object.entries(DELTAS)) {
    test(name, async () => {
      const events = await ask(deltas);
      const { output } = lastOf(events);
      const calls = output.flatMap((item) =>
        item.type === 'function_call' ? [[item.call_id, item.name, item.arguments, item.status]] : [],
      );
      assert.deepEqual(calls, [['call_1', 'look', '{"at":1}', 'completed']]);
      const texts = output.flatMap((item) => (item.type === 'message' ? item.content : []));
      assert.equal(texts.map((part) => ('text' in part ? part.text : part)).join(''), 'ABC');
      const done = of(events, 'response.output_item.done');
      assert.deepEqual(
        done.map(({ output_index }) => output_index).sort(),
        output.map((_item, index) => index),
      );
      for (const { output_index, item } of done) assert.deepEqual(item, output[output_index]);
      assert.deepEqual(
        of(events, 'response.function_call_arguments.done').map((event) => [event.item_id, event.arguments]),
        output.flatMap((item) => (item.type === 'function_call' ? [[item.id, item.arguments]] : [])),
      );
    });
  }

  test('a freeform call with words in its middle', async () => {
    const events = await ask([
      called({ name: 'write', arguments: '{"input":"one ' }, begun),
      { content: 'Hm.' },
      called({ arguments: 'two"}' }),
    ]);
    const calls = lastOf(events).output.filter(({ type }) => type !== 'message');
    assert.deepEqual(
      calls.map((item) => item.type === 'custom_tool_call' && [item.call_id, item.name, item.input]),
      [['call_1', 'write', 'one two']],
    );
  });
});
