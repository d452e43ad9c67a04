import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Message, Part, ToolCall, VendorData } from '../../core/chat.ts';
import type { Chunk } from '../../core/chunk.ts';
import { toMessages } from './decode.ts';
import { responseId } from './ids.ts';
import { Output } from './output.ts';
import { pieces } from './pieces.ts';
import { readable } from './targets.ts';

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
const secret = fc.string({ minLength: 1, maxLength: 20 });
const signature: fc.Arbitrary<VendorData> = fc.oneof(
  secret.map((signature) => ({ anthropic: { signature } })),
  secret.map((redactedData) => ({ anthropic: { redactedData } })),
  secret.map((thoughtSignature) => ({ google: { thoughtSignature } })),
  secret.map((sealed) => ({ openai: { itemId: 'rs_1', reasoningEncryptedContent: sealed } })),
);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const withVendor = <T extends object>(value: T, vendor: VendorData | undefined): T =>
  vendor === undefined ? value : { ...value, vendor };

const said: fc.Arbitrary<Part> = fc.oneof(
  fc.tuple(text, maybe(signature)).map(([words, vendor]) => withVendor<Part>({ type: 'text', text: words }, vendor)),
  fc
    .tuple(text, maybe(signature))
    .map(([words, vendor]) => withVendor<Part>({ type: 'reasoning', text: words }, vendor)),
  // Thoughts that the vendor hides.
  signature.map((vendor): Part => ({ type: 'reasoning', text: '', vendor })),
);
const calls = fc
  .array(fc.tuple(fc.jsonValue(), text, maybe(signature)), { maxLength: 3 })
  .map((all) =>
    all.map(
      ([value, name, vendor], index): ToolCall =>
        withVendor<ToolCall>({ id: `call_${index}`, name, arguments: JSON.stringify(value) }, vendor),
    ),
  );

/** What an assistant says: neighbours that nothing keeps apart are one. */
const answer = fc.tuple(fc.array(said, { maxLength: 6 }), calls).map(([parts, toolCalls]) => {
  const content: Part[] = [];
  for (const part of parts) {
    const last = content.at(-1);
    const isOpen = last !== undefined && last.type === part.type && 'text' in last && last.vendor === undefined;
    if (isOpen && 'text' in part && 'text' in last)
      content[content.length - 1] = { ...part, text: last.text + part.text };
    else content.push(part);
  }
  return { content, toolCalls };
});

/** An answer as a provider streams it: words in pieces, signatures behind them. */
function chunksFor({ content, toolCalls }: { content: readonly Part[]; toolCalls: readonly ToolCall[] }): Chunk[] {
  const chunks: Chunk[] = [];
  for (const part of content) {
    if (part.type !== 'text' && part.type !== 'reasoning') continue;
    const say = (words: string): Chunk =>
      part.type === 'text' ? { type: 'content', content: words } : { type: 'reasoning', reasoning: words };
    for (const word of part.text) chunks.push(say(word));
    if (part.vendor !== undefined) chunks.push({ ...say(''), vendor: part.vendor } as Chunk);
  }
  for (const [index, { id, name, arguments: written, vendor }] of toolCalls.entries()) {
    chunks.push({ type: 'tool_call', tool_call: { index, id, name, arguments: '' } });
    for (const letter of written) chunks.push({ type: 'tool_call', tool_call: { index, arguments: letter } });
    if (vendor !== undefined) chunks.push({ type: 'tool_call', tool_call: { index, arguments: '', vendor } });
  }
  return chunks;
}

function outputOf(chunks: readonly Chunk[]): { output: Output; events: { type: string; fields: unknown }[] } {
  const events: { type: string; fields: unknown }[] = [];
  const output = new Output(responseId(), true, (type, fields) =>
    events.push({ type, fields: structuredClone(fields) }),
  );
  for (const chunk of pieces(chunks)) output.add(chunk);
  output.end('completed');
  return { output, events };
}

const expected = ({ content, toolCalls }: { content: Part[]; toolCalls: ToolCall[] }): Message[] =>
  content.length === 0 && toolCalls.length === 0
    ? []
    : [{ role: 'assistant', content, ...(toolCalls.length === 0 ? {} : { toolCalls }) }];

describe('an answer of the Responses API that comes back as input', () => {
  test('is what it was, for a client that keeps the conversation itself', () => {
    fc.assert(
      fc.property(answer, (said) => {
        const { output } = outputOf(chunksFor(said));
        const items = output.shown().map((item) => ({ item: JSON.parse(JSON.stringify(item)) }));
        const { value, dropped } = toMessages(items);
        assert.deepEqual(value.flatMap(readable), expected(said));
        assert.deepEqual(dropped, []);
      }),
    );
  });

  test('is what it was, for one that leaves this to the server and sees no signature', () => {
    fc.assert(
      fc.property(answer, (said) => {
        const { output } = outputOf(chunksFor(said));
        const kept = JSON.parse(JSON.stringify(output.items));
        assert.deepEqual(toMessages(kept).value.flatMap(readable), expected(said));
        assert.equal(/encrypted_content/.test(JSON.stringify(output.shown(false))), false);
      }),
    );
  });

  test('every item begins, is done once, and its pieces make up the whole', () => {
    fc.assert(
      fc.property(answer, (said) => {
        const { output, events } = outputOf(chunksFor(said));
        const items = output.shown();
        const of = (type: string) =>
          events.filter((event) => event.type === type).map(({ fields }) => fields as Record<string, unknown>);
        const added = of('response.output_item.added');
        const done = of('response.output_item.done');
        assert.deepEqual(
          added.map((event) => event['output_index']),
          items.map((_, index) => index),
        );
        assert.deepEqual(
          done.map((event) => event['item']).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
          [...items].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
        );
        for (const item of items) {
          const deltas = events
            .filter(({ type }) => type.endsWith('.delta'))
            .map(({ fields }) => fields as Record<string, unknown>)
            .filter((fields) => fields['item_id'] === item['id'])
            .map((fields) => fields['delta'])
            .join('');
          const whole =
            item['type'] === 'function_call'
              ? item['arguments']
              : ((item['summary'] ?? item['content']) as { text: string }[]).map((part) => part.text).join('');
          assert.equal(deltas, whole);
        }
      }),
    );
  });

  test('the same chunks make the same events', () => {
    const once = chunksFor({ content: [{ type: 'text', text: 'abc' }], toolCalls: [] });
    const response = responseId();
    const made = [1, 2].map(() => {
      const events: unknown[] = [];
      const output = new Output(response, true, (...event) => events.push(structuredClone(event)));
      for (const chunk of once) output.add(chunk);
      output.end('completed');
      return events;
    });
    assert.deepEqual(made[0], made[1]);
  });
});

test('many calls that are open at once are not looked at again and again', (context) => {
  const told: string[] = [];
  const output = new Output(responseId(), false, (type) => told.push(type));
  const looks = context.mock.method(JSON, 'parse');
  for (let index = 0; index < 300; index += 1) {
    output.add({ type: 'tool_call', tool_call: { index, id: `call-${index}`, name: 'f', arguments: '{"a":' } });
  }
  assert.ok(looks.mock.callCount() <= 600, `${looks.mock.callCount()} looks`);
  output.add({ type: 'tool_call', tool_call: { index: 7, arguments: '1}' } });
  assert.ok(!told.includes('response.output_item.done'));
  output.add({ type: 'tool_call', tool_call: { index: 300, id: 'last', name: 'f', arguments: '{}' } });
  assert.equal(told.filter((type) => type === 'response.output_item.done').length, 1);
});
