import { after, before, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { ABILITIES } from './messages-abilities.ts';
import { FORMATS, openWorld, type World } from './sdk-vendors.ts';

describe('the official Anthropic client', { timeout: 60_000 }, () => {
  let world: World;
  let client: Anthropic;
  before(async () => {
    world = await openWorld();
    client = new Anthropic({ baseURL: world.origin, apiKey: 'secret', maxRetries: 0 });
  });
  after(() => world.close());

  for (const format of FORMATS) {
    describe(`before an upstream of ${format}'s format`, () => {
      for (const [name, trial] of Object.entries(ABILITIES)) {
        test(name, () => trial({ client, seat: world.seat(format) }));
      }
    });
  }
});
