import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeUsage, encodeUsage, isWholeUsage } from './usage.ts';

describe('what an upstream counted', () => {
  for (const count of [-1, 1e308, Number.MAX_SAFE_INTEGER, '7', null, {}, true]) {
    test(`${JSON.stringify(count)} is no number of tokens, wherever it stands`, () => {
      const usage = {
        prompt_tokens: count,
        completion_tokens: count,
        total_tokens: count,
        prompt_tokens_details: { cached_tokens: count, audio_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: count },
      };
      assert.ok(!isWholeUsage(usage));
      const decoded = decodeUsage(usage) ?? assert.fail();
      assert.deepEqual([decoded.promptTokens, decoded.completionTokens, decoded.totalTokens], [0, 0, 0]);
      assert.deepEqual(encodeUsage(decoded), {
        prompt_tokens: 0,
        completion_tokens: 0,
        total_tokens: 0,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: 0 },
      });
    });
  }

  test('what makes sense is told again', () => {
    const usage = {
      prompt_tokens: 11,
      completion_tokens: 7,
      total_tokens: 18,
      prompt_tokens_details: { cached_tokens: 8 },
      completion_tokens_details: { reasoning_tokens: 5 },
    };
    assert.ok(isWholeUsage(usage));
    assert.deepEqual(encodeUsage(decodeUsage(usage) ?? assert.fail()), usage);
  });
});
