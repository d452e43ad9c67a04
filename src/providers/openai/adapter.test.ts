import assert from 'node:assert/strict';
import { after, describe, type TestContext, test } from 'node:test';
import { testCall } from '../../../test/support/call.ts';
import { chatRequest } from '../../../test/support/chat-request.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { type OpenAiOptions, type OpenAiUpstream, startOpenAiUpstream } from '../../../test/support/openai-upstream.ts';
import { providerConfig } from '../../../test/support/provider-config.ts';
import type { VendorScript } from '../../../test/support/vendor-script.ts';
import { allChunks, contentOf, finishOf, untilFailure } from '../../../test/support/vendors.ts';
import type { ProviderConfig } from '../../config/config.ts';
import { defaultLimits } from '../../config/defaults.ts';
import type { Call } from '../../core/call.ts';
import type { ChatRequest } from '../../core/chat.ts';
import type { Batch } from '../../core/chunk.ts';
import type { Provider } from '../../core/provider.ts';
import { createUpstreamClient } from '../../outbound/upstream.ts';
import { createOpenAiProvider } from './adapter.ts';

const client = createUpstreamClient(() => defaultLimits);

interface Setup {
  readonly upstream: OpenAiUpstream;
  readonly provider: Provider;
  chat(request?: ChatRequest, call?: Call): AsyncIterable<Batch>;
}

async function setup(
  context: TestContext,
  script?: VendorScript,
  fields: Partial<ProviderConfig> = {},
  options?: OpenAiOptions,
): Promise<Setup> {
  const upstream = await startOpenAiUpstream(script, options);
  context.after(() => upstream.close());
  const config = {
    ...providerConfig({ kind: 'openai', label: 'Acme', ...fields }),
    baseUrl: fields.baseUrl ?? upstream.baseUrl,
  };
  const cookies = { header: () => undefined };
  const provider = createOpenAiProvider(config, { client, cookies, limits: () => defaultLimits });
  return {
    upstream,
    provider,
    chat(request = chatRequest('Hi'), call = testCall()) {
      assert.ok(provider.chat);
      return provider.chat(request, call);
    },
  };
}

