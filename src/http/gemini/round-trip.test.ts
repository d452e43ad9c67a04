import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Part, ToolCall, VendorData } from '../../core/chat.ts';
import type { Batch, Chunk } from '../../core/chunk.ts';
import { collect } from '../../core/collect.ts';
import { toGenerateBody } from '../../providers/ai-sdk/google-body.ts';
import { validate } from '../validate.ts';
import { toMessages } from './contents.ts';
import { decode } from './decode.ts';
import { ContentStream, encodeAnswers, type Framing } from './encode.ts';
import { toJsonSchema } from './schema.ts';
import { GenerateContentBody, type WireContent } from './wire.ts';

type Json = Record<string, unknown>;

const HEAD = { modelVersion: 'm', responseId: 'r' };
const WISH = { model: 'gemini-2.5-flash', providers: [], ignored: [] };

const text = fc.string({ minLength: 1, unit: 'grapheme', maxLength: 20 });
const word = fc.stringMatching(/^[a-z][a-zA-Z0-9]{0,8}$/);
const base64 = fc.base64String({ minLength: 4, maxLength: 40 });
const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string(), { maxLength: 2 }));
const object = fc
  .dictionary(word, fc.oneof(leaf, fc.dictionary(word, leaf, { maxKeys: 2 })), { maxKeys: 3 })
  .map((value) => plain(value));
const vendor: fc.Arbitrary<VendorData> = fc.oneof(
  base64.map((thoughtSignature) => ({ google: { thoughtSignature } })),
  text.map((signature) => ({ anthropic: { signature } })),
  text.map((redactedData) => ({ anthropic: { redactedData } })),
  fc.record({ itemId: text, reasoningEncryptedContent: text }, { noNullPrototype: true }).map((openai) => ({ openai })),
);

/** As it is after a journey as JSON. */
function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

const signed = fc.option(
  base64.map((thoughtSignature) => ({ thoughtSignature })),
  { nil: {} },
);
const call = fc
  .record({ functionCall: fc.record({ id: word, name: word, args: object }, { requiredKeys: ['name'] }) })
  .chain((part) => signed.map((signature) => ({ ...part, ...signature })));
const response = fc.record({
  functionResponse: fc.record({ id: word, name: word, response: object }, { requiredKeys: ['name', 'response'] }),
});
const blob = fc.record({
  mimeType: fc.constantFrom('image/png', 'audio/wav', 'video/mp4', 'application/pdf'),
  data: base64,
});
const media = fc.oneof(
  fc.record({ inlineData: blob }),
  fc.record({ inlineData: blob, videoMetadata: fc.record({ fps: fc.nat(60) }) }),
  fc.record({ fileData: fc.record({ fileUri: fc.webUrl(), mimeType: fc.constant('image/png') }) }),
  fc.record({ executableCode: fc.record({ language: fc.constant('PYTHON'), code: text }) }),
  fc.record({ codeExecutionResult: fc.record({ outcome: fc.constant('OUTCOME_OK'), output: text }) }),
  fc.record({ somethingNew: object }),
);
const said = fc.record({ text }).chain((part) => signed.map((signature) => ({ ...part, ...signature })));
const thought = said.map((part) => ({ ...part, thought: true }));

