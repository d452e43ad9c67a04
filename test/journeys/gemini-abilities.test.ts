import { after, before, describe, test } from 'node:test';
import { GoogleGenAI } from '@google/genai';
import { ABILITIES } from './gemini-abilities.ts';
import { FORMATS, openWorld, type World } from './sdk-vendors.ts';

describe('the official Gemini client', { timeout: 60_000 }, () => {
  let world: World;
  let client: GoogleGenAI;
  before(async () => {
    world = await openWorld('limits: { attempts: 1 }');
    client = new GoogleGenAI({ apiKey: 'secret', httpOptions: { baseUrl: world.origin } });
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
