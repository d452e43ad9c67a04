import { after, before, describe, test } from 'node:test';
import { Ollama } from 'ollama';
import { ABILITIES } from './ollama-abilities.ts';
import { FORMATS, openWorld, type World } from './sdk-vendors.ts';

describe('the official Ollama client', { timeout: 60_000 }, () => {
  let world: World;
  let client: Ollama;
  before(async () => {
    world = await openWorld('limits: { attempts: 1 }');
    client = new Ollama({ host: world.origin });
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
