import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { startSluiceProcess } from '../support/sluice-process.ts';

// Whole answers of megabytes, whose memory serves one after another: each reaches its client as it is, however slowly that reads.

const MEGABYTE = 1024 * 1024;

/** An answer that no other question has, at any place of it. The slow ones are more than sockets take in. */
function answerTo(question: string): string {
  const size = question.startsWith('slow') ? 20 * MEGABYTE : 3 * MEGABYTE;
  return `${question} `.repeat(size / (question.length + 1));
}

/** Asks, and waits before the answer is read. */
function ask(origin: string, question: string, waitMs: number): Promise<string> {
  const body = JSON.stringify({ provider: 'mock', model: 'm', messages: [{ role: 'user', content: question }] });
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const asking = request(`${origin}/v1/chat/completions`, { method: 'POST', headers }, async (response) => {
      await sleep(waitMs);
      const text = Buffer.concat(await response.toArray()).toString();
      resolve(JSON.parse(text).choices[0].message.content);
    });
    asking.on('error', reject).end(body);
  });
}

test('large answers stay apart, whoever reads them slowly', { timeout: 120_000 }, async (context) => {
  const upstream = await startOpenAiUpstream(({ prompt }) => ({ text: [answerTo(prompt)] }));
  context.after(() => upstream.close());
  const { origin } = await startSluiceProcess(context, upstream);
  const slow = ['slow one', 'slow two'].map(async (question) => {
    assert.ok((await ask(origin, question, 1_500)) === answerTo(question), question);
  });
  for (let round = 0; round < 6; round += 1) {
    await Promise.all(
      Array.from({ length: 4 }, async (_, index) => {
        const question = `quick ${round}-${index}`;
        assert.ok((await ask(origin, question, 0)) === answerTo(question), question);
      }),
    );
  }
  await Promise.all(slow);
});
