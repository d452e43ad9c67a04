import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import type { VendorAnswer } from '../support/vendor-script.ts';
import { type Abilities, CALLS, got, PIXEL, PIXEL_ASKED, type Trial } from './abilities.ts';
import { assertHolds, type Seat } from './sdk-vendors.ts';

type Params = Anthropic.MessageCreateParamsNonStreaming;

const TOOLS: Anthropic.Tool[] = [
  {
    name: 'weather',
    description: 'The weather now',
    input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
  { name: 'time', input_schema: { type: 'object', properties: {} } },
];
const WANTED = [
  { type: 'tool_use', id: 'call_w', name: 'weather', input: { city: 'Paris é' } },
  { type: 'tool_use', id: 'call_t', name: 'time', input: { zone: 'CET' } },
];
const SCHEMA = {
  type: 'object',
  properties: { degrees: { type: 'number' } },
  required: ['degrees'],
  additionalProperties: false,
};

/** `temperature` is for models that the types of the newest library have left behind, and upstreams of others. */
function asked(seat: Seat, fields: Partial<Params> & { temperature?: number } = {}): Params {
  return { model: seat.model, max_tokens: 1_000, messages: [{ role: 'user', content: 'Hello' }], ...fields };
}

/** What the client's stream helper makes of the events, checked against the whole answer's form. */
async function streamed({ client, seat }: Trial<Anthropic>, fields: Partial<Params> = {}): Promise<Anthropic.Message> {
  return client.messages.stream(asked(seat, fields)).finalMessage();
}

function texts(message: Anthropic.Message): string {
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

function calls(message: Anthropic.Message): unknown[] {
  return message.content.flatMap((block) =>
    block.type === 'tool_use' ? [{ type: block.type, id: block.id, name: block.name, input: block.input }] : [],
  );
}

/** The abilities that a client has with every upstream, by name. */
export const ABILITIES: Abilities<Anthropic> = {
  async text({ client, seat }) {
    seat.answers({ text: ['Grü', 'ße 🌍'], usage: { prompt: 20, completion: 9, cached: 5 } });
    const message = await client.messages.create(
      asked(seat, { system: 'Be brief.', temperature: 0.5, stop_sequences: ['END'] }),
    );
    assert.deepEqual(
      message.content.map(({ type }) => type),
      ['text'],
    );
    assert.equal(texts(message), 'Grüße 🌍');
    assert.deepEqual([message.type, message.role, message.stop_reason], ['message', 'assistant', 'end_turn']);
    assertHolds(message.usage, { input_tokens: 15, cache_read_input_tokens: 5, output_tokens: 9 });
    got(seat, {
      openai: {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hello' },
        ],
        max_tokens: 1_000,
        temperature: 0.5,
        stop: ['END'],
      },
      anthropic: {
        system: 'Be brief.',
        messages: [{ role: 'user', content: 'Hello' }],
        max_tokens: 1_000,
        temperature: 0.5,
        stop_sequences: ['END'],
      },
      google: {
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        generationConfig: { maxOutputTokens: 1_000, temperature: 0.5, stopSequences: ['END'] },
      },
    });
  },

  async stream(trial) {
    trial.seat.answers({ text: ['Grü', 'ße 🌍', '!'], usage: { prompt: 20, completion: 9, cached: 5 } });
    const seen: string[] = [];
    const pieces: string[] = [];
    for await (const event of await trial.client.messages.create({ ...asked(trial.seat), stream: true })) {
      seen.push(event.type);
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') pieces.push(event.delta.text);
    }
    assert.deepEqual(pieces, ['Grü', 'ße 🌍', '!']);
    assert.deepEqual(seen, [
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    const message = await streamed(trial);
    assert.equal(texts(message), 'Grüße 🌍!');
    assertHolds(message.usage, { input_tokens: 15, cache_read_input_tokens: 5, output_tokens: 9 });
  },

  async tools(trial) {
    const { client, seat } = trial;
    seat.answers((request) =>
      request.prompt === '20 degrees' ? { text: ['Warm.'] } : { text: ['Let me look.'], toolCalls: CALLS.slice(0, 1) },
    );
    const first = await client.messages.create(asked(seat, { tools: TOOLS, tool_choice: { type: 'any' } }));
    assert.equal(first.stop_reason, 'tool_use');
    assert.deepEqual(calls(first), WANTED.slice(0, 1));
    assert.deepEqual(seat.last.tools, ['weather', 'time']);
    got(seat, {
      openai: { tool_choice: 'required' },
      anthropic: { tool_choice: { type: 'any' }, tools: TOOLS },
      google: { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
    });
    const second = await client.messages.create(
      asked(seat, {
        tools: TOOLS,
        messages: [
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: first.content },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'call_w', content: [{ type: 'text', text: '20 degrees' }] }],
          },
        ],
      }),
    );
    assert.equal(texts(second), 'Warm.');
    got(seat, {
      openai: {
        messages: [
          { role: 'user', content: 'Hello' },
          {
            role: 'assistant',
            content: 'Let me look.',
            tool_calls: [
              { id: 'call_w', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris é"}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'call_w', content: '20 degrees' },
        ],
      },
      anthropic: {
        messages: [
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: [{ type: 'text', text: 'Let me look.' }, WANTED[0]] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_w', content: '20 degrees' }] },
        ],
      },
      google: {
        contents: [
          { role: 'user', parts: [{ text: 'Hello' }] },
          {
            role: 'model',
            parts: [
              { text: 'Let me look.' },
              { functionCall: { name: 'weather', args: { city: 'Paris é' } }, thoughtSignature: 'sig-call_w' },
            ],
          },
          { role: 'user', parts: [{ functionResponse: { name: 'weather', response: { content: '20 degrees' } } }] },
        ],
      },
    });
  },

  async 'parallel tools'(trial) {
    trial.seat.answers({ toolCalls: CALLS });
    const whole = await trial.client.messages.create(asked(trial.seat, { tools: TOOLS }));
    assert.deepEqual(calls(whole), WANTED);
    assert.deepEqual(calls(await streamed(trial, { tools: TOOLS })), WANTED);
    await trial.client.messages.create(
      asked(trial.seat, { tools: TOOLS, tool_choice: { type: 'auto', disable_parallel_tool_use: true } }),
    );
    got(trial.seat, {
      openai: { parallel_tool_calls: false },
      anthropic: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      google: {},
    });
  },

  async vision({ client, seat }) {
    seat.answers({ text: ['A dot.'] });
    const image: Anthropic.ImageBlockParam = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: PIXEL },
    };
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: [image, { type: 'text', text: 'What?' }] }];
    assert.equal(texts(await client.messages.create(asked(seat, { messages }))), 'A dot.');
    assert.equal(seat.last.images, 1);
    got(seat, PIXEL_ASKED);
  },

  async 'structured output'({ client, seat }) {
    seat.answers({ text: ['{"degrees":20}'] });
    const message = await client.messages.create(
      asked(seat, { output_config: { format: { type: 'json_schema', schema: SCHEMA } } }),
    );
    assert.deepEqual(JSON.parse(texts(message)), { degrees: 20 });
    assert.equal(message.stop_reason, 'end_turn');
    got(seat, {
      openai: { response_format: { type: 'json_schema', json_schema: { schema: SCHEMA } } },
      anthropic: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
      google: { generationConfig: { responseMimeType: 'application/json' } },
    });
  },

  async reasoning(trial) {
    const { client, seat } = trial;
    const answer: VendorAnswer = {
      reasoning: ['Let me ', 'think.'],
      toolCalls: CALLS.slice(0, 1),
      usage: { prompt: 11, completion: 9, reasoning: 4 },
    };
    seat.answers(answer);
    const fields: Partial<Params> = { tools: TOOLS, thinking: { type: 'enabled', budget_tokens: 2_000 } };
    const message = await streamed(trial, fields);
    assert.deepEqual(await client.messages.create(asked(seat, fields)).then(calls), calls(message));
    const [thought] = message.content;
    assert.equal(thought?.type, 'thinking');
    assert.equal(thought.thinking, 'Let me think.');
    assertHolds(message.usage, { output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } });
    // With the tool's result the thoughts go back, signed by whoever signed them.
    await client.messages.create(
      asked(seat, {
        ...fields,
        messages: [
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: message.content },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_w', content: '20' }] },
        ],
      }),
    );
    got(seat, {
      openai: {
        messages: [{ role: 'user' }, { role: 'assistant', reasoning_content: 'Let me think.' }, { role: 'tool' }],
      },
      anthropic: {
        thinking: { type: 'enabled', budget_tokens: 2_000 },
        max_tokens: 1_000,
        messages: [
          { role: 'user' },
          { content: [{ type: 'thinking', thinking: 'Let me think.', signature: 'sig-0' }, WANTED[0]] },
          { role: 'user' },
        ],
      },
      google: {
        contents: [
          { role: 'user' },
          {
            role: 'model',
            parts: [{ text: 'Let me think.', thought: true }, { thoughtSignature: 'sig-call_w' }],
          },
          { role: 'user' },
        ],
      },
    });
  },

  async 'stop reasons'(trial) {
    for (const [finish, expected] of [
      ['stop', 'end_turn'],
      ['length', 'max_tokens'],
      ['content_filter', 'refusal'],
    ] as const) {
      trial.seat.answers({ text: ['Well'], finish });
      assert.equal((await trial.client.messages.create(asked(trial.seat))).stop_reason, expected);
      assert.equal((await streamed(trial)).stop_reason, expected);
    }
  },

  async error({ client, seat }) {
    for (const [status, kind, type] of [
      [400, Anthropic.BadRequestError, 'invalid_request_error'],
      [404, Anthropic.NotFoundError, 'not_found_error'],
      [429, Anthropic.RateLimitError, 'rate_limit_error'],
    ] as const) {
      seat.answers({ status, errorMessage: 'Not like this.', headers: { 'retry-after': '30' } });
      await assert.rejects(client.messages.create(asked(seat)), (error) => {
        assert.ok(error instanceof kind, String(error));
        assert.equal(error.status, status);
        assertHolds(error.error, { type: 'error', error: { type } });
        assert.match(error.message, /Not like this\./);
        return true;
      });
    }
    seat.answers({ text: ['Well', ', '], errorAfter: 1, errorMessage: 'Overheated.' });
    const pieces: string[] = [];
    await assert.rejects(
      async () => {
        for await (const event of await client.messages.create({ ...asked(seat), stream: true })) {
          if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') pieces.push(event.delta.text);
          assert.notEqual(event.type, 'message_stop');
        }
      },
      (error) => {
        assert.ok(error instanceof Anthropic.APIError, String(error));
        assertHolds(error.error, { type: 'error' });
        assert.match(error.message, /Overheated\./);
        return true;
      },
    );
    assert.deepEqual(pieces, ['Well']);
  },

  async abort({ client, seat }) {
    seat.answers({ text: ['One', 'Two', 'Three'], stallAfter: 2 });
    const stream = await client.messages.create({ ...asked(seat), stream: true });
    for await (const event of stream) if (event.type === 'content_block_delta') break;
    assert.equal(await seat.last.closed, 'aborted');
  },
};
