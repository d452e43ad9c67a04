import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import type { VendorScript } from '../support/vendor-script.ts';
import type { VendorUpstream } from '../support/vendor-server.ts';
import {
  askChat,
  type Json,
  type Received,
  readChatStream,
  readCompletion,
  readError,
} from '../support/wire-answers.ts';
import { HEAD, openGateway, sending } from './answers-world.ts';

const THREE = { provider: 'claude', model: 'claude-haiku-4-5', n: 3 };

/** Before a vendor whose library answers one choice at a time. */
async function openClaude(context: TestContext, script: VendorScript): Promise<[Gateway, VendorUpstream]> {
  const upstream = await startAnthropicUpstream(script);
  const gateway = await startGateway(
    `providers: { claude: { kind: anthropic, baseUrl: '${upstream.baseUrl}', apiKey: key-of-claude } }`,
  );
  context.after(async () => {
    await gateway.close();
    await upstream.close();
  });
  return [gateway, upstream];
}

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
    const [gateway] = await openClaude(context, () => {
      count += 1;
      return { text: [`answer ${count}`, '!'], delayMs: 5 };
    });
    const whole = await askChat(gateway.origin, THREE);
    readCompletion(whole);
    const texts = (JSON.parse(whole.body) as { choices: { message: { content: string } }[] }).choices.map(
      ({ message }) => message.content,
    );
    assert.deepEqual(texts.toSorted(), ['answer 1!', 'answer 2!', 'answer 3!']);
    assert.equal((JSON.parse(whole.body) as { usage: Json }).usage['total_tokens'], 3 * 18);

    for (const wantsUsage of [false, true]) {
      const streamed = await askChat(gateway.origin, {
        ...THREE,
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
    const [gateway, upstream] = await openClaude(context, () => {
      count += 1;
      return count % 3 === 0 ? { text: ['begun', ' and'], cutAfter: 1 } : { text: ['a', 'b'], stallAfter: 1 };
    });
    const said = readChatStream(await askChat(gateway.origin, { ...THREE, stream: true }), { choices: 3 });
    assert.ok(said.error);
    readError(await askChat(gateway.origin, THREE));
    for (const request of upstream.requests) await request.closed;
  });

  test('of which one cannot even begin: the others are closed', { timeout: 30_000 }, async (context) => {
    let count = 0;
    const [gateway, upstream] = await openClaude(context, () => {
      count += 1;
      return count === 2 ? { status: 400, errorMessage: 'no' } : { text: ['a', 'b'], stallAfter: 1 };
    });
    const received = await askChat(gateway.origin, { ...THREE, stream: true });
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
