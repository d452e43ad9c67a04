import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { postJson } from './kept-world.ts';
import { openWorld, type World } from './responses-world.ts';

describe('JSON of any form, asked of OpenAI’s Responses API', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  const said = async (path: string, body: object): Promise<string> => {
    const seat = world.seat('openai-responses');
    seat.answers({ text: ['{}'] });
    const answer = await postJson(`${world.gateway.origin}${path}`, { model: seat.model, stream: false, ...body });
    assert.equal(answer.status, 200, await answer.text());
    const { input, text } = seat.last.body as { input: unknown; text: { format: { type: string } } };
    assert.equal(text.format.type, 'json_object');
    return JSON.stringify(input);
  };

  test('is asked for in words, too, of clients who need not say so', async () => {
    const asked = { messages: [{ role: 'user', content: 'Hi' }], format: 'json' };
    assert.match(await said('/api/chat', asked), /Answer in JSON\./);
    const own = { input: 'Hi', text: { format: { type: 'json_object' } } };
    assert.doesNotMatch(await said('/v1/responses', own), /JSON/);
  });
});
