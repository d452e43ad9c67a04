import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Chunk } from '../../core/chunk.ts';
import { ChatDecoder } from './decode.ts';

/** What each event says when it is parsed, and what the end adds. */
function parsed(events: readonly string[]): Chunk[] {
  const decoder = new ChatDecoder();
  const into: Chunk[] = [];
  for (const event of events) {
    try {
      decoder.json(JSON.parse(event), into);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  decoder.end(into, 'whole');
  return into;
}

function decoded(events: readonly string[]): Chunk[] {
  const decoder = new ChatDecoder();
  const into: Chunk[] = [];
  for (const event of events) decoder.event(event, into);
  decoder.end(into, 'whole');
  return into;
}

/** What stands around the text: much that says nothing, and some that says more. */
const arounds = [
  ['{"id":"a","choices":[{"index":0,"delta":{"content":', '},"finish_reason":null}]}'],
  ['{"id":"b","choices":[{"index":0,"delta":{"role":"assistant","content":', '},"finish_reason":null}],"usage":null}'],
  ['{"id":"a","choices":[{"index":0,"delta":{"content":', '},"finish_reason":"stop"}]}'],
  ['{"id":"a","choices":[{"index":0,"delta":{"content":', '},"finish_reason":null}],"usage":{"prompt_tokens":1}}'],
  ['{"id":"a","choices":[{"index":0,"delta":{"content":', ',"reasoning":"hm"},"finish_reason":null}]}'],
  ['{"id":"a","choices":[{"index":0,"delta":{"content":', ',"content":"other"}}]}'],
  ['{"content":', ',"choices":[{"index":0,"delta":{"content":"same"}}]}'],
  ['{"choices":[{"index":1,"delta":{"content":', '}}]}'],
  ['{"choices":[{"index":0,"delta":{"content":', '}},{"index":0,"delta":{"content":"two"}}]}'],
  ['{"choices":[{"delta":{"content":', ',"audio":{"data":"QQ=="}}}]}'],
] as const;
/** Texts, and what may stand in the place of one. */
const literal = fc.oneof(
  fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
  fc.constantFrom(
    '"same"',
    '"other"',
    '""',
    '"\\u0041"',
    '"\\ud800"',
    'null',
    '["a"]',
    '7',
    '"a","content":"b"',
    '"a" ',
    '"',
  ),
);
const event = fc.tuple(fc.constantFrom(...arounds), literal).map(([[head, tail], text]) => head + text + tail);

describe('events that are alike', () => {
  test('say what they would say if each were parsed', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        assert.deepEqual(decoded(events), parsed(events));
      }),
      { numRuns: 2_000 },
    );
  });

  test('are recognized', (context) => {
    const [[head, tail]] = arounds;
    const parse = context.mock.method(JSON, 'parse');
    const decoder = new ChatDecoder();
    const into: Chunk[] = [];
    decoder.event(`${head}"first"${tail}`, into);
    const before = parse.mock.callCount();
    for (let index = 0; index < 10; index += 1) decoder.event(`${head}" w${index}"${tail}`, into);
    assert.equal(parse.mock.callCount(), before);
    assert.equal(into.length, 11);
  });

  test('are given up where something else changes with each of them', (context) => {
    const parse = context.mock.method(JSON, 'parse');
    const decoder = new ChatDecoder();
    const into: Chunk[] = [];
    for (let index = 0; index < 100; index += 1) {
      decoder.event(`{"x":${index},"choices":[{"index":0,"delta":{"content":"w"}}]}`, into);
    }
    assert.equal(into.length, 100);
    assert.ok(parse.mock.callCount() < 120, `${parse.mock.callCount()} parsed`);
  });
});
