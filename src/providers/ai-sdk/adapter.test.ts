import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { testCall } from '../../../test/support/call.ts';
import { chatRequest } from '../../../test/support/chat-request.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { inTurns } from '../../../test/support/turns.ts';
import { allChunks, contentOf, finishOf, openVendor, reasoningOf, VENDORS } from '../../../test/support/vendors.ts';
import type { Message } from '../../core/chat.ts';
import type { Chunk } from '../../core/chunk.ts';

const TOOLS = [
  { name: 'weather', description: 'Looks outside', parameters: { type: 'object', properties: { city: {} } } },
  { name: 'clock' },
];

type Turns = readonly Readonly<Partial<Record<'type' | 'role' | 'call_id' | 'arguments' | 'output', string>>>[];

/** What was said so far, in whatever member the vendor has for it. */
function turnsOf(body: unknown): Turns {
  const { messages, contents, input } = body as { messages?: Turns; contents?: Turns; input?: Turns };
  return messages ?? contents ?? input ?? [];
}

for (const { kind } of VENDORS) {
  describe(kind, () => {
    test('text, usage and finish', async () => {
      const usage = { prompt: 30, completion: 12, cached: 10 };
      await using vendor = await openVendor(kind, () => ({ text: ['Grüße', ' aus', ' 東京 🗼'], usage }));
      const chunks = await allChunks(vendor.chat(chatRequest('Hello')));
      assert.equal(contentOf(chunks), 'Grüße aus 東京 🗼');
      assert.equal(finishOf(chunks), 'stop');
      const counted = chunks.find((chunk) => chunk.type === 'usage')?.usage;
      assert.equal(counted?.promptTokens, 30);
      assert.equal(counted?.completionTokens, 12);
      assert.equal(counted?.totalTokens, 42);
      assert.equal(counted?.cachedTokens, 10);
      assert.equal(vendor.upstream.requests.length, 1);
    });

    test('probabilities, which no answer tells, are not asked for', async () => {
      await using vendor = await openVendor(kind, () => ({ text: ['Hi'] }));
      const call = testCall();
      const extra = { logprobs: true, top_logprobs: 2 };
      await allChunks(vendor.chat(chatRequest('Hello', { extra }), call));
      assert.deepEqual([...call.dropped].sort(), ['logprobs', 'top_logprobs']);
      assert.doesNotMatch(JSON.stringify(vendor.upstream.requests[0]?.body), /logprobs/);
    });

    test('reasoning comes before the text and apart from it', async () => {
      await using vendor = await openVendor(kind, () => ({ reasoning: ['Let me', ' see.'], text: ['Blue.'] }));
      const chunks = await allChunks(vendor.chat(chatRequest('Why?', { sampling: { reasoningEffort: 'low' } })));
      assert.equal(reasoningOf(chunks), 'Let me see.');
      assert.equal(contentOf(chunks), 'Blue.');
    });

    test('parallel tool calls with their arguments to the letter', async () => {
      const first = ['{"city": "Kö', 'ln",\n "days"', ': [1, 2]}'];
      await using vendor = await openVendor(kind, () => ({
        text: ['One moment.'],
        toolCalls: [
          { id: 'call_a', name: 'weather', arguments: first },
          { id: 'call_b', name: 'clock', arguments: [] },
          { id: 'call_c', name: 'weather', arguments: ['{"city":"Rom"}'] },
        ],
      }));
      const chunks = await allChunks(vendor.chat(chatRequest('Weather?', { tools: TOOLS })));
      const calls = collectCalls(chunks);
      assert.deepEqual(
        calls.map(({ id, name }) => [id, name]),
        [
          ['call_a', 'weather'],
          ['call_b', 'clock'],
          ['call_c', 'weather'],
        ],
      );
      const [a, b, c] = calls.map((call) => call.arguments);
      // Gemini's calls are objects, so their spelling is the library's.
      if (kind === 'google') assert.deepEqual(JSON.parse(a ?? ''), JSON.parse(first.join('')));
      else assert.equal(a, first.join(''));
      assert.equal(b, '{}');
      assert.equal(c, '{"city":"Rom"}');
      assert.equal(finishOf(chunks), 'tool_calls');
      assert.deepEqual(vendor.upstream.requests[0]?.tools, ['weather', 'clock']);
    });

    test('a whole turn with tools: results travel back under the names of their calls', async () => {
      await using vendor = await openVendor(kind, ({ prompt }) => ({ text: [`It is ${prompt}`] }));
      const chunks = await allChunks(
        vendor.chat(
          chatRequest(
            [
              { role: 'user', content: [{ type: 'text', text: 'Weather and time?' }] },
              {
                role: 'assistant',
                content: [],
                toolCalls: [
                  { id: 'call_a', name: 'weather', arguments: '{"city":"Rom"}' },
                  { id: 'call_b', name: 'clock', arguments: 'not json' },
                ],
              },
              { role: 'tool', toolCallId: 'call_b', content: [{ type: 'text', text: 'noon' }] },
              { role: 'tool', toolCallId: 'call_a', content: [{ type: 'text', text: 'sunny' }] },
            ],
            { tools: TOOLS },
          ),
        ),
      );
      assert.equal(contentOf(chunks), 'It is sunny');
      const turns = turnsOf(vendor.upstream.requests[0]?.body);
      if (kind === 'openai-responses') {
        // Items in place of messages, and calls that carry JSON as text.
        assert.deepEqual(
          turns.map(({ type, role, ...item }) => [type ?? role, item.call_id, item.arguments ?? item.output]),
          [
            ['user', undefined, undefined],
            ['function_call', 'call_a', '{"city":"Rom"}'],
            ['function_call', 'call_b', '{"rawInvalidInput":"not json"}'],
            ['function_call_output', 'call_b', 'noon'],
            ['function_call_output', 'call_a', 'sunny'],
          ],
        );
      } else {
        assert.match(JSON.stringify(turns), /rawInvalidInput":"not json/);
        // One message of the user holds both results.
        assert.equal(turns.length, 3);
      }
    });

    test('tools whose names the vendor refuses go out under others and come back under their own', async () => {
      const names = ['fs/read', 'fs_read', `x${'y'.repeat(199)}`, '1 ä', 'json', 'plain-Name_1'];
      await using vendor = await openVendor(kind, ({ tools }) => ({
        toolCalls: tools.map((name, index) => ({ id: `call_${index}`, name, arguments: ['{}'] })),
      }));
      const before: Message[] = [
        { role: 'user', content: [{ type: 'text', text: 'Go' }] },
        { role: 'assistant', content: [], toolCalls: [{ id: 'call_x', name: 'fs/read', arguments: '{}' }] },
        { role: 'tool', toolCallId: 'call_x', content: [{ type: 'text', text: 'read' }] },
      ];
      const tools = names.map((name) => ({ name }));
      const chunks = await allChunks(vendor.chat(chatRequest(before, { tools })));
      await allChunks(vendor.chat(chatRequest(before, { tools, toolChoice: { name: 'fs/read' } })));
      const [sent, forced] = vendor.upstream.requests;
      assert.equal(new Set(sent?.tools).size, names.length);
      for (const name of sent?.tools ?? []) assert.match(name, /^[\w-]{1,64}$/);
      const kept = sent?.tools.filter((name) => names.includes(name));
      assert.deepEqual(kept, ['fs_read', 'json', 'plain-Name_1']);
      for (const request of [sent, forced]) assert.doesNotMatch(JSON.stringify(request?.body), /fs\/read/);
      assert.ok(forced?.tools.includes('fs_read_2'));
      assert.deepEqual(
        collectCalls(chunks).map((call) => call.name),
        names,
      );
    });

    test('an image arrives as an image', async () => {
      await using vendor = await openVendor(kind, ({ images, prompt }) => ({ text: [`${images} image, ${prompt}`] }));
      const chunks = await allChunks(
        vendor.chat(
          chatRequest([
            {
              role: 'user',
              content: [
                { type: 'media', kind: 'image', url: 'data:image/jpg;base64,/9j/4AAQ' },
                { type: 'text', text: 'What is it?' },
              ],
            },
          ]),
        ),
      );
      assert.equal(contentOf(chunks), '1 image, What is it?');
    });

    for (const finish of ['length', 'content_filter'] as const) {
      test(`finish: ${finish}`, async () => {
        await using vendor = await openVendor(kind, () => ({ text: ['So'], finish }));
        assert.equal(finishOf(await allChunks(vendor.chat(chatRequest('Hello')))), finish);
      });
    }

    test('the wire cut at any byte changes nothing', async () => {
      const text = ['ä', '🗼', '漢字', ' end'];
      await using vendor = await openVendor(kind, () => ({ text, sliceBytes: 1 }));
      assert.equal(contentOf(await allChunks(vendor.chat(chatRequest('Hello')))), text.join(''));
    });

    test('an event of a megabyte passes whole', async () => {
      const text = 'x0123456789ü'.repeat(80_000);
      await using vendor = await openVendor(kind, () => ({ text: [text] }));
      const content = contentOf(await allChunks(vendor.chat(chatRequest('Hello'))));
      assert.ok(content === text);
    });

    test('a burst is few batches, single pieces are their own', async () => {
      const text = Array.from({ length: 100 }, (_, index) => `${index} `);
      const { heard, ...paced } = inTurns(text.slice(0, 3));
      await using vendor = await openVendor(kind, ({ prompt }) =>
        prompt === 'burst' ? { text, burst: 1_000 } : paced,
      );
      const burst: number[] = [];
      for await (const batch of vendor.chat(chatRequest('burst'))) burst.push(batch.length);
      assert.ok(burst.length <= 5, `${burst}`);
      assert.ok(Math.max(...burst) >= 50, `${burst}`);
      const batches: string[][] = [];
      for await (const batch of vendor.chat(chatRequest('paced'))) {
        const said = batch.flatMap((chunk) => (chunk.type === 'content' ? [chunk.content] : []));
        if (said.length > 0) batches.push(said);
        heard(said.join(''));
      }
      assert.deepEqual(
        batches,
        text.slice(0, 3).map((piece) => [piece]),
      );
    });

    test('the pieces of a burst are those that were sent', async () => {
      const text = Array.from({ length: 40 }, (_, index) => (index % 7 === 3 ? 'same' : `${index} ä"\\n`));
      const reasoning = Array.from({ length: 10 }, (_, index) => `thought ${index}`);
      await using vendor = await openVendor(kind, () => ({ reasoning, text, burst: 1_000 }));
      const chunks = await allChunks(vendor.chat(chatRequest('Hello')));
      const said = chunks.flatMap((chunk) => (chunk.type === 'content' && chunk.content !== '' ? [chunk.content] : []));
      const thought = chunks.flatMap((chunk) =>
        chunk.type === 'reasoning' && chunk.reasoning !== '' ? [chunk.reasoning] : [],
      );
      assert.deepEqual({ said, thought }, { said: text, thought: reasoning });
    });

    test('who does not ask does not get: the upstream is paused', async () => {
      const endless = function* (): Generator<string> {
        for (let index = 0; ; index += 1) yield `${index} ${'.'.repeat(1_000)}`;
      };
      await using vendor = await openVendor(kind, () => ({ text: endless() }));
      const batches = vendor.chat(chatRequest('Go on'));
      let seen = '';
      while (seen.length < 10_000) seen += contentOf((await batches.next()).value ?? []);
      const request = vendor.upstream.requests[0];
      let before = -1;
      while (request !== undefined && before !== request.sent) {
        before = request.sent;
        await sleep(150);
      }
      // What the sockets' buffers hold, and little more.
      assert.ok((request?.sent ?? 0) < 20_000_000, `${request?.sent}`);
      await batches.return?.();
      assert.equal(await request?.closed, 'aborted');
    });

    test('a connection serves one answer after another', async () => {
      await using vendor = await openVendor(kind, () => ({ text: ['Hello'] }));
      for (let turn = 0; turn < 3; turn += 1) {
        await allChunks(vendor.chat(chatRequest('Hello')));
        assert.equal(await vendor.upstream.requests[turn]?.closed, 'finished');
        await sleep(50);
      }
      assert.equal(vendor.upstream.connections, 1);
    });

    test("a client's own key serves its call only", async () => {
      await using vendor = await openVendor(kind, () => ({ text: ['Hello'] }));
      await allChunks(vendor.chat(chatRequest('Hello'), testCall({ apiKey: 'key-of-the-client' })));
      await allChunks(vendor.chat(chatRequest('Hello')));
      const [first, second] = vendor.upstream.requests.map(({ headers }) => JSON.stringify(headers));
      assert.match(first ?? '', /key-of-the-client/);
      assert.doesNotMatch(second ?? '', /key-of-the-client/);
      assert.match(second ?? '', /key-of-the-test/);
    });

    test('configured headers and the default model are used', async () => {
      const defaultModel = VENDORS.find((vendor) => vendor.kind === kind)?.model ?? '';
      await using vendor = await openVendor(kind, () => ({ text: ['Hello'] }), {
        headers: { 'x-title': 'Sluice' },
        defaultModel,
      });
      await allChunks(vendor.chat(chatRequest('Hello', { model: '' })));
      assert.equal(vendor.upstream.requests[0]?.headers['x-title'], 'Sluice');
      assert.equal(vendor.upstream.requests[0]?.model, defaultModel);
    });
  });
}

