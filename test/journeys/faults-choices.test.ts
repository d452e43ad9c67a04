import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { startGateway } from '../support/gateway.ts';
import {
  askChat,
  type Json,
  type Received,
  readChatStream,
  readCompletion,
  readError,
} from '../support/wire-answers.ts';

import { HEAD, openGateway, sending } from './answers-world.ts';

describe('several choices', { concurrency: 4 }, () => {
  test('of an upstream that knows them', { timeout: 30_000 }, async (context) => {
    const of = (index: number, content: string, finish: string | null = null): Json => ({
      ...HEAD,
      choices: [{ index, delta: { content }, finish_reason: finish }],
    });
    const events = [of(0, 'a'), of(1, 'x'), of(0, '', 'stop'), of(1, 'y'), of(1, '', 'length')];
    const [gateway, upstream] = await openGateway(context, undefined, sending(...events, '[DONE]'));
    const received = await askChat(gateway.origin, { provider: 'mock', model: 'm', stream: true, n: 2 });
    readChatStream(received, { choices: 2 });
    assert.equal(textOfChoice(received, 0), 'a');
    assert.equal(textOfChoice(received, 1), 'xy');
    assert.deepEqual(
      upstream.chats.map(({ body }) => (body as Json)['n']),
      [2],
    );
  });

  test('of one whose library answers one at a time', { timeout: 30_000 }, async (context) => {
    let count = 0;
    const upstream = await startAnthropicUpstream(() => {
      count += 1;
      return { text: [`answer ${count}`, '!'], delayMs: 5 };
    });
    const gateway = await startGateway(
      `providers: { claude: { kind: anthropic, baseUrl: '${upstream.baseUrl}', apiKey: key-of-claude } }`,
    );
    context.after(async () => {
      await gateway.close();
      await upstream.close();
    });
    const body = { provider: 'claude', model: 'claude-haiku-4-5', n: 3 };
    const whole = await askChat(gateway.origin, body);
    readCompletion(whole);
    const texts = (JSON.parse(whole.body) as { choices: { message: { content: string } }[] }).choices.map(
      ({ message }) => message.content,
    );
    assert.deepEqual(texts.toSorted(), ['answer 1!', 'answer 2!', 'answer 3!']);
    assert.equal((JSON.parse(whole.body) as { usage: Json }).usage['total_tokens'], 3 * 18);

    for (const wantsUsage of [false, true]) {
      const streamed = await askChat(gateway.origin, {
        ...body,
        stream: true,
        stream_options: { include_usage: wantsUsage },
      });
      const said = readChatStream(streamed, { choices: 3, wantsUsage });
      assert.equal(said.usage?.['total_tokens'], 3 * 18);
      const spoken = [0, 1, 2].map((index) => textOfChoice(streamed, index));
      assert.equal(new Set(spoken).size, 3);
      for (const text of spoken) assert.match(text, /^answer \d!$/);
    }
  });

  test('of which one fails: the others are closed, and nothing looks like an end', {
    timeout: 30_000,
  }, async (context) => {
    let count = 0;
    const upstream = await startAnthropicUpstream(() => {
      count += 1;
      return count % 3 === 0 ? { text: ['begun', ' and'], cutAfter: 1 } : { text: ['a', 'b'], stallAfter: 1 };
    });
    const gateway = await startGateway(
      `providers: { claude: { kind: anthropic, baseUrl: '${upstream.baseUrl}', apiKey: key-of-claude } }`,
    );
    context.after(async () => {
      await gateway.close();
      await upstream.close();
    });
    const body = { provider: 'claude', model: 'claude-haiku-4-5', n: 3 };
    const said = readChatStream(await askChat(gateway.origin, { ...body, stream: true }), { choices: 3 });
    assert.ok(said.error);
    readError(await askChat(gateway.origin, body));
    for (const request of upstream.requests) await request.closed;
  });

  test('of which one cannot even begin: the others are closed', { timeout: 30_000 }, async (context) => {
    let count = 0;
    const upstream = await startAnthropicUpstream(() => {
      count += 1;
      return count === 2 ? { status: 400, errorMessage: 'no' } : { text: ['a', 'b'], stallAfter: 1 };
    });
    const gateway = await startGateway(
      `providers: { claude: { kind: anthropic, baseUrl: '${upstream.baseUrl}', apiKey: key-of-claude } }`,
    );
    context.after(async () => {
      await gateway.close();
      await upstream.close();
    });
    const received = await askChat(gateway.origin, {
      provider: 'claude',
      model: 'claude-haiku-4-5',
      n: 3,
      stream: true,
    });
    assert.equal(received.status, 400);
    for (const request of upstream.requests) await request.closed;
  });

  /** What a streamed answer says in one of its choices. */
  function textOfChoice(received: Received, wanted: number): string {
    const events = received.body.split('\n\n').filter((event) => event.startsWith('data: {'));
    const choices = events.flatMap(
      (event) => (JSON.parse(event.slice(6)) as { choices: { index: number; delta: Json }[] }).choices,
    );
    return choices.map(({ index, delta: given }) => (index === wanted ? String(given['content'] ?? '') : '')).join('');
  }
});
