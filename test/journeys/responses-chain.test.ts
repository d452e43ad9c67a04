import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { startGateway } from '../support/gateway.ts';
import { FORMATS, openWorld } from './responses-world.ts';
import { reasoningOf } from './sdk-vendors.ts';

const TOOLS = [{ type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } }];

/** The library that reads our events here is not OpenAI's own, and checks each against a schema. */
test('a gateway reads the answers of another over the Responses API', { timeout: 60_000 }, async () => {
  const world = await openWorld();
  const front = await startGateway(
    `providers: { up: { kind: openai-responses, baseUrl: '${world.gateway.origin}/v1', apiKey: secret } }`,
  );
  const client = new OpenAI({ baseURL: `${front.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
  try {
    for (const format of FORMATS) {
      const seat = world.seat(format);
      const model = `up/${seat.model}`;
      const question = { role: 'user' as const, content: 'Weather?' };
      seat.answers({
        reasoning: ['Look', ' outside.'],
        toolCalls: [
          { id: 'call_a', name: 'weather', arguments: ['{"city":', '"Rom"}'] },
          { id: 'call_b', name: 'weather', arguments: ['{"city":"Oslo"}'] },
        ],
        usage: { prompt: 21, completion: 9, cached: 5 },
      });
      const ask = { model, tools: TOOLS, reasoning_effort: 'low' as const };
      const called = await client.chat.completions.create({ ...ask, messages: [question] });
      const message = called.choices[0]?.message;
      assert.equal(called.choices[0]?.finish_reason, 'tool_calls', format);
      assert.deepEqual(
        message?.tool_calls?.map((call) => call.type === 'function' && JSON.parse(call.function.arguments)),
        [{ city: 'Rom' }, { city: 'Oslo' }],
      );
      const results = (message?.tool_calls ?? []).map(({ id }, index) => ({
        role: 'tool' as const,
        tool_call_id: id,
        content: `result ${index}`,
      }));

      seat.answers({ text: ['Sunny', ' and cold.'], finish: 'length' });
      assert.ok(message !== undefined);
      const answer = await client.chat.completions.create({ ...ask, messages: [question, message, ...results] });
      assert.equal(answer.choices[0]?.message.content, 'Sunny and cold.');
      assert.equal(answer.choices[0]?.finish_reason, 'length');
      const sent = JSON.stringify(seat.last.body);
      for (const words of ['Weather?', 'Look outside.', 'Rom', 'Oslo', 'result 0', 'result 1']) {
        assert.ok(sent.includes(words), `${format}: ${words} in ${sent}`);
      }
      // Signatures have crossed both gateways, there and back.
      if (format === 'anthropic') assert.ok(sent.includes('"signature":"sig-0"'), sent);
      if (format === 'openai-responses') assert.ok(sent.includes('"encrypted_content":"encrypted rs_0"'), sent);

      seat.answers({ status: 429, errorMessage: 'Slow down.', headers: { 'retry-after': '60' } });
      await assert.rejects(
        client.chat.completions.create({ model, messages: [question] }),
        (error) => error instanceof OpenAI.RateLimitError && /Slow down/.test(error.message),
      );
      seat.answers({ reasoning: ['Hm.'], text: ['Half'], errorAfter: 2, errorMessage: 'Out of power.' });
      await assert.rejects(
        async () => {
          for await (const chunk of await client.chat.completions.create({
            ...ask,
            messages: [question],
            stream: true,
          })) {
            void reasoningOf(chunk);
          }
        },
        (error) => error instanceof OpenAI.APIError && /Out of power/.test(error.message),
      );
    }
  } finally {
    await front.close();
    await world.close();
  }
});
