import assert from 'node:assert/strict';
import {
  ApiError,
  type Content,
  FinishReason,
  FunctionCallingConfigMode,
  type GenerateContentConfig,
  type GenerateContentParameters,
  type GenerateContentResponse,
  type GoogleGenAI,
  type Tool,
  Type,
} from '@google/genai';
import { inTurns } from '../support/turns.ts';
import type { VendorAnswer } from '../support/vendor-script.ts';
import { type Abilities, CALLS, got, PIXEL, PIXEL_ASKED, type Trial } from './abilities.ts';
import { assertHolds, type Seat } from './sdk-vendors.ts';

/** The same function in Google's dialect of schemas, and in JSON Schema. */
const TOOLS: Tool[] = [
  {
    functionDeclarations: [
      {
        name: 'weather',
        description: 'The weather now',
        parameters: {
          type: Type.OBJECT,
          properties: { city: { type: Type.STRING, nullable: true } },
          required: ['city'],
        },
      },
      { name: 'time', parametersJsonSchema: { type: 'object', properties: {} } },
    ],
  },
];
const WEATHER_SCHEMA = {
  type: 'object',
  properties: { city: { type: ['string', 'null'] } },
  required: ['city'],
};
const WANTED = [
  { id: 'call_w', name: 'weather', args: { city: 'Paris é' } },
  { id: 'call_t', name: 'time', args: { zone: 'CET' } },
];
const SCHEMA = { type: 'object', properties: { degrees: { type: 'number' } }, required: ['degrees'] };

function asked(seat: Seat, config: GenerateContentConfig = {}, contents?: Content[]): GenerateContentParameters {
  return { model: seat.model, contents: contents ?? 'Hello', config };
}

/** All pieces of a stream. */
async function pieces(
  trial: Trial<GoogleGenAI>,
  asks: GenerateContentParameters,
  heard?: (text: string) => void,
): Promise<GenerateContentResponse[]> {
  const all: GenerateContentResponse[] = [];
  for await (const piece of await trial.client.models.generateContentStream(asks)) {
    all.push(piece);
    heard?.(piece.text ?? '');
  }
  return all;
}

function partsOf(answers: readonly GenerateContentResponse[]) {
  return answers.flatMap((answer) => answer.candidates?.[0]?.content?.parts ?? []);
}

function finishOf(answers: readonly GenerateContentResponse[]): FinishReason | undefined {
  return answers.at(-1)?.candidates?.[0]?.finishReason;
}

