import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, afterEach, before, describe, test } from 'node:test';
import OpenAI, { APIError } from 'openai';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import { startResponsesUpstream } from '../support/responses-upstream.ts';
import type { VendorUpstream } from '../support/vendor-server.ts';
import { startGatewayBefore } from './gateway-before.ts';
import { all } from './responses-world.ts';

const REFUSED = (model: string) =>
  `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`;
const TOOLS = [
  {
    type: 'function' as const,
    function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
  },
];
const ASK = { messages: [{ role: 'user' as const, content: 'Weather?' }], reasoning_effort: 'low' as const };

/** OpenAI as it is: one address, two APIs, and models that want tools on the newer one. */
describe('an upstream that refuses tools with reasoning on chat completions', { timeout: 60_000 }, () => {
  let responses: VendorUpstream;
  let upstream: OpenAiUpstream;
  let client: OpenAI;
  let close: () => Promise<void>;
  let answer: 'call' | 'refuse' = 'call';

  before(async () => {
    responses = await startResponsesUpstream(() =>
      answer === 'refuse'
        ? { status: 400, errorMessage: 'Not on /v1/responses either.' }
        : {
            reasoning: ['Look outside.'],
            toolCalls: [{ id: 'call_1', name: 'weather', arguments: ['{"city":', '"Rom"}'] }],
          },
    );
    upstream = await startOpenAiUpstream(
      ({ model, tools }) => {
        if (model.startsWith('only-')) {
          return {
            status: 404,
            errorMessage: 'This model is only supported in v1/responses and not in v1/chat/completions.',
          };
        }
        return tools.length > 0 ? { status: 400, errorMessage: REFUSED(model) } : { text: ['No tools, no detour.'] };
      },
      {
        async handle(request, response) {
          if (request.path !== '/v1/responses') return false;
          const answered = await fetch(`${responses.baseUrl}/responses`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: request.headers.authorization ?? '' },
            body: new Uint8Array(request.rawBody),
          });
          response.writeHead(answered.status, { 'content-type': answered.headers.get('content-type') ?? '' });
          for await (const bytes of answered.body ?? []) if (!response.write(bytes)) await once(response, 'drain');
          response.end();
          return true;
        },
      },
    );
    const started = await startGatewayBefore(
      [upstream, responses],
      `providers: { acme: { kind: openai, baseUrl: '${upstream.baseUrl}', apiKey: acme-key } }`,
    );
    close = started.close;
    client = new OpenAI({ baseURL: `${started.gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
  });
  after(() => close());
  afterEach(() => {
    answer = 'call';
  });

  /** The paths of what arrived, since a mark. */
  const since = (mark: number): string[] =>
    upstream.requests
      .slice(mark)
      .filter(({ method }) => method === 'POST')
      .map(({ path }) => path);

  test('a relayed request is asked again, once, and the model remembered', async () => {
    const mark = upstream.requests.length;
    const first = await client.chat.completions.create({ model: 'acme/gpt-5.4', tools: TOOLS, ...ASK });
    assert.deepEqual(since(mark), ['/v1/chat/completions', '/v1/responses']);
    const [choice] = first.choices;
    assert.equal(choice?.finish_reason, 'tool_calls');
    const [call] = choice?.message.tool_calls ?? [];
    assert.ok(call?.type === 'function');
    assert.deepEqual(call.function, { name: 'weather', arguments: '{"city":"Rom"}' });
    const sent = responses.requests.at(-1);
    assert.equal(sent?.headers.authorization, 'Bearer acme-key');
    const body = sent?.body as Record<string, unknown>;
    assert.equal(body['store'], false);
    assert.deepEqual(body['include'], ['reasoning.encrypted_content']);
    assert.deepEqual((body['tools'] as { strict?: boolean }[])[0]?.strict, false);
    assert.equal((body['reasoning'] as { effort?: string }).effort, 'low');

    const chunks = await all(
      await client.chat.completions.create({ model: 'acme/gpt-5.4', tools: TOOLS, ...ASK, stream: true }),
    );
    assert.deepEqual(since(mark), ['/v1/chat/completions', '/v1/responses', '/v1/responses']);
    const pieces = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    assert.equal(pieces.map((piece) => piece.function?.arguments ?? '').join(''), '{"city":"Rom"}');
  });

  test('the encrypted thoughts of a call come back with its result', async () => {
    const first = await client.chat.completions.create({ model: 'acme/gpt-5.4', tools: TOOLS, ...ASK });
    const message = first.choices[0]?.message;
    assert.ok(message !== undefined);
    await client.chat.completions.create({
      model: 'acme/gpt-5.4',
      tools: TOOLS,
      ...ASK,
      messages: [...ASK.messages, message, { role: 'tool', tool_call_id: 'call_1', content: 'sunny' }],
    });
    const sent = JSON.stringify(responses.requests.at(-1)?.body);
    assert.match(sent, /"encrypted_content":"encrypted rs_0"/);
  });

  test('requests without tools stay where they were', async () => {
    await client.chat.completions.create({ model: 'acme/gpt-5.4', tools: TOOLS, ...ASK });
    const mark = upstream.requests.length;
    const plain = await client.chat.completions.create({ model: 'acme/gpt-5.4', ...ASK });
    assert.equal(plain.choices[0]?.message.content, 'No tools, no detour.');
    assert.deepEqual(since(mark), ['/v1/chat/completions']);
  });

  test('an answer made of chunks takes the same way', async () => {
    const mark = upstream.requests.length;
    const tools = [{ type: 'function' as const, strict: true, name: 'weather', parameters: { type: 'object' } }];
    const create = () =>
      client.responses.create({ model: 'acme/gpt-5.6', tools, input: 'Weather?', reasoning: { effort: 'low' } });
    const { output } = await create();
    assert.deepEqual(
      output.map(({ type }) => type),
      ['reasoning', 'function_call'],
    );
    await create();
    assert.deepEqual(since(mark), ['/v1/chat/completions', '/v1/responses', '/v1/responses']);
  });

  test('a model that is served there only', async () => {
    const mark = upstream.requests.length;
    await client.chat.completions.create({ model: 'acme/only-there', ...ASK });
    await client.chat.completions.create({ model: 'acme/only-there', ...ASK });
    assert.deepEqual(since(mark), ['/v1/chat/completions', '/v1/responses', '/v1/responses']);
  });

  test('a refusal there, too, is the answer', async () => {
    answer = 'refuse';
    const mark = upstream.requests.length;
    await assert.rejects(
      client.chat.completions.create({ model: 'acme/gpt-7', tools: TOOLS, ...ASK }),
      (error) => error instanceof APIError && error.status === 400 && /either/.test(error.message),
    );
    assert.deepEqual(since(mark), ['/v1/chat/completions', '/v1/responses']);
  });
});
