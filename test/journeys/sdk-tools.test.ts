import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type OpenAI from 'openai';
import { zodFunction } from 'openai/helpers/zod';
import { z } from 'zod';
import type { VendorToolCall } from '../support/vendor-script.ts';
import {
  all,
  assertHolds,
  type ByFormat,
  type ChatBody,
  FORMATS,
  openWorld,
  type Seat,
  type World,
} from './sdk-vendors.ts';

const ASK: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Weather and time in Paris?' }];
const WEATHER_SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const TOOLS: OpenAI.Chat.ChatCompletionTool[] = [
  { type: 'function', function: { name: 'weather', description: 'The weather now', parameters: WEATHER_SCHEMA } },
  { type: 'function', function: { name: 'time' } },
];
/** Two calls at once, their arguments in fragments that respect nothing. */
const CALLS: readonly VendorToolCall[] = [
  { id: 'call_w', name: 'weather', arguments: ['{"ci', 'ty":"Pa', 'ris \\u00e9', '"}'] },
  { id: 'call_t', name: 'time', arguments: ['{"zone', '":"C', 'ET"}'] },
];
const WANTED = [
  { id: 'call_w', name: 'weather', input: { city: 'Paris é' } },
  { id: 'call_t', name: 'time', input: { zone: 'CET' } },
];

