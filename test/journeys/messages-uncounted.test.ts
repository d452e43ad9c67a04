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

/** An upstream that answers with these events, and the gateway before it. */
async function openWith(events: readonly { readonly type: string }[]) {
  const server = await startScriptedServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
    return undefined;
  });
  return await startGatewayBefore(
    [server],
    `providers: { claude: { kind: anthropic, baseUrl: '${server.origin}', apiKey: k, models: [m] } }`,
  );
}

const ASKED = { model: 'claude/m', max_tokens: 9, messages: [{ role: 'user' as const, content: '12345678' }] };

test('an upstream of the Messages API that does not count gets an estimate', { timeout: 60_000 }, async () => {
  const { gateway, close } = await openWith(EVENTS);
  try {
    const client = new Anthropic({ baseURL: gateway.origin, apiKey: 'secret', maxRetries: 0 });
    const whole = await client.messages.create(ASKED);
    const streamed = await client.messages.stream(ASKED).finalMessage();
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

test('a counter that is null at the end stays as it was at the beginning', { timeout: 60_000 }, async () => {
  const counted = EVENTS.map((event) => {
    if (event.message !== undefined)
      return { ...event, message: { ...event.message, usage: { input_tokens: 21, output_tokens: 1 } } };
    const usage = { input_tokens: null, cache_read_input_tokens: null, output_tokens: 5 };
    return event.type === 'message_delta' ? { ...event, usage } : event;
  });
  const { gateway, close } = await openWith(counted);
  try {
    const client = new Anthropic({ baseURL: gateway.origin, apiKey: 'secret', maxRetries: 0 });
    const { usage } = await client.messages.create(ASKED);
    assert.deepEqual([usage.input_tokens, usage.output_tokens], [21, 5]);
  } finally {
    await close();
  }
});
