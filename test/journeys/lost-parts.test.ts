import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { startGeminiUpstream } from '../support/gemini-upstream.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { startResponsesUpstream } from '../support/responses-upstream.ts';
import { elements, member } from '../support/vendor-server.ts';
import { startGatewayBefore } from './gateway-before.ts';

type Json = Record<string, unknown>;

const PDF = 'JVBERi0xLjQK';
const MODELS = {
  acme: 'test-model',
  claude: 'claude-sonnet-4-6',
  gemini: 'gemini-2.5-flash',
  responses: 'gpt-5.2',
} as const;
type Name = keyof typeof MODELS;

interface Upstream {
  readonly baseUrl: string;
  readonly requests: readonly { readonly body: unknown }[];
  close(): Promise<void>;
}

describe('members of parts that only one vendor understands', { timeout: 60_000 }, () => {
  let upstreams: Record<Name, Upstream>;
  let world: Awaited<ReturnType<typeof startGatewayBefore>>;
  before(async () => {
    const hi = () => ({ text: ['Hi'] });
    upstreams = {
      acme: await startOpenAiUpstream(hi),
      claude: await startAnthropicUpstream(hi),
      gemini: await startGeminiUpstream(hi),
      responses: await startResponsesUpstream(hi),
    };
    world = await startGatewayBefore(
      Object.values(upstreams),
      `providers:
  acme: { kind: openai, baseUrl: '${upstreams.acme.baseUrl}', models: [test-model] }
  claude: { kind: anthropic, baseUrl: '${upstreams.claude.baseUrl}', apiKey: k }
  gemini: { kind: google, baseUrl: '${upstreams.gemini.baseUrl}', apiKey: k }
  responses: { kind: openai-responses, baseUrl: '${upstreams.responses.baseUrl}', apiKey: k, hostedTools: true }`,
    );
  });
  after(() => world.close());

  /** What was lost on the way, and what arrived. Whatever is lost is refused in strict mode, by its name. */
  async function ask(name: Name, path: string, body: Json): Promise<{ lost: readonly string[]; sent: unknown }> {
    const post = (fields: Json): Promise<Response> =>
      fetch(`${world.gateway.origin}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
        body: JSON.stringify({ ...body, ...fields }),
      });
    const answer = await post({});
    assert.equal(answer.status, 200, await answer.text());
    const dropped = answer.headers.get('x-sluice-dropped');
    const lost = dropped === null ? [] : dropped.split(', ').sort();
    const sent = upstreams[name].requests.at(-1)?.body;
    const strict = await post({ strict: true });
    const text = await strict.text();
    assert.equal(strict.status, lost.length === 0 ? 200 : 400, text);
    if (lost.length > 0)
      assert.ok(
        lost.some((field) => text.includes(field)),
        text,
      );
    return { lost, sent };
  }

  const generate = (name: Name, body: Json) =>
    ask(name, `/v1beta/models/${name}/${MODELS[name]}:generateContent`, body);
  const respond = (name: Name, content: readonly Json[]) =>
    ask(name, '/v1/responses', { model: `${name}/${MODELS[name]}`, input: [{ role: 'user', content }] });

  const CALLED = [
    { role: 'user', parts: [{ text: 'Look' }] },
    { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'look', args: {}, willContinue: false } }] },
    {
      role: 'user',
      parts: [
        {
          functionResponse: {
            id: 'c1',
            name: 'look',
            response: { output: 'seen' },
            scheduling: 'SILENT',
            willContinue: true,
          },
          partMetadata: { a: 1 },
        },
      ],
    },
  ];

  test('of a function’s answer in Gemini’s format', async () => {
    for (const name of ['acme', 'claude', 'responses'] as const) {
      assert.deepEqual((await generate(name, { contents: CALLED })).lost, [
        'contents.parts.functionCall.willContinue',
        'contents.parts.functionResponse.scheduling',
        'contents.parts.functionResponse.willContinue',
        'contents.parts.partMetadata',
      ]);
    }
    const { lost, sent } = await generate('gemini', { contents: CALLED });
    assert.deepEqual([lost, member(sent, 'contents')], [[], CALLED]);
  });

  test('of files, instructions and settings in Gemini’s format', async () => {
    const contents = [
      {
        role: 'user',
        parts: [
          { text: 'Read' },
          { inlineData: { mimeType: 'application/pdf', data: PDF, displayName: 'plan.pdf', newer: 1 } },
          { fileData: { mimeType: 'image/png', fileUri: 'https://example.com/a.png', displayName: 'a.png' } },
        ],
      },
    ];
    const systemInstruction = {
      parts: [{ text: 'Be brief' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
    };
    const body = {
      contents,
      systemInstruction,
      toolConfig: { functionCallingConfig: { mode: 'AUTO', streamFunctionCallArguments: true } },
      generationConfig: { thinkingConfig: { newest: 1 } },
    };
    const { lost, sent } = await generate('acme', body);
    assert.deepEqual(lost, [
      'contents.parts.inlineData.newer',
      'generationConfig.thinkingConfig.newest',
      'systemInstruction.parts.inlineData',
      'toolConfig.functionCallingConfig.streamFunctionCallArguments',
    ]);
    assert.deepEqual(member(sent, 'messages', 0), { role: 'system', content: 'Be brief' });
    const files = elements(member(sent, 'messages', 1, 'content')).map((part) => member(part, 'file', 'filename'));
    assert.deepEqual(files, [undefined, 'plan.pdf', undefined]);

    const own = await generate('gemini', body);
    assert.deepEqual(own.lost, []);
    for (const [field, value] of Object.entries(body)) assert.deepEqual(member(own.sent, field), value, field);
  });

  test('of instructions that are no text at all', async () => {
    const systemInstruction = { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] };
    const { sent } = await generate('acme', { contents: [{ parts: [{ text: 'Hi' }] }], systemInstruction });
    assert.deepEqual(elements(member(sent, 'messages')), [{ role: 'user', content: 'Hi' }]);
  });

  const CONTENT = [
    { type: 'input_text', text: 'Read', prompt_cache_breakpoint: { type: 'ephemeral' } },
    { type: 'input_file', file_data: `data:application/pdf;base64,${PDF}`, filename: 'plan.pdf', detail: 'high' },
  ];

  test('of files and texts in the Responses API', async () => {
    for (const name of ['acme', 'claude', 'gemini'] as const) {
      assert.deepEqual((await respond(name, CONTENT)).lost, ['input.detail', 'input.prompt_cache_breakpoint']);
      const usual = CONTENT.map(({ type, text, file_data, filename }) => ({ type, text, file_data, filename }));
      const detailed = usual.map((part) => (part.type === 'input_file' ? { ...part, detail: 'auto' } : part));
      assert.deepEqual((await respond(name, detailed)).lost, []);
    }
    const { lost, sent } = await respond('responses', CONTENT);
    assert.deepEqual([lost, member(sent, 'input', 0, 'content')], [[], CONTENT]);
  });

  test('that a tool has failed is said, or lost with a word', async () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    const failed = (content: readonly Json[]): Json => ({
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'Look' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'look', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', is_error: true, content }] },
      ],
    });
    const text = { type: 'text', text: 'broken' };
    for (const name of ['gemini', 'responses'] as const) {
      const model = `${name}/${MODELS[name]}`;
      const said = await ask(name, '/v1/messages', { model, ...failed([text]) });
      assert.deepEqual(said.lost, []);
      assert.match(JSON.stringify(said.sent), /\berror\W+broken/);
      assert.deepEqual((await ask(name, '/v1/messages', { model, ...failed([text, image]) })).lost, ['is_error']);
    }
    const response = { error: 'broken' };
    const parts = [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }];
    const contents = [
      { role: 'user', parts: [{ text: 'Look' }] },
      { role: 'model', parts: [{ functionCall: { id: 't1', name: 'look', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { id: 't1', name: 'look', response, parts } }] },
    ];
    assert.deepEqual((await generate('claude', { contents })).lost, ['contents.parts.functionResponse.response.error']);
  });

  test('that thoughts were sealed by another vendor is named before those who cannot open them', async () => {
    const asked = { role: 'user', content: 'Hi' };
    const ofClaude = (name: Name, thought: Json) => {
      const messages = [asked, { role: 'assistant', content: [thought, { type: 'text', text: 'Ho' }] }, asked];
      return ask(name, '/v1/messages', { model: `${name}/${MODELS[name]}`, max_tokens: 9, messages });
    };
    for (const thought of [
      { type: 'thinking', thinking: 'Hm', signature: 'ErUB' },
      { type: 'redacted_thinking', data: 'EmwK' },
    ]) {
      for (const name of ['acme', 'gemini', 'responses'] as const) {
        assert.deepEqual((await ofClaude(name, thought)).lost, ['signature'], `${name}: ${thought.type}`);
      }
      const { lost, sent } = await ofClaude('claude', thought);
      assert.deepEqual([lost, member(sent, 'messages', 1, 'content', 0)], [[], thought]);
    }
    assert.deepEqual((await ofClaude('gemini', { type: 'thinking', thinking: 'Hm', signature: '' })).lost, []);
    const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' };
    for (const name of ['acme', 'claude', 'gemini', 'responses'] as const) {
      const input = [asked, thought, { role: 'assistant', content: 'Ho' }, asked];
      const { lost } = await ask(name, '/v1/responses', { model: `${name}/${MODELS[name]}`, input });
      assert.deepEqual(lost, name === 'responses' ? [] : ['reasoning.encrypted_content'], name);
    }
  });

  test('a document’s title stands before it, where Gemini has no place for it', async () => {
    const document = {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: PDF },
      title: 'The plan',
    };
    const file = { file_data: `data:application/pdf;base64,${PDF}`, filename: 'The plan' };
    const model = `gemini/${MODELS.gemini}`;
    const asked = [{ type: 'text', text: 'Which?' }];
    for (const [path, content] of [
      ['/v1/messages', [document, ...asked]],
      ['/v1/chat/completions', [{ type: 'file', file }, ...asked]],
    ] as const) {
      const { lost, sent } = await ask('gemini', path, { model, max_tokens: 9, messages: [{ role: 'user', content }] });
      assert.deepEqual(lost, []);
      assert.deepEqual(member(sent, 'contents', 0, 'parts'), [
        { text: 'The plan:' },
        { inlineData: { mimeType: 'application/pdf', data: PDF } },
        { text: 'Which?' },
      ]);
    }
  });

  test('what is said about a document of text goes with it, and what a text cannot hold is named', async () => {
    const source = { type: 'text', media_type: 'text/plain', data: 'Ebb at six' };
    const about = { title: 'Tides', context: 'From the harbour', citations: { enabled: false } };
    const parts = [
      { type: 'text', text: 'Ebb at six' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    ];
    for (const name of ['acme', 'gemini', 'responses'] as const) {
      const model = `${name}/${MODELS[name]}`;
      const tell = (document: Json) =>
        ask(name, '/v1/messages', {
          model,
          max_tokens: 9,
          messages: [{ role: 'user', content: [{ type: 'document', ...document }] }],
        });
      const told = await tell({ ...about, source });
      assert.deepEqual(told.lost, []);
      assert.ok(JSON.stringify(told.sent).includes(JSON.stringify('# Tides\n\nFrom the harbour\n\nEbb at six')));
      const { lost } = await tell({
        newest: 1,
        citations: { enabled: true },
        source: { type: 'content', content: parts },
      });
      assert.deepEqual(lost, ['citations', 'newest', 'source.content.image']);
    }
    const own = { type: 'document', ...about, source: { type: 'content', content: parts } };
    const messages = [{ role: 'user', content: [own] }];
    const { lost, sent } = await ask('claude', '/v1/messages', {
      model: `claude/${MODELS.claude}`,
      max_tokens: 9,
      messages,
    });
    assert.deepEqual([lost, member(sent, 'messages')], [[], messages]);
  });
});
