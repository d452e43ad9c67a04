import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { startSluiceProcess } from '../support/sluice-process.ts';
import { askChat, askConversation, readChatStream, readConversation } from '../support/wire-answers.ts';

// Many answers at the same time (L-1): each is whole, and each is its own.

const STREAMS = 500;
const PIECES = 20;

/** The pieces of an answer that no other question has. */
function answerTo(question: string): string[] {
  return Array.from({ length: PIECES }, (_, index) => `${question}, piece ${index}: ${'ü'.repeat(index)}\n`);
}

test(`${STREAMS} slow streams at once, in both dialects`, { timeout: 240_000 }, async (context) => {
  // The first ones are answered when half of them are there: on a slow machine they would be over before.
  const many = Promise.withResolvers<void>();
  // Kept as long as the test takes at most: on a slow machine the first answers of a round end long before its last ones.
  const upstream = await startOpenAiUpstream(
    // Events come in two parts, cut where many have an ü: what waits for its rest must not meet that of another answer.
    ({ prompt }) => ({ text: answerTo(prompt), delayMs: 100, sliceBytes: 241 }),
    {
      keepAliveMs: 240_000,
      handle: async ({ method }) => {
        if (method === 'POST') await many.promise;
        return false;
      },
    },
  );
  context.after(() => upstream.close());
  const { origin } = await startSluiceProcess(context, upstream);

  const askAll = async (round: string): Promise<void> => {
    await Promise.all(Array.from({ length: STREAMS }, (_, index) => askOne(round, index)));
  };
  const askOne = async (round: string, index: number): Promise<void> => {
    const question = `${round} question ${index}`;
    const body = { provider: 'mock', model: 'm', messages: [{ role: 'user', content: question }] };
    const said =
      index % 2 === 0
        ? readChatStream(await askChat(origin, { ...body, stream: true }))
        : readConversation(await askConversation(origin, body));
    assert.equal(said.text, answerTo(question).join(''));
    assert.equal(said.finish, 'stop');
  };
  const first = askAll('1st');
  const begun = eventually(
    'more than half of them are open at the same time',
    () => upstream.open > STREAMS / 2,
    120_000,
  );
  await Promise.all([first, begun.then(() => many.resolve())]);
  await askAll('2nd');
  assert.ok(upstream.connections < 2 * STREAMS, 'the second time on connections of the first');
  assert.equal(upstream.chats.length, 2 * STREAMS, 'each was asked once');
  await eventually('nothing stays open upstream', () => upstream.open === 0);
});
