import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Deps } from '../../src/http/deps.ts';
import { apiRoutes } from '../../src/http/server.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { startGatewayBefore } from './gateway-before.ts';
import { ApiDescription } from './openapi-check.ts';

const ROUTES = apiRoutes({} as Deps);

const MESSAGES = [{ role: 'user', content: 'Hi' }];
const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';

/** Messages and fields as clients send them. */
const CHATS: readonly object[] = [
  { messages: MESSAGES },
  { model: 'acme/test-model', messages: MESSAGES, stream: true, stream_options: { include_usage: true } },
  { model: null, provider: null, messages: MESSAGES, temperature: null, stop: null, tools: null },
  {
    model: 'fast',
    provider: 'acme other',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'developer', content: [{ type: 'text', text: 'Really.' }] },
      {
        role: 'user',
        name: 'someone',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: PIXEL, detail: 'low' } },
          { type: 'image_url', image_url: 'https://a.example/cat.png' },
          { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
          { type: 'video_url', video_url: { url: 'https://a.example/cat.mp4' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
          { type: 'something_new', value: 1 },
        ],
      },
      {
        role: 'assistant',
        content: null,
        reasoning: 'Hm.',
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"it"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'a cat' },
    ],
    tools: [{ type: 'function', function: { name: 'look', description: 'Looks', parameters: { type: 'object' } } }],
    tool_choice: { type: 'function', function: { name: 'look' } },
    parallel_tool_calls: false,
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' }, strict: true } },
    temperature: 0.5,
    top_p: 1,
    top_k: 40,
    max_tokens: 100,
    max_completion_tokens: 100,
    stop: ['END'],
    seed: 7,
    presence_penalty: -1,
    frequency_penalty: 0.5,
    reasoning_effort: 'x-high',
    api_key: { acme: 'a-key' },
    ignored: ['other'],
    web_search: false,
    download_media: false,
    conversation: { state: 1 },
    conversation_id: 'c-1',
    timeout: 30,
    logit_bias: { 5: 1 },
    x_unknown: [null],
  },
  { messages: MESSAGES, stop: 'END', tool_choice: 'auto', api_key: 'a-key', response_format: { type: 'json_object' } },
];

/** What only one of the dialects has. */
const COMPLETIONS: readonly object[] = [
  ...CHATS,
  { messages: MESSAGES, n: 2, logprobs: true, top_logprobs: 3, modalities: ['text'], audio: { voice: 'alloy' } },
  { messages: MESSAGES, image: PIXEL, images: [[PIXEL, 'a.png']], media: [[PIXEL, null]].map(() => [PIXEL, 'b.png']) },
  { messages: MESSAGES, extra_body: { top_k: 4 } },
];
const CONVERSATIONS: readonly object[] = [
  ...CHATS,
  {
    id: '123456789012345678',
    conversation_id: '7f3e0c1a-0000-4000-8000-000000000000',
    conversation: null,
    action: 'next',
    aspect_ratio: '16:9',
    debug_mode: false,
    prompt: null,
    messages: [
      {
        role: 'user',
        content: [
          { bucket_id: 'b-1', url: '/files/b-1' },
          { bucket_id: 'b-1', url: '/files/b-1/media/a.png', name: 'a.png', width: 1, height: 1 },
          { name: 'notes.txt', text: 'Remember the milk' },
        ],
      },
      { role: 'user', content: [] },
    ],
  },
];

const REFUSED: readonly object[] = [
  {},
  { messages: 'Hi' },
  { messages: [] },
  { messages: [{ role: 'robot', content: 'Hi' }] },
  { messages: [{ role: 'user', content: 7 }] },
  { messages: MESSAGES, model: ['a'] },
  { messages: MESSAGES, temperature: 'hot' },
  { messages: MESSAGES, tools: {} },
  { messages: MESSAGES, max_tokens: -1 },
];

