import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { testCall } from '../../../test/support/call.ts';
import { chatRequest } from '../../../test/support/chat-request.ts';
import { member } from '../../../test/support/vendor-server.ts';
import { allChunks, openVendor, untilFailure } from '../../../test/support/vendors.ts';

const SIGNED = {
  apiKey: '',
  settings: {
    region: 'eu-central-1',
    accessKeyId: 'AKIDTEST',
    secretAccessKey: 'very-secret',
    sessionToken: 'session',
  },
};

describe('bedrock', () => {
  test('with a bearer key', async () => {
    await using vendor = await openVendor('bedrock', () => ({ text: ['Hi'] }));
    await allChunks(vendor.chat(chatRequest('Hello', { sampling: { maxTokens: 9 } })));
    const [request] = vendor.upstream.requests;
    assert.equal(request?.headers.authorization, 'Bearer key-of-the-test');
    assert.equal(request?.path, '/model/us.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse-stream');
    assert.deepEqual(member(request?.body, 'inferenceConfig'), { maxTokens: 9 });
  });

  test('signed with the settings, which need no key', async () => {
    await using vendor = await openVendor('bedrock', () => ({ text: ['Hi'] }), SIGNED);
    await allChunks(vendor.chat(chatRequest('Hello')));
    const { headers } = vendor.upstream.requests[0] ?? {};
    assert.match(headers?.authorization ?? '', /^AWS4-HMAC-SHA256 Credential=AKIDTEST\/\d+\/eu-central-1\/bedrock\//);
    assert.equal(headers?.['x-amz-security-token'], 'session');
    assert.doesNotMatch(inspect(headers), /very-secret/);
    assert.deepEqual(vendor.provider.auth, { kind: 'api_key', configured: true });
  });

  test("a client's key goes before the settings", async () => {
    await using vendor = await openVendor('bedrock', () => ({ text: ['Hi'] }), SIGNED);
    await allChunks(vendor.chat(chatRequest('Hello'), testCall({ apiKey: 'own' })));
    assert.equal(vendor.upstream.requests[0]?.headers.authorization, 'Bearer own');
  });

  test('half a pair of settings is none', async () => {
    await using vendor = await openVendor('bedrock', () => ({}), { apiKey: '', settings: { accessKeyId: 'AKIDTEST' } });
    const { error } = await untilFailure(vendor.chat(chatRequest('Hello')));
    assert.equal(error.code, 'missing_credentials');
  });

  test('settings are in no error', async () => {
    const errorMessage = 'The security token very-secret is invalid.';
    await using vendor = await openVendor('bedrock', () => ({ status: 403, errorMessage }), SIGNED);
    const { error } = await untilFailure(vendor.chat(chatRequest('Hello')));
    assert.equal(error.code, 'missing_credentials');
    assert.doesNotMatch(inspect(error, { depth: 10 }), /very-secret/);
  });

  test('the models of a region', async () => {
    await using vendor = await openVendor('bedrock', () => ({}), SIGNED);
    const models = await vendor.provider.models({}, AbortSignal.timeout(10_000));
    assert.ok(models.some(({ id }) => id === 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'));
    assert.equal(vendor.upstream.requests.length, 0);
  });
});
