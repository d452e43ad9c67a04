import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { APIError } from 'openai';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { eventually } from '../support/eventually.ts';
import { hostedAnswer } from '../support/hosted-answer.ts';
import { startResponsesUpstream } from '../support/responses-upstream.ts';
import type { VendorUpstream } from '../support/vendor-server.ts';
import { SUMMARY, WORK } from './compaction-work.ts';
import { all, FORMATS, lastOf, of, openWorld, type World } from './responses-world.ts';
import { assertHolds } from './sdk-vendors.ts';

type Json = Record<string, unknown>;

const TRIGGER = { type: 'compaction_trigger' } as const;

/** As newer versions of Codex ask, in the midst of their tools. */
const ASKED = {
  input: [...WORK, TRIGGER] as ResponseInputItem[],
  instructions: 'You are a shipwright.',
  tools: [
    { type: 'function' as const, name: 'read', parameters: { type: 'object' }, strict: false },
    { type: 'web_search' as const },
  ],
  tool_choice: 'auto' as const,
};

const OWN_ITEMS = [
  {
    id: 'msg_1',
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Compacting.', annotations: [], logprobs: [] }],
  },
  { id: 'cmp_1', type: 'compaction', encrypted_content: 'gAAAAsealed' },
];

describe('a compaction as an answer', { timeout: 120_000 }, () => {
  let own: VendorUpstream;
  let world: World;
  before(async () => {
    own = await startResponsesUpstream(({ model }) =>
      model === 'worn' ? { status: 429, errorMessage: 'Slow down.' } : { raw: hostedAnswer(OWN_ITEMS) },
    );
    const hosted = `{ kind: openai-responses, baseUrl: '${own.baseUrl}', apiKey: own-key, hostedTools: true }`;
    world = await openWorld(`  own: ${hosted}`);
  });
  after(async () => {
    await world.close();
    await own.close();
  });

  for (const format of FORMATS) {
    test(`${format}: the summary comes as one item of a stream`, async () => {
      const { model, answers } = world.seat(format);
      answers({
        reasoning: ['Hm.'],
        text: [SUMMARY.slice(0, 9), SUMMARY.slice(9)],
        usage: { prompt: 300, completion: 40 },
      });
      const { data, response } = await world.client.responses
        .create({ model, ...ASKED, stream: true, store: false })
        .withResponse();
      const events = await all(data);
      assert.equal(response.headers.get('x-sluice-dropped'), null);
      const [added, ...more] = of(events, 'response.output_item.added');
      assert.equal(more.length, 0);
      assert.equal(added?.item.type, 'compaction');
      const done = of(events, 'response.output_item.done').map(({ item }) => item);
      const { status, output, usage } = lastOf(events);
      assert.deepEqual([status, output], ['completed', done]);
      const [item] = output;
      assert.ok(item?.type === 'compaction' && /^cmp_[0-9a-f]{48}o0$/.test(item.id));
      assertHolds(usage, { input_tokens: 300, output_tokens: 40 });
      const { last } = world.seat(format);
      assert.deepEqual(last.tools, []);
      assert.match(last.prompt, /You are a shipwright\.[\s\S]*const ebb[\s\S]*Write the summary/);

      answers({ text: ['Aye.'] });
      const next = [WORK[1], item, { role: 'user', content: 'Go on.' }] as ResponseInputItem[];
      await world.client.responses.create({ model, input: next });
      assert.ok(JSON.stringify(world.seat(format).last.body).includes(SUMMARY));
    });
  }

  test('is stored, and gone on from', async () => {
    const seat = world.seat('anthropic');
    seat.answers({ text: [SUMMARY] });
    const got = await world.client.responses.create({ model: seat.model, ...ASKED });
    assert.deepEqual((await world.client.responses.retrieve(got.id)).output, got.output);
    seat.answers({ text: ['Aye.'] });
    const { data, response } = await world.client.responses
      .create({ model: seat.model, input: 'Go on.', previous_response_id: got.id })
      .withResponse();
    assert.equal(data.output_text, 'Aye.');
    assert.equal(response.headers.get('x-sluice-dropped'), null);
    assert.ok(JSON.stringify(seat.last.body).includes(SUMMARY));
  });

  test('may be made in the background, where no tool of the client is missed', async () => {
    const seat = world.seat('anthropic');
    seat.answers({ text: [SUMMARY] });
    const asked = { model: seat.model, ...ASKED, background: true, strict: true };
    const { id } = await world.client.responses.create(asked as never);
    const made = await eventually('it is made', async () => {
      const got = await world.client.responses.retrieve(id);
      return got.status === 'completed' && got;
    });
    assertHolds(made, { output: [{ type: 'compaction' }] });
  });

  test('OpenAI is asked for it as the client asks', async () => {
    const got = await world.client.responses.create({ model: 'own/gpt-5.2', ...ASKED });
    const bodyOf = (): Json => own.requests.at(-1)?.body as Json;
    assertHolds(bodyOf(), { tools: ASKED.tools, tool_choice: 'auto' });
    assert.deepEqual((bodyOf()['input'] as Json[]).at(-1), TRIGGER);
    assert.deepEqual(
      got.output.map(({ type }) => type),
      ['message', 'compaction'],
    );
    assertHolds(got.output[1], { encrypted_content: 'gAAAAsealed' });
    // Only the last item may be one, so it does not go there again.
    await world.client.responses.create({ model: 'own/gpt-5.2', input: 'Go on.', previous_response_id: got.id });
    const types = (bodyOf()['input'] as Json[]).map(({ type }) => type);
    assert.deepEqual(types.slice(-3), ['message', 'compaction', 'message']);
    assert.equal(types.includes('compaction_trigger'), false);
  });

  test('whoever takes over is asked in its own way', async () => {
    const seat = world.seat('anthropic');
    seat.answers({ text: [SUMMARY] });
    const models = ['claude/claude-sonnet-4-5'];
    const got = await world.client.responses.create({ model: 'own/worn', models, ...ASKED } as never);
    assertHolds(got, { provider: 'claude', output: [{ type: 'compaction' }] });
    // And the other way round OpenAI's answer is left as it is.
    seat.answers({ status: 429, errorMessage: 'Slow down.' });
    const asked = { model: seat.model, models: ['own/gpt-5.2'], ...ASKED };
    assertHolds(await world.client.responses.create(asked as never), {
      provider: 'own',
      output: [{ type: 'message' }, { type: 'compaction' }],
    });
  });

  test('a summary that is cut fails', async () => {
    const seat = world.seat('anthropic');
    seat.answers({ text: ['The user'], finish: 'length' });
    const isCut = (error: unknown): boolean => error instanceof APIError && /not compacted/.test(error.message);
    await assert.rejects(world.client.responses.create({ model: seat.model, ...ASKED }), isCut);
    await assert.rejects(
      async () => all(await world.client.responses.create({ model: seat.model, ...ASKED, stream: true })),
      isCut,
    );
  });
});