describe('the description of the API', { timeout: 240_000 }, () => {
  let gateway: Gateway;
  let close: () => Promise<void>;
  let api: ApiDescription;
  before(async () => {
    const upstream = await startOpenAiUpstream();
    ({ gateway, close } = await startGatewayBefore(
      [upstream],
      `
providers: { acme: { kind: openai, baseUrl: '${upstream.baseUrl}' } }
aliases: { fast: acme/test-model }
`,
    ));
    const response = await fetch(`${gateway.origin}/openapi.json`);
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
    api = new ApiDescription((await response.json()) as Record<string, unknown>);
  });
  after(() => close());

  test('keeps the rules of OpenAPI 3.1', () => {
    assert.deepEqual(api.problems(), []);
  });

  test('would not keep them with any of these faults', () => {
    // All of the document would take a minute.
    const { paths } = api.document as unknown as Fault;
    const few = Object.fromEntries(
      ['/v1/models', '/v1/providers', '/v1/providers/{provider}'].map((path) => [path, paths[path]]),
    );
    const broken = (change: (document: Fault) => void): number => {
      const document = structuredClone({ ...api.document, paths: few }) as unknown as Fault;
      change(document);
      return new ApiDescription(document as unknown as Record<string, unknown>).problems().length;
    };
    assert.equal(
      broken(() => {}),
      0,
    );
    const faults: readonly ((document: Fault) => void)[] = [
      (document) => Object.assign(document, { openapi: '3.0.0' }),
      (document) => Object.assign(document.info, { title: '' }),
      (document) => Object.assign(document, { tags: [] }),
      (document) => Object.assign(document.paths, { 'v1/x': {} }),
      (document) => Object.assign(document.paths, { '/v1/providers/{other}': {} }),
      (document) => Object.assign(document.paths['/v1/models'] ?? {}, { fetch: {} }),
      (document) => Object.assign(document.paths['/v1/models']?.['get'] ?? {}, { operationId: 'getV1Providers' }),
      (document) => Object.assign(document.paths['/v1/models']?.['get'] ?? {}, { responses: {} }),
      (document) => Object.assign(document.paths['/v1/models']?.['get'] ?? {}, { responses: { 200: {} } }),
      (document) => Object.assign(document.paths['/v1/providers/{provider}']?.['get'] ?? {}, { parameters: [] }),
      (document) => Object.assign(document.paths['/v1/models']?.['get'] ?? {}, { security: [{ $ref: '#/nowhere' }] }),
      (document) =>
        Object.assign(document.paths['/v1/models']?.['get'] ?? {}, {
          responses: { 200: { description: 'x', content: { 'application/json': { schema: { type: 'text' } } } } },
        }),
    ];
    for (const fault of faults) assert.ok(broken(fault) > 0, String(fault));
  });

  test('has every route of the tables', () => {
    const described = api.operations;
    for (const { method, url } of ROUTES) {
      const name = `${method} ${url.replace(/:(\w+)/g, '{$1}').replace('*', '{id}')}`;
      assert.ok(described.has(name), name);
    }
  });

  test('tells what is served', async () => {
    for (const name of api.operations.keys()) {
      const [method = '', path = ''] = name.split(' ');
      const response = await fetch(gateway.origin + path.replace(/\{\w+\}/g, 'no-such-thing'), {
        method,
        ...(method === 'GET' ? {} : { headers: { 'content-type': 'application/json' }, body: '{}' }),
      });
      const text = await response.text();
      assert.notEqual(response.status, 405, name);
      assert.notEqual(response.status, 500, name);
      if (response.status === 404) assert.doesNotMatch(text, /There is nothing at/, name);
    }
  });

  for (const [operation, bodies] of [
    ['POST /v1/chat/completions', COMPLETIONS],
    ['POST /api/{provider}/chat/completions', COMPLETIONS],
    ['POST /api/{provider}/{conversation_id}/chat/completions', COMPLETIONS],
    ['POST /backend-api/v2/conversation', CONVERSATIONS],
  ] as const) {
    test(`${operation} takes what clients send and refuses what the server refuses`, async () => {
      const validate = api.body(operation);
      for (const body of bodies)
        assert.ok(validate(body), `${JSON.stringify(body)} ${JSON.stringify(validate.errors)}`);
      const [method = '', path = ''] = operation.split(' ');
      for (const body of REFUSED) {
        assert.equal(validate(body), false, JSON.stringify(body));
        const response = await fetch(gateway.origin + path.replace(/\{\w+\}/g, 'acme'), {
          method,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        assert.ok(response.status === 422 || response.status === 400, `${JSON.stringify(body)} ${response.status}`);
      }
    });
  }

  for (const [operation, path] of [
    ['GET /v1/models', '/v1/models'],
    ['GET /v1/models/{id}', '/v1/models/acme/test-model'],
    ['POST /v1/models/{id}', '/v1/models/fast'],
    ['GET /api/{provider}/models', '/api/acme/models'],
    ['GET /v1/providers', '/v1/providers'],
    ['GET /v1/providers/{provider}', '/v1/providers/acme'],
    ['GET /v1beta/models', '/v1beta/models?pageSize=1'],
    ['GET /v1beta/models/{id}', '/v1beta/models/acme/test-model'],
    ['GET /api/tags', '/api/tags'],
    ['GET /api/version', '/api/version'],
    ['GET /backend-api/v2/models', '/backend-api/v2/models'],
    ['GET /backend-api/v2/models', '/backend-api/v2/models?format=list'],
    ['GET /backend-api/v2/models/{provider}', '/backend-api/v2/models/acme'],
    ['GET /backend-api/v2/providers', '/backend-api/v2/providers'],
    ['GET /backend-api/v2/version', '/backend-api/v2/version?cache=true'],
  ] as const) {
    test(`${operation} answers as described: ${path}`, async () => {
      const validate = api.answer(operation);
      const response = await fetch(gateway.origin + path, { method: operation.split(' ')[0] ?? '' });
      assert.equal(response.status, 200);
      assert.ok(validate(await response.json()), JSON.stringify(validate.errors));
    });
  }

  test('describes the headers by which Google’s clients send files', () => {
    for (const path of ['/upload/v1beta/files', '/upload/v1/files']) {
      const { parameters, responses } = api.operations.get(`POST ${path}`) as unknown as {
        readonly parameters: readonly { readonly name: string; readonly in: string }[];
        readonly responses: { readonly 200: { readonly headers?: object } };
      };
      assert.deepEqual(
        parameters.flatMap((each) => (each.in === 'header' ? [each.name] : [])),
        [
          'x-goog-upload-protocol',
          'x-goog-upload-command',
          'x-goog-upload-offset',
          'x-goog-upload-header-content-length',
          'x-goog-upload-header-content-type',
          'x-goog-upload-file-name',
        ],
      );
      assert.deepEqual(Object.keys(responses[200].headers ?? {}), [
        'x-request-id',
        'x-goog-upload-status',
        'x-goog-upload-size-received',
        'x-goog-upload-url',
      ]);
    }
  });

  test('describes whole numbers as the server takes them', async () => {
    const { parameters } = api.operations.get('GET /v1/files') as unknown as {
      readonly parameters: readonly { readonly name: string; readonly schema: { readonly pattern: string } }[];
    };
    const { pattern } = parameters.find(({ name }) => name === 'limit')?.schema ?? assert.fail();
    for (const limit of ['1', '01', '10', '0', '00', '-1', '1e1', '1.5', ' 1']) {
      const { ok } = await fetch(`${gateway.origin}/v1/files?limit=${encodeURIComponent(limit)}`);
      assert.equal(ok, new RegExp(pattern).test(limit), limit);
    }
  });

  test('a stream of events has no form of a whole answer', () => {
    const whole = [...api.operations].filter(([, { responses }]) => {
      const { 200: answer } = responses as Readonly<Record<string, { content?: Readonly<Record<string, object>> }>>;
      return 'schema' in (answer?.content?.['text/event-stream'] ?? {});
    });
    assert.deepEqual(
      whole.map(([name]) => name),
      [],
    );
  });

  test('GET /ready is described in both of its statuses', () => {
    for (const [status, answer] of [
      ['200', { status: 'ready' }],
      ['503', { status: 'storage_failed', message: 'The storage does not answer.' }],
    ] as const) {
      assert.ok(api.answer('GET /ready', status)(answer), status);
    }
  });

  test('describes no good answer of what always fails', () => {
    for (const what of ['POST /api/push', 'POST /api/create', 'POST /api/copy', 'DELETE /api/delete']) {
      assert.deepEqual(Object.keys(api.operations.get(what)?.['responses'] ?? {}), ['default'], what);
    }
  });

  test('errors are as described', async () => {
    const validate = api.answer('GET /v1/models', 'default');
    for (const [path, init] of [
      ['/v1/models/nothing', {}],
      ['/nothing', {}],
      ['/v1/models', { method: 'DELETE' }],
      ['/backend-api/v2/models?format=x', {}],
      ['/v1/chat/completions', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }],
      ['/v1/chat/completions', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' }],
      ['/v1/chat/completions', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' }],
    ] as const) {
      const response = await fetch(gateway.origin + path, init);
      assert.ok(response.status >= 400);
      assert.ok(validate(await response.json()), `${path} ${JSON.stringify(validate.errors)}`);
    }
  });

  test('the headers of errors are described', async () => {
    const described = api.document['components'] as { readonly headers: Readonly<Record<string, object>> };
    const { headers } = await fetch(`${gateway.origin}/v1/models/nothing`);
    assert.ok(headers.has('x-request-id'));
    assert.deepEqual(Object.keys(described.headers), [
      'x-request-id',
      'retry-after',
      ...['provider', 'model', 'attempts', 'dropped'].map((name) => `x-sluice-${name}`),
      ...['limit', 'remaining', 'reset'].flatMap((what) =>
        ['requests', 'tokens'].map((unit) => `x-ratelimit-${what}-${unit}`),
      ),
    ]);
    for (const [operation, { responses }] of api.operations) {
      const { default: failed } = responses as { readonly default: { readonly headers?: object } };
      assert.deepEqual(Object.keys(failed.headers ?? {}), ['x-request-id', 'retry-after'], operation);
    }
  });

  test('whoever gets a tag of what there is finds it described', async () => {
    for (const path of ['/backend-api/v2/models', '/backend-api/v2/providers', '/v1/models']) {
      const { headers } = await fetch(gateway.origin + path);
      const { responses } = api.operations.get(`GET ${path}`) as unknown as {
        readonly responses: { readonly 200: { readonly headers: object } };
      };
      assert.equal('etag' in responses[200].headers, headers.has('etag'), path);
    }
  });

  test('what is asked for by its version, or in parts, is described in these statuses', async () => {
    const statuses = async (path: string, template: string): Promise<readonly string[]> => {
      const { headers } = await fetch(gateway.origin + path);
      const known = await fetch(gateway.origin + path, { headers: { 'if-none-match': String(headers.get('etag')) } });
      const part = await fetch(gateway.origin + path, { headers: { range: 'bytes=0-0' } });
      const { responses } = api.operations.get(`GET ${template}`) as unknown as {
        readonly responses: Readonly<Record<string, { readonly headers: object }>>;
      };
      for (const { status, headers } of [known, part]) {
        const described = responses[status]?.headers;
        assert.ok(described !== undefined, `${template}: ${status}`);
        for (const name of ['etag', 'last-modified', 'accept-ranges', 'content-range'])
          assert.equal(name in described, headers.has(name), `${template}: ${status}: ${name}`);
      }
      return Object.keys(responses).filter((status) => status !== 'default');
    };
    const file = new FormData();
    file.set('purpose', 'user_data');
    file.set('file', new Blob(['words']), 'a.txt');
    const sent = await fetch(`${gateway.origin}/v1/files`, { method: 'POST', body: file });
    const { id } = (await sent.json()) as { readonly id: string };
    assert.deepEqual(await statuses('/backend-api/v2/models', '/backend-api/v2/models'), ['200', '304']);
    assert.deepEqual(await statuses(`/v1/files/${id}/content`, '/v1/files/{id}/content'), ['200', '206', '304']);
    // What is told of a file never comes in parts.
    const { responses } = api.operations.get('GET /v1beta/files/{id}') as unknown as {
      readonly responses: Readonly<Record<string, { readonly content?: object }>>;
    };
    assert.deepEqual(Object.keys(responses['206']?.content ?? {}), ['application/octet-stream']);
  });

  test('the headers of answers are described', async () => {
    const chat = { model: 'acme/test-model', messages: MESSAGES, stream: false };
    for (const [operation, path, body] of [
      ['POST /v1/chat/completions', '/v1/chat/completions', { ...chat, x_unknown: 1 }],
      ['POST /v1/messages', '/v1/messages', { ...chat, max_tokens: 9, thinking: { type: 'adaptive' } }],
      ['POST /v1/responses', '/v1/responses', { model: chat.model, input: 'Hi' }],
      ['POST /api/chat', '/api/chat', chat],
      [
        'POST /v1beta/models/{id}',
        '/v1beta/models/acme/test-model:generateContent',
        { contents: [{ parts: [{ text: 'Hi' }] }], safetySettings: [] },
      ],
      ['POST /backend-api/v2/conversation', '/backend-api/v2/conversation', { ...chat, stream: undefined }],
      ['GET /v1/models', '/v1/models', undefined],
    ] as const) {
      const response = await fetch(gateway.origin + path, {
        method: operation.split(' ')[0] ?? '',
        ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      });
      await response.text();
      assert.equal(response.status, 200, operation);
      const { responses } = api.operations.get(operation) as unknown as {
        readonly responses: { readonly 200: { readonly headers: object } };
      };
      const told = [...response.headers.keys()].filter((name) => /^x-(?:request|sluice)-|ratelimit-/.test(name));
      assert.ok(
        told.includes('x-request-id') && told.includes('x-sluice-provider') === (body !== undefined),
        `${told}`,
      );
      for (const name of told) assert.ok(name in responses[200].headers, `${operation} ${name}`);
    }
  });

  for (const [operation, paths] of [
    ['POST /v1beta/models/{id}', ['/v1beta/models/nobody:generateContent', '/v1beta/models/acme:divine']],
    ['GET /v1beta/models/{id}', ['/v1beta/models/nobody']],
    ['POST /api/chat', ['/api/chat']],
    ['POST /api/show', ['/api/show']],
    ['POST /api/pull', ['/api/pull']],
    ['POST /v1/messages', ['/v1/messages']],
    ['POST /api/{provider}/v1/messages/count_tokens', ['/api/nobody/v1/messages/count_tokens']],
  ] as const) {
    test(`${operation} errs as described, in the words of its dialect`, async () => {
      const validate = api.answer(operation, 'default');
      const [method = ''] = operation.split(' ');
      for (const path of paths) {
        const body = method === 'POST' ? { headers: { 'content-type': 'application/json' }, body: '{}' } : {};
        const response = await fetch(gateway.origin + path, { method, ...body });
        assert.ok(response.status >= 400, path);
        assert.ok(validate(await response.json()), `${path} ${JSON.stringify(validate.errors)}`);
      }
    });
  }

  test('calls no other host', () => {
    assert.deepEqual(api.document['servers'], [{ url: '/' }]);
    assert.equal('externalDocs' in api.document, false);
  });
});

describe('the page of the documents', { timeout: 60_000 }, () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway('');
  });
  after(() => gateway.close());

  test('is found with and without the slash', async () => {
    const response = await fetch(`${gateway.origin}/docs`);
    assert.equal(response.status, 200);
    assert.equal(new URL(response.url).pathname, '/docs/');
    assert.match(await response.text(), /Sluice API/);
  });

  test('has all its parts here, and names no other host', async () => {
    const page = await fetch(`${gateway.origin}/docs/`);
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
    const policy = page.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /https?:|\*|unsafe/);
    const html = await page.text();
    assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)/, 'no inline script');
    const links = [...html.matchAll(/\b(?:src|href)="([^"]*)"/g)].map(([, link]) => link ?? '');
    assert.ok(links.length >= 4);
    for (const link of links) {
      assert.match(link, /^\/(?!\/)/, `${link} is a path of this server`);
      const response = await fetch(gateway.origin + link);
      assert.equal(response.status, 200, link);
      const type = response.headers.get('content-type') ?? '';
      if (link.endsWith('.js')) assert.match(type, /javascript/);
      if (link.endsWith('.css')) assert.match(type, /^text\/css/);
      const text = await response.text();
      // The reader's own code holds addresses of standards; the policy keeps it from calling anybody.
      if (link !== '/' && !link.includes('swagger-ui') && !link.endsWith('.svg')) {
        assert.doesNotMatch(text, /\bhttps?:\/\/|["'(]\/\//, `${link} names another host`);
      }
    }
    assert.ok(links.includes('/openapi.json'));
  });

  test('serves nothing else of its folders', async () => {
    for (const path of ['/docs/package.json', '/docs/..%2findex.html', '/docs/nothing.js', '/docs/swagger-ui.js.map']) {
      const response = await fetch(gateway.origin + path);
      assert.equal(response.status, 404, path);
      assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
    }
  });
});

/** The document, as far as the faults above touch it. */
interface Fault {
  readonly info: object;
  readonly paths: Record<string, Record<string, object>>;
}
