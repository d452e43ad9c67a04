import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before } from 'node:test';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { startGeminiUpstream } from '../support/gemini-upstream.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import type { SeenRequest } from '../support/seen-request.ts';
import { startGatewayBefore } from './gateway-before.ts';

export type Json = Record<string, unknown>;

/** What OpenAI's format lists, and what is known or guessed of it. */
export const ACME_MODELS = [
  { id: 'text-embedding-3-small' },
  { id: 'org/model-x', context_length: 32_000, supported_parameters: ['tools', 'reasoning'] },
  {
    id: 'seeing',
    name: 'Seeing One',
    architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
  },
  { id: 'painting', architecture: { input_modalities: ['text'], output_modalities: ['image'] } },
  { id: 'shared-model' },
];
export const KEY = 'the-clients-own-key';

async function openWorld() {
  const acme = await startOpenAiUpstream(undefined, { models: ACME_MODELS });
  const second = await startOpenAiUpstream(undefined, { models: ['shared-model', 'painting-video'] });
  // Lists its models to holders of a key only.
  const locked = await startOpenAiUpstream(undefined, {
    models: ['locked-model'],
    handle(request: SeenRequest, response: ServerResponse) {
      if (request.headers.authorization === `Bearer ${KEY}`) return false;
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'Invalid key' } }));
      return true;
    },
  });
  const claude = await startAnthropicUpstream(() => ({ text: ['Hi'] }));
  const gemini = await startGeminiUpstream(() => ({ text: ['Hi'] }));
  return startGatewayBefore(
    [acme, second, locked, claude, gemini],
    `
providers:
  acme: { kind: openai, label: Acme Models, baseUrl: '${acme.baseUrl}', defaultModel: seeing }
  second: { kind: openai, baseUrl: '${second.baseUrl}' }
  groq: { label: Locked, baseUrl: '${locked.baseUrl}' }
  claude: { kind: anthropic, baseUrl: '${claude.baseUrl}', apiKey: k }
  gemini: { kind: google, baseUrl: '${gemini.baseUrl}', apiKey: k }
  fixed: { kind: openai, baseUrl: '${acme.baseUrl}', models: [one, two] }
aliases:
  fast: acme/org/model-x
  best: [claude/claude-sonnet-4-5, seeing]
`,
  );
}

interface Listed {
  readonly status: number;
  readonly headers: Headers;
  readonly json: unknown;
}

export interface Listings {
  readonly origin: string;
  /** Asks, and expects JSON. */
  get(path: string, headers?: Record<string, string>, method?: string): Promise<Listed>;
  /** Asks, and expects to succeed. */
  ok<T>(path: string, headers?: Record<string, string>): Promise<T>;
  /** Asks, and expects this error. */
  fails(path: string, status: number, code: string): Promise<void>;
}

/** Opens a gateway before upstreams of several kinds for the tests of the `describe` that it is called in. */
export function setListings(): Listings {
  let world: Awaited<ReturnType<typeof openWorld>> | undefined;
  before(async () => {
    world = await openWorld();
  });
  after(() => world?.close());
  const originOf = (): string => world?.gateway.origin ?? assert.fail('the gateway is not there yet');
  const get: Listings['get'] = async (path, headers = {}, method = 'GET') => {
    const response = await fetch(originOf() + path, { method, headers });
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
    return { status: response.status, headers: response.headers, json: (await response.json()) as unknown };
  };
  return {
    get origin() {
      return originOf();
    },
    get,
    async ok<T>(path: string, headers: Record<string, string> = {}) {
      const { status, json } = await get(path, headers);
      assert.equal(status, 200, JSON.stringify(json));
      return json as T;
    },
    async fails(path, status, code) {
      const answer = await get(path);
      assert.equal(answer.status, status);
      const { error } = answer.json as { error: { code: string; message: string } };
      assert.equal(error.code, code);
      assert.equal(typeof error.message, 'string');
    },
  };
}
