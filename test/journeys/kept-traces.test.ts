import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { chat, entryOf, logged, type ObservedWorld, openObserved } from './observe-world.ts';

const PROMPT = 'planted-prompt-0a1b2c';
const QUESTION = 'planted-question-3d4e5f';
const ANSWER = 'planted-answer-6a7b8c';
const CLIENT_KEY = 'sk-planted-client-key-2b4d6f';
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

describe('the key of a client', { timeout: 60_000 }, () => {
  test('serves its call, and is nowhere on the disk, in the log, or in what is told of it later', async () => {
    let dataDir = '';
    const world = await openObserved({ requestLog: 'full' }, '', (folder) => {
      dataDir = folder;
    });
    const question = [{ role: 'user', content: QUESTION }];
    const model = 'openai/gpt-4o';
    const chat = { model, messages: question };
    // Of bodies that are sent on, and of those that are kept: for an answer, a conversation, a memory.
    const requests: readonly (readonly [path: string, body: object])[] = [
      ['/v1/chat/completions', { ...chat, stream: true }],
      ['/v1/chat/completions', { ...chat, user: 'planted-user', memory: true }],
      ['/backend-api/v2/conversation', { ...chat, resumable: true }],
      ['/v1/responses', { model, input: QUESTION }],
      ['/v1/responses', { model, input: QUESTION, stream: true }],
      ['/v1/messages', { ...chat, max_tokens: 10 }],
      ['/v1beta/models/openai%2Fgpt-4o:generateContent', { contents: [{ parts: [{ text: QUESTION }] }] }],
      ['/api/chat', chat],
    ];
    const told: string[] = [];
    try {
      for (const [path, body] of requests) {
        // A Bearer token, and what clients of Anthropic's API call their key, may be meant for this server: not every one is used.
        for (const [headers, more] of [
          [{}, { api_key: CLIENT_KEY }],
          [{}, { api_key: { openai: CLIENT_KEY } }],
          [{ 'x-api-key': CLIENT_KEY }, {}],
          [{ authorization: `Bearer ${CLIENT_KEY}` }, {}],
        ] as const) {
          const response = await fetch(world.origin + path, {
            method: 'POST',
            headers: { 'content-type': 'application/json', ...headers },
            body: JSON.stringify({ ...body, ...more }),
          });
          told.push(await response.text(), JSON.stringify([...response.headers]));
          assert.equal(response.status, 200, `${path} ${JSON.stringify([headers, more])}`);
        }
      }
      const used = world.openai.chats.filter(({ headers }) => headers.authorization === `Bearer ${CLIENT_KEY}`);
      assert.ok(used.length >= 2 * requests.length, `${used.length} calls with it are no test`);
      // Until then the request log is in memory only.
      await world.restart();
      for (const { id } of (await logged(world, '?limit=1000')).requests)
        told.push(JSON.stringify(await entryOf(world, id)));
      const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      const kept = files.map(({ parentPath, name }) => readFileSync(path.join(parentPath, name), 'latin1')).join();
      assert.ok(kept.includes(QUESTION), 'what is kept can be found there');
      for (const text of [kept, ...told, JSON.stringify(world.log.lines)]) {
        for (const spelling of [CLIENT_KEY, Buffer.from(CLIENT_KEY).toString('base64').slice(2, -4)])
          assert.ok(!text.includes(spelling), text.slice(Math.max(0, text.indexOf(spelling) - 500)).slice(0, 1_000));
      }
    } finally {
      await world.close();
    }
  });
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
