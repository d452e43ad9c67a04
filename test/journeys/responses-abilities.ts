import assert from 'node:assert/strict';
import { APIError, type OpenAI } from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import type {
  Response,
  ResponseCreateParams,
  ResponseInputItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';
import { z } from 'zod';
import { inTurns } from '../support/turns.ts';
import { type Abilities, PIXEL, type Trial } from './abilities.ts';
import { all, lastOf, of, type Seat } from './responses-world.ts';
import { assertHolds } from './sdk-vendors.ts';

const WEATHER = {
  type: 'function',
  name: 'weather',
  description: 'Looks outside',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: false,
} as const;
const CALLS = [
  { id: 'call_a', name: 'weather', arguments: ['{"ci', 'ty":"Rom"}'] },
  { id: 'call_b', name: 'weather', arguments: ['{"city":"Oslo"}'] },
];

type Create = Partial<ResponseCreateParams>;

function create({ client, seat }: Trial<OpenAI, Seat>, body: Create = {}): Promise<Response> {
  return client.responses.create({ model: seat.model, input: 'Hi', ...body, stream: false });
}

async function events({ client, seat }: Trial<OpenAI, Seat>, body: Create = {}): Promise<ResponseStreamEvent[]> {
  return all(await client.responses.create({ model: seat.model, input: 'Hi', ...body, stream: true }));
}

/** The events of a stream whose upstream waits for its listener. Those before a failure are in `got`. */
async function listen(
  { client, seat }: Trial<OpenAI, Seat>,
  heard: (text: string) => void,
  got: ResponseStreamEvent[] = [],
): Promise<ResponseStreamEvent[]> {
  for await (const event of await client.responses.create({ model: seat.model, input: 'Hi', stream: true })) {
    got.push(event);
    if (event.type === 'response.output_text.delta') heard(event.delta);
  }
  return got;
}

/** The abilities that a client has with every upstream, by name. */
export const ABILITIES: Abilities<OpenAI, Seat> = {
  /** A whole answer. */
  async text({ client, seat }) {
    seat.answers({ text: ['Grüße, ', '世界', '!'], usage: { prompt: 21, completion: 9, cached: 5 } });
    const { data: answer, response } = await client.responses
      .create({ model: seat.model, input: 'Hi', instructions: 'Be brief.', metadata: { a: 'b' } })
      .withResponse();
    const [provider, model] = seat.model.split('/');
    assert.match(answer.id, /^resp_[0-9a-f]{48}$/);
    assert.equal(answer.output_text, 'Grüße, 世界!');
    assertHolds(answer, {
      object: 'response',
      status: 'completed',
      model,
      provider,
      error: null,
      incomplete_details: null,
      instructions: 'Be brief.',
      metadata: { a: 'b' },
      parallel_tool_calls: true,
      previous_response_id: null,
      store: true,
      temperature: 1,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
      top_p: 1,
      truncation: 'disabled',
      background: false,
      usage: {
        input_tokens: 21,
        output_tokens: 9,
        total_tokens: 30,
        input_tokens_details: { cached_tokens: 5 },
        output_tokens_details: {},
      },
    });
    assertHolds(answer.output, [
      {
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Grüße, 世界!', annotations: [] }],
      },
    ]);
    assert.ok(Number.isInteger(answer.created_at) && Number.isInteger(answer.completed_at));
    assert.equal(response.headers.get('x-sluice-provider'), provider);
    assert.equal(seat.last.prompt, 'Hi');
    assert.match(JSON.stringify(seat.last.body), /Be brief\./);
  },

  /** A stream: every event in its place, numbered from 0. */
  async stream(trial) {
    const { heard, ...answer } = inTurns(['Grü', 'ße']);
    trial.seat.answers(answer);
    const got = await listen(trial, heard);
    assert.deepEqual(
      got.map((event) => event.type),
      [
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.content_part.added',
        'response.output_text.delta',
        'response.output_text.delta',
        'response.output_text.done',
        'response.content_part.done',
        'response.output_item.done',
        'response.completed',
      ],
    );
    assert.deepEqual(
      got.map((event) => ('sequence_number' in event ? event.sequence_number : -1)),
      got.map((_, index) => index),
    );
    assert.deepEqual(
      of(got, 'response.output_text.delta').map(({ delta, content_index, output_index }) => [
        delta,
        content_index,
        output_index,
      ]),
      [
        ['Grü', 0, 0],
        ['ße', 0, 0],
      ],
    );
    const [created] = of(got, 'response.created');
    assertHolds(created?.response, { status: 'in_progress', output: [], usage: null });
    const [item] = lastOf(got).output;
    assert.equal(of(got, 'response.output_item.done')[0]?.item.id, item?.id);
    assertHolds(lastOf(got), { status: 'completed', usage: { total_tokens: 18 } });
  },

  /** The stream helper of the official client. */
  async 'stream helper'({ client, seat }) {
    seat.answers({ reasoning: ['Let me see.'], text: ['Hello', ' world'] });
    const helper = client.responses.stream({ model: seat.model, input: 'Hi', reasoning: { effort: 'low' } });
    let heard = '';
    helper.on('response.output_text.delta', ({ delta }) => {
      heard += delta;
    });
    const final = await helper.finalResponse();
    assert.equal(heard, 'Hello world');
    assert.equal(final.output_text, 'Hello world');
    assert.equal(final.status, 'completed');
  },

  /** Parallel calls of functions, in pieces, and their results. */
  async 'parallel tools'(trial) {
    const { seat } = trial;
    seat.answers({ toolCalls: CALLS });
    const got = await events(trial, { tools: [WEATHER], tool_choice: 'required', parallel_tool_calls: true });
    const final = lastOf(got);
    const calls = final.output.filter((item) => item.type === 'function_call');
    assertHolds(calls, [
      { type: 'function_call', call_id: calls[0]?.call_id, name: 'weather', status: 'completed' },
      { type: 'function_call', call_id: calls[1]?.call_id, name: 'weather', status: 'completed' },
    ]);
    assert.deepEqual(
      calls.map((call) => JSON.parse(call.arguments)),
      [{ city: 'Rom' }, { city: 'Oslo' }],
    );
    for (const call of calls) {
      const deltas = of(got, 'response.function_call_arguments.delta').filter((each) => each.item_id === call.id);
      assert.equal(deltas.map(({ delta }) => delta).join(''), call.arguments);
      const done = of(got, 'response.function_call_arguments.done').find((each) => each.item_id === call.id);
      assert.equal(done?.arguments, call.arguments);
    }
    assert.deepEqual(final.tools, [WEATHER]);
    assert.equal(final.tool_choice, 'required');

    seat.answers({ text: ['Sunny and cold.'] });
    const second = await create(trial, {
      tools: [WEATHER],
      input: [
        { role: 'user', content: 'Weather?' },
        ...(final.output as ResponseInputItem[]),
        { type: 'function_call_output', call_id: calls[0]?.call_id ?? '', output: 'sunny' },
        {
          type: 'function_call_output',
          call_id: calls[1]?.call_id ?? '',
          output: [{ type: 'input_text', text: 'cold' }],
        },
      ],
    });
    assert.equal(second.output_text, 'Sunny and cold.');
    assert.deepEqual(seat.last.tools, ['weather']);
    const sent = JSON.stringify(seat.last.body);
    for (const word of ['sunny', 'cold', 'Rom', 'Oslo']) assert.ok(sent.includes(word), word);
    assert.ok(sent.indexOf('Oslo') < sent.indexOf('sunny'));
  },

  /** Pictures. */
  async vision(trial) {
    const { seat } = trial;
    seat.answers({ text: ['A pixel.'] });
    const answer = await create(trial, {
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is this?' },
            { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${PIXEL}` },
          ],
        },
      ],
    });
    assert.equal(answer.output_text, 'A pixel.');
    assert.equal(seat.last.images, 1);
    assert.ok(JSON.stringify(seat.last.body).includes(PIXEL));
  },

  /** Structured output, parsed by the official client. */
  async 'structured output'({ client, seat }) {
    seat.answers({ text: ['{"city":"Rom",', '"degrees":21}'] });
    const City = z.object({ city: z.string(), degrees: z.number() });
    const answer = await client.responses.parse({
      model: seat.model,
      input: 'Weather?',
      text: { format: zodTextFormat(City, 'weather') },
    });
    assert.deepEqual(answer.output_parsed, { city: 'Rom', degrees: 21 });
    assert.match(JSON.stringify(seat.last.body), /degrees/);
  },

  /** Thoughts are summaries, and come back to whoever signed them. */
  async reasoning(trial) {
    const { seat } = trial;
    seat.answers({
      reasoning: ['Let me ', 'see.'],
      toolCalls: [CALLS[0] ?? CALLS[1]].flatMap((call) => call ?? []),
    });
    const body: Create = {
      tools: [WEATHER],
      reasoning: { effort: 'low' },
      include: ['reasoning.encrypted_content'],
      store: false,
    };
    const got = await events(trial, body);
    assert.equal(
      of(got, 'response.reasoning_summary_text.delta')
        .map(({ delta }) => delta)
        .join(''),
      'Let me see.',
    );
    assert.equal(of(got, 'response.reasoning_summary_text.done')[0]?.text, 'Let me see.');
    assert.equal(of(got, 'response.reasoning_summary_part.added').length, 1);
    assert.equal(of(got, 'response.reasoning_summary_part.done').length, 1);
    const final = lastOf(got);
    const [thought] = final.output;
    assert.ok(thought?.type === 'reasoning');
    assert.deepEqual(thought.summary, [{ type: 'summary_text', text: 'Let me see.' }]);
    const call = final.output.find((item) => item.type === 'function_call');
    seat.answers({ text: ['Sunny.'] });
    await create(trial, {
      ...body,
      input: [
        { role: 'user', content: 'Weather?' },
        ...(final.output as ResponseInputItem[]),
        { type: 'function_call_output', call_id: call?.call_id ?? '', output: 'sunny' },
      ],
    });
    const sent = JSON.stringify(seat.last.body);
    assert.ok(sent.includes('Let me see.'), sent);
    if (seat.format === 'anthropic') assert.ok(sent.includes('"signature":"sig-0"'), sent);
    if (seat.format === 'google') assert.match(sent, /"thoughtSignature":"[^"]+"/);
    if (seat.format === 'openai-responses') assert.ok(sent.includes('"encrypted_content":"encrypted rs_0"'), sent);
  },

  /** Thoughts before words come back, too, from a client that keeps them itself. */
  async 'reasoning before words'(trial) {
    const { seat } = trial;
    seat.answers({ reasoning: ['Let me see.'], text: ['Sunny.'] });
    const body: Create = { reasoning: { effort: 'low' }, include: ['reasoning.encrypted_content'], store: false };
    const { output } = await create(trial, body);
    await create(trial, { ...body, input: [...(output as ResponseInputItem[]), { role: 'user', content: 'Sure?' }] });
    const sent = JSON.stringify(seat.last.body);
    if (seat.format === 'anthropic') assert.ok(sent.includes('"signature":"sig-0"'), sent);
    if (seat.format === 'openai-responses') assert.ok(sent.includes('"encrypted_content":"encrypted rs_0"'), sent);
  },

  /** An answer that was cut short says why. */
  async 'stop reasons'(trial) {
    const { seat } = trial;
    seat.answers({ text: ['Once upon'], finish: 'length' });
    const answer = await create(trial, { max_output_tokens: 20 });
    assert.equal(answer.status, 'incomplete');
    assert.deepEqual(answer.incomplete_details, { reason: 'max_output_tokens' });
    assert.equal(answer.output_text, 'Once upon');
    assert.equal(answer.max_output_tokens, 20);
    const got = await events(trial);
    assert.equal(got.at(-1)?.type, 'response.incomplete');
    seat.answers({ text: ['No'], finish: 'content_filter' });
    assert.deepEqual((await create(trial)).incomplete_details, { reason: 'content_filter' });
  },

  /** An error before the answer is a status. */
  async error(trial) {
    const { seat } = trial;
    seat.answers({ status: 400, errorMessage: 'The prompt is too long.' });
    await assert.rejects(create(trial), (error) => {
      assert.ok(error instanceof APIError);
      assert.equal(error.status, 400);
      assert.match(error.message, /The prompt is too long\./);
      return true;
    });
  },

  /** An error inside the stream is an event, and the answer failed. */
  async 'error inside'(trial) {
    const { heard, ...answer } = inTurns(['Half', ' an', ' answer']);
    trial.seat.answers({ ...answer, errorAfter: 2, errorMessage: 'Out of power.' });
    const got: ResponseStreamEvent[] = [];
    await assert.rejects(
      listen(trial, heard, got),
      (error) => error instanceof APIError && /Out of power/.test(error.message),
    );
    assert.equal(of(got, 'response.output_text.delta').length, 2);
    const [created] = of(got, 'response.created');
    const failed = await trial.client.responses.retrieve(created?.response.id ?? '');
    assert.equal(failed.status, 'failed');
    assert.match(failed.error?.message ?? '', /Out of power/);
    assert.equal(failed.output_text, 'Half an');
  },

  /** Who leaves stops the upstream. */
  async abort({ client, seat }) {
    seat.answers({ text: ['Tick'], stallAfter: 1 });
    const stream = await client.responses.create({ model: seat.model, input: 'Hi', stream: true });
    for await (const event of stream) if (event.type === 'response.output_text.delta') break;
    assert.equal(await seat.last.closed, 'aborted');
  },
};
