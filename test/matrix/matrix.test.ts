import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { TRIALS } from './abilities.ts';
import { aiSdk } from './clients/ai-sdk.ts';
import { anthropic } from './clients/anthropic.ts';
import { googleGenAi } from './clients/google-genai.ts';
import { langChain, langChainResponses } from './clients/langchain.ts';
import { ollama } from './clients/ollama.ts';
import { openAiSpeech, openAiTranscriptions } from './clients/openai-audio.ts';
import { openAi, openAiChat } from './clients/openai-chat.ts';
import { openAiEmbeddings } from './clients/openai-embeddings.ts';
import { openAiImages } from './clients/openai-images.ts';
import { openAiResponses } from './clients/openai-responses.ts';
import { compatibilityMarkdown, Outcomes } from './table.ts';
import { type TaskClient, tryMissing, tryTask } from './tasks.ts';
import { ABILITIES, type MatrixClient, type MatrixUpstream } from './vocabulary.ts';
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
const TASK_CLIENTS: readonly TaskClient[] = [openAiImages, openAiSpeech, openAiTranscriptions, openAiEmbeddings];
/** Wants losses as errors. */
const STRICT = { 'x-sluice-strict': '1' };
const DOCUMENT = new URL('../../docs/compatibility.md', import.meta.url);
const LIMITS = { timeout: 20_000 };

describe('every client before every upstream', { timeout: 240_000 }, () => {
  const outcomes = new Outcomes();
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  for (const client of CLIENTS) {
    describe(client.title, () => {
      for (const upstream of UPSTREAMS) {
        for (const ability of ABILITIES) {
          test(`${upstream.title}: ${ability}`, LIMITS, async () => {
            const outcome = await TRIALS[ability]({
              client,
              connected: client.connect(world.origin, {}),
              strict: client.connect(world.origin, STRICT),
              seat: world.seat(upstream),
              overheard: world.overheard,
            });
            outcomes.note(client.title, ability, upstream, outcome);
          });
        }
      }
    });
  }

  for (const client of TASK_CLIENTS) {
    describe(client.title, () => {
      const names = Object.keys(client.trials);
      const trialWith = (upstream: MatrixUpstream, model: string) => ({
        client: openAi(world.origin, {}),
        strict: openAi(world.origin, STRICT),
        seat: world.seat(upstream),
        model: `${upstream.provider}/${model}`,
        overheard: world.overheard,
      });
      for (const upstream of UPSTREAMS) {
        const model = upstream.tasks[client.task];
        if (model === undefined) {
          test(`${upstream.title}: is not there`, LIMITS, async () => {
            await tryMissing(trialWith(upstream, upstream.model), client);
            for (const name of names) {
              outcomes.note(client.title, name, upstream, { dropped: [], untold: ['missing'] });
            }
          });
          continue;
        }
        for (const name of names) {
          test(`${upstream.title}: ${name}`, LIMITS, async () => {
            const dropped = await tryTask(trialWith(upstream, model), client, name);
            const isUntold = upstream.untold?.[client.task]?.[name] !== undefined;
            outcomes.note(client.title, name, upstream, { dropped, untold: isUntold ? [name] : [] });
          });
        }
      }
    });
  }

  test('docs/compatibility.md tells what was found', () => {
    const found = compatibilityMarkdown({
      clients: CLIENTS,
      taskClients: TASK_CLIENTS,
      upstreams: UPSTREAMS,
      outcomes,
    });
    assert.ok(!found.includes('**no**'), 'some cells failed, or were not tried');
    if (process.env['WRITE_COMPATIBILITY'] === '1') writeFileSync(DOCUMENT, found);
    assert.equal(readFileSync(DOCUMENT, 'utf8'), found, 'run: npm run compatibility');
  });
});
