import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { startBedrockUpstream } from '../support/bedrock-upstream.ts';
import { startGeminiUpstream } from '../support/gemini-upstream.ts';
import { member, type VendorUpstream } from '../support/vendor-server.ts';
import { startGatewayBefore } from './gateway-before.ts';

const HAIKU = 'claude-haiku-4-5';
const HAIKU_ON_BEDROCK = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';

describe('tokens for thoughts', { timeout: 60_000 }, () => {
  let google: VendorUpstream;
  let claude: VendorUpstream;
  let bedrock: VendorUpstream;
  let world: Awaited<ReturnType<typeof startGatewayBefore>>;
  let anthropicClient: Anthropic;
  before(async () => {
    const hi = () => ({ text: ['Hi'] });
    [google, claude, bedrock] = [
      await startGeminiUpstream(hi),
      await startAnthropicUpstream(hi),
      await startBedrockUpstream(hi),
    ];
    world = await startGatewayBefore(
      [google, claude, bedrock],
      `providers:
  gemini: { kind: google, baseUrl: '${google.baseUrl}', apiKey: k }
  claude: { kind: anthropic, baseUrl: '${claude.baseUrl}', apiKey: k }
  bedrock: { kind: bedrock, baseUrl: '${bedrock.baseUrl}', apiKey: k }`,
    );
    anthropicClient = new Anthropic({ baseURL: world.gateway.origin, apiKey: 'secret', maxRetries: 0 });
  });
  after(() => world.close());

  const messages = [{ role: 'user' as const, content: 'Hello' }];
  const viaMessages = (model: string, max_tokens: number, budget_tokens: number) =>
    anthropicClient.messages
      .stream({ model, max_tokens, messages, thinking: { type: 'enabled', budget_tokens } })
      .finalMessage();
  const viaGemini = (model: string, config: object, headers: Record<string, string> = {}) =>
    new GoogleGenAI({
      apiKey: 'secret',
      httpOptions: { baseUrl: world.gateway.origin, headers },
    }).models.generateContent({ model, contents: 'Hello', config });
  const configOf = (upstream: VendorUpstream) => {
    const { thinkingConfig, maxOutputTokens } = member(upstream.requests.at(-1)?.body, 'generationConfig') as {
      thinkingConfig?: object;
      maxOutputTokens?: number;
    };
    return [thinkingConfig, maxOutputTokens];
  };
  const claudeOf = (body: unknown) => [member(body, 'thinking'), member(body, 'max_tokens')];
  const bedrockOf = (body: unknown) => [
    member(body, 'additionalModelRequestFields', 'thinking'),
    member(body, 'inferenceConfig', 'maxTokens'),
  ];

  for (const [model, limit, asked, sent] of [
    ['gemini-2.5-flash', 3_000, 1_024, 1_024],
    ['gemini-2.5-pro', 3_000, 2_999, 2_999],
    ['gemini-2.5-flash', 1_000, 5_000, 500],
    ['gemini-2.5-flash-lite', 1_000, 5_000, 512],
    ['gemini-2.5-flash', 64_000, 50_000, 24_576],
    ['gemini-2.5-pro', 64_000, 50_000, 32_768],
  ] as const) {
    test(`${asked} of ${limit} reach ${model} as ${sent}`, async () => {
      await viaMessages(`gemini/${model}`, limit, asked);
      assert.deepEqual(configOf(google), [{ includeThoughts: true, thinkingBudget: sent }, limit]);
    });
  }

  test('the number counts where an effort is asked for beside it, and the effort where no number is taken', async () => {
    for (const [model, thinkingConfig] of [
      ['gemini-2.5-flash', { includeThoughts: true, thinkingBudget: 1_024 }],
      ['gemini-3-flash-preview', { includeThoughts: true, thinkingLevel: 'high' }],
    ] as const) {
      await anthropicClient.messages
        .stream({
          model: `gemini/${model}`,
          max_tokens: 3_000,
          messages,
          thinking: { type: 'enabled', budget_tokens: 1_024 },
          output_config: { effort: 'high' },
        })
        .finalMessage();
      assert.deepEqual(configOf(google), [thinkingConfig, 3_000]);
    }
  });

  test('a model that knows levels is asked for one', async () => {
    await viaMessages('gemini/gemini-3-flash-preview', 3_000, 1_024);
    assert.deepEqual(configOf(google), [{ includeThoughts: true, thinkingLevel: 'low' }, 3_000]);
  });

  test('an effort leaves room for text in a short answer', async () => {
    for (const [model, effort, budget] of [
      ['gemini-2.5-flash', 'high', 600],
      ['gemini-2.5-flash', 'low', 100],
      ['gemini-2.5-pro', 'none', 128],
    ] as const) {
      const body = JSON.stringify({ model: `gemini/${model}`, max_tokens: 1_000, reasoning_effort: effort, messages });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${world.gateway.origin}/v1/chat/completions`, { method: 'POST', headers, body });
      assert.equal(answer.status, 200);
      const shown = effort === 'none' ? {} : { includeThoughts: true };
      assert.deepEqual(configOf(google), [{ ...shown, thinkingBudget: budget }, 1_000]);
    }
  });

  test('Claude on Bedrock gets as many, within the limit of the answer', async () => {
    await viaMessages(`bedrock/${HAIKU_ON_BEDROCK}`, 3_000, 2_000);
    const thinking = { type: 'enabled', budget_tokens: 2_000 };
    assert.deepEqual(bedrockOf(bedrock.requests.at(-1)?.body), [thinking, 3_000]);
  });

  const viaChat = (model: string, fields: object) =>
    fetch(`${world.gateway.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages, ...fields }),
    });
  const enabled = (budget_tokens: number) => ({ type: 'enabled', budget_tokens });
  for (const [model, limit, reasoning_effort, budget] of [
    [HAIKU, 10_000, 'low', 1_024],
    [HAIKU, 10_000, 'high', 6_000],
    [HAIKU, 2_048, 'xhigh', 1_843],
    [HAIKU, 64_000, 'medium', 19_200],
    ['claude-opus-4-1', 100_000, 'xhigh', 28_800],
    ['glm-4.6', 10_000, 'high', 6_000],
  ] as const) {
    test(`the effort ${reasoning_effort} is worth ${budget} of the ${limit} tokens of ${model}`, async () => {
      for (const name of ['max_tokens', 'max_completion_tokens']) {
        const answer = await viaChat(`claude/${model}`, { [name]: limit, reasoning_effort });
        assert.equal(answer.status, 200, await answer.text());
        const most = model === 'claude-opus-4-1' ? 32_000 : limit;
        assert.deepEqual(claudeOf(claude.requests.at(-1)?.body), [enabled(budget), most]);
        assert.equal(answer.headers.get('x-sluice-dropped'), most === limit ? null : name);
      }
    });
  }

  test('an effort counts among the tokens of an answer on Bedrock, too', async () => {
    await viaChat(`bedrock/${HAIKU_ON_BEDROCK}`, { max_tokens: 10_000, reasoning_effort: 'high' });
    assert.deepEqual(bedrockOf(bedrock.requests.at(-1)?.body), [enabled(6_000), 10_000]);
  });

  test('a short answer is one without thoughts', async () => {
    const limits = { max_tokens: 2_000, reasoning_effort: 'high' };
    for (const [model, sent] of [
      [`claude/${HAIKU}`, () => claudeOf(claude.requests.at(-1)?.body)],
      [`bedrock/${HAIKU_ON_BEDROCK}`, () => bedrockOf(bedrock.requests.at(-1)?.body)],
    ] as const) {
      const answer = await viaChat(model, limits);
      assert.equal(answer.headers.get('x-sluice-dropped'), 'reasoning_effort');
      assert.deepEqual(sent(), [undefined, 2_000]);
    }
  });

  test('a number that has no room there takes the effort along, and the limit holds', async () => {
    const thinkingConfig = { thinkingBudget: 1_024, thinkingLevel: 'LOW' };
    for (const [model, sent] of [
      [`claude/${HAIKU}`, () => claudeOf(claude.requests.at(-1)?.body)],
      [`bedrock/${HAIKU_ON_BEDROCK}`, () => bedrockOf(bedrock.requests.at(-1)?.body)],
    ] as const) {
      await viaGemini(model, { maxOutputTokens: 300, thinkingConfig });
      assert.deepEqual(sent(), [undefined, 300], `${model}, asked by a client of Gemini's`);
      const fields = { max_tokens: 300, reasoning_effort: 'low', thinking: enabled(2_000) };
      const answer = await viaChat(model, fields);
      assert.deepEqual(sent(), [undefined, 300], `${model}, asked by a chat`);
      assert.deepEqual(answer.headers.get('x-sluice-dropped')?.split(', ').sort(), ['reasoning_effort', 'thinking']);
    }
    // Who serves Anthropic's API and is no Claude gets a number for the effort, which counts among those of the answer as well.
    await viaGemini('claude/glm-4.6', { maxOutputTokens: 3_000, thinkingConfig });
    assert.deepEqual(claudeOf(claude.requests.at(-1)?.body), [enabled(1_024), 3_000]);
  });

  test('an effort without a limit never asks for more than the model answers', async () => {
    await viaChat(`claude/${HAIKU}`, { reasoning_effort: 'high' });
    assert.deepEqual(claudeOf(claude.requests.at(-1)?.body), [enabled(38_400), 64_000]);
  });

  for (const [model, limit, asked, budget] of [
    [HAIKU, 3_000, 2_000, 2_000],
    [HAIKU, 3_000, 9_000, 1_500],
    ['claude-sonnet-4-6', 3_000, 2_000, 2_000],
    ['glm-4.6', 3_000, 2_000, 2_000],
    [HAIKU, 1_000, 2_000, undefined],
  ] as const) {
    test(`the client's own ${asked} of ${limit} tokens reach ${model} as ${budget}`, async () => {
      const answer = await viaChat(`claude/${model}`, { max_tokens: limit, thinking: enabled(asked) });
      assert.equal(answer.headers.get('x-sluice-dropped'), budget === undefined ? 'thinking' : null);
      const thinking = budget === undefined ? undefined : enabled(budget);
      assert.deepEqual(claudeOf(claude.requests.at(-1)?.body), [thinking, limit]);
    });
  }

  test('a number from Gemini’s clients counts at Anthropic too, and is not called lost', async () => {
    const strict = { 'x-sluice-strict': '1' };
    for (const [limit, asked, sent] of [
      [3_000, 2_000, 2_000],
      [3_000, 500, 1_024],
      [3_000, 9_000, 1_500],
    ] as const) {
      const config = { maxOutputTokens: limit, thinkingConfig: { thinkingBudget: asked } };
      await viaGemini(`claude/${HAIKU}`, config, strict);
      const thinking = { type: 'enabled', budget_tokens: sent };
      assert.deepEqual(claudeOf(claude.requests.at(-1)?.body), [thinking, limit]);
    }
    const config = { thinkingConfig: { thinkingBudget: 500 } };
    await assert.rejects(viaGemini('claude/claude-sonnet-4-6', config, strict), /thinkingBudget/);
  });
});
