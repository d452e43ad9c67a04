import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';
import { startGatewayBefore } from './gateway-before.ts';

const KINDS = ['openai', 'openai-responses', 'anthropic', 'google'] as const;

const messages = [{ role: 'user', content: 'Hi' }];
/** In the words of each kind, so that it is relayed or read without a library, and in those of others, so that it is translated. */
const WAYS: Readonly<Record<string, (model: string) => readonly [path: string, body: unknown]>> = {
  chat: (model) => ['/v1/chat/completions', { model, messages, stream: true }],
  responses: (model) => ['/v1/responses', { model, input: 'Hi', stream: true }],
  messages: (model) => ['/v1/messages', { model, messages, max_tokens: 9, stream: true }],
  gemini: (model) => [
    `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    { contents: [{ parts: [{ text: 'Hi' }] }] },
  ],
};

describe('the limit for an event of an upstream', () => {
  let server: ScriptedServer;
  let world: Awaited<ReturnType<typeof startGatewayBefore>>;
  before(async () => {
    server = await startScriptedServer((_, response) => {
      // No end: over the limit, nobody waits for it.
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: {"é":"${'é'.repeat(1_500)}`);
      return undefined;
    });
    const row = (kind: string): string =>
      `  ${kind}: { kind: ${kind}, baseUrl: '${server.origin}', apiKey: k, models: [m] }`;
    world = await startGatewayBefore(
      [server],
      `providers:\n${KINDS.map(row).join('\n')}\nlimits: { attempts: 1, sseLineBytes: 2000, firstByteMs: 5000, idleMs: 5000 }`,
    );
  });
  after(() => world.close());

  for (const kind of KINDS) {
    for (const [name, way] of Object.entries(WAYS)) {
      test(`counts bytes, of ${kind} for ${name}`, async () => {
        const [path, body] = way(`${kind}/m`);
        const response = await fetch(`${world.gateway.origin}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        assert.match(await response.text(), /sent an event of more than 2000 bytes/);
      });
    }
  }
});
