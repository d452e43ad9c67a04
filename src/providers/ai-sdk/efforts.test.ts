import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chatRequest } from '../../../test/support/chat-request.ts';
import { member } from '../../../test/support/vendor-server.ts';
import { allChunks, openVendor, type VendorKind } from '../../../test/support/vendors.ts';

/** What each vendor is sent for the least efforts, by model: what is asked of thoughts, and of the effort. */
const SENT = {
  anthropic: [
    ['claude-sonnet-4-6', 'minimal', { type: 'adaptive', display: 'summarized' }, 'low'],
    ['claude-sonnet-4-6', 'none', { type: 'disabled' }, undefined],
    ['claude-haiku-4-5', 'minimal', { type: 'enabled', budget_tokens: 1_280 }, undefined],
    ['claude-opus-4-20250514', 'minimal', { type: 'enabled', budget_tokens: 1_024 }, undefined],
    ['claude-opus-5-5', 'none', undefined, 'low'],
  ],
  google: [
    ['gemini-3-pro-preview', 'minimal', { includeThoughts: true, thinkingLevel: 'low' }],
    ['gemini-3-pro-preview', 'none', { thinkingLevel: 'low' }],
    ['gemini-3-flash-preview', 'none', { thinkingLevel: 'minimal' }],
    ['gemini-pro-latest', 'none', { thinkingLevel: 'low' }],
    ['gemini-pro-latest', 'minimal', { includeThoughts: true, thinkingLevel: 'low' }],
    ['gemini-flash-latest', 'none', { thinkingLevel: 'low' }],
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }],
    ['gemini-2.5-flash-lite', 'none', { thinkingBudget: 0 }],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 1_311 }],
    ['gemini-2.0-flash', 'none', undefined],
    ['gemini-2.5-flash-image', 'none', undefined],
    ['gemma-3-27b-it', 'none', undefined],
  ],
  bedrock: [
    ['us.anthropic.claude-haiku-4-5-20251001-v1:0', 'minimal', { type: 'enabled', budget_tokens: 1_280 }, undefined],
    ['us.anthropic.claude-haiku-4-5-20251001-v1:0', 'none', undefined, undefined],
    ['us.anthropic.claude-opus-5-5-v1:0', 'none', { type: 'adaptive' }, 'low'],
    ['openai.gpt-oss-120b-1:0', 'minimal', undefined, 'low'],
    ['openai.gpt-oss-120b-1:0', 'none', undefined, 'low'],
  ],
  'openai-responses': [
    ['gpt-5', 'none', undefined, 'minimal'],
    ['gpt-5', 'minimal', undefined, 'minimal'],
    ['gpt-5.2', 'minimal', undefined, 'low'],
    ['gpt-5.2', 'none', undefined, 'none'],
    ['o3', 'none', undefined, 'low'],
    ['openai/gpt-oss-20b', 'none', undefined, 'low'],
  ],
} as const satisfies Record<
  VendorKind,
  readonly (readonly [string, string, object | undefined, (string | undefined)?])[]
>;

/** Where a vendor has each of them in its body. */
function sentIn(body: unknown): readonly [thoughts: unknown, effort: unknown] {
  const more = member(body, 'additionalModelRequestFields');
  const thoughts = [body, more].map((each) => member(each, 'thinking')).find((each) => each !== undefined);
  const efforts = [
    member(body, 'output_config', 'effort'),
    member(body, 'reasoning', 'effort'),
    member(more, 'output_config', 'effort'),
    member(more, 'reasoning_effort'),
  ];
  return [thoughts ?? member(body, 'generationConfig', 'thinkingConfig'), efforts.find((each) => each !== undefined)];
}

describe('the least efforts, in words that the model knows', () => {
  for (const [kind, cases] of Object.entries(SENT) as [VendorKind, (typeof SENT)[VendorKind]][]) {
    for (const [model, reasoningEffort, thoughts, effort] of cases) {
      test(`${kind}: ${reasoningEffort} to ${model}`, async () => {
        await using vendor = await openVendor(kind, () => ({ text: ['Hi'] }));
        await allChunks(vendor.chat(chatRequest('Hello', { model, sampling: { reasoningEffort } })));
        assert.deepEqual(sentIn(vendor.upstream.requests.at(-1)?.body), [thoughts, effort]);
      });
    }
  }
});
