import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, test } from 'node:test';
import OpenAI from 'openai';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { eventually } from '../support/eventually.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import type { SeenRequest } from '../support/seen-request.ts';
import type { VendorUpstream } from '../support/vendor-server.ts';

interface World {
  readonly gateway: Gateway;
  /** Has the API. */
  readonly old: OpenAiUpstream;
  /** Only chats, in the OpenAI format. */
  readonly chats: OpenAiUpstream;
  /** Only chats, in another one. */
  readonly claude: VendorUpstream;
  readonly client: OpenAI;
  post(body: unknown, path?: string): Promise<{ status: number; headers: Headers; text: string }>;
  close(): Promise<void>;
}

/** As vLLM and Ollama write it; a model named `late-…` fails in the middle, `broken` before. */
function complete(request: SeenRequest, response: ServerResponse): boolean {
  if (request.path !== '/v1/completions') return false;
  const { model, stream, prompt } = request.body as { model: string; stream?: boolean; prompt?: unknown };
  const head = { id: 'cmpl-1', object: 'text_completion', created: 1, model };
  if (model === 'broken') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end('data: {"error":{"message":"out of memory","code":503}}\n\n');
  } else if (model === 'silent') {
    // Nothing, for ever.
  } else if (stream === true) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const text of ['Once', ' upon', ' ein Schloß']) {
      const choices = [{ text, index: 0, logprobs: null, finish_reason: null }];
      response.write(`data: ${JSON.stringify({ ...head, choices })}\n\n`);
    }
    if (model === 'late-failure') setTimeout(() => response.destroy(), 30);
    else {
      const choices = [{ text: '', index: 0, logprobs: null, finish_reason: 'length' }];
      response.end(`data: ${JSON.stringify({ ...head, choices })}\n\ndata: [DONE]\n\n`);
    }
  } else {
    const choices = [{ text: ` said: ${JSON.stringify(prompt)}`, index: 0, logprobs: null, finish_reason: 'stop' }];
    const usage = { prompt_tokens: 2, completion_tokens: 5, total_tokens: 7 };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...head, choices, usage, x_own: [1.0] }, undefined, 1));
  }
  return true;
}

