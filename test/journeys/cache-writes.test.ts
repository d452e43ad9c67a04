import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { usageLines } from '../support/usage.ts';
import { all, assertHolds, openWorld, type World } from './sdk-vendors.ts';

const MESSAGES = [{ role: 'user' as const, content: 'Hello' }];

describe('what is written into a cache of prompts', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  /** What the statistics have of a user, once they have that many answers. */
  const recorded = (user: string, count: number): Promise<{ cache_write_tokens?: number }[]> =>
    eventually('the usage is recorded', async () => {
      const lines = (await usageLines(world.origin)).filter((line) => line.includes(`"${user}"`));
      return lines.length === count ? lines.map((line) => JSON.parse(line)) : undefined;
    });

  for (const format of ['openai', 'anthropic'] as const) {
    test(`is told to clients of chat completions, and counted (${format})`, async () => {
      const seat = world.seat(format);
      const asked = { model: seat.model, messages: MESSAGES, user: `of-${format}` };
      const ask = async (usage: { written: number }) => {
        seat.answers({ text: ['Hi'], usage: { prompt: 50, completion: 2, cached: 10, ...usage } });
        return (await world.client.chat.completions.create(asked)).usage;
      };
      const expected = {
        prompt_tokens: 50,
        total_tokens: 52,
        prompt_tokens_details: { cached_tokens: 10, cache_write_tokens: 30 },
      };
      // Answers that are like the one before take a shorter way.
      for (let turn = 0; turn < 3; turn += 1) assertHolds(await ask({ written: 30 }), expected);
      const parts = await all(
        await world.client.chat.completions.create({ ...asked, stream: true, stream_options: { include_usage: true } }),
      );
      assertHolds(parts.at(-1)?.usage, expected);
      for (let turn = 0; turn < 3; turn += 1) {
        assertHolds(await ask({ written: 0 }), { prompt_tokens_details: { cached_tokens: 10 } });
      }
      assertHolds(await ask({ written: 30 }), expected);
      const lines = await recorded(asked.user, 8);
      const written = lines.flatMap((line) => line.cache_write_tokens ?? []);
      assert.deepEqual(written, [30, 30, 30, 30, 30]);
      const { requests } = (await (
        await fetch(`${world.origin}/backend-api/v2/requests?user=${asked.user}&limit=1`)
      ).json()) as { requests: object[] };
      assertHolds(requests, [{ usage: { cached_tokens: 10, cache_write_tokens: 30 } }]);
    });
  }
});
