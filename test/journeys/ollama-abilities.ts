import assert from 'node:assert/strict';
import type { ChatRequest, ChatResponse, Message, Ollama, Tool } from 'ollama';
import { inTurns } from '../support/turns.ts';
import type { VendorAnswer } from '../support/vendor-script.ts';
import { type Abilities, CALLS, got, PIXEL, PIXEL_ASKED, type Trial } from './abilities.ts';
import { assertHolds, type Seat } from './sdk-vendors.ts';

const WEATHER_SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const TOOLS: Tool[] = [
  { type: 'function', function: { name: 'weather', description: 'The weather now', parameters: WEATHER_SCHEMA } },
  { type: 'function', function: { name: 'time' } },
];
const WANTED = [
  { name: 'weather', arguments: { city: 'Paris é' } },
  { name: 'time', arguments: { zone: 'CET' } },
];
const SCHEMA = { type: 'object', properties: { degrees: { type: 'number' } }, required: ['degrees'] };
const HELLO: Message = { role: 'user', content: 'Hello' };

function asked(seat: Seat, fields: Partial<ChatRequest> = {}): Omit<ChatRequest, 'stream'> {
  const { stream: _, ...rest } = fields;
  return { model: seat.model, messages: [HELLO], ...rest };
}

/** All lines of a stream. */
async function lines(
  { client, seat }: Trial<Ollama>,
  fields: Partial<ChatRequest> = {},
  heard?: (text: string) => void,
): Promise<ChatResponse[]> {
  const all: ChatResponse[] = [];
  for await (const line of await client.chat({ ...asked(seat, fields), stream: true })) {
    all.push(line);
    heard?.(line.message.content);
  }
  return all;
}

function calls(answers: readonly ChatResponse[]): unknown[] {
  return answers.flatMap(({ message }) =>
    (message.tool_calls ?? []).map(({ function: { name, arguments: given } }) => ({ name, arguments: given })),
  );
}

