import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { eventually } from '../support/eventually.ts';
import { startScriptedServer } from '../support/scripted-server.ts';
import { usageLines } from '../support/usage.ts';
import { startGatewayBefore } from './gateway-before.ts';

const EVENTS = [
  { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Eight characters' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null } },
  { type: 'message_stop' },
];

test('an upstream of the Messages API that does not count gets an estimate', { timeout: 60_000 }, async () => {
  const server = await startScriptedServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(EVENTS.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
    return undefined;
  });
  const { gateway, close } = await startGatewayBefore(
    [server],
    `providers: { claude: { kind: anthropic, baseUrl: '${server.origin}', apiKey: k, models: [m] } }`,
  );
  try {
    const client = new Anthropic({ baseURL: gateway.origin, apiKey: 'secret', maxRetries: 0 });
    const asked = { model: 'claude/m', max_tokens: 9, messages: [{ role: 'user' as const, content: '12345678' }] };
    const whole = await client.messages.create(asked);
    const streamed = await client.messages.stream(asked).finalMessage();
    for (const { usage } of [whole, streamed]) assert.deepEqual([usage.input_tokens, usage.output_tokens], [7, 4]);
    const lines = await eventually('both are recorded', async () => {
      const recorded = await usageLines(gateway.origin);
      return recorded.length === 2 && recorded;
    });
    for (const line of lines) assert.match(line, /"prompt_tokens":7,"completion_tokens":4\b/);
  } finally {
    await close();
  }
});
