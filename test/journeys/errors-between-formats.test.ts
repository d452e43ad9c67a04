import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';
import { startGatewayBefore } from './gateway-before.ts';

type Json = Readonly<Record<string, unknown>>;

const messages = [{ role: 'user', content: 'Hi' }];
const WAYS: Readonly<Record<string, (model: string) => readonly [path: string, body: Json]>> = {
  chat: (model) => ['/v1/chat/completions', { model, messages }],
  responses: (model) => ['/v1/responses', { model, input: 'Hi' }],
  completions: (model) => ['/v1/completions', { model, prompt: 'Hi' }],
  gemini: (model) => [`/v1beta/models/${model}:generateContent`, { contents: [{ parts: [{ text: 'Hi' }] }] }],
};

/** OpenAI's, and Google's (https://cloud.google.com/apis/design/errors#error_model). */
const inOpenAi = (param: string): Json => ({
  error: { message: 'No.', type: 'invalid_request_error', param, code: null },
});
const inGoogle = (...fields: unknown[]): Json => ({
  error: {
    code: 400,
    message: 'No.',
    status: 'INVALID_ARGUMENT',
    details: [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'A', domain: 'googleapis.com' },
      {
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: fields.map((field) => ({ field, description: 'No.' })),
      },
    ],
  },
});

describe('the field at fault', () => {
  let server: ScriptedServer;
  let world: Awaited<ReturnType<typeof startGatewayBefore>>;
  let answer: Json = {};
  before(async () => {
    server = await startScriptedServer((_, response) => {
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      return undefined;
    });
    const row = (kind: string): string =>
      `  ${kind}: { kind: ${kind}, baseUrl: '${server.origin}', apiKey: k, models: [m] }`;
    const kinds = ['openai', 'openai-responses', 'google'].map(row).join('\n');
    world = await startGatewayBefore([server], `providers:\n${kinds}`);
  });
  after(() => world.close());

  for (const [kind, way, error, field] of [
    ['openai', 'chat', inOpenAi('messages[0].name'), 'messages[0].name'],
    ['openai', 'responses', inOpenAi('temperature'), 'temperature'],
    ['openai', 'responses', inOpenAi('messages[0].name'), 'input'],
    ['openai', 'responses', inOpenAi('max_completion_tokens'), 'max_output_tokens'],
    ['openai', 'responses', inOpenAi('Bearer k'), undefined],
    ['openai', 'gemini', inOpenAi('stop'), 'generationConfig.stopSequences'],
    ['openai-responses', 'chat', inOpenAi('tools[0].name'), 'tools'],
    ['openai-responses', 'chat', inOpenAi('input[0]'), 'messages'],
    ['openai-responses', 'chat', inOpenAi('max_output_tokens'), 'max_tokens'],
    ['openai-responses', 'completions', inOpenAi('input[0]'), 'prompt'],
    ['openai-responses', 'gemini', inOpenAi('text.format.schema'), 'generationConfig.responseMimeType'],
    ['google', 'gemini', inGoogle('contents[0].parts[0]', 'tools'), 'contents[0].parts[0]'],
    ['google', 'gemini', inGoogle(5, 'a\nb'), undefined],
    ['google', 'chat', inGoogle('contents[0].parts[0]'), undefined],
  ] as const) {
    test(`${JSON.stringify(error)} of ${kind} for ${way}: ${field ?? 'unnamed'}`, async () => {
      answer = error;
      const [path, body] = (WAYS[way] ?? assert.fail())(`${kind}/m`);
      const response = await fetch(`${world.gateway.origin}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      assert.equal(response.status, 400);
      const told = (await response.json()) as {
        readonly error: { readonly param?: string | null; readonly details?: readonly { fieldViolations?: Json[] }[] };
      };
      const { param, details = [] } = told.error;
      const violations = details.flatMap(({ fieldViolations = [] }) => fieldViolations);
      assert.equal(way === 'gemini' ? violations[0]?.['field'] : (param ?? undefined), field, JSON.stringify(told));
    });
  }

  for (const kind of ['openai', 'openai-responses', 'google']) {
    test(`the class of a failure that another Sluice has named is said once: ${kind}`, async () => {
      answer = { error: { code: 400, message: 'BadRequestError: Too hot.' } };
      const { origin } = world.gateway;
      const body = { model: `${kind}/m`, messages };
      for (const [path, rest] of [
        ['/v1/chat/completions', {}],
        ['/backend-api/v2/conversation', { provider: kind, model: 'm' }],
      ] as const) {
        const response = await fetch(`${origin}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ ...body, ...rest }),
        });
        const said = await response.text();
        assert.equal(said.match(/Too hot/g)?.length, said.match(/BadRequestError: /g)?.length, said);
        assert.doesNotMatch(said, /BadRequestError: BadRequestError/);
      }
    });

    for (const nothing of ['BadRequestError: ', 'BadRequestError:']) {
      test(`one that says its class and nothing else, "${nothing}", is told as one without words: ${kind}`, async () => {
        answer = { error: { code: 400, message: nothing } };
        const { origin } = world.gateway;
        for (const [path, body] of [
          ['/v1/chat/completions', { model: `${kind}/m`, messages }],
          ['/backend-api/v2/conversation', { provider: kind, model: 'm', messages }],
        ] as const) {
          const response = await fetch(`${origin}${path}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(body),
          });
          const said = await response.text();
          assert.doesNotMatch(said, /BadRequestError: (?:BadRequestError|")/, said);
          assert.match(said, /without an explanation/);
        }
      });
    }
  }
});

test('the quotas that Google calls used up are named to everybody, and to its own clients as it names them', async () => {
  const words = 'You exceeded your current quota. Please retry in 33.4s.';
  const day = 'GenerateRequestsPerDayPerProjectPerModel-FreeTier';
  const minute = 'GenerateRequestsPerMinutePerProjectPerModel-FreeTier';
  const TYPE = 'type.googleapis.com/google.rpc';
  const violations = [minute, day, day, 'a "b"', 5].map((quotaId) => ({ quotaMetric: 'requests', quotaId }));
  const server = await startScriptedServer(() => ({
    status: 429,
    body: {
      error: {
        code: 429,
        message: words,
        status: 'RESOURCE_EXHAUSTED',
        details: [
          { '@type': `${TYPE}.QuotaFailure`, violations },
          { '@type': `${TYPE}.Help`, links: [] },
          { '@type': `${TYPE}.RetryInfo`, retryDelay: '33.4s' },
        ],
      },
    },
  }));
  const world = await startGatewayBefore(
    [server],
    `providers: { google: { kind: google, baseUrl: '${server.origin}', apiKey: k, models: [m] } }\nlimits: { attempts: 1 }`,
  );
  try {
    for (const way of ['chat', 'gemini']) {
      const [path, body] = (WAYS[way] ?? assert.fail())('google/m');
      const response = await fetch(`${world.gateway.origin}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      assert.deepEqual([response.status, response.headers.get('retry-after')], [429, '34']);
      const { error } = (await response.json()) as { error: { message: string; details?: { '@type': string }[] } };
      assert.equal(error.message, `RateLimitError: ${words} (used up: ${minute}, ${day})`);
      if (way === 'chat') continue;
      assert.deepEqual(error.details?.slice(1), [
        { '@type': `${TYPE}.QuotaFailure`, violations: [{ quotaId: minute }, { quotaId: day }] },
        { '@type': `${TYPE}.RetryInfo`, retryDelay: '34s' },
      ]);
    }
  } finally {
    await world.close();
  }
});
