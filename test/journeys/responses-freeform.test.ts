import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { APIError } from 'openai';
import type { ResponseInput, Tool } from 'openai/resources/responses/responses';
import { all, FORMATS, lastOf, of, openWorld, type World } from './responses-world.ts';

const PATCH = '*** Begin Patch\n*** Add File: a.txt\n+"ü" 🙂\\n\n*** End Patch\n';
const APPLY: Tool = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Changes files.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "*** Begin Patch" LF' },
};
const FILES: Tool = {
  type: 'namespace',
  name: 'files',
  description: 'Files of the project',
  tools: [{ type: 'function', name: 'read', parameters: { type: 'object', properties: { path: { type: 'string' } } } }],
};

/** Arguments in pieces of three units. */
const cut = (text: string): string[] => text.match(/.{1,3}/gsu) ?? [];

describe('freeform tools and namespaces of the Responses API', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  for (const format of FORMATS) {
    test(`before ${format}: a call of each, its result, and the conversation that the client keeps`, async () => {
      const seat = world.seat(format);
      seat.answers({
        toolCalls: [
          { id: 'call_1', name: 'apply_patch', arguments: cut(JSON.stringify({ input: PATCH })) },
          { id: 'call_2', name: 'files__read', arguments: cut('{"path":"a.txt"}') },
        ],
      });
      const question: ResponseInput = [{ role: 'user', content: 'Change a.txt' }];
      const { data: stream, response } = await world.client.responses
        .create({ model: seat.model, input: question, tools: [APPLY, FILES], store: false, stream: true })
        .withResponse();
      assert.equal(response.headers.get('x-sluice-dropped'), 'tools.format');
      const events = await all(stream);
      assert.deepEqual([...seat.last.tools].sort(), ['apply_patch', 'files__read']);
      assert.match(JSON.stringify(seat.last.body), /Changes files\.[^"]*lark[^"]*start: /);
      const { output } = lastOf(events);
      const [patch, read, ...more] = output.filter(({ type }) => type !== 'reasoning');
      assert.deepEqual(more, []);
      assert.ok(patch?.type === 'custom_tool_call' && read?.type === 'function_call');
      assert.deepEqual([patch.name, patch.input], ['apply_patch', PATCH]);
      assert.deepEqual([read.name, read.namespace, JSON.parse(read.arguments)], ['read', 'files', { path: 'a.txt' }]);
      const deltas = of(events, 'response.custom_tool_call_input.delta');
      assert.equal(deltas.map(({ delta }) => delta).join(''), PATCH);
      const dones = of(events, 'response.custom_tool_call_input.done').map(({ item_id, input }) => [item_id, input]);
      assert.deepEqual(dones, [[patch.id, PATCH]]);

      seat.answers({ text: ['Changed'] });
      const further = await world.client.responses.create({
        model: seat.model,
        input: [
          ...question,
          ...(output as ResponseInput),
          { type: 'custom_tool_call_output', call_id: patch.call_id, output: 'Done 1' },
          { type: 'function_call_output', call_id: read.call_id, output: 'Done 2' },
        ],
        tools: [APPLY, FILES],
        tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'namespace', name: 'files' }] },
        store: false,
      });
      assert.equal(further.output_text, 'Changed');
      assert.deepEqual(seat.last.tools, ['files__read']);
      const sent = JSON.stringify(seat.last.body);
      for (const part of ['apply_patch', 'files__read', 'Begin Patch', 'Done 1', 'Done 2'])
        assert.ok(sent.includes(part));
    });
  }

  test('a stored answer is gone on from, and is shown as it was', async () => {
    const seat = world.seat('openai');
    seat.answers({ toolCalls: [{ id: 'call_1', name: 'apply_patch', arguments: [JSON.stringify({ input: PATCH })] }] });
    const first = await world.client.responses.create({ model: seat.model, input: 'Change', tools: [APPLY] });
    assert.deepEqual((await world.client.responses.retrieve(first.id)).output, first.output);
    const [call] = first.output;
    assert.ok(call?.type === 'custom_tool_call' && call.input === PATCH);
    seat.answers({ text: ['Changed'] });
    await world.client.responses.create({
      model: seat.model,
      previous_response_id: first.id,
      input: [{ type: 'custom_tool_call_output', call_id: call.call_id, output: 'Done' }],
      tools: [APPLY],
      tool_choice: { type: 'custom', name: 'apply_patch' },
    });
    const { messages, tool_choice: choice } = seat.last.body as { messages: object[]; tool_choice: unknown };
    assert.deepEqual(choice, { type: 'function', function: { name: 'apply_patch' } });
    assert.deepEqual(messages.slice(1), [
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'call_1',
            type: 'function',
            function: { name: 'apply_patch', arguments: JSON.stringify({ input: PATCH }) },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'Done' },
    ]);
  });

  test('tools that come with the items are tools of the conversation', async () => {
    const seat = world.seat('anthropic');
    seat.answers({
      toolCalls: [{ id: 'call_1', name: 'functions__exec', arguments: cut(JSON.stringify({ input: 'text("hi")' })) }],
    });
    const exec = { type: 'custom', name: 'exec', description: 'Runs JavaScript.' } as const;
    const tools: Tool[] = [{ type: 'namespace', name: 'functions', description: '', tools: [exec] }];
    const more = { type: 'additional_tools', role: 'developer', tools } as const;
    const { data: first, response } = await world.client.responses
      .create({ model: seat.model, input: [more, { role: 'user', content: 'Run' }] })
      .withResponse();
    assert.equal(response.headers.get('x-sluice-dropped'), null);
    assert.deepEqual(first.tools, []);
    const [call] = first.output;
    assert.ok(call?.type === 'custom_tool_call');
    assert.deepEqual([call.name, call.namespace, call.input], ['exec', 'functions', 'text("hi")']);
    assert.deepEqual((await world.client.responses.retrieve(first.id)).output, first.output);
    seat.answers({ text: ['Done'] });
    const next = await world.client.responses.create({
      model: seat.model,
      previous_response_id: first.id,
      input: [{ type: 'custom_tool_call_output', call_id: call.call_id, output: 'hi' }],
    });
    assert.equal(next.output_text, 'Done');
    assert.deepEqual(seat.last.tools, ['functions__exec']);
  });

  test('what is malformed is told by its field', async () => {
    const refused = async (body: object): Promise<unknown> => {
      const asked = world.client.responses.create({ model: 'acme/test-model', input: 'Hi', ...body } as never);
      const error = await asked.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      assert.ok(error instanceof APIError);
      return [error.status, error.param];
    };
    assert.deepEqual(await refused({ tools: [{ type: 'custom' }] }), [422, 'tools[0].name']);
    assert.deepEqual(await refused({ tools: [{ type: 'namespace', name: 'a' }] }), [422, 'tools[0].tools']);
    assert.deepEqual(await refused({ input: [{ type: 'additional_tools', tools: [{ type: 'function' }] }] }), [
      422,
      'input[0].tools[0].name',
    ]);
    assert.deepEqual(await refused({ input: [{ type: 'custom_tool_call', call_id: 'a', name: 'b' }] }), [
      422,
      'input[0].input',
    ]);
  });
});