/** The abilities that a client has with every upstream, by name. */
export const ABILITIES: Abilities<Ollama> = {
  async text({ client, seat }) {
    seat.answers({ text: ['Grü', 'ße 🌍'], usage: { prompt: 20, completion: 9, cached: 5 } });
    const answer = await client.chat(
      asked(seat, {
        messages: [{ role: 'system', content: 'Be brief.' }, HELLO],
        options: { temperature: 0.5, stop: ['END'], num_predict: 100 },
      }),
    );
    assert.deepEqual(answer.message, { role: 'assistant', content: 'Grüße 🌍' });
    assertHolds(answer, {
      model: seat.model,
      done: true,
      done_reason: 'stop',
      prompt_eval_count: 20,
      eval_count: 9,
    });
    for (const name of ['total_duration', 'load_duration', 'prompt_eval_duration', 'eval_duration'] as const) {
      assert.ok(Number.isSafeInteger(answer[name]) && answer[name] >= 0, `${name}: ${answer[name]}`);
    }
    assert.ok(!Number.isNaN(Date.parse(String(answer.created_at))));
    got(seat, {
      openai: {
        messages: [{ role: 'system', content: 'Be brief.' }, HELLO],
        max_tokens: 100,
        temperature: 0.5,
        stop: ['END'],
      },
      anthropic: {
        system: [{ type: 'text', text: 'Be brief.' }],
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
        max_tokens: 100,
        temperature: 0.5,
        stop_sequences: ['END'],
      },
      google: {
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
        generationConfig: { maxOutputTokens: 100, temperature: 0.5, stopSequences: ['END'] },
      },
    });
    const generated = await client.generate({ model: seat.model, system: 'Be brief.', prompt: 'Hello' });
    assert.equal(generated.response, 'Grüße 🌍');
    assertHolds(generated, { done: true, done_reason: 'stop', prompt_eval_count: 20, eval_count: 9 });
    assert.equal(seat.last.prompt, 'Hello');
  },

  async stream(trial) {
    const { heard, ...answer } = inTurns(['Grü', 'ße 🌍', '!']);
    trial.seat.answers({ ...answer, usage: { prompt: 20, completion: 9 } });
    const all = await lines(trial, {}, heard);
    assert.deepEqual(
      all.flatMap(({ message }) => message.content || []),
      ['Grü', 'ße 🌍', '!'],
    );
    assert.deepEqual(
      all.map(({ done }) => done),
      [...all.slice(1).map(() => false), true],
    );
    assertHolds(all.at(-1), { done_reason: 'stop', prompt_eval_count: 20, eval_count: 9 });
    trial.seat.answers({ text: ['Grü', 'ße 🌍', '!'] });
    let text = '';
    for await (const line of await trial.client.generate({ model: trial.seat.model, prompt: 'Hello', stream: true })) {
      text += line.response;
    }
    assert.equal(text, 'Grüße 🌍!');
  },

  async tools({ client, seat }) {
    seat.answers((request) =>
      request.prompt === '20 degrees' ? { text: ['Warm.'] } : { text: ['Let me look.'], toolCalls: CALLS.slice(0, 1) },
    );
    const first = await client.chat(asked(seat, { tools: TOOLS }));
    assert.equal(first.done_reason, 'stop');
    assert.deepEqual(calls([first]), WANTED.slice(0, 1));
    assert.deepEqual(seat.last.tools, ['weather', 'time']);
    const messages: Message[] = [HELLO, first.message, { role: 'tool', tool_name: 'weather', content: '20 degrees' }];
    const second = await client.chat(asked(seat, { tools: TOOLS, messages }));
    assert.equal(second.message.content, 'Warm.');
    got(seat, {
      openai: {
        tools: TOOLS,
        messages: [
          HELLO,
          {
            role: 'assistant',
            content: 'Let me look.',
            tool_calls: [{ id: 'call_w', function: { name: 'weather', arguments: '{"city":"Paris é"}' } }],
          },
          { role: 'tool', tool_call_id: 'call_w', content: '20 degrees' },
        ],
      },
      anthropic: {
        messages: [
          { role: 'user' },
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'Let me look.' },
              { type: 'tool_use', id: 'call_w', name: 'weather', input: { city: 'Paris é' } },
            ],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_w', content: '20 degrees' }] },
        ],
      },
      google: {
        contents: [
          { role: 'user' },
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
    assert.deepEqual(calls([await trial.client.chat(asked(trial.seat, { tools: TOOLS }))]), WANTED);
    assert.deepEqual(calls(await lines(trial, { tools: TOOLS })), WANTED);
    // Each result finds its call by name and order where clients know no ids.
    const messages: Message[] = [
      HELLO,
      { role: 'assistant', content: '', tool_calls: WANTED.map((each) => ({ function: each })) },
      { role: 'tool', tool_name: 'time', content: 'noon' },
      { role: 'tool', tool_name: 'weather', content: 'warm' },
    ];
    await trial.client.chat(asked(trial.seat, { tools: TOOLS, messages }));
    got(trial.seat, {
      openai: {
        messages: [
          { role: 'user' },
          { tool_calls: [{ id: 'call_0' }, { id: 'call_1' }] },
          { tool_call_id: 'call_1', content: 'noon' },
          { tool_call_id: 'call_0', content: 'warm' },
        ],
      },
      anthropic: {
        messages: [
          { role: 'user' },
          { content: [{ id: 'call_0' }, { id: 'call_1' }] },
          { content: [{ tool_use_id: 'call_1' }, { tool_use_id: 'call_0' }] },
        ],
      },
      google: {
        contents: [
          { role: 'user' },
          { parts: [{ functionCall: { id: 'call_0' } }, { functionCall: { id: 'call_1' } }] },
          { parts: [{ functionResponse: { id: 'call_1' } }, { functionResponse: { id: 'call_0' } }] },
        ],
      },
    });
  },

  async vision({ client, seat }) {
    seat.answers({ text: ['A dot.'] });
    const messages = [{ role: 'user', content: 'What?', images: [PIXEL] }];
    assert.equal((await client.chat(asked(seat, { messages }))).message.content, 'A dot.');
    assert.equal(seat.last.images, 1);
    const bytes = Uint8Array.from(Buffer.from(PIXEL, 'base64'));
    await client.generate({ model: seat.model, prompt: 'What?', images: [bytes] });
    got(seat, PIXEL_ASKED);
  },

  async 'structured output'({ client, seat }) {
    seat.answers({ text: ['{"degrees":20}'] });
    const answer = await client.chat(asked(seat, { format: SCHEMA }));
    assert.deepEqual(JSON.parse(answer.message.content), { degrees: 20 });
    got(seat, {
      openai: { response_format: { type: 'json_schema', json_schema: { schema: SCHEMA } } },
      anthropic: { output_config: { format: { type: 'json_schema' } } },
      google: { generationConfig: { responseMimeType: 'application/json', responseJsonSchema: SCHEMA } },
    });
    await client.chat(asked(seat, { format: 'json' }));
    got(seat, {
      openai: { response_format: { type: 'json_object' } },
      anthropic: {},
      google: { generationConfig: { responseMimeType: 'application/json' } },
    });
  },

  async reasoning(trial) {
    const { client, seat } = trial;
    const answer: VendorAnswer = {
      reasoning: ['Let me ', 'think.'],
      text: ['Well.'],
      toolCalls: CALLS.slice(0, 1),
      usage: { prompt: 11, completion: 9, reasoning: 4 },
    };
    seat.answers(answer);
    const whole = await client.chat(asked(seat, { tools: TOOLS, think: true }));
    assert.equal(whole.message.thinking, 'Let me think.');
    assert.equal(whole.message.content, 'Well.');
    const all = await lines(trial, { tools: TOOLS, think: 'high' });
    assert.equal(all.map(({ message }) => message.thinking ?? '').join(''), 'Let me think.');
    assert.equal(all.map(({ message }) => message.content).join(''), 'Well.');
    const hidden = await client.chat(asked(seat, { tools: TOOLS, think: false }));
    assert.equal(hidden.message.thinking, undefined);
    // What the whole answer held goes back, with the signatures of whoever signed.
    await client.chat(
      asked(seat, {
        tools: TOOLS,
        messages: [HELLO, whole.message, { role: 'tool', tool_name: 'weather', content: '20' }],
      }),
    );
    got(seat, {
      openai: {
        messages: [{ role: 'user' }, { role: 'assistant', reasoning_content: 'Let me think.' }, { role: 'tool' }],
      },
      anthropic: {
        messages: [
          { role: 'user' },
          {
            content: [
              { type: 'thinking', thinking: 'Let me think.', signature: 'sig-0' },
              { type: 'text' },
              { type: 'tool_use' },
            ],
          },
          { role: 'user' },
        ],
      },
      google: {
        contents: [
          { role: 'user' },
          {
            role: 'model',
            parts: [{ text: 'Let me think.', thought: true }, { text: 'Well.' }, { thoughtSignature: 'sig-call_w' }],
          },
          { role: 'user' },
        ],
      },
    });
  },

  async 'stop reasons'(trial) {
    for (const finish of ['stop', 'length', 'content_filter'] as const) {
      trial.seat.answers({ text: ['Well'], finish });
      assert.equal((await trial.client.chat(asked(trial.seat))).done_reason, finish);
      assert.equal((await lines(trial)).at(-1)?.done_reason, finish);
    }
  },

  async error(trial) {
    const { client, seat } = trial;
    for (const status of [400, 404, 429]) {
      seat.answers({ status, errorMessage: 'Not like this.', headers: { 'retry-after': '30' } });
      await assert.rejects(client.chat(asked(seat)), (error) => {
        assertHolds(error, { name: 'ResponseError', status_code: status });
        assert.match(String(error), /Not like this\./);
        return true;
      });
    }
    seat.answers({ text: ['Well', ', '], errorAfter: 1, errorMessage: 'Overheated.', delayMs: 20 });
    const seen: string[] = [];
    await assert.rejects(async () => {
      for await (const line of await client.chat({ ...asked(seat), stream: true })) {
        assert.equal(line.done, false);
        seen.push(line.message.content);
      }
    }, /Overheated\./);
    assert.deepEqual(seen, ['Well']);
  },

  async abort({ client, seat }) {
    seat.answers({ text: ['One', 'Two', 'Three'], stallAfter: 2 });
    const stream = await client.chat({ ...asked(seat), stream: true });
    await assert.rejects(async () => {
      for await (const line of stream) if (line.message.content !== '') stream.abort();
    });
    assert.equal(await seat.last.closed, 'aborted');
  },
};
