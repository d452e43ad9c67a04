import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openWorld, type World } from './sdk-vendors.ts';

/** By model, an effort and the nearest one that the model does not refuse. */
const NEAREST = [
  ['o3', 'none', 'low'],
  ['o3', 'minimal', 'low'],
  ['openai/gpt-oss-20b', 'none', 'low'],
  ['gpt-5', 'minimal', 'minimal'],
  ['gpt-5', 'none', 'minimal'],
  ['gpt-5.1', 'minimal', 'low'],
  ['gpt-5.1', 'none', 'none'],
  ['somebodys-model', 'minimal', 'minimal'],
  ['somebodys-model', 'none', 'none'],
] as const;

describe('efforts of chat completions before upstreams of the same format', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  for (const [model, effort, nearest] of NEAREST) {
    test(`${effort} reaches ${model} as ${nearest}`, async () => {
      const seat = world.seat('openai');
      seat.answers({ text: ['Hi'] });
      const asked = { model: `acme/${model}`, messages: [{ role: 'user' as const, content: 'Hello' }] };
      await world.client.chat.completions.create({ ...asked, reasoning_effort: effort });
      assert.equal((seat.last.body as { reasoning_effort?: string }).reasoning_effort, nearest);
      await world.client.chat.completions.create({
        ...asked,
        extra_body: { reasoning_effort: effort },
      } as typeof asked);
      assert.equal((seat.last.body as { reasoning_effort?: string }).reasoning_effort, nearest);
    });
  }
});
