import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { makeTinyGguf } from '../support/tiny-gguf.ts';

/** An engine starts with the first request, and the machine may be busy. */
const SLOW = { timeout: 120_000 };
const FUNCTION = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } };

/** Where a dialect is asked, in its own words, with fields that a model inside Sluice has no place for. */
interface Dialect {
  readonly path: string;
  readonly body: object;
  /** What the header calls them, by the fields that lead to it. */
  readonly lost: readonly (readonly [name: string, fields: object])[];
}

const DIALECTS: Readonly<Record<string, Dialect>> = {
  'chat completions': {
    path: '/v1/chat/completions',
    body: { model: 'tiny', messages: [{ role: 'user', content: 'Hi' }] },
    lost: [
      ['tools', { tools: [{ type: 'function', function: FUNCTION }] }],
      ['logprobs', { logprobs: true }],
      ['logit_bias', { logit_bias: { 5: 10 } }],
      ['reasoning_effort', { reasoning_effort: 'high' }],
      ['service_tier', { service_tier: 'flex' }],
      ['modalities, audio', { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } }],
      ['prediction', { prediction: { type: 'content', content: 'Hello' } }],
      ['no_such_field', { no_such_field: 1 }],
      ['messages.name', { messages: [{ role: 'user', name: 'Ann', content: 'Hi' }] }],
      [
        'cache_control',
        {
          messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] }],
        },
      ],
    ],
  },
  conversation: {
    path: '/backend-api/v2/conversation',
    body: { provider: 'embedded', model: 'tiny', messages: [{ role: 'user', content: 'Hi' }] },
    lost: [
      ['reasoning_effort', { reasoning_effort: 'low' }],
      ['modalities', { modalities: ['text', 'audio'] }],
    ],
  },
  'Responses API': {
    path: '/v1/responses',
    body: { model: 'tiny', input: 'Hi' },
    lost: [
      ['truncation', { truncation: 'auto' }],
      ['tools.file_search', { tools: [{ type: 'file_search', vector_store_ids: ['a'] }] }],
      ['reasoning.effort', { reasoning: { effort: 'high' } }],
      ['tools', { tools: [{ type: 'function', ...FUNCTION, strict: false }] }],
    ],
  },
  'Messages API': {
    path: '/v1/messages',
    body: { model: 'tiny', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] },
    lost: [
      ['cache_control', { system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }] }],
      ['metadata', { metadata: { user_id: 'a' } }],
      ['tools', { tools: [{ name: 'look', input_schema: { type: 'object', properties: {} } }] }],
      ['thinking', { thinking: { type: 'adaptive' } }],
    ],
  },
  'Gemini API': {
    path: '/v1beta/models/tiny:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    lost: [
      ['generationConfig.speechConfig', { generationConfig: { speechConfig: { languageCode: 'de-DE' } } }],
      ['tools', { tools: [{ functionDeclarations: [{ name: 'look' }] }] }],
    ],
  },
  'Ollama API': {
    path: '/api/chat',
    body: { model: 'tiny', stream: false, messages: [{ role: 'user', content: 'Hi' }] },
    lost: [
      ['options.num_ctx', { options: { num_ctx: 8_192 } }],
      ['think', { think: true }],
      ['tools', { tools: [{ type: 'function', function: FUNCTION }] }],
    ],
  },
};

describe('fields that a model inside Sluice has no place for', SLOW, () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway('embedded: { enabled: true, modelsDir: models, threads: 1 }');
    const folder = path.join(gateway.folder, 'models');
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'tiny.gguf'), makeTinyGguf());
  });
  after(() => gateway.close());

  async function post(where: string, body: object): Promise<Response> {
    const headers = { 'content-type': 'application/json' };
    return fetch(gateway.origin + where, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  for (const [dialect, { path: where, body, lost }] of Object.entries(DIALECTS)) {
    describe(dialect, () => {
      test('nothing is lost of a plain request', async () => {
        const response = await post(where, { ...body, strict: true });
        assert.equal(response.status, 200, await response.text());
        assert.equal(response.headers.get('x-sluice-dropped'), null);
      });

      for (const [name, fields] of lost) {
        test(`${name}: named, or refused when the client is strict`, async () => {
          const response = await post(where, { ...body, ...fields });
          assert.equal(response.status, 200, await response.text());
          assert.equal(response.headers.get('x-sluice-dropped'), name);
          const refused = await post(where, { ...body, ...fields, strict: true });
          const said = await refused.text();
          assert.equal(refused.status, 400, said);
          assert.ok(said.includes(`'${name.split(', ')[0]}'`), said);
        });
      }
    });
  }
});