/** The abilities that a client has with every upstream, by name. */
export const ABILITIES: Abilities<GoogleGenAI> = {
  async text({ client, seat }) {
    seat.answers({ text: ['Grü', 'ße 🌍'], usage: { prompt: 20, completion: 9, cached: 5, reasoning: 2 } });
    const config = { systemInstruction: 'Be brief.', temperature: 0.5, stopSequences: ['END'], maxOutputTokens: 100 };
    const answer = await client.models.generateContent(asked(seat, config));
    assert.equal(answer.text, 'Grüße 🌍');
    assert.equal(answer.candidates?.[0]?.content?.role, 'model');
    assert.equal(finishOf([answer]), FinishReason.STOP);
    assert.equal(answer.modelVersion, seat.model.split('/')[1]);
    assert.ok(answer.responseId);
    assertHolds(answer.usageMetadata, {
      promptTokenCount: 20,
      candidatesTokenCount: 7,
      thoughtsTokenCount: 2,
      totalTokenCount: 29,
      cachedContentTokenCount: 5,
    });
    got(seat, {
      openai: {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hello' },
        ],
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
  },

  async stream(trial) {
    const { heard, ...answer } = inTurns(['Grü', 'ße 🌍', '!']);
    trial.seat.answers({ ...answer, usage: { prompt: 20, completion: 9, cached: 5 } });
    const all = await pieces(trial, asked(trial.seat), heard);
    assert.deepEqual(
      all.flatMap(({ text }) => text || []),
      ['Grü', 'ße 🌍', '!'],
    );
    assert.deepEqual(
      all
        .slice(0, -1)
        .map((piece) => finishOf([piece]))
        .filter(Boolean),
      [],
    );
    assert.equal(finishOf(all), FinishReason.STOP);
    assertHolds(all.at(-1)?.usageMetadata, { promptTokenCount: 20, totalTokenCount: 29, cachedContentTokenCount: 5 });
    assert.equal(new Set(all.map(({ responseId }) => responseId)).size, 1);
  },

  async chat({ client, seat }) {
    const chat = client.chats.create({ model: seat.model });
    const say = async (message: string): Promise<void> => {
      for await (const piece of await chat.sendMessageStream({ message })) assert.ok(piece);
    };
    seat.answers({ text: ['Grü', 'ße'] });
    await say('Hello');
    seat.answers({ text: ['Bye'] });
    await say('And now?');
    got(seat, {
      openai: {
        messages: [
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: 'Grüße' },
          { role: 'user', content: 'And now?' },
        ],
      },
      anthropic: {
        messages: [
          { role: 'user' },
          { role: 'assistant', content: [{ type: 'text', text: 'Grüße' }] },
          { role: 'user', content: [{ type: 'text', text: 'And now?' }] },
        ],
      },
      google: {
        contents: [
          { role: 'user' },
          { role: 'model', parts: [{ text: 'Grüße' }] },
          { role: 'user', parts: [{ text: 'And now?' }] },
        ],
      },
    });
  },

  async tools({ client, seat }) {
    let asks = 0;
    seat.answers(() => {
      asks += 1;
      return asks === 1 ? { text: ['Let me look.'], toolCalls: CALLS.slice(0, 1) } : { text: ['Warm.'] };
    });
    const toolConfig = { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY } };
    const first = await client.models.generateContent(asked(seat, { tools: TOOLS, toolConfig }));
    assert.deepEqual(first.functionCalls, WANTED.slice(0, 1));
    assert.equal(finishOf([first]), FinishReason.STOP);
    assert.deepEqual(seat.last.tools, ['weather', 'time']);
    got(seat, {
      openai: { tool_choice: 'required', tools: [{ function: { parameters: WEATHER_SCHEMA } }, {}] },
      anthropic: { tool_choice: { type: 'any' }, tools: [{ input_schema: WEATHER_SCHEMA }, {}] },
      google: { tools: TOOLS, toolConfig },
    });
    const said = first.candidates?.[0]?.content;
    assert.ok(said);
    const contents: Content[] = [
      { role: 'user', parts: [{ text: 'Hello' }] },
      said,
      {
        role: 'user',
        parts: [{ functionResponse: { id: 'call_w', name: 'weather', response: { output: '20 degrees' } } }],
      },
    ];
    const second = await client.models.generateContent(asked(seat, { tools: TOOLS }, contents));
    assert.equal(second.text, 'Warm.');
    const call = { id: 'call_w', name: 'weather' };
    got(seat, {
      openai: {
        messages: [
          { role: 'user', content: 'Hello' },
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
              { type: 'tool_use', ...call, input: { city: 'Paris é' } },
            ],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_w', content: '20 degrees' }] },
        ],
      },
      google: { contents },
    });
  },

  async 'parallel tools'(trial) {
    trial.seat.answers({ toolCalls: CALLS });
    const whole = await trial.client.models.generateContent(asked(trial.seat, { tools: TOOLS }));
    assert.deepEqual(whole.functionCalls, WANTED);
    const all = await pieces(trial, asked(trial.seat, { tools: TOOLS }));
    assert.deepEqual(
      all.flatMap((piece) => piece.functionCalls ?? []),
      WANTED,
    );
    // Each result finds its call by name and order where clients know no ids.
    const contents: Content[] = [
      { role: 'user', parts: [{ text: 'Hello' }] },
      { role: 'model', parts: WANTED.map(({ name, args }) => ({ functionCall: { name, args } })) },
      {
        role: 'user',
        parts: WANTED.toReversed().map(({ name }) => ({ functionResponse: { name, response: { output: name } } })),
      },
    ];
    await trial.client.models.generateContent(asked(trial.seat, { tools: TOOLS }, contents));
    got(trial.seat, {
      openai: {
        messages: [
          { role: 'user' },
          { tool_calls: [{ id: 'call_0' }, { id: 'call_1' }] },
          { tool_call_id: 'call_1', content: 'time' },
          { tool_call_id: 'call_0', content: 'weather' },
        ],
      },
      anthropic: {
        messages: [
          { role: 'user' },
          { content: [{ id: 'call_0' }, { id: 'call_1' }] },
          { content: [{ tool_use_id: 'call_1' }, { tool_use_id: 'call_0' }] },
        ],
      },
      google: { contents },
    });
  },

  async vision({ client, seat }) {
    seat.answers({ text: ['A dot.'] });
    const contents = [
      { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: PIXEL } }, { text: 'What?' }] },
    ];
    assert.equal((await client.models.generateContent(asked(seat, {}, contents))).text, 'A dot.');
    assert.equal(seat.last.images, 1);
    got(seat, PIXEL_ASKED);
  },

  async 'structured output'({ client, seat }) {
    seat.answers({ text: ['{"degrees":20}'] });
    const responseSchema = {
      type: Type.OBJECT,
      properties: { degrees: { type: Type.NUMBER } },
      required: ['degrees'],
    };
    const config = { responseMimeType: 'application/json', responseSchema };
    const answer = await client.models.generateContent(asked(seat, config));
    assert.deepEqual(JSON.parse(answer.text ?? ''), { degrees: 20 });
    got(seat, {
      openai: { response_format: { type: 'json_schema', json_schema: { schema: SCHEMA } } },
      anthropic: { output_config: { format: { type: 'json_schema' } } },
      google: { generationConfig: config },
    });
    await client.models.generateContent(asked(seat, { responseMimeType: 'application/json' }));
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
      toolCalls: CALLS.slice(0, 1),
      usage: { prompt: 11, completion: 9, reasoning: 4 },
    };
    seat.answers(answer);
    const config: GenerateContentConfig = {
      tools: TOOLS,
      thinkingConfig: { includeThoughts: true, thinkingBudget: 2_000 },
    };
    const whole = await client.models.generateContent(asked(seat, config));
    const all = await pieces(trial, asked(seat, config));
    for (const parts of [partsOf([whole]), partsOf(all)]) {
      assert.equal(parts.map((part) => (part.thought === true ? part.text : '')).join(''), 'Let me think.');
    }
    assertHolds(whole.usageMetadata, { thoughtsTokenCount: 4, candidatesTokenCount: 5 });
    // Clients put what a stream brought into the history piece by piece; the signatures go back to whoever signed.
    const said = all.flatMap((piece) => piece.candidates?.[0]?.content ?? []);
    await client.models.generateContent(
      asked(seat, config, [
        { role: 'user', parts: [{ text: 'Hello' }] },
        ...said,
        { role: 'user', parts: [{ functionResponse: { id: 'call_w', name: 'weather', response: { output: '20' } } }] },
      ]),
    );
    got(seat, {
      openai: {
        messages: [{ role: 'user' }, { role: 'assistant', reasoning_content: 'Let me think.' }, { role: 'tool' }],
      },
      anthropic: {
        messages: [
          { role: 'user' },
          { content: [{ type: 'thinking', thinking: 'Let me think.', signature: 'sig-0' }, { type: 'tool_use' }] },
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
        generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 2_000 } },
      },
    });
  },

  async 'stop reasons'(trial) {
    for (const [finish, expected] of [
      ['stop', FinishReason.STOP],
      ['length', FinishReason.MAX_TOKENS],
      ['content_filter', FinishReason.SAFETY],
    ] as const) {
      trial.seat.answers({ text: ['Well'], finish });
      assert.equal(finishOf([await trial.client.models.generateContent(asked(trial.seat))]), expected);
      assert.equal(finishOf(await pieces(trial, asked(trial.seat))), expected);
    }
  },

  async error(trial) {
    const { client, seat } = trial;
    for (const [status, word] of [
      [400, 'INVALID_ARGUMENT'],
      [404, 'NOT_FOUND'],
      [429, 'RESOURCE_EXHAUSTED'],
    ] as const) {
      seat.answers({ status, errorMessage: 'Not like this.', headers: { 'retry-after': '30' } });
      await assert.rejects(client.models.generateContent(asked(seat)), (error) => {
        assert.ok(error instanceof ApiError, String(error));
        assert.equal(error.status, status);
        assertHolds(JSON.parse(error.message), { error: { code: status, status: word } });
        assert.match(error.message, /Not like this\./);
        return true;
      });
    }
    seat.answers({ text: ['Well', ', '], errorAfter: 1, errorMessage: 'Overheated.', delayMs: 20 });
    const seen: (string | undefined)[] = [];
    await assert.rejects(
      async () => {
        for await (const piece of await client.models.generateContentStream(asked(seat))) {
          assert.equal(finishOf([piece]), undefined);
          seen.push(piece.text);
        }
      },
      (error) => {
        // The library finds the error where one read brings nothing else, and a broken stream otherwise.
        assert.match(String(error), /Overheated\.|Incomplete JSON segment/);
        return true;
      },
    );
    assert.equal(seen[0], 'Well');
  },

  async abort({ client, seat }) {
    seat.answers({ text: ['One', 'Two', 'Three'], stallAfter: 2 });
    const leave = new AbortController();
    const stream = await client.models.generateContentStream(asked(seat, { abortSignal: leave.signal }));
    await assert.rejects(async () => {
      for await (const piece of stream) if (piece.text !== undefined) leave.abort();
    });
    assert.equal(await seat.last.closed, 'aborted');
  },
};
