import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Message, Part, ToolCall } from '../../src/core/chat.ts';
import { toMessages } from '../../src/http/responses/decode.ts';
import { readable } from '../../src/http/responses/targets.ts';
import type { Json } from '../../src/http/responses/wire.ts';
import { testCall } from '../support/call.ts';
import { chatRequest } from '../support/chat-request.ts';
import { allChunks, openVendor } from '../support/vendors.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PDF = Buffer.from('%PDF-1.4 and so on').toString('base64');

// Blank texts are left out on the way: vendors refuse them.
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((words) => words.trim() !== '');
const words = text.map((said): Part => ({ type: 'text', text: said }));
const media = fc.constantFrom<Part>(
  { type: 'media', kind: 'image', url: `data:image/png;base64,${PNG}`, mimeType: 'image/png' },
  { type: 'media', kind: 'image', url: 'https://example.org/cat.png' },
  {
    type: 'media',
    kind: 'file',
    url: `data:application/pdf;base64,${PDF}`,
    mimeType: 'application/pdf',
    name: 'a.pdf',
  },
);
const object = fc.dictionary(
  fc.string({ maxLength: 5 }).filter((name) => name !== '__proto__'),
  fc.jsonValue({ maxDepth: 2 }),
  { maxKeys: 3 },
);

interface Turn {
  readonly question: readonly Part[];
  readonly thought: string | undefined;
  readonly answer: string;
  readonly calls: readonly { readonly name: string; readonly input: object; readonly result: string }[];
}

const turn: fc.Arbitrary<Turn> = fc.record({
  question: fc
    .tuple(words, fc.array(fc.oneof(words, media), { maxLength: 3 }))
    .map(([first, more]) => [first, ...more]),
  thought: fc.option(text, { nil: undefined }),
  answer: text,
  calls: fc.array(fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), input: object, result: text }), {
    maxLength: 2,
  }),
});

function messagesOf(turns: readonly Turn[]): Message[] {
  return turns.flatMap(({ question, thought, answer, calls }, at): Message[] => {
    const vendor = { openai: { itemId: `rs_${at}`, reasoningEncryptedContent: `sealed ${at}` } };
    const thoughts: Part[] = thought === undefined ? [] : [{ type: 'reasoning', text: thought, vendor }];
    const toolCalls = calls.map(
      ({ name, input }, index): ToolCall => ({ id: `call_${at}_${index}`, name, arguments: JSON.stringify(input) }),
    );
    return [
      { role: 'user', content: question },
      {
        role: 'assistant',
        content: [...thoughts, { type: 'text', text: answer }],
        ...(toolCalls.length === 0 ? {} : { toolCalls }),
      },
      ...calls.map(
        ({ result }, index): Message => ({
          role: 'tool',
          toolCallId: `call_${at}_${index}`,
          content: [{ type: 'text', text: result }],
        }),
      ),
    ];
  });
}

test('a conversation sent to an upstream of this format is what our own reader of it reads', {
  timeout: 60_000,
}, async () => {
  await using vendor = await openVendor('openai-responses', () => ({ text: ['ok'] }));
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 4 }), async (turns) => {
      const messages: Message[] = [...messagesOf(turns), { role: 'user', content: [{ type: 'text', text: 'Go on.' }] }];
      const call = testCall();
      await allChunks(vendor.chat({ ...chatRequest(''), messages }, call));
      const sent = vendor.upstream.requests.at(-1)?.body as { input: Json[] } | undefined;
      const { value, dropped } = toMessages((sent?.input ?? []).map((item) => ({ item })));
      assert.deepEqual(value.flatMap(readable), messages);
      assert.deepEqual(dropped, []);
      assert.deepEqual([...call.dropped], []);
    }),
    { numRuns: 60 },
  );
});
