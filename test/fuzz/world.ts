import type { ServerResponse } from 'node:http';
import { startGatewayBefore } from '../journeys/gateway-before.ts';
import { postJson, statusOf, told, upload } from '../journeys/kept-world.ts';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import type { Gateway } from '../support/gateway.ts';
import { startGeminiUpstream } from '../support/gemini-upstream.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { dataUri, picture } from '../support/pictures.ts';
import { startResponsesUpstream } from '../support/responses-upstream.ts';
import type { SeenRequest } from '../support/seen-request.ts';
import type { VendorScript } from '../support/vendor-script.ts';
import type { Random } from './random.ts';

/** A gateway before upstreams of each wire format that never fail, with something of everything that can be kept. */
export interface FuzzWorld {
  readonly gateway: Gateway;
  /** Values that mean something here, by the name of the field or of the part of a path. */
  readonly hints: (name: string, random: Random) => unknown;
  close(): Promise<void>;
}

/** Thinks, speaks, and calls the first tool it is offered. */
const script: VendorScript = ({ tools: [tool] }) => ({
  reasoning: ['Hm.'],
  text: ['Hello <think>', 'so</think> ![a](http://127.0.0.1:1/a.png)', ' world'],
  ...(tool === undefined ? {} : { toolCalls: [{ id: 'call_1', name: tool, arguments: ['{"a":', '1}'] }] }),
});

export async function openFuzzWorld(): Promise<FuzzWorld> {
  const png = await picture('#336699');
  const upstreams = {
    openai: await startOpenAiUpstream(script, {
      models: ['test-model', 'embedding-test', 'gpt-image-test', 'whisper-test', 'tts-test', 'rerank-test'],
      handle: (request, response) => otherTask(request, response, png),
    }),
    anthropic: await startAnthropicUpstream(script),
    google: await startGeminiUpstream(script),
    responses: await startResponsesUpstream(script),
  };
  const { gateway, close } = await startGatewayBefore(
    Object.values(upstreams),
    `
providers:
  acme: { kind: openai, baseUrl: '${upstreams.openai.baseUrl}', apiKey: acme-key }
  claude: { kind: anthropic, baseUrl: '${upstreams.anthropic.baseUrl}', apiKey: claude-key }
  gemini: { kind: google, baseUrl: '${upstreams.google.baseUrl}', apiKey: gemini-key }
  responses: { kind: openai-responses, baseUrl: '${upstreams.responses.baseUrl}', apiKey: responses-key }
aliases: { fast: acme/test-model }
search: { engine: none }
`,
  );
  const { ids, response, medium } = await keepSomething(gateway.origin, png);
  const pictures = [dataUri(png), png.toString('base64')];
  const values: Readonly<Record<string, readonly unknown[]>> = {
    model: MODELS,
    models: [MODELS.slice(0, 2), ['nobody', 'acme/test-model']],
    provider: PROVIDERS,
    id: [...ids, ...MODELS, 'test-model:generateContent', 'claude/claude-sonnet-4-5:streamGenerateContent'],
    '/v1beta/models/{id} id': METHODS,
    '/v1/models/{id} id': [...MODELS, ...METHODS],
    ...Object.fromEntries(
      ['', '/cancel', '/input_items'].map((rest) => [`/v1/responses/{id}${rest} id`, [response, 'resp_0']]),
    ),
    ...Object.fromEntries(['media', 'images', 'thumbnail'].map((folder) => [`/${folder}/{id} id`, [medium, 'no.png']])),
    '/search/{id} id': ['blue', 'a+blue', medium],
    '/files/{id}/{form}/{name} id': ['bucket-1'],
    '/files/{id}/{form}/{name} name': ['a.png', 'notes.txt'],
    '/backend-api/v2/media/{name} name': ['no.png'],
    previous_response_id: [response],
    bucket_id: ids,
    user: ids,
    name: ['a.png', 'notes.txt', 'look', 'test-model'],
    conversation_id: ['c-1'],
    url: pictures,
    image_url: [dataUri(png), { url: dataUri(png) }],
    image: pictures,
    data: [png.toString('base64'), ...pictures],
    date: ['2026-11-20', '2026-11'],
    form: ['media', 'thumbnail'],
    // Nothing has to take longer than the tests themselves.
    timeout: [5, 0.5],
    web_search: [false],
    api_key: [undefined],
  };
  return {
    gateway,
    hints(name, random) {
      const known = [name, name.split(' ').at(-1) ?? ''].find((each) => Object.hasOwn(values, each));
      return known === undefined ? undefined : random.pick(values[known] ?? []);
    },
    close,
  };
}