function collectCalls(chunks: readonly Chunk[]): { id?: string; name?: string; arguments: string }[] {
  const calls: { id?: string; name?: string; arguments: string }[] = [];
  for (const chunk of chunks) {
    if (chunk.type !== 'tool_call') continue;
    const { index, id, name, arguments: text } = chunk.tool_call;
    const call = calls[index];
    if (call !== undefined) {
      assert.equal(id, undefined, 'only the first piece names the call');
      call.arguments += text;
    } else {
      assert.equal(index, calls.length);
      assert.ok(id !== undefined && name !== undefined);
      calls.push({ id, name, arguments: text });
    }
  }
  return calls;
}

test('a connection serves again where the end of an answer comes after all that was said', async () => {
  const ends: PromiseWithResolvers<void>[] = [];
  const lingering = (): Promise<void> => {
    const end = Promise.withResolvers<void>();
    ends.push(end);
    return end.promise;
  };
  // The libraries of the others say that an answer is complete only at the end of its body.
  await using vendor = await openVendor('anthropic', () => ({ text: ['Hello'], lingers: lingering() }));
  const { requests } = vendor.upstream;
  await eventually('a request on a connection that served before', async () => {
    // As the gateway reads: nothing any more once it is told that the answer is complete.
    for await (const batch of vendor.chat(chatRequest('Hello'))) {
      if (batch.some(({ type }) => type === 'finish')) break;
    }
    ends.at(-1)?.resolve();
    return vendor.upstream.connections < requests.length;
  });
});
