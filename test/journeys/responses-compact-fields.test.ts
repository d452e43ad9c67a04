import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { APIError, BadRequestError, NotFoundError, UnprocessableEntityError } from 'openai';
import type { CompactedResponse, ResponseCompactParams, ResponseInputItem } from 'openai/resources/responses/responses';
import { eventually } from '../support/eventually.ts';
import { usageLines } from '../support/usage.ts';
import { SUMMARY, WORK } from './compaction-work.ts';
import { entryOf } from './observe-world.ts';
import { FORMATS, openWorld, type Seat, type World } from './responses-world.ts';
import { assertHolds } from './sdk-vendors.ts';

/** Before a provider that does not compact by itself. */
describe('a request for a compaction', { timeout: 120_000 }, () => {
  let world: World;
  let seat: Seat;
  before(async () => {
    world = await openWorld('limits: { messages: 20 }');
    seat = world.seat('anthropic');
  });
  after(() => world.close());

  const compact = (fields: Partial<ResponseCompactParams> & object = {}): Promise<CompactedResponse> =>
    world.client.responses.compact({ model: seat.model as 'gpt-5.2', input: WORK, ...fields });

  test('is usage, and a request to a model in the log', async () => {
    seat.answers({ text: [SUMMARY], usage: { prompt: 1_234, completion: 56 } });
    const { response } = await world.client.responses
      .compact({ model: seat.model, input: WORK, user: 'compacting' } as never)
      .withResponse();
    const line = await eventually('the usage is recorded', async () =>
      (await usageLines(world.gateway.origin)).find((each) => each.includes('"compacting"')),
    );
    const counted = { provider: 'claude', model: 'claude-sonnet-4-5', prompt_tokens: 1_234, completion_tokens: 56 };
    assertHolds(JSON.parse(line), counted);
    const entry = await entryOf(world.gateway, response.headers.get('x-request-id') ?? '');
    assertHolds(entry, { dialect: 'responses', operation: 'chat', provider: 'claude', status: 200 });
    assertHolds(entry.usage ?? entry, { prompt_tokens: 1_234 });
  });

  test('what tools showed is seen by whoever writes the summary', async () => {
    const image_url = 'data:image/png;base64,aW1hZ2U=';
    const shown = [
      ...WORK.slice(0, 5),
      { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_image', image_url, detail: 'auto' }] },
    ] as ResponseInputItem[];
    for (const format of FORMATS) {
      const { model, answers } = world.seat(format);
      answers({ text: [SUMMARY] });
      await compact({ model: model as 'gpt-5.2', input: shown });
      assert.equal(world.seat(format).last.images, 1, format);
    }
  });

  test('thoughts of the model are no summary, and neither is half of one', async () => {
    const plain = world.seat('openai');
    plain.answers({ text: ['<think>Hm.</think>', SUMMARY] });
    const { output } = await compact({ model: plain.model as 'gpt-5.2' });
    plain.answers({ text: ['Aye.'] });
    await world.client.responses.create({ model: plain.model, input: output as ResponseInputItem[] });
    assert.ok(plain.last.prompt.includes(SUMMARY) && !plain.last.prompt.includes('Hm.'));
    for (const answer of [
      { text: ['The user wants'], finish: 'length' as const },
      { reasoning: ['Hm.'], text: [] },
      { text: [' \n'] },
    ]) {
      seat.answers(answer);
      await assert.rejects(
        compact(),
        (error) => error instanceof APIError && error.status === 502 && /not compacted/.test(error.message),
      );
    }
  });

  test('fields of an answer do not shape the summary, those of sampling do', async () => {
    const plain = world.seat('openai');
    plain.answers({ text: [SUMMARY] });
    const fields = {
      model: plain.model,
      tools: [{ type: 'function', name: 'read', parameters: { type: 'object' } }, { type: 'web_search' }],
      tool_choice: { type: 'web_search' },
      parallel_tool_calls: true,
      text: { format: { type: 'json_object' }, verbosity: 'low' },
      reasoning: { effort: 'low' },
      prompt_cache_key: 'a-session',
      stream: true,
    };
    const { data, response } = await world.client.responses.compact({ input: WORK, ...fields } as never).withResponse();
    assert.equal((data as CompactedResponse).output.at(-1)?.type, 'compaction');
    assert.equal(response.headers.get('x-sluice-dropped'), null);
    const body = plain.last.body as Record<string, unknown>;
    assertHolds(body, { reasoning_effort: 'low', prompt_cache_key: 'a-session' });
    for (const name of ['tools', 'tool_choice', 'parallel_tool_calls', 'response_format', 'verbosity']) {
      assert.equal(name in body, false, name);
    }
  });

  test("an item of OpenAI's own is nothing to others, and said to be", async () => {
    const foreign = { type: 'compaction', id: 'cmp_9', encrypted_content: 'gAAAAsealed' } as const;
    const input = [foreign, { role: 'user', content: 'Go on.' }] as ResponseInputItem[];
    seat.answers({ text: [SUMMARY] });
    for (const ask of [
      () => world.client.responses.create({ model: seat.model, input }).withResponse(),
      () => world.client.responses.compact({ model: seat.model as 'gpt-5.2', input }).withResponse(),
    ]) {
      const { response } = await ask();
      assert.equal(response.headers.get('x-sluice-dropped'), 'input.compaction');
      assert.doesNotMatch(JSON.stringify(seat.last.body), /gAAAA/);
    }
    await assert.rejects(
      compact({ input, strict: true } as never),
      (error) => error instanceof BadRequestError && error.param === 'input.compaction',
    );
  });

  test('what is wrong with a request is said, by its field', async () => {
    const bare = [{ type: 'compaction' }] as unknown as ResponseInputItem[];
    for (const [fields, param] of [
      [{ input: bare }, 'input[0].encrypted_content'],
      [{ input: 7 }, 'input'],
      [{ input: undefined }, 'input'],
      [{ instructions: 7 }, 'instructions'],
      [{ previous_response_id: 7 }, 'previous_response_id'],
      [{ prompt_cache_key: 7 }, 'prompt_cache_key'],
      [{ input: Array.from({ length: 21 }, () => WORK[0]) }, 'input'],
    ] as const) {
      await assert.rejects(
        compact(fields as never),
        (error) => error instanceof UnprocessableEntityError && error.param === param,
        param,
      );
    }
    await assert.rejects(
      world.client.responses.create({ model: seat.model, input: bare }),
      (error) => error instanceof UnprocessableEntityError && error.param === 'input[0].encrypted_content',
    );
    await assert.rejects(compact({ model: 'nobody/nothing' as never }), NotFoundError);
    seat.answers({ status: 429, errorMessage: 'Slow down.' });
    await assert.rejects(compact(), (error) => error instanceof APIError && error.status === 429);
  });

  test('another provider takes over where the first fails', async () => {
    seat.answers({ status: 429, errorMessage: 'Slow down.' });
    world.seat('openai').answers({ text: [SUMMARY] });
    const { data, response } = await world.client.responses
      .compact({ model: seat.model, input: WORK, models: ['acme/test-model'] } as never)
      .withResponse();
    assert.equal(response.headers.get('x-sluice-provider'), 'acme');
    assert.equal((data as CompactedResponse).output.at(-1)?.type, 'compaction');
  });

  test('below the path of one provider', async () => {
    seat.answers({ text: [SUMMARY] });
    const client = world.client.withOptions({ baseURL: `${world.gateway.origin}/api/claude` });
    const { output } = await client.responses.compact({ model: 'claude-sonnet-4-5' as 'gpt-5.2', input: 'Hi' });
    assert.equal(output.length, 2);
  });

  test('a client that leaves stops the model', async () => {
    const begun = Promise.withResolvers<void>();
    seat.answers(() => {
      begun.resolve();
      return { text: ['The user'], stallAfter: 1 };
    });
    const leaving = new AbortController();
    const asked = world.client.responses.compact(
      { model: seat.model as 'gpt-5.2', input: WORK },
      { signal: leaving.signal },
    );
    await begun.promise;
    leaving.abort();
    await assert.rejects(asked);
    assert.equal(await seat.last.closed, 'aborted');
  });
});
