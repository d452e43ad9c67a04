import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ChatRequest } from '../core/chat.ts';
import { estimateTokens } from './tokens.ts';

const PER_MESSAGE = 4;

const saying = (text: string): ChatRequest => ({
  model: 'm',
  providers: [],
  ignored: [],
  messages: [{ role: 'user', content: [{ type: 'text', text }] }],
  sampling: {},
  downloadMedia: false,
  extra: {},
});

/** How often others got their turn while a text was counted. */
async function turnsDuring(text: string): Promise<number> {
  let turns = 0;
  let isOver = false;
  const counting = estimateTokens(saying(text)).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await turn();
    turns++;
  }
  await counting;
  return turns;
}

describe('tokens of a prompt', () => {
  test('usual text is counted exactly', async () => {
    assert.equal(await estimateTokens(saying('Hello world, how are you today?')), 8 + PER_MESSAGE);
    assert.equal(await estimateTokens(saying('Hello world! '.repeat(600))), 1_801 + PER_MESSAGE);
  });

  for (const [name, text, tokens] of [
    ['letters', 'L'.repeat(30_000), 7_500],
    ['letters of a script without spaces', '中文字符没有空格'.repeat(3_750), 18_750],
    ['spaces', ' '.repeat(30_000), 235],
    ['signs', '!'.repeat(30_000), 1_875],
  ] as const) {
    test(`${name} in an endless row: others are served meanwhile, and the count stays about right`, async () => {
      assert.ok((await turnsDuring(text)) >= 3);
      const counted = (await estimateTokens(saying(text))) - PER_MESSAGE;
      assert.ok(Math.abs(counted - tokens) <= Math.max(tokens * 0.05, 300), `${counted} instead of ${tokens}`);
    });
  }
});