describe('tools through the official OpenAI client', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  for (const format of FORMATS) {
    describe(`before an upstream of ${format}'s format`, () => {
      let seat: Seat;
      before(() => {
        seat = world.seat(format);
      });
      const body = (fields: Partial<ChatBody> = {}) => ({ model: seat.model, messages: ASK, tools: TOOLS, ...fields });
      const create = (fields: Partial<ChatBody> = {}) =>
        world.client.chat.completions.create({ ...body(fields), stream: false });
      const got = (expected: ByFormat<object>): void => assertHolds(seat.last.body, expected[format]);

      test('offers tools and gets one call', async () => {
        seat.answers({ toolCalls: CALLS.slice(0, 1) });
        const answer = await create();
        const [choice] = answer.choices;
        assert.equal(choice?.finish_reason, 'tool_calls');
        assert.equal(choice?.message.content ?? '', '');
        assert.deepEqual(plain(choice?.message.tool_calls ?? []), WANTED.slice(0, 1));
        assert.deepEqual(seat.last.tools, ['weather', 'time']);
        got({
          openai: { tools: TOOLS },
          anthropic: {
            tools: [
              { name: 'weather', description: 'The weather now', input_schema: WEATHER_SCHEMA },
              { name: 'time', input_schema: { type: 'object' } },
            ],
          },
          google: {
            tools: [
              {
                functionDeclarations: [
                  { name: 'weather', description: 'The weather now', parametersJsonSchema: WEATHER_SCHEMA },
                  { name: 'time' },
                ],
              },
            ],
          },
        });
      });

      test('gets parallel calls in a whole answer, beside text', async () => {
        seat.answers({ text: ['Let me look.'], toolCalls: CALLS });
        const answer = await create();
        assert.equal(answer.choices[0]?.message.content, 'Let me look.');
        assert.deepEqual(plain(answer.choices[0]?.message.tool_calls ?? []), WANTED);
      });

      test('gets parallel calls in fragments of a stream', async () => {
        seat.answers({ text: ['Let me look.'], toolCalls: CALLS });
        const chunks = await all(await world.client.chat.completions.create({ ...body(), stream: true }));
        const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
        const calls = new Map<number, { id: string; name: string; arguments: string }>();
        for (const delta of deltas) {
          const call = calls.get(delta.index);
          if (call === undefined) {
            // Only the first piece of a call says which one it is.
            assert.ok(delta.id, 'the first piece has an id');
            assert.equal(delta.type, 'function');
            assert.ok(delta.function?.name, 'the first piece has a name');
            calls.set(delta.index, {
              id: delta.id,
              name: delta.function.name,
              arguments: delta.function.arguments ?? '',
            });
          } else {
            assert.equal(delta.id, undefined);
            assert.equal(delta.function?.name, undefined);
            call.arguments += delta.function?.arguments ?? '';
          }
        }
        assert.deepEqual([...calls.keys()], [0, 1]);
        const whole = [...calls.values()].map(({ id, name, arguments: text }) => ({
          id,
          name,
          input: JSON.parse(text),
        }));
        assert.deepEqual(whole, WANTED);
        // Google's format has arguments as JSON, not as its text.
        if (format !== 'google') {
          const texts = [...calls.values()].map(({ arguments: text }) => text);
          assert.deepEqual(
            texts,
            CALLS.map((call) => call.arguments.join('')),
          );
        }
        assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, 'tool_calls');
      });

      test('lets the stream helper collect and parse the calls', async () => {
        seat.answers({ toolCalls: CALLS.slice(0, 1) });
        const helper = world.client.chat.completions.stream({
          model: seat.model,
          messages: ASK,
          tools: [zodFunction({ name: 'weather', parameters: z.object({ city: z.string() }) })],
        });
        const final = await helper.finalChatCompletion();
        const [call] = final.choices[0]?.message.tool_calls ?? [];
        assert.deepEqual(call?.type === 'function' && call.function.parsed_arguments, { city: 'Paris é' });
        assert.equal(final.choices[0]?.finish_reason, 'tool_calls');
      });

      test('gets a call without arguments', async () => {
        seat.answers({ toolCalls: [{ id: 'call_n', name: 'time', arguments: format === 'openai' ? ['{}'] : [] }] });
        const answer = await create();
        assert.deepEqual(plain(answer.choices[0]?.message.tool_calls ?? []), [
          { id: 'call_n', name: 'time', input: {} },
        ]);
      });

      for (const [name, choice, expected] of [
        ['auto', 'auto', { openai: 'auto', anthropic: { type: 'auto' }, google: { mode: 'AUTO' } }],
        ['required', 'required', { openai: 'required', anthropic: { type: 'any' }, google: { mode: 'ANY' } }],
        [
          'a name',
          { type: 'function', function: { name: 'time' } },
          {
            openai: { type: 'function', function: { name: 'time' } },
            anthropic: { type: 'tool', name: 'time' },
            google: { mode: 'ANY', allowedFunctionNames: ['time'] },
          },
        ],
      ] as const) {
        test(`sends tool_choice: ${name}`, async () => {
          seat.answers({ toolCalls: CALLS.slice(1) });
          await create({ tool_choice: choice });
          got({
            openai: { tool_choice: expected.openai },
            anthropic: { tool_choice: expected.anthropic },
            google: { toolConfig: { functionCallingConfig: expected.google } },
          });
        });
      }

      test('sends tool_choice: none, so that no tool is called', async () => {
        seat.answers({ text: ['No.'] });
        const answer = await create({ tool_choice: 'none' });
        assert.equal(answer.choices[0]?.message.content, 'No.');
        got({
          openai: { tools: TOOLS, tool_choice: 'none' },
          anthropic: { tool_choice: { type: 'none' } },
          google: { toolConfig: { functionCallingConfig: { mode: 'NONE' } } },
        });
      });

      test('offers allowed tools alone', async () => {
        seat.answers({ text: ['Well.'] });
        for (const mode of ['auto', 'required'] as const) {
          const choice = {
            type: 'allowed_tools' as const,
            allowed_tools: { mode, tools: [{ type: 'function', function: { name: 'time' } }] },
          };
          const { response } = await create({ tool_choice: choice }).withResponse();
          assert.equal(response.headers.get('x-sluice-dropped'), null);
          got({
            openai: { tool_choice: choice },
            anthropic: { tool_choice: { type: mode === 'auto' ? 'auto' : 'any' } },
            google: { toolConfig: { functionCallingConfig: { mode: mode === 'auto' ? 'AUTO' : 'ANY' } } },
          });
          // OpenAI takes the list as it is, so that all tools stay in its cache.
          assert.deepEqual(seat.last.tools, format === 'openai' ? ['weather', 'time'] : ['time']);
        }
      });

      test('hears of a choice among tools that only its upstream knows', async () => {
        seat.answers({ text: ['Well.'] });
        const { response } = await create({ tool_choice: { type: 'newest' } as never }).withResponse();
        assert.equal(response.headers.get('x-sluice-dropped'), format === 'openai' ? null : 'tool_choice');
      });

      test('forbids parallel calls where the vendor can', async () => {
        seat.answers({ toolCalls: CALLS.slice(0, 1) });
        await create({ parallel_tool_calls: false });
        got({
          openai: { parallel_tool_calls: false },
          anthropic: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
          google: {},
        });
      });

      test('asks for JSON of a schema beside tools', async () => {
        const json = '{"degrees":20}';
        // Gemini 2.5 cannot do both, so the vendor's library makes the answer a tool of its own.
        const disguised = { toolCalls: [{ id: 'call_j', name: 'json', arguments: [json] }] };
        seat.answers(format === 'google' ? disguised : { text: [json] });
        const schema = {
          type: 'object',
          properties: { degrees: { type: 'number' } },
          required: ['degrees'],
          additionalProperties: false,
        };
        const answer = await create({
          response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
        });
        assert.equal(answer.choices[0]?.message.content, json);
        assert.equal(answer.choices[0]?.message.tool_calls, undefined);
        assert.equal(answer.choices[0]?.finish_reason, 'stop');
      });

      test('goes the whole way: call, result, answer', async () => {
        seat.answers((request) =>
          request.prompt === 'noon'
            ? { text: ['20 degrees at noon.'] }
            : { reasoning: ['Two tools.'], text: ['Let me look.'], toolCalls: CALLS },
        );
        const first = (await create()).choices[0]?.message;
        assert.ok(first);
        const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [
          ...ASK,
          first,
          { role: 'tool', tool_call_id: 'call_w', content: '20 degrees' },
          { role: 'tool', tool_call_id: 'call_t', content: [{ type: 'text', text: 'noon' }] },
        ];
        const second = await create({ messages });
        assert.equal(second.choices[0]?.message.content, '20 degrees at noon.');
        got({
          openai: {
            messages: [
              ...ASK,
              {
                role: 'assistant',
                content: 'Let me look.',
                tool_calls: [
                  {
                    id: 'call_w',
                    type: 'function',
                    function: { name: 'weather', arguments: '{"city":"Paris \\u00e9"}' },
                  },
                  { id: 'call_t', type: 'function', function: { name: 'time', arguments: '{"zone":"CET"}' } },
                ],
              },
              { role: 'tool', tool_call_id: 'call_w', content: '20 degrees' },
              { role: 'tool', tool_call_id: 'call_t', content: [{ type: 'text', text: 'noon' }] },
            ],
          },
          anthropic: {
            messages: [
              { role: 'user', content: [{ type: 'text', text: 'Weather and time in Paris?' }] },
              {
                role: 'assistant',
                content: [
                  // Signed, as the vendor demands it back.
                  { type: 'thinking', thinking: 'Two tools.', signature: 'sig-0' },
                  { type: 'text', text: 'Let me look.' },
                  { type: 'tool_use', id: 'call_w', name: 'weather', input: { city: 'Paris é' } },
                  { type: 'tool_use', id: 'call_t', name: 'time', input: { zone: 'CET' } },
                ],
              },
              {
                role: 'user',
                content: [
                  { type: 'tool_result', tool_use_id: 'call_w', content: '20 degrees' },
                  { type: 'tool_result', tool_use_id: 'call_t', content: 'noon' },
                ],
              },
            ],
          },
          google: {
            contents: [
              { role: 'user', parts: [{ text: 'Weather and time in Paris?' }] },
              {
                role: 'model',
                parts: [
                  { text: 'Two tools.', thought: true },
                  { text: 'Let me look.' },
                  {
                    functionCall: { name: 'weather', args: { city: 'Paris é' } },
                    thoughtSignature: 'sig-call_w',
                  },
                  { functionCall: { name: 'time', args: { zone: 'CET' } } },
                ],
              },
              {
                role: 'user',
                parts: [
                  { functionResponse: { name: 'weather', response: { content: '20 degrees' } } },
                  { functionResponse: { name: 'time', response: { content: 'noon' } } },
                ],
              },
            ],
          },
        });
      });

      test('goes the whole way by itself with runTools', async () => {
        seat.answers((request) =>
          request.prompt === '20 degrees' ? { text: ['It is 20 degrees.'] } : { toolCalls: CALLS.slice(0, 1) },
        );
        const asked: unknown[] = [];
        const runner = world.client.chat.completions.runTools({
          model: seat.model,
          messages: ASK,
          stream: true,
          tools: [
            {
              type: 'function',
              function: {
                name: 'weather',
                description: 'The weather now',
                parameters: WEATHER_SCHEMA,
                parse: JSON.parse,
                function: (input: unknown) => {
                  asked.push(input);
                  return '20 degrees';
                },
              },
            },
          ],
        });
        assert.equal(await runner.finalContent(), 'It is 20 degrees.');
        assert.deepEqual(asked, [{ city: 'Paris é' }]);
        assert.equal(seat.arrived.length, 2);
      });
    });
  }
});

/** The calls, with their arguments parsed: formats which know only whole calls write the JSON anew. */
function plain(calls: readonly OpenAI.Chat.ChatCompletionMessageToolCall[]): object[] {
  return calls.map((call) => {
    assert.equal(call.type, 'function');
    return { id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) };
  });
}
