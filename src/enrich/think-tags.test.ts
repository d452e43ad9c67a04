import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Batch, Chunk } from '../core/chunk.ts';
import { splitThinking } from './think-tags.ts';

/** Reasoning and content of an answer whose text comes in these pieces. */
async function split(pieces: readonly string[]): Promise<{ reasoning: string; content: string; types: string[] }> {
  async function* chunks(): AsyncIterable<Batch> {
    for (const content of pieces) yield [{ type: 'content', content }];
    yield [{ type: 'finish', finish: 'stop' }];
  }
  const all: Chunk[] = [];
  for await (const batch of splitThinking(chunks())) all.push(...batch);
  const textOf = (type: 'reasoning' | 'content') =>
    all
      .map((chunk) =>
        chunk.type === 'reasoning' && type === 'reasoning'
          ? chunk.reasoning
          : chunk.type === 'content' && type === 'content'
            ? chunk.content
            : '',
      )
      .join('');
  return { reasoning: textOf('reasoning'), content: textOf('content'), types: all.map((chunk) => chunk.type) };
}

describe('splitThinking', () => {
  test('takes the thoughts at the beginning apart', async () => {
    const { reasoning, content } = await split([
      '<think>\nLet me',
      ' see.</think>\n\nIt is',
      ' 4 <think>really</think>.',
    ]);
    assert.equal(reasoning, '\nLet me see.');
    assert.equal(content, 'It is 4 <think>really</think>.');
  });

  test('leaves every other answer alone', async () => {
    for (const text of ['Hello', '', '  ', '<thin', '<thinking>no</thinking>', 'A <think>b</think>', '< think>']) {
      const { reasoning, content } = await split([text]);
      assert.deepEqual({ reasoning, content }, { reasoning: '', content: text });
    }
  });

  test('keeps thoughts that never end as thoughts, and the finish last', async () => {
    const { reasoning, content, types } = await split(['<think>cut </thi']);
    assert.deepEqual({ reasoning, content }, { reasoning: 'cut </thi', content: '' });
    assert.equal(types.at(-1), 'finish');
  });

  test('gives out what it held when the answer fails', async () => {
    async function* failing(): AsyncIterable<Batch> {
      yield [{ type: 'content', content: '<th' }];
      throw new Error('cut');
    }
    const seen: Chunk[] = [];
    await assert.rejects(async () => {
      for await (const batch of splitThinking(failing())) seen.push(...batch);
    }, /cut/);
    assert.deepEqual(seen, [{ type: 'content', content: '<th' }]);
  });

  test('says the same however the text was split', async () => {
    const texts = fc.constantFrom(
      '<think>a < b </ c</think>\n\nanswer </think>',
      '  \n<think></think>x',
      '<think>only',
      'plain <think>x</think>',
      '<<think>',
    );
    await fc.assert(
      fc.asyncProperty(texts, fc.array(fc.nat(40), { maxLength: 12 }), async (text, cuts) => {
        const bounds = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
        const pieces = bounds.slice(1).map((end, index) => text.slice(bounds[index], end));
        const { reasoning, content } = await split(pieces);
        const whole = await split([text]);
        assert.deepEqual({ reasoning, content }, { reasoning: whole.reasoning, content: whole.content });
      }),
    );
  });
});
