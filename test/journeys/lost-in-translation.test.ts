import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { startBedrockUpstream } from '../support/bedrock-upstream.ts';
import { startGeminiUpstream } from '../support/gemini-upstream.ts';
import { startResponsesUpstream } from '../support/responses-upstream.ts';
import { elements, member, type VendorUpstream } from '../support/vendor-server.ts';
import { startGatewayBefore } from './gateway-before.ts';

const IMAGE = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
const CACHED = { cache_control: { type: 'ephemeral' } };
const MODELS = {
  claude: 'claude-sonnet-4-6',
  gemini: 'gemini-2.5-flash',
  bedrock: 'us.anthropic.claude-haiku-4-5-20251001-v1:0',
  responses: 'gpt-5.2',
} as const;

describe('newer fields on their way to another format', { timeout: 60_000 }, () => {
  let upstreams: Record<keyof typeof MODELS, VendorUpstream>;
  let world: Awaited<ReturnType<typeof startGatewayBefore>>;
  before(async () => {
    const hi = () => ({ text: ['Hi'] });
    upstreams = {
      claude: await startAnthropicUpstream(hi),
      gemini: await startGeminiUpstream(hi),
      bedrock: await startBedrockUpstream(hi),
      responses: await startResponsesUpstream(hi),
    };
    world = await startGatewayBefore(
      Object.values(upstreams),
      `providers:
  claude: { kind: anthropic, baseUrl: '${upstreams.claude.baseUrl}', apiKey: k }
  gemini: { kind: google, baseUrl: '${upstreams.gemini.baseUrl}', apiKey: k }
  bedrock: { kind: bedrock, baseUrl: '${upstreams.bedrock.baseUrl}', apiKey: k }
  responses: { kind: openai-responses, baseUrl: '${upstreams.responses.baseUrl}', apiKey: k }`,
    );
  });
  after(() => world.close());

  async function viaChat(
    provider: keyof typeof MODELS,
    body: object,
  ): Promise<{ dropped: string | null; sent: unknown }> {
    const answer = await fetch(`${world.gateway.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: `${provider}/${MODELS[provider]}`, ...body }),
    });
    assert.equal(answer.status, 200, await answer.text());
    return { dropped: answer.headers.get('x-sluice-dropped'), sent: upstreams[provider].requests.at(-1)?.body };
  }

  const called = (content: readonly object[]) => [
    { role: 'user', content: 'Look' },
    {
      role: 'assistant',
      content: null,
      tool_calls: ['c1', 'c2'].map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } })),
    },
    { role: 'tool', tool_call_id: 'c1', content },
    { role: 'tool', tool_call_id: 'c2', content: 'nothing' },
  ];

  test('a picture by address in a result is shown to Gemini behind all results, where it takes addresses', async () => {
    const url = 'https://pictures.example/a.png';
    const messages = called([
      { type: 'text', text: 'one' },
      { type: 'image_url', image_url: { url } },
    ]);
    const { sent } = await viaChat('gemini', { messages });
    const parts = [2, 3].flatMap((at) => elements(member(sent, 'contents', at, 'parts')));
    assert.deepEqual(
      parts.map((part) => member(part, 'functionResponse', 'response', 'content') ?? part),
      ['one', 'nothing', { text: 'Of the result of c1:' }, { fileData: { mimeType: 'image/png', fileUri: url } }],
    );
  });

  test('parameters of a tool that may be an object or null, or are written out as null, are an object', async () => {
    for (const [parameters, properties] of [
      [
        { type: ['object', 'null'], properties: { city: { type: ['string', 'null'] } } },
        { city: { type: ['string', 'null'] } },
      ],
      [{ type: null, properties: null }, {}],
    ]) {
      const tools = [{ type: 'function', function: { name: 'look', parameters } }];
      const { sent } = await viaChat('claude', { messages: [{ role: 'user', content: 'Look' }], tools });
      assert.deepEqual(member(sent, 'tools', 0, 'input_schema'), { type: 'object', properties });
    }
  });

  test('a result with several texts beside a picture is one result to Gemini, in the place of its call', async () => {
    const messages = called([{ type: 'text', text: 'one' }, IMAGE, { type: 'text', text: 'two' }]);
    const { sent } = await viaChat('gemini', { messages });
    const parts = elements(member(sent, 'contents', 2, 'parts'));
    const results = parts.flatMap((part) => member(part, 'functionResponse') ?? []);
    assert.deepEqual(
      results.map((result) => [member(result, 'id'), member(result, 'response', 'content')]),
      [
        ['c1', 'one\ntwo'],
        ['c2', 'nothing'],
      ],
    );
    assert.equal(parts.filter((part) => member(part, 'inlineData') !== undefined).length, 1);
  });

  test('a cache that ends with the result of a tool reaches Anthropic', async () => {
    const text = { type: 'text', text: 'seen', ...CACHED };
    const plain = { type: 'text', text: 'seen' };
    for (const content of [[text], [text, IMAGE], [plain, { ...IMAGE, ...CACHED }]]) {
      const { sent, dropped } = await viaChat('claude', { messages: called(content) });
      const [result] = elements(member(sent, 'messages', 2, 'content'));
      assert.equal(dropped, null);
      assert.match(JSON.stringify(result), /"cache_control":\{"type":"ephemeral"\}/);
    }
  });

  test('the result of a freeform tool keeps its call, which vendors would miss', async () => {
    const custom = { name: 'run', input: 'say "hi"' };
    const messages = [
      { role: 'user', content: 'Run it' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'custom', custom }] },
      { role: 'tool', tool_call_id: 'c1', content: 'hi' },
    ];
    const calls = {
      claude: { type: 'tool_use', id: 'c1', name: 'run', input: { input: 'say "hi"' } },
      gemini: { functionCall: { id: 'c1', name: 'run', args: { input: 'say "hi"' } } },
      responses: { type: 'function_call', call_id: 'c1', name: 'run', arguments: '{"input":"say \\"hi\\""}' },
    };
    for (const provider of ['claude', 'gemini', 'responses'] as const) {
      const { sent, dropped } = await viaChat(provider, { messages });
      const said =
        member(sent, 'messages', 1, 'content', 0) ??
        member(sent, 'contents', 1, 'parts', 0) ??
        member(sent, 'input', 1);
      assert.deepEqual([said, dropped], [calls[provider], null]);
    }
    const tools = [{ type: 'custom', custom: { name: 'run' } }];
    assert.equal((await viaChat('claude', { messages, tools })).dropped, null);
    const broken = [messages[0], { role: 'assistant', content: 'So', tool_calls: [{ id: 'c1', type: 'newest' }] }];
    assert.equal((await viaChat('claude', { messages: broken })).dropped, 'messages.tool_calls');
  });

  for (const provider of ['gemini', 'bedrock', 'responses'] as const) {
    test(`${provider} is told no end of a cache, and the client hears of it`, async () => {
      const messages = [{ role: 'user', content: [{ type: 'text', text: 'Look', ...CACHED }] }];
      assert.equal((await viaChat(provider, { messages })).dropped, 'cache_control');
      assert.equal((await viaChat(provider, { messages: [{ role: 'user', content: 'Look' }] })).dropped, null);
    });
  }

  test('a file whose data is an address is refused with what to send instead', async () => {
    for (const part of [
      { type: 'file', file: { file_data: 'https://x.example/a.pdf', filename: 'a.pdf' } },
      { type: 'input_audio', input_audio: { data: 'HTTP://x.example/a.mp3', format: 'mp3' } },
    ]) {
      const answer = await fetch(`${world.gateway.origin}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: `gemini/${MODELS.gemini}`, messages: [{ role: 'user', content: [part] }] }),
      });
      const { error } = (await answer.json()) as { error: { message: string; param: string } };
      assert.deepEqual([answer.status, error.param], [422, 'messages[0].content[0]']);
      assert.match(error.message, /must be base64 or a data: URI, and not an address/);
    }
  });

  test('a service tier in Anthropic’s words is no reason for the Responses API to refuse a request', async () => {
    const client = new Anthropic({ baseURL: world.gateway.origin, apiKey: 'secret', maxRetries: 0 });
    for (const service_tier of ['standard_only', 'auto'] as const) {
      const { data, response } = await client.messages
        .create({
          model: 'responses/gpt-5.2',
          max_tokens: 9,
          messages: [{ role: 'user', content: 'Hi' }],
          service_tier,
        })
        .withResponse();
      assert.equal(data.content[0]?.type === 'text' && data.content[0].text, 'Hi');
      const sent = upstreams.responses.requests.at(-1)?.body;
      assert.equal(member(sent, 'service_tier'), undefined);
      assert.equal(response.headers.get('x-sluice-dropped'), 'service_tier');
    }
  });
});
