import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Part, ToolCall, VendorData } from '../../core/chat.ts';
import type { Batch, Chunk } from '../../core/chunk.ts';
import { collect } from '../../core/collect.ts';
import { validate } from '../validate.ts';
import { chatToRequest } from './decode.ts';
import { type AnswerOptions, encodeAnswer, LineStream } from './encode.ts';
import { ChatBody } from './wire.ts';

type Json = Record<string, unknown>;

const OPTIONS: AnswerOptions = { kind: 'chat', model: 'm', showsThoughts: true, startedAt: 0, begunAt: 0 };
const WISH = { model: 'm', providers: [], ignored: [] };

const plainly = { noNullPrototype: true };
const text = fc.string({ minLength: 1, unit: 'grapheme', maxLength: 20 });
const word = fc.stringMatching(/^[a-z][a-zA-Z0-9_]{0,8}$/);
const vendor: fc.Arbitrary<VendorData> = fc.oneof(
  text.map((thoughtSignature) => ({ google: { thoughtSignature } })),
  text.map((signature) => ({ anthropic: { signature } })),
  text.map((redactedData) => ({ anthropic: { redactedData } })),
);
const maybeVendor = fc.option(
  vendor.map((attached) => ({ vendor: attached })),
  { nil: {} },
);
const thoughts: fc.Arbitrary<Part[]> = fc
  .array(fc.record({ type: fc.constant('reasoning' as const), text, vendor }, plainly), { maxLength: 3 })
  .chain((signed) =>
    fc
      .option(fc.record({ type: fc.constant('reasoning' as const), text }, plainly), { nil: undefined })
      .map((last) => (last === undefined || signed.length > 0 ? signed : [last])),
  );
const toolCalls: fc.Arbitrary<ToolCall[]> = fc.array(
  fc
    .record(
      { id: word, name: word, arguments: fc.dictionary(word, text).map((value) => JSON.stringify(value)) },
      plainly,
    )
    .chain((call) => maybeVendor.map((attached) => ({ ...call, ...attached }))),
  { maxLength: 3 },
);

function* chunksOf(parts: readonly Part[], said: string, calls: readonly ToolCall[]): Generator<Chunk> {
  for (const part of parts) {
    if (part.type !== 'reasoning') continue;
    const half = Math.ceil(part.text.length / 2);
    yield { type: 'reasoning', reasoning: part.text.slice(0, half) };
    yield { type: 'reasoning', reasoning: part.text.slice(half) };
    if (part.vendor !== undefined) yield { type: 'reasoning', reasoning: '', vendor: part.vendor };
  }
  yield { type: 'content', content: said };
  for (const [index, { id, name, arguments: written, vendor: attached }] of calls.entries()) {
    yield { type: 'tool_call', tool_call: { index, id, name, arguments: written.slice(0, 3) } };
    yield {
      type: 'tool_call',
      tool_call: { index, arguments: written.slice(3), ...(attached === undefined ? {} : { vendor: attached }) },
    };
  }
  yield { type: 'finish', finish: 'stop' };
}

/** What a client makes of the lines of an answer: texts are put together, lists follow each other. */
function messageOf(lines: readonly Json[]): Json {
  const whole: Json = { role: 'assistant', content: '' };
  for (const { message } of lines as { message: Json }[]) {
    for (const [name, value] of Object.entries(message)) {
      const before = whole[name];
      if (name === 'role') continue;
      if (Array.isArray(value)) whole[name] = [...(Array.isArray(before) ? before : []), ...value];
      else whole[name] = `${before ?? ''}${value}`;
    }
  }
  return whole;
}

describe("Ollama's API, there and back", () => {
  for (const form of ['whole', 'lines'] as const) {
    test(`an answer comes back as it was, whoever signed it (${form})`, async () => {
      await fc.assert(
        fc.asyncProperty(thoughts, text, toolCalls, async (parts, said, calls) => {
          const chunks = [...chunksOf(parts, said, calls)];
          const message = form === 'whole' ? await whole(chunks) : streamed(chunks);
          const body = validate(
            ChatBody,
            JSON.parse(JSON.stringify({ model: 'm', messages: [message] })),
            'invalid_request',
          );
          assert.deepEqual(chatToRequest(body, WISH).messages, [
            {
              role: 'assistant',
              content: [...parts, { type: 'text', text: said }],
              ...(calls.length === 0 ? {} : { toolCalls: calls }),
            },
          ]);
        }),
      );
    });
  }

  test('an option that has no place is named', () => {
    fc.assert(
      fc.property(word, word, (option, field) => {
        const sent = { model: 'm', messages: [], options: { [`x${option}`]: 1 }, [`x${field}`]: 'a' };
        const { extra } = chatToRequest(validate(ChatBody, sent, 'invalid_request'), WISH);
        assert.deepEqual(extra, { [`options.x${option}`]: 1, [`x${field}`]: 'a' });
      }),
    );
  });

  async function whole(chunks: readonly Chunk[]): Promise<unknown> {
    const answer = await collect(
      (async function* (): AsyncGenerator<Batch> {
        yield chunks;
      })(),
    );
    return encodeAnswer(answer, OPTIONS)['message'];
  }

  function streamed(chunks: readonly Chunk[]): Json {
    const stream = new LineStream(OPTIONS);
    const out = chunks.map((chunk) => stream.encode([chunk])).join('') + stream.end();
    return messageOf(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Json),
    );
  }
});
