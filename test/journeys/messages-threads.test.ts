import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
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
