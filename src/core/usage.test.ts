import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeUsage, encodeUsage, estimatePrompt, isWholeUsage, sumUsages, TextEstimate } from './usage.ts';

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
      assert.equal(decodeUsage(usage), undefined, 'nothing is counted');
      const decoded = decodeUsage({ ...usage, completion_tokens: 7 }) ?? assert.fail();
      assert.deepEqual([decoded.promptTokens, decoded.completionTokens, decoded.totalTokens], [0, 7, 7]);
      assert.deepEqual(encodeUsage(decoded), {
        prompt_tokens: 0,
        completion_tokens: 7,
        total_tokens: 7,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: 0 },
      });
    });
  }

  test('parts of tokens are rounded: many clients read whole numbers only', () => {
    const usage = {
      prompt_tokens: 10.8,
      completion_tokens: 7.2,
      total_tokens: 18,
      prompt_tokens_details: { cached_tokens: 0.5 },
      completion_tokens_details: { reasoning_tokens: 0 },
    };
    assert.ok(!isWholeUsage(usage));
    assert.deepEqual(encodeUsage(decodeUsage(usage) ?? assert.fail()), {
      ...usage,
      prompt_tokens: 11,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 1 },
    });
  });

  test('an empty usage is none', () => {
    assert.equal(decodeUsage({}), undefined);
  });

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

  test('the names of others are known where OpenAI’s are absent', () => {
    const details = { cached_tokens: 0, cache_write_tokens: 1 };
    const others = { prompt_cache_hit_tokens: 2, cached_tokens: 3, cache_creation_input_tokens: 4 };
    const { prompt_cache_hit_tokens, ...fewer } = others;
    const countsOf = (usage: object) => {
      const { cachedTokens, cacheWriteTokens, totalTokens } = decodeUsage({ prompt_tokens: 5, ...usage }) ?? {};
      return [cachedTokens, cacheWriteTokens, totalTokens];
    };
    assert.deepEqual(countsOf({ ...others, prompt_tokens_details: details }), [0, 1, 5]);
    assert.deepEqual(countsOf(others), [2, 4, 5]);
    assert.deepEqual(countsOf(fewer), [3, 4, 5]);
    assert.deepEqual(countsOf({ completion_tokens: 2 }), [undefined, undefined, 7]);
    assert.deepEqual(countsOf({ completion_tokens: 2, total_tokens: 9 }), [undefined, undefined, 9]);
  });

  test('what else an upstream tells is told too, and what was written to a cache where anything was', () => {
    const raw = {
      prompt_tokens: 5,
      cost: 0.01,
      prompt_tokens_details: { audio_tokens: 1 },
      completion_tokens_details: { audio_tokens: 2 },
    };
    const whole = {
      ...raw,
      completion_tokens: 0,
      total_tokens: 5,
      prompt_tokens_details: { audio_tokens: 1, cached_tokens: 0 },
      completion_tokens_details: { audio_tokens: 2, reasoning_tokens: 0 },
    };
    const usage = decodeUsage(raw) ?? assert.fail();
    assert.deepEqual(encodeUsage(usage), whole);
    assert.deepEqual(encodeUsage({ ...usage, cacheWriteTokens: 0 }), whole);
    assert.deepEqual(encodeUsage({ ...usage, cacheWriteTokens: 4, estimated: true }), {
      ...whole,
      prompt_tokens_details: { audio_tokens: 1, cached_tokens: 0, cache_write_tokens: 4 },
      estimated: true,
    });
  });

  test('it is whole with every count, and with nothing less', () => {
    const whole = {
      prompt_tokens: 1,
      completion_tokens: 2,
      total_tokens: 3,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    };
    assert.ok(isWholeUsage(whole));
    for (const name of Object.keys(whole)) assert.ok(!isWholeUsage({ ...whole, [name]: undefined }), name);
    for (const none of [null, undefined, [], 'usage']) assert.ok(!isWholeUsage(none), String(none));
  });
});

describe('the usage of several', () => {
  const plain = { promptTokens: 1, completionTokens: 2, totalTokens: 4 };

  test('is the sum of all, with every detail that any of them tells', () => {
    const [cached, written, thought] = [{ cachedTokens: 5 }, { cacheWriteTokens: 6 }, { reasoningTokens: 7 }];
    const sum = { promptTokens: 4, completionTokens: 8, totalTokens: 16 };
    const all = [plain, { ...plain, ...cached, ...thought }, { ...plain, ...cached }, { ...plain, ...written }];
    assert.deepEqual(sumUsages(all), { ...sum, cachedTokens: 10, ...written, ...thought });
    assert.deepEqual(sumUsages(all.toReversed()), { ...sum, cachedTokens: 10, ...written, ...thought });
    assert.deepEqual(sumUsages([plain, plain, plain, plain]), sum);
  });

  test('is an estimate as soon as one of them is, and that of one is its own', () => {
    const estimated = { ...plain, estimated: true } as const;
    for (const both of [
      [plain, estimated],
      [estimated, plain],
    ])
      assert.equal(sumUsages(both).estimated, true);
    assert.equal(sumUsages([plain]), plain);
    assert.deepEqual(sumUsages([]), { promptTokens: 0, completionTokens: 0, totalTokens: 0, estimated: true });
  });
});

describe('an estimate', () => {
  test('of a prompt: one, and for each message four and a fourth of its bytes', () => {
    const bytesOf = (text: string): number => Buffer.byteLength(text);
    assert.equal(estimatePrompt([], bytesOf), 1);
    assert.equal(estimatePrompt(['', 'abc', '世界'], bytesOf), 1 + 4 + 4 + 5);
  });

  test('of an answer: a fourth of the bytes of each piece, rounded', () => {
    const tokensOf = (...pieces: readonly string[]): number => {
      const estimate = new TextEstimate();
      for (const piece of pieces) estimate.add(piece);
      return estimate.tokens;
    };
    assert.deepEqual([tokensOf(), tokensOf(''), tokensOf('a'), tokensOf('a', 'b'), tokensOf('ab')], [0, 0, 0, 0, 1]);
    assert.deepEqual([tokensOf('Hello, '), tokensOf('世界'), tokensOf('Hello, ', '世界')], [2, 2, 4]);
  });
});
