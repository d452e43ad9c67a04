import { after, before, describe, test } from 'node:test';
import { TRIALS } from './abilities.ts';
import { aiSdk } from './clients/ai-sdk.ts';
import { anthropic } from './clients/anthropic.ts';
import { googleGenAi } from './clients/google-genai.ts';
import { langChain, langChainResponses } from './clients/langchain.ts';
import { ollama } from './clients/ollama.ts';
import { openAiChat } from './clients/openai-chat.ts';
import { openAiResponses } from './clients/openai-responses.ts';
import { ABILITIES, type MatrixClient } from './vocabulary.ts';
import { openWorld, UPSTREAMS, type World } from './world.ts';

const CLIENTS: readonly MatrixClient[] = [
  openAiChat,
  openAiResponses,
  anthropic,
  googleGenAi,
  ollama,
  langChain,
  langChainResponses,
  aiSdk,
];

describe('every client before every upstream', { timeout: 120_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  for (const client of CLIENTS) {
    describe(client.title, () => {
      for (const upstream of UPSTREAMS) {
        for (const ability of ABILITIES) {
          test(`${upstream.title}: ${ability}`, { timeout: 20_000 }, async () => {
            await TRIALS[ability]({
              client,
              connected: client.connect(world.origin, {}),
              strict: client.connect(world.origin, { 'x-sluice-strict': '1' }),
              seat: world.seat(upstream),
              overheard: world.overheard,
            });
          });
        }
      }
    });
  }
});
