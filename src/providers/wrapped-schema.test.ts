import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Batch, Chunk } from '../core/chunk.ts';
import { collect } from '../core/collect.ts';
import { unwrap } from './wrapped-schema.ts';

/** What becomes of a text that comes in pieces. */
async function unwrapped(pieces: readonly string[]): Promise<string> {
  async function* answer(): AsyncGenerator<Batch> {
    for (const content of pieces) yield [{ type: 'content', content }];
    yield [{ type: 'finish', finish: 'stop' }];
  }
  return (await collect(unwrap(answer()))).content;
}

/** A text, cut anywhere. */
function cut(text: string, places: readonly number[]): readonly string[] {
  const at = [...new Set(places.map((place) => place % (text.length + 1)))].sort((one, other) => one - other);
  return [0, ...at].map((start, index) => text.slice(start, at[index] ?? text.length));
}

describe('an answer inside of an object', () => {
  test('is what stands there, wherever its pieces end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.nat(3), fc.array(fc.nat(400)), async (value, indent, places) => {
        const text = JSON.stringify({ value }, null, indent);
        assert.deepEqual(JSON.parse(await unwrapped(cut(text, places))), JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('stays as it is without that object, and ends with it', async () => {
    for (const [text, expected] of [
      ['[1, 2]', '[1, 2]'],
      ['Sorry, I cannot.', 'Sorry, I cannot.'],
      ['{"other": 1}', '{"other": 1}'],
      ['{"val', '{"val'],
      ['', ''],
      ['{"value": [1, 2', '[1, 2'],
      ['{"value": [1], "more": 2}', '[1]'],
      ['\n{ "value" : "}" }\n', '"}"'],
      ['\n<think>{"value": 1}?</think>\n\n{"value": [1]}', '\n<think>{"value": 1}?</think>[1]'],
      ['<think>No.</think>Sorry.', '<think>No.</think>Sorry.'],
      ['<think>{"value": 1}', '<think>{"value": 1}'],
      ['<thin', '<thin'],
      ['```json\n{"value": [1, 2]}\n```', '[1, 2]'],
      ['\n``` \n{ "value": "```" }```', '"```"'],
      ['<think>Well.</think>\n```JSON\n{"value": 1}\n```', '<think>Well.</think>1'],
      ['```json\n[1]\n```', '```json\n[1]\n```'],
      ['```json\n{"val', '```json\n{"val'],
      ['``', '``'],
      ['```a b\n{"value": 1}', '```a b\n{"value": 1}'],
    ] as const) {
      assert.equal(await unwrapped([text]), expected);
      assert.equal(await unwrapped([...text]), expected);
    }
  });

  test('comes before the calls that follow it', async () => {
    const call: Chunk = { type: 'tool_call', tool_call: { index: 0, id: 'a', name: 'look', arguments: '{}' } };
    const finish: Chunk = { type: 'finish', finish: 'tool_calls' };
    for (const content of ['\n\n', '{"val', '<th']) {
      const said: Chunk = { type: 'content', content };
      async function* answer(): AsyncGenerator<Batch> {
        yield [said];
        yield [call, finish];
      }
      assert.deepEqual((await Array.fromAsync(unwrap(answer()))).flat(), [said, call, finish]);
    }
  });
});
