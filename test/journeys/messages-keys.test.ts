import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { startGatewayBefore } from './gateway-before.ts';
import { HELLO, type Params } from './messages-world.ts';
import { assertHolds } from './sdk-vendors.ts';

describe('keys of Anthropic’s client', { timeout: 60_000 }, () => {
  test('open a gateway that asks for one, and go no further', async () => {
    const upstream = await startOpenAiUpstream(() => ({ text: ['Hi'] }));
    const { gateway, close } = await startGatewayBefore(
      [upstream],
      `providers: { groq: { baseUrl: '${upstream.baseUrl}' } }\nkey: gateway-key-1\n`,
    );
    try {
      const wrong = new Anthropic({ baseURL: gateway.origin, apiKey: 'wrong', maxRetries: 0 });
      const ask: Params = { model: 'groq/test-model', max_tokens: 9, messages: HELLO };
      await assert.rejects(wrong.messages.create(ask), (error) => {
        assert.ok(error instanceof Anthropic.AuthenticationError);
        assertHolds(error.error, { type: 'error', error: { type: 'authentication_error', code: 'unauthorized' } });
        return true;
      });
      // The gateway's key is not the provider's.
      const right = new Anthropic({ baseURL: gateway.origin, apiKey: 'gateway-key-1', maxRetries: 0 });
      await assert.rejects(right.messages.create(ask), /needs an API key/);
      // As clients of Anthropic's other libraries send it, which leaves room for a second one.
      const headers = { 'x-api-key': 'gateway-key-1' };
      const both = new Anthropic({
        baseURL: gateway.origin,
        apiKey: 'provider-key-1',
        maxRetries: 0,
        defaultHeaders: headers,
      });
      const message = await both.messages.create(ask);
      assertHolds(message.content, [{ type: 'text', text: 'Hi' }]);
      assert.equal(upstream.requests.at(-1)?.headers.authorization, 'Bearer provider-key-1');
      // What a proxy in front asked for is no key at all.
      const behind = await fetch(`${gateway.origin}/v1/messages`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'anthropic-version': '2023-06-01',
          'x-api-key': 'gateway-key-1',
          authorization: `Basic ${btoa('anna:of-the-proxy')}`,
        },
        body: JSON.stringify(ask),
      });
      assert.match(await behind.text(), /needs an API key/);
      assert.ok(Array.isArray((await right.models.list()).data));
      const token = new Anthropic({ baseURL: gateway.origin, apiKey: null, authToken: 'gateway-key-1', maxRetries: 0 });
      await assert.rejects(token.messages.create(ask), /needs an API key/);
      assert.doesNotMatch(JSON.stringify(gateway.log.lines), /gateway-key-1|provider-key-1/);
    } finally {
      await close();
    }
  });

  test('are the provider’s where the operator has none, and only then', async () => {
    const upstream = await startAnthropicUpstream(() => ({ text: ['Hi'] }));
    const { gateway, close } = await startGatewayBefore(
      [upstream],
      `providers:
  open: { kind: anthropic, baseUrl: '${upstream.baseUrl}' }
  keyed: { kind: anthropic, baseUrl: '${upstream.baseUrl}', apiKey: operators-key }
`,
    );
    try {
      const client = new Anthropic({ baseURL: gateway.origin, apiKey: 'clients-key', maxRetries: 0 });
      const keyAt = async (provider: string): Promise<unknown> => {
        await client.messages.create({ model: `${provider}/claude-x`, max_tokens: 9, messages: HELLO });
        return upstream.requests.at(-1)?.headers['x-api-key'];
      };
      assert.equal(await keyAt('open'), 'clients-key');
      assert.equal(await keyAt('keyed'), 'operators-key');
      assert.doesNotMatch(JSON.stringify(gateway.log.lines), /clients-key|operators-key/);
    } finally {
      await close();
    }
  });
});
