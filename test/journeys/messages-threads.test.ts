import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import type { VendorAnswer } from '../support/vendor-script.ts';
import { assertHolds, openWorld, type World } from './sdk-vendors.ts';

type Json = Record<string, unknown>;

describe('a conversation that the server is to hold', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  const post = (fields: Json): Promise<Response> =>
    fetch(`${world.origin}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }], ...fields }),
    });
  const CREATE = { thread: { type: 'create' } };
  const CONTINUE = { thread: { type: 'continue', previous_message_id: 'msg_1' } };
  type Refused = { readonly error: { readonly details?: Json; readonly param: unknown; readonly message: string } };

  test('is refused where nobody holds it, in the words after which the official client sends all of it', async () => {
    for (const format of ['openai', 'google'] as const) {
      const seat = world.seat(format);
      seat.answers({ text: ['Hello'] });
      for (const thread of [CREATE, CONTINUE]) {
        const answer = await post({ model: seat.model, ...thread });
        assert.equal(answer.status, 400);
        const { error } = (await answer.json()) as Refused;
        assert.deepEqual(error.details, { error_code: 'thread_unsupported_request' });
        assert.equal(error.param, 'thread');
      }
      assert.equal(seat.arrived.length, 0, 'an answer to the last message alone would be one to another question');
      const answer = await post({ model: seat.model, thread: null });
      assert.equal(answer.status, 200);
    }
  });

  test('is held by Anthropic, whose word for a lost one arrives', async () => {
    const seat = world.seat('anthropic');
    seat.answers({ text: ['Hello'] });
    const begun = await post({ model: seat.model, ...CREATE });
    assertHolds(await begun.json(), { id: 'msg_scripted', content: [{ text: 'Hello' }] });
    assertHolds(seat.last.body, CREATE);
    const details = { error_code: 'thread_not_found' };
    const lost = { type: 'error', error: { type: 'not_found_error', message: 'No thread.', details } };
    seat.answers({ status: 404, raw: JSON.stringify(lost) });
    const answer = await post({ model: seat.model, ...CONTINUE });
    assert.equal(answer.status, 404);
    assert.deepEqual(((await answer.json()) as Refused).error.details, details);
    assertHolds(seat.last.body, CONTINUE);
  });

  test('is what the runner of tools of the official client begins with, and does without where it has to', async () => {
    const client = new Anthropic({ baseURL: world.origin, apiKey: 'secret', maxRetries: 0 });
    const HELD = [CREATE.thread, { type: 'continue', previous_message_id: 'msg_scripted' }];
    for (const format of ['openai', 'google', 'anthropic'] as const) {
      const seat = world.seat(format);
      const call = { id: 'toolu_1', name: 'weather', arguments: ['{"city":"Oslo"}'] };
      const answers: VendorAnswer[] = [{ toolCalls: [call] }, { text: ['It rains in Oslo.'] }];
      seat.answers(() => answers.shift() ?? {});
      const asked: unknown[] = [];
      const weather = betaTool({
        name: 'weather',
        description: 'The weather in a city.',
        inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
        run(input) {
          asked.push(input);
          return 'Rain.';
        },
      });
      const { length } = seat.arrived;
      const last = await client.beta.messages.toolRunner({
        model: seat.model,
        max_tokens: 100,
        messages: [{ role: 'user', content: 'Is it dry in Oslo?' }],
        tools: [weather],
      });
      assert.deepEqual(asked, [{ city: 'Oslo' }], format);
      assertHolds(last.content, [{ type: 'text', text: 'It rains in Oslo.' }]);
      const bodies = seat.arrived.slice(length).map(({ body }) => body as { thread?: unknown });
      if (format === 'anthropic') {
        assert.deepEqual(
          bodies.map(({ thread }) => thread),
          HELD,
        );
      } else {
        assert.equal(bodies.length, 2);
        for (const body of bodies)
          assert.match(JSON.stringify(body), /Is it dry in Oslo/, 'the question is always there');
      }
    }
  });

  test('is neither begun nor gone on with by whoever stands in', async () => {
    const other = world.seat('openai');
    other.answers({ text: ['Hello'] });
    const models = { model: world.seat('anthropic').model, models: [other.model] };
    for (const thread of [CREATE, CONTINUE]) {
      world.seat('anthropic').answers({ status: 503, errorMessage: 'Down.' });
      const answer = await post({ ...models, ...thread });
      assert.equal(answer.status, 400, await answer.clone().text());
      const { error } = (await answer.json()) as Refused;
      assert.deepEqual(error.details, { error_code: 'thread_unsupported_request' });
    }
    assert.equal(other.arrived.length, 0);
  });
});