const METHODS = [
  ...['gemini/gemini-2.5-flash', 'acme/test-model'].flatMap((model) =>
    ['generateContent', 'streamGenerateContent', 'countTokens', 'divine'].map((method) => `${model}:${method}`),
  ),
  ...['acme/embedding-test', 'acme/test-model'].flatMap((model) =>
    ['embedContent', 'batchEmbedContents'].map((method) => `${model}:${method}`),
  ),
  'gemini/gemini-2.5-flash',
];
const MODELS = [
  ...['acme/test-model', 'fast', 'claude/claude-sonnet-4-5', 'gemini/gemini-2.5-flash', 'responses/gpt-5.2'],
  ...['acme/embedding-test', 'acme/gpt-image-test', 'acme/whisper-test', 'acme/tts-test', 'flite', 'nobody'],
];
const PROVIDERS = ['acme', 'claude', 'gemini', 'responses', 'flite', 'acme gemini', 'nobody'];

/** What an upstream of OpenAI's format does beside chats. */
function otherTask(request: SeenRequest, response: ServerResponse, png: Buffer): boolean {
  const path = request.path.replace(/^\/v1\//, '').split('?', 1)[0] ?? '';
  const send = (type: string, body: string | Buffer): true => {
    response.writeHead(200, { 'content-type': type }).end(body);
    return true;
  };
  const json = (body: unknown): true => send('application/json', JSON.stringify(body));
  const { input, documents } = (request.body ?? {}) as Readonly<Record<string, unknown>>;
  const count = Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1;
  const usage = { prompt_tokens: 2, total_tokens: 2 };
  switch (path) {
    case 'embeddings': {
      const data = Array.from({ length: count }, (_, index) => ({ object: 'embedding', index, embedding: [0.5, -1] }));
      return json({ object: 'list', data, model: request.model, usage });
    }
    case 'moderations': {
      const result = { flagged: false, categories: { hate: false }, category_scores: { hate: 0 } };
      return json({ id: 'modr-1', model: request.model, results: Array.from({ length: count }, () => result) });
    }
    case 'rerank': {
      const many = Array.isArray(documents) ? documents.length : 0;
      const results = Array.from({ length: many }, (_, index) => ({ index, relevance_score: 0.5 }));
      return json({ id: 'r-1', results, meta: {} });
    }
    case 'completions': {
      if (request.stream) return false;
      const choices = [{ index: 0, text: 'Hello', finish_reason: 'stop', logprobs: null }];
      return json({ id: 'cmpl-1', object: 'text_completion', created: 1, model: request.model, choices, usage });
    }
    case 'images/generations':
    case 'images/edits':
    case 'images/variations':
      return json({ created: 1, data: [{ b64_json: png.toString('base64') }] });
    case 'audio/speech':
      return send('audio/mpeg', Buffer.from('fffb9064000f', 'hex'));
    case 'audio/transcriptions':
    case 'audio/translations':
      return json({ text: 'Good morning.', language: 'english', duration: 1, segments: [] });
    default:
      return false;
  }
}

interface Kept {
  readonly ids: readonly string[];
  /** Id of a stored answer. */
  readonly response: string;
  /** Name of a stored picture. */
  readonly medium: string;
}

/** A bucket, a shared chat, statements about a user, a stored answer and a stored picture. */
async function keepSomething(origin: string, png: Buffer): Promise<Kept> {
  const backend = `${origin}/backend-api/v2`;
  await upload({ origin }, 'bucket-1', ['notes.txt', 'Remember the milk'], ['a.png', png, 'image/png']);
  await statusOf(`${backend}/chat/chat-1`, jsonOf({ id: 'chat-1', title: 'A chat', items: [] }));
  await statusOf(`${backend}/memory/user-1`, jsonOf({ items: ['I like tea.'] }));
  const { json: answer } = await told(postJson(`${origin}/v1/responses`, { model: 'acme/test-model', input: 'Hi' }));
  const wish = { model: 'acme/gpt-image-test', prompt: 'blue' };
  const { json: drawn } = await told(postJson(`${origin}/v1/images/generations`, wish));
  const medium = decodeURIComponent(new URL(drawn.data[0].url).pathname.split('/').at(-1) ?? '');
  return { ids: ['bucket-1', 'chat-1', 'user-1', answer.id], response: answer.id, medium };
}

function jsonOf(body: object): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
