import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { BadRequestError } from 'openai';
import type { CompactedResponse, ResponseCompactParams, ResponseInputItem } from 'openai/resources/responses/responses';
import { SUMMARY, WORK } from './compaction-work.ts';
import { all, FORMATS, lastOf, openWorld, type Seat, type World } from './responses-world.ts';
import { assertHolds } from './sdk-vendors.ts';

/** Before providers that do not compact by themselves. */
describe('compaction', { timeout: 120_000 }, () => {
  let world: World;
  let seat: Seat;
  before(async () => {
    world = await openWorld('limits: { messages: 20 }');
    seat = world.seat('anthropic');
  });
  after(() => world.close());

  const compact = (fields: Partial<ResponseCompactParams> & object = {}): Promise<CompactedResponse> =>
    world.client.responses.compact({ model: seat.model as 'gpt-5.2', input: WORK, ...fields });

  for (const format of FORMATS) {
    test(`${format}: the model writes a summary, which the next answer begins with`, async () => {
      const { model, answers } = world.seat(format);
      answers({ text: [`\n${SUMMARY.slice(0, 20)}`, SUMMARY.slice(20)], usage: { prompt: 300, completion: 40 } });
      const asked = { model: model as 'gpt-5.2', input: WORK, instructions: 'You are a shipwright.' };
      const { data, response } = await world.client.responses.compact(asked).withResponse();
      assert.equal(response.headers.get('x-sluice-dropped'), null);
      assert.equal(response.headers.get('x-sluice-model'), model.split('/')[1]);
      const { output, usage, ...head } = data;
      assert.match(head.id, /^resp_[0-9a-f]{48}$/);
      assert.ok(Math.abs(head.created_at - Date.now() / 1_000) < 60);
      assert.deepEqual({ ...head, id: '', created_at: 0 }, { id: '', object: 'response.compaction', created_at: 0 });
      assertHolds(usage, { input_tokens: 300, output_tokens: 40, total_tokens: 340 });
      const input_text = (text: string) => [{ type: 'input_text', text }];
      assertHolds(output.slice(0, -1), [
        { type: 'message', role: 'developer', content: input_text('Answer like a sailor.') },
        { type: 'message', role: 'user', content: input_text('Mend tide.ts, please.') },
        { type: 'message', role: 'user', content: input_text('Hurry.') },
      ]);
      const last = output.at(-1);
      assert.ok(last?.type === 'compaction');
      assert.match(last.id, /^cmp_[0-9a-f]{48}o3$/);
      assert.match(last.encrypted_content, /^sluice\.v1\.[\w-]+$/);

      const arrived = world.seat(format).last;
      assert.deepEqual(arrived.tools, []);
      const record = arrived.prompt;
      for (const said of [
        'You are a shipwright.',
        'Answer like a sailor.',
        'Mend tide.ts, please.',
        'I need to see it.',
        'I shall read it first.',
        '<call id="call_1" tool="read">{"path":"tide.ts"}</call>',
        'const ebb = flood;',
        'Hurry.',
      ]) {
        assert.ok(record.includes(said), said);
      }
      assert.match(record, /Write the summary of the conversation above now/);

      answers({ text: ['Aye.'] });
      const next = [...output, { role: 'user', content: 'Go on.' }] as ResponseInputItem[];
      const events = await all(await world.client.responses.create({ model, input: next, stream: true }));
      assertHolds(lastOf(events).output, [{ content: [{ text: 'Aye.' }] }]);
      const body = JSON.stringify(world.seat(format).last.body);
      for (const said of ['Answer like a sailor.', 'Mend tide.ts, please.', 'Hurry.', SUMMARY, 'Go on.']) {
        assert.ok(body.includes(said), said);
      }
      assert.doesNotMatch(body, /I shall read|const ebb|sluice\.v1/);
      assert.ok(body.indexOf('Hurry.') < body.indexOf(SUMMARY) && body.indexOf(SUMMARY) < body.indexOf('Go on.'));
    });
  }

  test('may be the last word: the model goes on with the work', async () => {
    seat.answers({ text: [SUMMARY] });
    const { output } = await compact();
    seat.answers({ text: ['Line 7 is mended.'] });
    const { output_text: said } = await world.client.responses.create({
      model: seat.model,
      input: [{ role: 'assistant', content: 'Aye aye.' }, ...output.slice(-1)] as ResponseInputItem[],
    });
    assert.equal(said, 'Line 7 is mended.');
    assert.ok(seat.last.prompt.includes(SUMMARY));
    assert.match(JSON.stringify(seat.last.body), /Aye aye\.[\s\S]*The user wants/);
    assert.equal((seat.last.body as { messages: { role: string }[] }).messages.at(-1)?.role, 'user');
  });

  test('once more: the earlier summary is part of what is summarised', async () => {
    seat.answers({ text: [SUMMARY] });
    const first = await compact();
    seat.answers({ text: ['All is done.'] });
    const again = await compact({
      input: [...first.output, { role: 'assistant', content: 'Mended.' }] as ResponseInputItem[],
    });
    assert.ok(seat.last.prompt.includes(SUMMARY) && seat.last.prompt.includes('Mended.'));
    assert.deepEqual(
      again.output.map(({ type }) => type),
      ['message', 'message', 'message', 'compaction'],
    );
    seat.answers({ text: ['Aye.'] });
    await world.client.responses.create({ model: seat.model, input: again.output as ResponseInputItem[] });
    assert.match(seat.last.prompt, /All is done\./);
    assert.doesNotMatch(JSON.stringify(seat.last.body), /line 7 is wrong/);
  });

  test('of stored answers, by the last of them', async () => {
    seat.answers({ text: ['The tide falls.'] });
    const first = await world.client.responses.create({ model: seat.model, input: 'What does the tide do?' });
    const second = await world.client.responses.create({
      model: seat.model,
      input: 'And then?',
      previous_response_id: first.id,
    });
    seat.answers({ text: ['They spoke of tides.'] });
    const { output } = await compact({ input: undefined, previous_response_id: second.id } as never);
    const record = seat.last.prompt;
    assert.ok(record.includes('What does the tide do?') && record.includes('And then?'));
    assert.ok(record.includes('The tide falls.'));
    assert.deepEqual(
      output.map((item) => (item.type === 'message' ? (item.content[0] as { text: string }).text : item.type)),
      ['What does the tide do?', 'And then?', 'compaction'],
    );
    await assert.rejects(
      compact({ previous_response_id: `resp_${'0'.repeat(48)}` }),
      (error) => error instanceof BadRequestError && error.param === 'previous_response_id',
    );
  });

  test('within a conversation that is kept here', async () => {
    seat.answers({ text: [SUMMARY] });
    const { output } = await compact();
    const { id } = await world.client.conversations.create({ items: output as ResponseInputItem[] });
    const listed = await world.client.conversations.items.list(id, { order: 'asc' });
    assertHolds(listed.data.at(-1), { ...output.at(-1) });
    const bare = output.at(-1) as { encrypted_content: string };
    const [added] = (
      await world.client.conversations.items.create(id, {
        items: [{ type: 'compaction', encrypted_content: bare.encrypted_content }],
      })
    ).data;
    assert.match(String(added?.id), /^cmp_/);
    seat.answers({ text: ['Aye.'] });
    await world.client.responses.create({ model: seat.model, input: 'Go on.', conversation: id });
    assert.equal(JSON.stringify(seat.last.body).split(SUMMARY).length, 3);
    seat.answers({ text: ['All of it.'] });
    await compact({ input: undefined, conversation: id } as never);
    assert.ok(seat.last.prompt.includes(SUMMARY) && seat.last.prompt.includes('Aye.'));
  });

  test('its tokens are counted', async () => {
    seat.answers({ text: [SUMMARY] });
    const { output } = await compact();
    const countOf = async (input: unknown): Promise<number> =>
      (await world.client.responses.inputTokens.count({ model: seat.model, input: input as ResponseInputItem[] }))
        .input_tokens;
    const all = await countOf(output);
    assert.ok(all - (await countOf(output.slice(0, -1))) > 20, String(all));
  });
});
