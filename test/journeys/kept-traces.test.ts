import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { chat, type ObservedWorld, openObserved } from './observe-world.ts';

const PROMPT = 'planted-prompt-0a1b2c';
const QUESTION = 'planted-question-3d4e5f';
const ANSWER = 'planted-answer-6a7b8c';
/** One word of the full-text index, which no other word begins like. */
const MEMORY = 'xylophonist9d0e1f';

describe('what is no longer to be kept', { timeout: 180_000 }, () => {
  test('is nowhere in the files of the database a little after it was deleted', async () => {
    const { world, traces, gone } = await open('full');
    try {
      const { id } = await plant(world);
      // Until then the request log is in memory only.
      await world.restart();
      assert.deepEqual(traces(), [PROMPT, QUESTION, ANSWER, MEMORY]);
      await remove(world, '/backend-api/v2/requests');
      await remove(world, `/v1/responses/${id}`);
      await remove(world, '/backend-api/v2/memory/planted-user');
      await gone();
    } finally {
      await world.close();
    }
  });

  for (const mode of ['meta', 'none'] as const) {
    test(`is nowhere a little after a start with the request log at ${mode}, before anybody asks anything`, async () => {
      const { world, traces, gone } = await open('full');
      try {
        await chat(world, { messages: [{ role: 'user', content: PROMPT }] });
        await world.restart();
        assert.deepEqual(traces(), [PROMPT, ANSWER]);
        await world.restart({ requestLog: mode });
        await gone();
      } finally {
        await world.close();
      }
    });
  }
});

async function open(requestLog: 'full') {
  let dataDir = '';
  const world = await openObserved({ requestLog }, '', (folder) => {
    dataDir = folder;
  });
  world.answers({ text: [ANSWER] });
  /** What of all that was planted stands in a file, case aside. */
  const traces = () => {
    const files = readdirSync(dataDir).filter((name) => name.startsWith('sluice.db'));
    const bytes = files.map((name) => readFileSync(path.join(dataDir, name), 'latin1').toLowerCase()).join('\n');
    return [PROMPT, QUESTION, ANSWER, MEMORY].filter((word) => bytes.includes(word));
  };
  const gone = () => eventually('no traces are left', () => traces().length === 0);
  return { world, traces, gone };
}

/** Something of every kind that users may delete. */
async function plant(world: ObservedWorld): Promise<{ readonly id: string }> {
  await chat(world, { messages: [{ role: 'user', content: PROMPT }] });
  const items = [{ role: 'user', content: `I am a ${MEMORY}.` }];
  await post(world, '/backend-api/v2/memory/planted-user', { items });
  return (await post(world, '/v1/responses', { model: 'acme/test-model', input: QUESTION })) as { id: string };
}

async function post({ origin }: ObservedWorld, at: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${origin}${at}`, { method: 'POST', headers, body: JSON.stringify(body) });
  assert.equal(response.status, 200);
  return await response.json();
}

async function remove({ origin }: ObservedWorld, at: string): Promise<void> {
  const response = await fetch(`${origin}${at}`, { method: 'DELETE' });
  assert.equal(response.status, 200);
  await response.text();
}
