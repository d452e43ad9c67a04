import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { postJson } from './kept-world.ts';
import { FORMATS, openWorld, type World } from './responses-world.ts';
import { assertHolds } from './sdk-vendors.ts';

/** What each vendor says of a prompt that does not fit. */
const WORDS = {
  openai: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
  anthropic: 'prompt is too long: 211000 tokens > 200000 maximum',
  google: 'The input token count (1048800) exceeds the maximum number of tokens allowed (1048576).',
  'openai-responses': 'Your input exceeds the context window of this model. Please adjust your input and try again.',
} as const;

describe('a prompt that does not fit', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  const post = (path: string, body: object) => postJson(`${world.gateway.origin}${path}`, body);
  const messages = [{ role: 'user', content: 'Hi' }];

  for (const format of FORMATS) {
    test(`is told in the words that clients of each API look for (${format})`, async () => {
      const seat = world.seat(format);
      const { model } = seat;
      seat.answers({ status: 400, errorMessage: WORDS[format] });
      for (const stream of [false, true]) {
        const answer = await post('/v1/chat/completions', { model, messages, stream });
        assert.equal(answer.status, 400);
        assertHolds(await answer.json(), { error: { code: 'context_length_exceeded', type: 'invalid_request_error' } });
      }
      const respond = await post('/v1/responses', { model, input: 'Hi' });
      assertHolds(await respond.json(), { error: { code: 'context_length_exceeded' } });
      // Claude Code shortens the conversation when it reads these.
      const told = (await (await post('/v1/messages', { model, max_tokens: 9, messages })).json()) as {
        error: { type: string; message: string };
      };
      assert.equal(told.error.type, 'invalid_request_error');
      assert.match(told.error.message, /prompt is too long/);
      assert.equal(told.error.message.match(/prompt is too long/g)?.length, 1);
    });

    test(`is sent to the next one who may answer (${format})`, async () => {
      const seat = world.seat(format);
      seat.answers({ status: 400, errorMessage: WORDS[format] });
      const other = world.seat(format === 'openai' ? 'anthropic' : 'openai');
      other.answers({ text: ['It fits'] });
      const body = { model: seat.model, models: [other.model], messages };
      const answer = await post('/v1/chat/completions', body);
      assert.equal(answer.headers.get('x-sluice-attempts'), '2');
      assertHolds(await answer.json(), { choices: [{ message: { content: 'It fits' } }] });
    });
  }

  test('in the background an answer ends with the code that Codex looks for', async () => {
    const seat = world.seat('openai');
    seat.answers({ status: 400, errorMessage: WORDS.openai });
    let answer = await world.client.responses.create({ model: seat.model, input: 'Hi', background: true });
    while (answer.status === 'queued' || answer.status === 'in_progress') {
      answer = await world.client.responses.retrieve(answer.id);
    }
    assert.equal(answer.error?.code, 'context_length_exceeded');
  });

  test('an account without quota is no limit of the rate, and the next one answers', async () => {
    const seat = world.seat('openai');
    const error = {
      message: 'You exceeded your current quota',
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    };
    seat.answers({ status: 429, raw: JSON.stringify({ error }) });
    const alone = await post('/v1/chat/completions', { model: seat.model, messages });
    assert.equal(alone.status, 429);
    assertHolds(await alone.json(), { error: { code: 'insufficient_quota', type: 'insufficient_quota' } });
    const other = world.seat('anthropic');
    other.answers({ text: ['Paid'] });
    const answer = await post('/v1/chat/completions', { model: seat.model, models: [other.model], messages });
    assertHolds(await answer.json(), { choices: [{ message: { content: 'Paid' } }] });
  });
});
