import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { startGateway } from '../support/gateway.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { begin, QUESTION, readChatStream, readCompletion, readError, receive } from '../support/wire-answers.ts';

describe('a network that only a proxy leads out of', () => {
  test('providers answer through it, except those that NO_PROXY names', async (context) => {
    const upstream = await startOpenAiUpstream(() => ({ text: ['from ', 'afar'] }));
    context.after(() => upstream.close());
    const { port, asked } = await startForwardProxy(context, {
      to: Number(new URL(upstream.baseUrl).port),
      credentials: 'me:secret1',
    });
    const gateway = await startGateway(
      [
        'providers:',
        "  far: { kind: openai, baseUrl: 'http://upstream.example/v1' }",
        "  inside: { kind: openai, baseUrl: 'http://inside.example:1/v1' }",
        `  near: { kind: openai, baseUrl: '${upstream.baseUrl}' }`,
      ].join('\n'),
      { environment: { HTTP_PROXY: `http://me:secret1@localhost:${port}`, NO_PROXY: 'inside.example' } },
    );
    context.after(() => gateway.close());
    const ask = async (provider: string, more = {}) => {
      const body = { provider, model: 'test-model', messages: QUESTION, ...more };
      return receive(await begin(gateway.origin, '/v1/chat/completions', body).response);
    };
    assert.equal(readCompletion(await ask('far')).text, 'from afar');
    assert.equal(readChatStream(await ask('far', { stream: true })).text, 'from afar');
    const through = asked.map(({ line }) => line);
    assert.deepEqual([...new Set(through)], ['POST http://upstream.example/v1/chat/completions']);
    assert.equal(readCompletion(await ask('near')).text, 'from afar');
    assert.equal((await ask('inside')).status, 502);
    assert.equal(asked.length, through.length);
    for (const { headers } of upstream.chats) assert.equal(headers['proxy-authorization'], undefined);
    assert.ok(!JSON.stringify(gateway.log).includes('secret1'));
  });

  test('a proxy that lets nobody through is named, not the provider', async (context) => {
    const { port } = await startForwardProxy(context, { to: undefined });
    const gateway = await startGateway(
      [
        'providers:',
        "  plain: { kind: openai, baseUrl: 'http://upstream.example/v1' }",
        "  secure: { kind: openai, baseUrl: 'https://upstream.example/v1' }",
      ].join('\n'),
      { environment: { HTTP_PROXY: `http://localhost:${port}`, HTTPS_PROXY: `http://localhost:${port}` } },
    );
    context.after(() => gateway.close());
    for (const [provider, named] of [
      ['plain', /^ConnectionError: The proxy that HTTP_PROXY names .*\(403\).*NO_PROXY/],
      ['secure', /^ConnectionError: The proxy that HTTPS_PROXY names .*\(403\).*NO_PROXY/],
    ] as const) {
      const body = { provider, model: 'test-model', messages: QUESTION };
      const answer = await receive(await begin(gateway.origin, '/v1/chat/completions', body).response);
      assert.equal(answer.status, 502);
      assert.match(String(readError(answer)['message']), named);
    }
  });

  test("an upstream's own refusal passes a proxy as it is", async (context) => {
    const upstream = await startOpenAiUpstream(() => ({ status: 403, errorMessage: 'Not for you.' }));
    context.after(() => upstream.close());
    const { port } = await startForwardProxy(context, { to: Number(new URL(upstream.baseUrl).port) });
    const gateway = await startGateway("providers:\n  far: { kind: openai, baseUrl: 'http://upstream.example/v1' }", {
      environment: { HTTP_PROXY: `http://localhost:${port}` },
    });
    context.after(() => gateway.close());
    const body = { provider: 'far', model: 'test-model', messages: QUESTION };
    const answer = await receive(await begin(gateway.origin, '/v1/chat/completions', body).response);
    assert.equal(answer.status, 403);
    assert.match(String(readError(answer)['message']), /Not for you/);
  });
});