const REFUSED = [
  { delta: { refusal: 'I' } },
  { delta: { refusal: ' will not.' } },
  { delta: {}, finish_reason: 'stop' },
]
  .map((choice) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`)
  .join('');

async function world(): Promise<World> {
  const old = await startOpenAiUpstream(undefined, { models: ['davinci', 'broken', 'late-failure'], handle: complete });
  const chats = await startOpenAiUpstream(({ prompt }) =>
    prompt === 'refuse' ? { raw: REFUSED } : { text: ['About ', prompt, '.'] },
  );
  const claude = await startAnthropicUpstream((request) => ({
    text: ['About ', request.prompt, '.'],
    finish: 'length',
    headers: { 'anthropic-ratelimit-requests-remaining': '7' },
  }));
  const gateway = await startGateway(`
providers:
  old: { kind: openai, baseUrl: '${old.baseUrl}', apiKey: k }
  chats: { kind: openai, baseUrl: '${chats.baseUrl}', apiKey: k }
  claude: { kind: anthropic, baseUrl: '${claude.baseUrl}', apiKey: k, models: [claude-test] }
limits: { attempts: 2, firstByteMs: 4000, retryWaitMs: 0 }
`);
  return {
    gateway,
    old,
    chats,
    claude,
    client: new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 }),
    async post(body, path = '/v1/completions') {
      const response = await fetch(gateway.origin + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
    async close() {
      await gateway.close();
      await Promise.all([old.close(), chats.close(), claude.close()]);
    },
  };
}

let here: World;

const lastBody = (upstream: OpenAiUpstream, path: string): Record<string, unknown> =>
  (upstream.requests.findLast((request) => request.path === path)?.body ?? {}) as Record<string, unknown>;

describe('text completions', () => {
  before(async () => {
    here = await world();
  });
  after(() => here.close());

  describe('POST /v1/completions, by an upstream that has it', () => {
    test('the official client', async () => {
      const answer = await here.client.completions.create({
        model: 'davinci',
        prompt: 'The cat',
        max_tokens: 9,
        suffix: 'end',
        echo: true,
        logprobs: 2,
        best_of: 3,
        logit_bias: { 50256: -100 },
      });
      assert.equal(answer.choices[0]?.text, ' said: "The cat"');
      assert.equal(answer.usage?.total_tokens, 7);
      assert.deepEqual(lastBody(here.old, '/v1/completions'), {
        model: 'davinci',
        prompt: 'The cat',
        max_tokens: 9,
        suffix: 'end',
        echo: true,
        logprobs: 2,
        best_of: 3,
        logit_bias: { 50256: -100 },
      });
    });

    test('bytes go both ways as they are, only what is ours is taken out', async () => {
      const { text, headers } = await here.post({ provider: 'old', model: 'davinci', prompt: [1, 2, 3], strict: true });
      assert.match(text, /^\{\n "id": "cmpl-1"[\s\S]*"x_own"/);
      assert.equal(headers.get('x-sluice-provider'), 'old');
      assert.deepEqual(lastBody(here.old, '/v1/completions'), { model: 'davinci', prompt: [1, 2, 3] });
    });

    test('a stream, with the official client', async () => {
      const stream = await here.client.completions.create({ model: 'old/davinci', prompt: 'The cat', stream: true });
      let text = '';
      let finish: string | null | undefined;
      for await (const { choices } of stream) {
        text += choices[0]?.text ?? '';
        finish = choices[0]?.finish_reason;
      }
      assert.deepEqual([text, finish], ['Once upon ein Schloß', 'length']);
    });

    test('an error before anything was said is a status', async () => {
      const { status, text } = await here.post({ model: 'broken', prompt: 'a', stream: true });
      assert.equal(status, 503, text);
      assert.match(text, /out of memory/);
    });

    test('one in the middle is the last event', async () => {
      const { status, text } = await here.post({ model: 'late-failure', prompt: 'a', stream: true });
      assert.equal(status, 200);
      assert.match(text, /Once[\s\S]*"code":"upstream_cut"[\s\S]*\[DONE\]/);
    });

    test('silence makes place for the next', async () => {
      const body = { provider: 'old claude', model: 'silent', prompt: 'a' };
      const { status, headers, text } = await here.post(body);
      assert.equal(status, 200, text);
      assert.equal(headers.get('x-sluice-provider'), 'claude');
    });

    test('a client that leaves ends the request upstream', async () => {
      const controller = new AbortController();
      const answer = here.client.completions.create(
        { model: 'old/silent', prompt: 'a' },
        { signal: controller.signal },
      );
      const isAsked = () => lastBody(here.old, '/v1/completions')['model'] === 'silent' && here.old.open > 0;
      await eventually('it is asked', isAsked);
      controller.abort();
      await assert.rejects(answer, OpenAI.APIUserAbortError);
      const request = here.old.requests.findLast(({ path }) => path === '/v1/completions');
      assert.equal(await request?.closed, 'aborted');
    });
  });

  describe('by a chat, where there is nothing else', () => {
    test('a refusal is text', async () => {
      const asked = { model: 'chats/test-model', prompt: 'refuse' };
      const { choices } = await here.client.completions.create(asked);
      assert.equal(choices[0]?.text, 'I will not.');
      let streamed = '';
      for await (const event of await here.client.completions.create({ ...asked, stream: true }))
        streamed += event.choices[0]?.text ?? '';
      assert.equal(streamed, 'I will not.');
    });

    for (const provider of ['claude', 'chats'] as const) {
      const model = provider === 'claude' ? 'claude/claude-test' : 'chats/test-model';
      const finish = provider === 'claude' ? 'length' : 'stop';

      test(`${provider}: the prompt is the only message`, async () => {
        const answer = await here.client.completions.create({
          model,
          prompt: 'the cat',
          max_tokens: 50,
          stop: ['END'],
        });
        assert.match(answer.id, /^cmpl-/);
        assert.equal(answer.object, 'text_completion');
        assert.deepEqual(
          answer.choices.map(({ text, index, finish_reason }) => ({ text, index, finish_reason })),
          [{ text: 'About the cat.', index: 0, finish_reason: finish }],
        );
        assert.deepEqual(answer.usage, { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 });
        const path = provider === 'claude' ? '/v1/messages' : '/v1/chat/completions';
        const requests: readonly { readonly path: string; readonly body: unknown }[] = here[provider].requests;
        const body = requests.findLast((request) => request.path === path)?.body as { messages: unknown[] };
        assert.equal(body.messages.length, 1);
        assert.partialDeepStrictEqual(body, { max_tokens: 50, messages: [{ role: 'user' }] });
        assert.equal('system' in body, false);
      });

      test(`${provider}: several prompts, several choices, and an echo`, async () => {
        const answer = await here.client.completions.create({ model, prompt: ['a cat', 'a dog'], n: 2, echo: true });
        assert.deepEqual(
          answer.choices.map(({ text }) => text),
          ['a catAbout a cat.', 'a catAbout a cat.', 'a dogAbout a dog.', 'a dogAbout a dog.'],
        );
        assert.deepEqual(answer.usage, { prompt_tokens: 44, completion_tokens: 28, total_tokens: 72 });
      });

      test(`${provider}: a stream of several choices`, async () => {
        const stream = await here.client.completions.create({
          model,
          prompt: ['a cat', 'a dog'],
          echo: true,
          stream: true,
          stream_options: { include_usage: true },
        });
        const texts = ['', ''];
        const finishes: unknown[] = [];
        let total = 0;
        for await (const { choices, usage } of stream) {
          for (const { index, text, finish_reason } of choices) {
            texts[index] += text;
            if (finish_reason !== null) finishes.push(finish_reason);
          }
          total = usage?.total_tokens ?? total;
        }
        assert.deepEqual(texts, ['a catAbout a cat.', 'a dogAbout a dog.']);
        assert.deepEqual([finishes, total], [[finish, finish], 36]);
      });
    }

    test('what paces clients is told', async () => {
      for (const stream of [false, true]) {
        const body = { model: 'claude/claude-test', prompt: ['one', 'two'], stream };
        const { status, headers } = await here.post(body);
        assert.equal(status, 200);
        assert.equal(headers.get('anthropic-ratelimit-requests-remaining'), '7');
      }
    });

    test('what a chat has no place for is told, or refused where the client wants that', async () => {
      const body = {
        model: 'claude/claude-test',
        prompt: 'a',
        suffix: 'b',
        logprobs: 1,
        best_of: 2,
        logit_bias: { 5: 1 },
      };
      const { status, headers } = await here.post(body);
      assert.equal(status, 200);
      assert.deepEqual(headers.get('x-sluice-dropped')?.split(', ').sort(), [
        'best_of',
        'logit_bias',
        'logprobs',
        'suffix',
      ]);
      const strict = await here.post({ ...body, strict: true });
      assert.equal(strict.status, 400);
      assert.match(strict.text, /"param":"suffix"/);
    });

    test('a failure before anything was said is a status', async () => {
      const { status } = await here.post({ model: 'chats/fault-error-first', prompt: 'a', stream: true });
      assert.ok(status >= 400, String(status));
    });

    for (const [name, body, status, code] of [
      ['tokens', { model: 'claude/claude-test', prompt: [1, 2] }, 400, 'invalid_request'],
      [
        'more choices than a request may have',
        { model: 'claude/claude-test', prompt: ['a', 'b'], n: 100 },
        400,
        'invalid_request',
      ],
      ['a prompt of objects', { prompt: [{}] }, 422, 'invalid_field'],
      ['no prompts', { prompt: [] }, 422, 'invalid_field'],
      ['no choices', { prompt: 'a', n: 0 }, 422, 'invalid_field'],
      ['logprobs that are no number', { prompt: 'a', logprobs: true }, 422, 'invalid_field'],
      ['an unknown model', { model: 'nobodys', prompt: 'a' }, 404, 'model_not_found'],
      ['an unknown provider', { provider: 'nobody', prompt: 'a' }, 404, 'provider_not_found'],
    ] as const) {
      test(`${name}: ${status}`, async () => {
        const answer = await here.post(body);
        const { error } = JSON.parse(answer.text) as { error: { code: string; message: string } };
        assert.deepEqual({ status: answer.status, code: error.code }, { status, code }, error.message);
      });
    }
  });
});
