import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';
import { startGatewayBefore } from './gateway-before.ts';

const KINDS = ['openai', 'openai-responses', 'anthropic', 'google'] as const;
const LONG = 'sk-a-key-of-many-letters';
const SAID = 'Too many tokens in any one company.';

/** Servers that want no key are given one of any word, which their messages may well have. */
describe("what an upstream says keeps its words, whatever the provider's key is", () => {
  let server: ScriptedServer;
  let world: Awaited<ReturnType<typeof startGatewayBefore>>;
  let said: string;
  before(async () => {
    server = await startScriptedServer((_, response) => {
      const error = { type: 'invalid_request_error', message: said };
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
      return undefined;
    });
    const rows = KINDS.flatMap((kind) =>
      [
        [kind, 'any'],
        [`${kind}-long`, LONG],
      ].map(([id, key]) => `  ${id}: { kind: ${kind}, baseUrl: '${server.origin}', apiKey: ${key}, models: [m] }`),
    );
    world = await startGatewayBefore([server], `providers:\n${rows.join('\n')}`);
  });
  after(() => world.close());

  async function refused(provider: string): Promise<string> {
    const response = await fetch(`${world.gateway.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: `${provider}/m`, messages: [{ role: 'user', content: 'Hi' }] }),
    });
    assert.equal(response.status, 400);
    const { error } = (await response.json()) as { readonly error: { readonly message: string } };
    return error.message;
  }

  for (const kind of KINDS) {
    test(`${kind}, whose key is a word of the message`, async () => {
      said = SAID;
      assert.equal(await refused(kind), `BadRequestError: ${SAID}`);
    });

    test(`${kind}, but for a key that is one`, async () => {
      said = `Not with ${LONG}, please.`;
      const message = await refused(`${kind}-long`);
      assert.match(message, /^BadRequestError: Not with \S+, please\.$/);
      assert.ok(!message.includes(LONG), message);
    });
  }
});
