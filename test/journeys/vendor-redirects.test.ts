import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';
import { startGatewayBefore } from './gateway-before.ts';

const KINDS = ['openai', 'openai-responses', 'anthropic', 'google'] as const;

/** A redirect is a setting that is wrong: asking again finds the same. */
describe('a redirect', () => {
  let server: ScriptedServer;
  let world: Awaited<ReturnType<typeof startGatewayBefore>>;
  let asked = 0;
  before(async () => {
    server = await startScriptedServer((_, response) => {
      asked += 1;
      response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
      return undefined;
    });
    const row = (kind: string): string =>
      `  ${kind}: { kind: ${kind}, baseUrl: '${server.origin}', apiKey: k, models: [m] }`;
    world = await startGatewayBefore([server], `providers:\n${KINDS.map(row).join('\n')}`);
  });
  after(() => world.close());

  for (const kind of KINDS) {
    test(`of ${kind} is told at once`, async () => {
      asked = 0;
      const response = await fetch(`${world.gateway.origin}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: `${kind}/m`, messages: [{ role: 'user', content: 'Hi' }] }),
      });
      const { error } = (await response.json()) as {
        readonly error: { readonly code: string; readonly message: string };
      };
      assert.deepEqual([response.status, error.code], [502, 'upstream_invalid'], error.message);
      assert.match(error.message, /redirects to another address \(307\), which is not followed/);
      assert.equal(asked, 1);
    });
  }
});
