import { after, before, describe, test } from 'node:test';
import { ABILITIES } from './responses-abilities.ts';
import { FORMATS, openWorld, type World } from './responses-world.ts';

describe('the official OpenAI client, by the Responses API', { timeout: 120_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  for (const format of FORMATS) {
    describe(`before an upstream of ${format}'s format`, () => {
      for (const [name, trial] of Object.entries(ABILITIES)) {
        test(name, () => trial({ client: world.client, seat: world.seat(format) }));
      }
    });
  }
});