/** Contents as the API itself writes them: texts in one piece, calls behind them, results before what else the user says. */
const contents: fc.Arbitrary<Json[]> = fc
  .array(
    fc.tuple(
      fc.tuple(
        fc.array(response, { maxLength: 2 }),
        fc.array(fc.oneof(fc.record({ text }), media), { minLength: 1, maxLength: 3 }),
      ),
      fc.tuple(
        fc.array(fc.oneof(said, thought, media), { minLength: 1, maxLength: 4 }).map(withoutPieces),
        fc.array(call, { maxLength: 2 }),
      ),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((turns) =>
    plain(
      turns.flatMap(([user, model]) => [
        { role: 'user', parts: user.flat() },
        { role: 'model', parts: model.flat() },
      ]),
    ),
  );

/** Without texts that would be pieces of one. */
function withoutPieces(parts: readonly Json[]): readonly Json[] {
  return parts.reduce<Json[]>((kept, part) => {
    const before = kept.at(-1);
    const isPiece = 'text' in part && before !== undefined && 'text' in before && before['thought'] === part['thought'];
    if (!isPiece) kept.push(part);
    return kept;
  }, []);
}

const fields = fc.record(
  {
    safetySettings: fc.array(object, { maxLength: 2 }),
    cachedContent: text,
    tools: fc.array(
      fc.oneof(
        fc.record({ googleMaps: object }),
        fc.record({ functionDeclarations: fc.array(fc.record({ name: word, parameters: object }), { maxLength: 2 }) }),
      ),
      { maxLength: 2 },
    ),
    toolConfig: fc.record({ retrievalConfig: object }),
    generationConfig: fc.record(
      { temperature: fc.integer({ min: 0, max: 2 }), topK: fc.nat(100), speechConfig: object, mediaResolution: word },
      { noNullPrototype: true, requiredKeys: ['topK'] },
    ),
  },
  { requiredKeys: [] },
);

describe('the Gemini API, there and back', () => {
  test('a request of its clients reaches Google unchanged', () => {
    fc.assert(
      fc.property(contents, fields, (asked, more) => {
        const sent = plain({ ...more, contents: asked });
        const { request, fields: kept } = decode(validate(GenerateContentBody, sent, 'invalid_request'), WISH);
        assert.deepEqual(plain(toGenerateBody({ ...request, extra: kept })), sent);
      }),
    );
  });

  test('what only Google understands is named', () => {
    fc.assert(
      fc.property(word, word, word, (field, tool, setting) => {
        const names = [`x${field}`, `x${tool}`, `x${setting}`] as const;
        const sent = {
          contents: [{ parts: [{ text: 'Hi' }, { [names[0]]: 1 }] }],
          [names[0]]: true,
          tools: [{ [names[1]]: {} }],
          toolConfig: { [names[1]]: {} },
          generationConfig: { [names[2]]: 1 },
        };
        const { foreign } = decode(validate(GenerateContentBody, sent, 'invalid_request'), WISH);
        for (const name of [
          names[0],
          `contents.parts.${names[0]}`,
          `tools.${names[1]}`,
          `toolConfig.${names[1]}`,
          `generationConfig.${names[2]}`,
        ]) {
          assert.ok(foreign.includes(name), name);
        }
      }),
    );
  });

  const block: fc.Arbitrary<Part> = fc
    .record({ type: fc.constantFrom('text' as const, 'reasoning' as const), text }, { noNullPrototype: true })
    .chain((part) =>
      fc
        .option(vendor, { nil: undefined })
        .map((signature) => (signature === undefined ? part : { ...part, vendor: signature })),
    );
  // Two blocks of a kind are two only where the first of them is signed.
  const blocks = fc.array(block, { maxLength: 5 }).map((parts) =>
    parts.reduce<Part[]>((kept, part) => {
      const before = kept.at(-1);
      const isNext = before?.type === part.type && !('vendor' in before);
      if (!isNext) kept.push(part);
      return kept;
    }, []),
  );
  const toolCalls: fc.Arbitrary<ToolCall[]> = fc.array(
    fc
      .record(
        { id: word, name: word, arguments: object.map((value) => JSON.stringify(value)) },
        { noNullPrototype: true },
      )
      .chain((each) =>
        fc
          .option(vendor, { nil: undefined })
          .map((signature) => (signature === undefined ? each : { ...each, vendor: signature })),
      ),
    { maxLength: 3 },
  );

  /** An answer as a provider gives it: texts in pieces, signatures at the end of their block. */
  function* chunksOf(parts: readonly Part[], calls: readonly ToolCall[]): Generator<Chunk> {
    for (const part of parts) {
      if (part.type !== 'text' && part.type !== 'reasoning') continue;
      const half = Math.ceil(part.text.length / 2);
      for (const piece of [part.text.slice(0, half), part.text.slice(half)]) {
        yield part.type === 'text' ? { type: 'content', content: piece } : { type: 'reasoning', reasoning: piece };
      }
      const { vendor: attached } = part;
      if (attached === undefined) continue;
      yield part.type === 'text'
        ? { type: 'content', content: '', vendor: attached }
        : { type: 'reasoning', reasoning: '', vendor: attached };
    }
    for (const [index, { id, name, arguments: written, vendor: attached }] of calls.entries()) {
      yield { type: 'tool_call', tool_call: { index, id, name, arguments: written.slice(0, 3) } };
      yield {
        type: 'tool_call',
        tool_call: { index, arguments: written.slice(3), ...(attached === undefined ? {} : { vendor: attached }) },
      };
    }
    yield { type: 'finish', finish: 'stop' };
  }

  /** What a client hands back of an answer, as the next request has it. */
  function handedBack(answers: readonly Json[]): { content: readonly Part[]; calls: readonly ToolCall[] } {
    const history = answers.flatMap(({ candidates }) =>
      (candidates as { content: WireContent }[]).map(({ content }) => content),
    );
    const [message] = toMessages(plain(history)).messages;
    if (message?.role !== 'assistant') return { content: [], calls: [] };
    return {
      content: message.content,
      calls: (message.toolCalls ?? []).map(({ vendor: attached, ...each }) => ({ ...each, ...withoutPart(attached) })),
    };
  }

  function withoutPart(attached: VendorData | undefined): { vendor?: VendorData } {
    const { part: _, ...google } = attached?.['google'] ?? {};
    const { google: __, ...others } = attached ?? {};
    const all = Object.keys(google).length === 0 ? others : { ...others, google };
    return Object.keys(all).length === 0 ? {} : { vendor: all };
  }

  for (const form of ['whole', 'events', 'array'] as const) {
    test(`an answer comes back as it was, whoever signed it (${form})`, async () => {
      await fc.assert(
        fc.asyncProperty(blocks, toolCalls, async (parts, calls) => {
          const chunks = [...chunksOf(parts, calls)];
          const answers = form === 'whole' ? [await whole(chunks)] : streamed(chunks, form);
          assert.deepEqual(handedBack(answers), { content: parts, calls });
        }),
      );
    });
  }

  async function whole(chunks: readonly Chunk[]): Promise<Json> {
    const answer = await collect(
      (async function* (): AsyncGenerator<Batch> {
        yield chunks;
      })(),
    );
    return encodeAnswers(HEAD, [answer]);
  }

  function streamed(chunks: readonly Chunk[], framing: Framing): Json[] {
    const stream = new ContentStream(HEAD, framing);
    const out = chunks.map((chunk) => stream.encode([chunk])).join('') + stream.end();
    if (framing === 'array') return JSON.parse(out) as Json[];
    return out
      .split('\r\n\r\n')
      .filter((event) => event !== '')
      .map((event) => JSON.parse(event.slice('data: '.length)) as Json);
  }
});

describe("Google's schemas", () => {
  test('become JSON Schema', () => {
    const schema = {
      type: 'OBJECT',
      nullable: true,
      properties: {
        max_items: { type: 'ARRAY', items: { type: 'STRING', format: 'enum', enum: ['a'] }, max_items: '3' },
        type: { any_of: [{ type: 'INTEGER' }, { type: 'BOOLEAN' }], nullable: true, example: 1 },
      },
      required: ['max_items'],
      property_ordering: ['max_items', 'type'],
    };
    assert.deepEqual(toJsonSchema(schema), {
      type: ['object', 'null'],
      properties: {
        max_items: { type: 'array', items: { type: 'string', enum: ['a'] }, maxItems: 3 },
        type: { anyOf: [{ type: 'integer' }, { type: 'boolean' }, { type: 'null' }], examples: [1] },
      },
      required: ['max_items'],
      propertyOrdering: ['max_items', 'type'],
    });
  });
});
