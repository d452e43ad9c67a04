import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SluiceError } from '../core/errors.ts';
import { AlikeAnswers } from './alike-answers.ts';
import { completionBytes } from './completion.ts';

const OPTIONS = { provider: 'acme', model: 'm-1', promptTokens: 100, wantsJson: false };

/** Answers as OpenAI, Groq and vLLM write them, with all that a whole usage has. */
const ANSWERS = {
  openai: `{
  "id": "chatcmpl-CfQ1", "object": "chat.completion", "created": 1764143555, "model": "gpt-5-mini-2025-08-07",
  "choices": [{"index": 0, "message": {"role": "assistant", "content": "Paris.", "refusal": null, "annotations": []}, "logprobs": null,
    "finish_reason": "stop"}],
  "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18,
    "prompt_tokens_details": {"cached_tokens": 3, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 2, "audio_tokens": 0, "accepted_prediction_tokens": 0}},
  "service_tier": "default", "system_fingerprint": null
}`,
  groq:
    '{"id":"chatcmpl-1","object":"chat.completion","created":1764143555,"model":"llama","choices":[{"index":0,"message":' +
    '{"role":"assistant","content":"Grüße, \\"Welt\\" \\ud83d\\ude00"},"logprobs":null,"finish_reason":"length"}],"usage":{"queue_time":0.03,' +
    '"prompt_tokens":40,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0},' +
    '"completion_tokens":5,"total_tokens":45},"system_fingerprint":"fp_1","x_groq":{"id":"req_1"}}',
  counted:
    '{"usage":{"total_tokens":0,"completion_tokens":0,"prompt_tokens":0,"prompt_tokens_details":{"cached_tokens":0},' +
    '"completion_tokens_details":{"reasoning_tokens":0}},"choices":[{"finish_reason":"stop","index":0,"message":{"content":"",' +
    '"role":"assistant"}}],"created":0,"id":"a","model":"b","object":"chat.completion"} ',
};

/** Pieces of JSON, and what may come in place of one or beside it. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.]*|true|null|\s+|./gs;
const EDITS = [
  ...[
    '"x"',
    '""',
    'null',
    '0',
    '-1',
    '1.5',
    '1e3',
    '01',
    '1000000000',
    'true',
    '[]',
    '{}',
    '"error"',
    '"stop"',
    '"a',
    '"',
    '\\',
  ],
  ...[
    '"a\\"',
    '"a\\u12"',
    '"\u0001"',
    '"provider"',
    '"total_tokens"',
    '"cached_tokens"',
    ',',
    ':',
    '}',
    '{',
    ' ',
    '\n',
    'x',
  ],
];

/** Names and times that answers get here where they have none. */
const MADE_UP = /chatcmpl-\w{28}|(?<="created":)1[789]\d{8}(?=,"model")/g;

/** Knows one answer. */
function trained(text: string): AlikeAnswers {
  const answers = new AlikeAnswers();
  completionBytes([Buffer.from(text)], OPTIONS, answers);
  return answers;
}

/** What becomes of an answer. The upstream's own usage is nobody's business behind it. */
function outcome(text: string, answers: AlikeAnswers): unknown {
  try {
    const { pieces, usage } = completionBytes([Buffer.from(text)], OPTIONS, answers);
    const { raw: _, ...counts } = usage ?? {};
    return [Buffer.concat(pieces).toString().replace(MADE_UP, 'made up'), counts];
  } catch (error) {
    assert.ok(error instanceof SluiceError, String(error));
    return [error.code, error.message];
  }
}

function recognizes(answers: AlikeAnswers, text: string): boolean {
  return answers.usageOf(Buffer.from(text), OPTIONS.provider, OPTIONS.model) !== undefined;
}

describe('answers that are alike', () => {
  for (const [vendor, text] of Object.entries(ANSWERS)) {
    test(`${vendor}: another text, another name and other counts`, () => {
      const answers = trained(text);
      for (const content of ['', 'Yes.', '"\\\n\t\u0000\u2028 ü 😀 {"usage":{"total_tokens":9}}', 'a'.repeat(40_000)]) {
        const json = JSON.parse(text);
        json.id = 'chatcmpl-other';
        json.created += 1;
        json.choices[0].message.content = content;
        json.usage.prompt_tokens = 999_999_999;
        json.usage.prompt_tokens_details.cached_tokens = 5;
        // In the layout of what was learned, so that nothing else differs.
        const tokens = [...JSON.stringify(json).matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.]*/gs)].map(([token]) => token);
        const other = text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.]*/gs, () => tokens.shift() ?? '');
        assert.equal(recognizes(answers, other), true);
        assert.deepEqual(outcome(other, answers), outcome(other, new AlikeAnswers()));
        assert.match(JSON.stringify(outcome(other, answers)), /"promptTokens":999999999/);
      }
    });

    test(`${vendor}: whatever else differs, the same becomes of it`, () => {
      const tokens: readonly string[] = text.match(TOKENS) ?? [];
      const check = (other: readonly string[]): void =>
        assert.deepEqual(outcome(other.join(''), trained(text)), outcome(other.join(''), new AlikeAnswers()));
      for (let at = 0; at <= tokens.length; at += 1) {
        for (const edit of EDITS) {
          check(tokens.with(Math.min(at, tokens.length - 1), edit));
          check(tokens.toSpliced(at, 0, edit));
        }
        check(tokens.slice(0, at));
        check(tokens.toSpliced(at, 1));
      }
      const edit = fc.record({ at: fc.nat(tokens.length), edit: fc.constantFrom(...EDITS), cut: fc.boolean() });
      fc.assert(
        fc.property(fc.array(edit, { minLength: 2, maxLength: 4 }), (edits) => {
          const other = [...tokens];
          for (const { at, edit: token, cut } of edits) other.splice(at, cut ? 1 : 0, token);
          check(other);
        }),
        { numRuns: 500 },
      );
    });
  }

  test('what has to be mended is never taken for what has not', () => {
    const { openai } = ANSWERS;
    for (const wrong of [
      openai.replace('"finish_reason": "stop"', '"finish_reason": null'),
      openai.replace('"refusal": null', '"reasoning": null'),
      openai.replace('"audio_tokens": 0', '"audio_tokens": 0.5'),
      openai.replace('"cached_tokens": 3', '"cached_tokens": 3, "cached_tokens": 4'),
    ]) {
      assert.equal(recognizes(trained(wrong), wrong), false);
      assert.equal(recognizes(trained(openai), wrong), false);
    }
  });

  test('a model whose answers are different each time is not learned from for ever', () => {
    const answers = new AlikeAnswers();
    const of = (tier: number): string => ANSWERS.openai.replace('default', `tier-${tier}`);
    for (let tier = 0; tier < 20; tier += 1) completionBytes([Buffer.from(of(tier))], OPTIONS, answers);
    assert.deepEqual(
      [6, 7, 8, 19].map((tier) => recognizes(answers, of(tier))),
      [false, true, false, false],
    );
  });
});