describe('a provider of the OpenAI wire format', () => {
  after(() => client.close());

  test('asks for the whole of a spoken answer, unless it is samples: no other format streams', async (context) => {
    const { upstream, chat } = await setup(context, () => ({ text: ['Good day'] }));
    const streamed: unknown[] = [];
    for (const [modalities, format] of [
      [['text', 'audio'], 'mp3'],
      [['text', 'audio'], 'pcm16'],
      [['text'], 'mp3'],
    ] as const) {
      const chunks = await allChunks(
        chat(chatRequest('Hi', { extra: { modalities, audio: { voice: 'alloy', format } } })),
      );
      assert.equal(contentOf(chunks), 'Good day');
      assert.equal(finishOf(chunks), 'stop');
      streamed.push((upstream.chats.at(-1)?.body as { stream?: unknown } | undefined)?.stream);
    }
    assert.deepEqual(streamed, [false, true, true]);
  });

  test('asks for a stream with usage, and answers in chunks', async (context) => {
    const { upstream, chat } = await setup(context, () => ({ reasoning: ['hm'], text: ['Grü', 'ße'] }));
    const chunks = await allChunks(chat(chatRequest('Hi', { extra: { logit_bias: { 5: 1 } } })));
    assert.equal(contentOf(chunks), 'Grüße');
    assert.equal(finishOf(chunks), 'stop');
    const usage = chunks.find((chunk) => chunk.type === 'usage');
    assert.deepEqual([usage?.usage.promptTokens, usage?.usage.completionTokens, usage?.usage.totalTokens], [11, 7, 18]);
    const [seen] = upstream.chats;
    assert.deepEqual(seen?.body, {
      logit_bias: { 5: 1 },
      model: 'test-model',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      stream_options: { include_usage: true },
    });
    assert.equal(seen?.headers.authorization, 'Bearer key-of-the-test');
  });

  test('the key goes where the upstream wants it; a key of the client goes before the configured one', async (context) => {
    const { upstream, chat } = await setup(context, undefined, {
      keyHeader: 'api-key',
      headers: { 'x-title': 'Sluice' },
    });
    await allChunks(chat());
    await allChunks(chat(chatRequest('Hi'), testCall({ apiKey: 'own-key' })));
    assert.deepEqual(
      upstream.chats.map(({ headers }) => [headers['api-key'], headers.authorization, headers['x-title']]),
      [
        ['key-of-the-test', undefined, 'Sluice'],
        ['own-key', undefined, 'Sluice'],
      ],
    );
  });

  test('a missing key, or one that cannot be a key, is refused before anything is sent', async (context) => {
    const { upstream, provider, chat } = await setup(context);
    for (const apiKey of ['a\r\nx-injected: 1', 'ключ', 'two words', '\u0000']) {
      const call = testCall({ apiKey });
      await assert.rejects(allChunks(chat(chatRequest('Hi'), call)), { code: 'missing_credentials' });
      assert.throws(
        () => provider.relay?.target('/chat/completions', { apiKey }),
        (error: Error) => !error.message.includes(apiKey),
      );
    }
    assert.equal(upstream.requests.length, 0);
    const { apiKey: _apiKey, ...keyless } = providerConfig({ kind: 'openai', keyVariable: 'ACME_API_KEY' });
    const without = createOpenAiProvider(
      { ...keyless, baseUrl: upstream.baseUrl },
      { client, cookies: { header: () => undefined }, limits: () => defaultLimits },
    );
    assert.throws(() => without.relay?.target('/x', {}), { code: 'missing_credentials', message: /ACME_API_KEY/ });
    assert.deepEqual(without.auth, { kind: 'api_key', configured: false, variable: 'ACME_API_KEY' });
  });

  test('the path of the address is kept', async (context) => {
    const { provider } = await setup(context, undefined, { baseUrl: 'https://acme.example/openai/v1/' });
    assert.deepEqual(
      [provider.relay?.target('/chat/completions', {}).origin, provider.relay?.target('/chat/completions', {}).path],
      ['https://acme.example', '/openai/v1/chat/completions'],
    );
  });

  test('what was said before a failure is handed out before it', async (context) => {
    const { chat } = await setup(context, () => ({
      text: ['begun', ' and'],
      errorAfter: 2,
      errorMessage: 'crashed',
      burst: 10,
    }));
    const { chunks, error } = await untilFailure(chat());
    assert.equal(contentOf(chunks), 'begun and');
    assert.equal(error.message, 'crashed');
    const cut = await setup(context, () => ({ text: ['begun'], cutAfter: 1 }));
    const broken = await untilFailure(cut.chat());
    assert.equal(contentOf(broken.chunks), 'begun');
    assert.equal(broken.error.code, 'upstream_cut');
  });

  test('a connection that breaks after the end was named has ended', async (context) => {
    const { chat } = await setup(
      context,
      undefined,
      {},
      {
        async handle(_request, response) {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write('data: {"choices":[{"index":0,"delta":{"content":"all"},"finish_reason":"length"}]}\n\n');
          setTimeout(() => response.destroy(), 50);
          return true;
        },
      },
    );
    const chunks = await allChunks(chat());
    assert.equal(contentOf(chunks), 'all');
    assert.equal(finishOf(chunks), 'length');
  });

  test('one JSON text for a stream is taken too, in whatever pieces it comes', async (context) => {
    const whole = JSON.stringify({ choices: [{ index: 0, message: { content: 'data: all' }, finish_reason: 'stop' }] });
    const { chat } = await setup(
      context,
      undefined,
      {},
      {
        async handle(_request, response) {
          response.writeHead(200);
          for (const piece of [' \n', ...whole.split(/(?<=[":])/)]) {
            response.write(piece);
            await new Promise((resolve) => setTimeout(resolve, 1));
          }
          response.end();
          return true;
        },
      },
    );
    assert.equal(contentOf(await allChunks(chat())), 'data: all');
  });

  test('errors come with the upstream’s words and their meaning', async (context) => {
    for (const [status, code] of [
      [400, 'invalid_request'],
      [401, 'missing_credentials'],
      [404, 'model_not_found'],
      [429, 'rate_limited'],
      [503, 'overloaded'],
    ] as const) {
      const { chat } = await setup(context, () => ({ status, errorMessage: 'in their words' }));
      await assert.rejects(allChunks(chat()), { code, message: 'in their words' });
    }
  });

  test('stopping closes the connection: by the call, and by whoever reads', async (context) => {
    const { upstream, chat } = await setup(context, () => ({ text: ['a', 'b'], stallAfter: 1 }));
    const call = testCall();
    const read = untilFailure(chat(chatRequest('Hi'), call));
    for await (const batch of chat()) if (batch.some((chunk) => chunk.type === 'content')) break;
    await eventually('both are asked', () => upstream.chats.length >= 2);
    call.cancel();
    assert.equal((await read).error.code, 'cancelled');
    for (const request of upstream.chats) assert.equal(await request.closed, 'aborted');
  });

  test('after [DONE] the connection serves again', async (context) => {
    const { upstream, chat } = await setup(context);
    for (let round = 0; round < 10; round += 1) await allChunks(chat());
    // The end of one answer may still be on its way when the next is asked for.
    assert.ok(upstream.connections <= 3, `${upstream.connections} connections`);
  });

  describe('its models', () => {
    test('are those that are configured, or those that the upstream lists', async (context) => {
      const listed = await setup(context, undefined, {}, { models: ['b', 'a'] });
      const { signal } = new AbortController();
      assert.deepEqual((await listed.provider.models({}, signal)).map(({ id }) => id).toSorted(), ['a', 'b']);
      const named = await setup(context, undefined, { models: ['own'] });
      assert.deepEqual(
        (await named.provider.models({}, signal)).map(({ id }) => id),
        ['own'],
      );
      assert.equal(named.upstream.requests.length, 0);
    });

    test('cannot be asked for where the listing is broken', async (context) => {
      for (const [status, body, code] of [
        [200, '<html>', 'upstream_invalid'],
        [200, '', 'upstream_invalid'],
        [500, '{}', 'upstream_failed'],
        [401, '{"error":{"message":"no"}}', 'missing_credentials'],
        [302, '', 'upstream_invalid'],
      ] as const) {
        const { provider } = await setup(
          context,
          undefined,
          {},
          {
            handle(_request, response) {
              response.writeHead(status, { location: '/elsewhere' }).end(body);
              return true;
            },
          },
        );
        await assert.rejects(provider.models({}, new AbortController().signal), { code }, `${status} ${body}`);
      }
    });
  });
});
